#include "interpreter/elaborate/frame.h"

#include <algorithm>
#include <bit>

#include "interpreter/ir/op_def.h"
#include "interpreter/ir/rewrite.h"
#include "interpreter/ops/rows.h"

namespace tercet {

Leaf int_leaf(int64_t value, DType dtype, bool weak) {
  return {{dtype, {}}, weak, nullptr, no_value, Constant{value, static_cast<double>(value), false}, Dim(value)};
}
Leaf bool_leaf(bool value) { return {{DType::Bool, {}}, false, nullptr, no_value, Constant{value, 0, false}, {}}; }
Leaf float_leaf(double value, DType dtype, bool weak) { return {{dtype, {}}, weak, nullptr, no_value, Constant{0, value, false}, {}}; }
Leaf size_leaf(const Dim& size) {
  if (auto c = size.constant()) return softened(int_leaf(*c, DType::I64));
  return {{DType::I64, {}}, true, nullptr, no_value, {}, size};
}

Leaf softened(Leaf leaf) {
  if (!leaf.constant) return leaf;
  leaf.constant->soft = true;
  return leaf;
}

bool keeps_digits(const Type& type, bool weak) { return weak && type.dtype == DType::F32 && type.rank() == 0; }
bool keeps_digits(const Leaf& leaf) { return keeps_digits(leaf.type, leaf.weak); }

Frame::Frame(std::string name, Frame* parent, bool isolated) : parent_(parent), isolated_(isolated), builder_(std::move(name)) {}

Leaf Frame::param(const Type& type, bool weak) {
  params_.push_back(builder_.param(type));
  return result(params_.back(), weak);
}

Leaf Frame::carried_param(const Type& type, bool weak) {
  if (!keeps_digits(type, weak)) return param(type, weak);
  Leaf out = param({DType::F64, {}}, weak);
  out.type = type;
  return out;
}

Leaf Frame::rounded(const Leaf& leaf) {
  if (!keeps_digits(leaf)) return leaf;
  Leaf out = leaf;
  if (leaf.constant) out.constant->real = static_cast<float>(leaf.constant->real);
  else if (is_wide(leaf)) out = result(use(leaf), true);
  return out;
}

bool Frame::is_wide(const Leaf& leaf) { return keeps_digits(leaf) && leaf.frame && leaf.frame->builder_.type(leaf.id).dtype == DType::F64; }

std::optional<size_t> Frame::parameter(ValueId id) const {
  for (size_t i = 0; i < params_.size(); ++i)
    if (params_[i] == id) return i;
  return std::nullopt;
}

ValueId Frame::constant(const Leaf& leaf, DType dtype) {
  const Constant& c = *leaf.constant;
  bool real = is_float(leaf.type.dtype);
  // The bits tell constants apart: -0.0 is not 0.0, and NaN must be found again.
  auto place = std::make_tuple(dtype, real, real ? std::bit_cast<int64_t>(c.real) : c.integer);
  auto found = constants_.find(place);
  if (found != constants_.end()) return found->second;
  Array value = real ? scalar_of(dtype, c.real) : scalar_of_int(dtype, c.integer);
  return constants_[place] = builder_.emit(constant_op, {}, {{"value", value}});
}

ValueId Frame::capture(const Leaf& leaf) {
  TERCET_CHECK(!isolated_);   // what an isolated function reads are its parameters
  auto key = std::make_pair(leaf.frame, leaf.id);
  auto found = captured_.find(key);
  if (found != captured_.end()) return found->second;
  captures_.push_back(leaf);
  if (is_wide(leaf)) captures_.back().type.dtype = DType::F64;
  ValueId id = builder_.param(captures_.back().type);
  capture_params_.push_back(id);
  return captured_[key] = id;
}

ValueId Frame::use(const Leaf& leaf, std::optional<DType> as, Span span) {
  DType dtype = as.value_or(leaf.type.dtype);
  ValueId id = leaf.id;
  if (leaf.constant) return constant(leaf, dtype);
  if (!leaf.frame) id = builder_.emit(dim_value_op, {}, {{"dim", *leaf.dim}}, span);
  else if (leaf.frame != this) id = capture(leaf);
  return builder_.type(id).dtype == dtype ? id : builder_.emit(cast_op, {id}, {{"dtype", dtype}}, span);
}

bool Frame::defines(const Dim& size) const {
  bool found = false;
  for (const Op& op : builder_.peek().ops)
    if (const Attr* defines = op.attrs.find("defines")) for_each_dim(*defines, [&](const Dim& symbol) { found |= size.mentions(symbol); });
  return found;
}

bool Frame::own(const Dim& size) const {
  bool found = defines(size);
  for (ValueId p : params_)   // rows of a consumed array bring sizes of their own
    for (const Dim& d : builder_.type(p).dims) found |= size.mentions(d);
  return found;
}

std::optional<Leaf> Frame::outside(ValueId id) {
  if (isolated_ || !parent_) return std::nullopt;
  if (auto found = outside_.find(id); found != outside_.end()) return found->second;
  std::optional<Leaf>& out = outside_[id];
  for (size_t i = 0; i < capture_params_.size(); ++i)
    if (capture_params_[i] == id) return out = captures_[i];
  const Op* op = builder_.definition(id);
  if (!op || op->def->effect != Effect::Pure || !op->bodies.empty() || builder_.type(id).rank() != 0 || op->attrs.has("defines") || op->attrs.has("over")) return out;
  for (auto& [name, value] : op->attrs.items()) {
    bool here = false;
    for_each_dim(value, [&](const Dim& d) { here |= own(d); });
    if (here) return out;
  }
  std::vector<Leaf> leaves;
  for (ValueId v : op->inputs) {
    std::optional<Leaf> input = outside(v);
    if (!input) return out;
    leaves.push_back(*input);
  }
  std::vector<ValueId> inputs;
  for (const Leaf& x : leaves) inputs.push_back(parent_->use(x));
  return out = parent_->result(parent_->builder_.emit(*op->def, std::move(inputs), op->attrs, op->span));
}

Dim Frame::size_of(const Leaf& leaf, Span span) {
  if (leaf.dim) return *leaf.dim;
  auto key = std::make_pair(leaf.frame, leaf.id);
  auto found = sizes_.find(key);
  if (found != sizes_.end()) return found->second;
  Leaf home = leaf;
  while (std::optional<Leaf> further = home.frame->outside(home.id)) home = *further;
  Dim size = Dim::symbol("s");
  if (home.frame != this) {
    // Whether it is negative is asked here: this place may never be reached.
    Frame& outer = *home.frame;
    auto [at, is_new] = outer.sizes_.try_emplace({&outer, home.id}, size);
    size = at->second;
    if (is_new) {
      ValueId wide = outer.use(home, DType::I64), zero = outer.use(int_leaf(0, DType::I64, false));
      outer.builder_.emit(as_size_op, {outer.builder_.emit(maximum_op, {wide, zero})}, {{"defines", size}}, span);
    }
    builder_.emit(as_size_op, {use(leaf)}, {{"defines", Dim::symbol("checked")}}, span);
  } else {
    builder_.emit(as_size_op, {use(leaf)}, {{"defines", size}}, span);
  }
  return sizes_[key] = size;
}

bool Frame::checked(const Dim& a, const Dim& b) {
  for (auto& [x, y] : checked_)
    if (x == a && y == b) return true;
  checked_.emplace_back(a, b);
  return false;
}

FunctionPtr Frame::finish(std::vector<ValueId> results) {
  std::vector<ValueId> params = params_;
  params.insert(params.end(), capture_params_.begin(), capture_params_.end());
  builder_.set_params(std::move(params));
  return builder_.finish(std::move(results));
}

FunctionPtr Frame::finish_ordered(std::vector<ValueId> results, std::span<const Leaf> captures) {
  std::vector<ValueId> params = params_;
  for (const Leaf& leaf : captures) params.push_back(capture(leaf));
  builder_.set_params(std::move(params));
  return builder_.finish(std::move(results));
}

std::vector<Leaf> joined_captures(const Frame& a, const Frame& b) {
  std::vector<Leaf> out = a.captures();
  for (const Leaf& leaf : b.captures()) {
    bool there = std::any_of(out.begin(), out.end(), [&](const Leaf& c) { return c.frame == leaf.frame && c.id == leaf.id; });
    if (!there) out.push_back(leaf);
  }
  return out;
}

}  // namespace tercet
