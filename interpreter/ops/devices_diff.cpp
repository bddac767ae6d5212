#include "interpreter/ops/devices_diff.h"

#include <fmt/format.h>

#include "interpreter/ops/diff_rules.h"
#include "interpreter/ops/pmap.h"

namespace tercet {
namespace {

using Ints = std::vector<int64_t>;
using Dims = std::vector<Dim>;
using Ids = std::vector<ValueId>;
using Flags = std::vector<bool>;

/// The attributes that every collective over the same axis has.
Attrs same_axis(const Op& op) { return {{"over", op.attrs.get<int64_t>("over")}, {"title", op.attrs.get<std::string>("title")}}; }

Expr summed(ReverseContext& c, Expr x) {
  Attrs attrs = same_axis(c.op());
  attrs.set("kind", std::string("sum"));
  return x.emit(all_reduce_op, {x.id}, std::move(attrs));
}

}  // namespace

/// Sums: everyone's cotangents. Extremes: those that equal the result share them.
void reverse_all_reduce(ReverseContext& c) {
  Builder& b = c.out();
  Expr ct = summed(c, {&b, c.cotangent(), c.op().span});
  const std::string& kind = c.op().attrs.get<std::string>("kind");
  if (kind == "max" || kind == "min") {
    Expr x{&b, c.operand(0), c.op().span}, wins = x == Expr{&b, c.result(), x.span};
    Expr share = ct / summed(c, as(wins, x.type().dtype));
    ct = choose(wins, share, share.number(0));
  }
  c.add(0, ct.id);
}

void transpose_all_gather(ReverseContext& c) {
  Attrs attrs = same_axis(c.op());
  attrs.set("kind", std::string("sum"));
  attrs.set("differs", true);
  c.add(0, c.out().emit(reduce_scatter_op, {c.cotangent()}, std::move(attrs), c.op().span));
}

void transpose_reduce_scatter(ReverseContext& c) {
  Attrs attrs = same_axis(c.op());
  attrs.set("count", c.out().type(c.operand(0)).dims[0]);
  c.add(0, c.out().emit(all_gather_op, {c.cotangent()}, std::move(attrs), c.op().span));
}

void transpose_all_to_all(ReverseContext& c) { c.add(0, c.out().emit(*c.op().def, {c.cotangent()}, c.op().attrs, c.op().span)); }

/// Back along the same pairs.
void transpose_permute(ReverseContext& c) {
  Builder& b = c.out();
  const Dims dims = b.type(c.operand(1)).dims;
  ValueId pairs = b.emit(slice_op, {c.operand(1)}, {{"starts", Dims{0, 1}}, {"sizes", dims}, {"steps", Ints{1, -1}}}, c.op().span);
  c.add(0, b.emit(*c.op().def, {c.cotangent(), pairs}, c.op().attrs, c.op().span));
}

namespace {

/// The backward step on the same devices. A result's cotangent is dealt out where the result was joined from chunks, and
/// else shared, each device taking its row (the first one all of what is common).
class PmapPullback {
 public:
  explicit PmapPullback(ReverseContext& c) : c_(c), b_(c.out()), op_(c.op()), body_(*op_.bodies[0]), device_(body_.name) {
    consumed_ = static_cast<size_t>(op_.attrs.get<int64_t>("consumed"));
    if (op_.attrs.has("share")) share_ = op_.attrs.get<Dim>("share");
  }

  void run() {
    const Ints& joins = op_.attrs.get<Ints>("joins");
    Flags given;
    for (size_t i = 0; i < op_.outputs; ++i) given.push_back(c_.cotangent(i) != no_value);
    PullbackRequest request{c_.forward().active, given, Flags(op_.inputs.size(), false), false, {}, {}};
    if (share_) request.own_symbols.push_back(share_->symbol_id());
    Pullback p = c_.pull_back(body_, request);
    Ids arguments(op_.inputs.size());
    for (size_t i = 0; i < consumed_; ++i) arguments[i] = pass(op_.inputs[i], body_.type(body_.params[i]));
    Ids cotangents(op_.outputs, no_value);
    for (size_t i = 0; i < op_.outputs; ++i)
      if (given[i] && static_cast<PmapJoin>(joins[i]) == PmapJoin::Concat) cotangents[i] = pass(c_.cotangent(i), chunk_type(i));
    auto dealt_out = static_cast<int64_t>(inputs_.size());
    for (size_t i = consumed_; i < op_.inputs.size(); ++i) arguments[i] = pass(op_.inputs[i], body_.type(body_.params[i]));
    for (size_t i = 0; i < op_.outputs; ++i)
      if (given[i] && cotangents[i] == no_value) cotangents[i] = own_part(pass(c_.cotangent(i), b_.type(c_.cotangent(i))), static_cast<PmapJoin>(joins[i]));
    for (ValueId v : cotangents)
      if (v != no_value) arguments.push_back(v);
    for (size_t k = 0; k < arguments.size(); ++k) arguments[k] = with_type(device_, arguments[k], p.function->type(p.function->params[k]), op_.span);
    finish(inline_function(device_, *p.function, arguments), dealt_out);
  }

 private:
  ValueId pass(ValueId operand, Type type) {
    inputs_.push_back(operand);
    return device_.param(std::move(type));
  }

  Type chunk_type(size_t result) const {
    Type type = body_.type(body_.results[result]);
    if (!share_ || !(type.dims[0] == *share_))
      fail(Kind::Unsupported, op_.span, "no gradient through a pmap whose devices give parts of other sizes than they get", "take the gradient inside the pmapped function");
    return type;
  }

  ValueId rank() {
    Attrs attrs{{"over", op_.attrs.get<int64_t>("level")}, {"title", std::string("axis_index")}, {"differs", true}};
    return device_.emit(axis_index_op, {}, std::move(attrs), op_.span);
  }

  ValueId own_part(ValueId whole, PmapJoin join) {
    if (join == PmapJoin::Stack) return device_.emit(gather_op, {whole, rank()}, {{"axes", Ints{0}}, {"batch", int64_t{0}}}, op_.span);
    Expr x{&device_, whole, op_.span}, first{&device_, rank(), op_.span};
    first = first == first.number(0);
    if (x.type().rank()) first.id = repeated(device_, first.id, x.type().dims, {}, op_.span);
    return choose(first, x, x.number(0)).id;
  }

  /// Dealt operands' cotangents come back as they were dealt; those of shared ones are summed over the devices.
  void finish(const Ids& gradients, int64_t dealt_out) {
    Ints joins;
    for (size_t i = 0; i < op_.inputs.size(); ++i)
      if (c_.wanted(i)) joins.push_back(static_cast<int64_t>(i < consumed_ && share_ ? PmapJoin::Concat : PmapJoin::Stack));
    PmapAttrs attrs{op_.attrs.get<Dim>("devices"), share_, op_.attrs.get<Dim>("length"), dealt_out, op_.attrs.get<int64_t>("level"), joins};
    Ids parts = emit_pmap(b_, device_.finish(gradients), inputs_, attrs, op_.span);
    for (size_t i = 0, at = 0; i < op_.inputs.size(); ++i) {
      if (!c_.wanted(i)) continue;
      ValueId part = parts[at++];
      c_.add(i, i < consumed_ ? part : b_.emit(sum_op, {part}, {{"axes", Ints{0}}}, op_.span));
    }
  }

  ReverseContext& c_;
  Builder& b_;
  const Op op_;
  const Function& body_;
  Builder device_;
  Ids inputs_;
  size_t consumed_ = 0;
  std::optional<Dim> share_;
};

}  // namespace

void reverse_pmap(ReverseContext& c) { PmapPullback(c).run(); }

}  // namespace tercet
