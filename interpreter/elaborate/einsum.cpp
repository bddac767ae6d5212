// einsum: sums of products over named axes, as operations that take two operands at a time.
//
// Operands meet in pairs. The pair whose result has the fewest axes comes first, of equal ones the leftmost: the order
// hangs on the subscripts alone, so that arrays of all sizes add in one order. An axis that no later operand and not the
// result has is summed as soon as it can be.
#include "interpreter/elaborate/einsum.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "interpreter/elaborate/lowering.h"
#include "interpreter/ops/rows.h"

namespace tercet {
namespace {

using Labels = std::vector<Label>;

bool has(const Labels& labels, Label l) { return std::find(labels.begin(), labels.end(), l) != labels.end(); }

/// One operand's or the result's letters, with `dots` where "..." stands (npos: nowhere).
struct Part { std::string letters; size_t dots = std::string::npos; };

std::optional<Part> read_part(const std::string& text, std::string* problem) {
  Part out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text.compare(i, 3, "...") == 0) {
      if (out.dots != std::string::npos) return *problem = "`...` stands twice in one part", std::nullopt;
      out.dots = out.letters.size();
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(text[i]))) {
      out.letters += text[i];
    } else {
      return *problem = fmt::format("`{}` is no letter, comma, arrow or `...`", text[i]), std::nullopt;
    }
  }
  return out;
}

/// Letters and `...` as labels, where `...` stands for so many axes.
Labels labels_of(const Part& part, int dots) {
  Labels out;
  for (size_t i = 0; i <= part.letters.size(); ++i) {
    if (i == part.dots)
      for (int k = dots; k-- > 0;) out.push_back(ellipsis_label + k);
    if (i < part.letters.size()) out.push_back(part.letters[i]);
  }
  return out;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> out(1);
  for (char c : text) {
    if (c == separator) out.emplace_back();
    else out.back() += c;
  }
  return out;
}

Labels implicit_result(const std::vector<Labels>& operands, int dots) {
  std::map<Label, int> count;
  for (const Labels& labels : operands)
    for (Label l : labels) ++count[l];
  Labels out;
  for (int k = dots; k-- > 0;) out.push_back(ellipsis_label + k);
  for (auto& [l, n] : count)
    if (l < ellipsis_label && n == 1) out.push_back(l);
  return out;
}

}  // namespace

std::optional<Subscripts> read_subscripts(const std::string& text, const std::vector<int>& ranks, std::string* problem) {
  auto wrong = [&](std::string what) { return *problem = std::move(what), std::nullopt; };
  const size_t arrow = text.find("->");
  std::vector<std::string> parts = split(text.substr(0, arrow), ',');
  if (parts.size() != ranks.size()) return wrong(fmt::format("commas make {} of it, and the call gives {}", plural(parts.size(), "part"), plural(ranks.size(), "array")));
  Subscripts out;
  int most_dots = 0;
  bool any_dots = false;
  for (size_t i = 0; i < parts.size(); ++i) {
    std::optional<Part> part = read_part(parts[i], problem);
    if (!part) return std::nullopt;
    const bool open = part->dots != std::string::npos;
    const int dots = ranks[i] - static_cast<int>(part->letters.size());
    if (dots < 0 || (dots > 0 && !open)) return wrong(fmt::format("`{}` names {} axes, and operand {} has {}", parts[i], part->letters.size(), i + 1, ranks[i]));
    any_dots |= open;
    most_dots = std::max(most_dots, dots);
    out.operands.push_back(labels_of(*part, dots));
  }
  if (arrow == std::string::npos) return out.result = implicit_result(out.operands, most_dots), out;
  std::optional<Part> part = read_part(text.substr(arrow + 2), problem);
  if (!part) return std::nullopt;
  if (part->dots != std::string::npos && !any_dots) return wrong("`...` stands in the result and in no operand");
  out.result = labels_of(*part, most_dots);
  for (size_t i = 0; i < out.result.size(); ++i) {
    const Label l = out.result[i];
    if (std::count(out.result.begin(), out.result.end(), l) > 1) return wrong(fmt::format("`{}` stands twice in the result", static_cast<char>(l)));
    if (std::none_of(out.operands.begin(), out.operands.end(), [&](const Labels& labels) { return has(labels, l); }) && l < ellipsis_label)
      return wrong(fmt::format("`{}` stands in the result and in no operand", static_cast<char>(l)));
  }
  return out;
}

namespace {

struct Term { Leaf x; Labels labels; };

class Einsum {
 public:
  Einsum(Elaborator& e, Subscripts subscripts) : e_(e), result_(std::move(subscripts.result)), labels_(std::move(subscripts.operands)) {}

  Leaf run(std::vector<Leaf> operands) {
    find_sizes(operands);
    for (size_t i = 0; i < operands.size(); ++i) terms_.push_back(prepared(operands[i], labels_[i]));
    for (Term& t : terms_) drop(t, others(&t));
    while (terms_.size() > 1) join_next();
    drop(terms_[0], result_);
    return aligned(terms_[0], result_);
  }

 private:
  /// One size for every label: the first operand's name for it. What `...` stands for broadcasts.
  void find_sizes(const std::vector<Leaf>& operands) {
    std::map<Label, size_t> first;   // operand
    std::map<Label, std::vector<Leaf>> spread;
    for (size_t i = 0; i < operands.size(); ++i)
      for (size_t k = 0; k < labels_[i].size(); ++k) {
        const Label l = labels_[i][k];
        const Dim& d = operands[i].type.dims[k];
        if (l >= ellipsis_label) {
          spread[l].emplace_back().type.dims = {d};
          continue;
        }
        auto [at, added] = first.try_emplace(l, i);
        if (added) sizes_.emplace(l, d);
        else e_.require_equal(sizes_.at(l), d, fmt::format("`{}` is {{left}} in operand {} of einsum, and {{right}} in operand {}", static_cast<char>(l), at->second + 1, i + 1));
      }
    for (auto& [l, axes] : spread) sizes_.emplace(l, e_.common_dims(axes)[0]);
  }

  /// Labels that the result or a term besides these has.
  Labels others(const Term* a, const Term* b = nullptr) const {
    Labels out = result_;
    for (const Term& t : terms_)
      if (&t != a && &t != b) out.insert(out.end(), t.labels.begin(), t.labels.end());
    return out;
  }

  std::vector<Dim> dims_of(const Labels& labels) const {
    std::vector<Dim> out;
    for (Label l : labels) out.push_back(sizes_.at(l));
    return out;
  }

  /// The operand under the names of the sizes, each label once: of one that stands twice, the diagonal.
  Term prepared(Leaf x, Labels labels) {
    std::vector<Dim> dims = dims_of(labels);
    for (size_t k = 0; k < dims.size(); ++k)
      if (labels[k] >= ellipsis_label && x.type.dims[k] == Dim(1)) dims[k] = Dim(1);
    x = e_.broadcast_to(x, dims);
    for (size_t i = 0; i < labels.size(); ++i)
      for (size_t j = i + 1; j < labels.size(); ++j)
        if (labels[i] == labels[j]) return prepared(diagonal(x, static_cast<int64_t>(i), static_cast<int64_t>(j)), without_second(labels, i, j));
    return {x, labels};
  }

  /// Both axes in front become one of n * n elements, of which every (n + 1)-th is taken.
  Leaf diagonal(const Leaf& x, int64_t i, int64_t j) {
    Leaf front = e_.move_axis(e_.move_axis(x, i, 0), j, 1);
    std::vector<Dim> dims(front.type.dims.begin() + 1, front.type.dims.end());
    const Dim n = front.type.dims[0];
    dims[0] = n * n;
    Leaf step = e_.cast(size_leaf(n + Dim(1)), DType::I64);
    return e_.gather_rows(e_.reshape(front, dims), e_.binary(ast::BinaryOp::Multiply, e_.iota(n, DType::I64), step), 0);
  }
  static Labels without_second(const Labels& labels, size_t i, size_t j) {
    Labels out{labels[i]};
    for (size_t k = 0; k < labels.size(); ++k)
      if (k != i && k != j) out.push_back(labels[k]);
    return out;
  }

  /// Sums over what nothing else has.
  void drop(Term& t, const Labels& kept) {
    Sym::Tuple axes;
    Labels left;
    for (size_t k = 0; k < t.labels.size(); ++k) {
      if (has(kept, t.labels[k])) left.push_back(t.labels[k]);
      else axes.elements.push_back(int_leaf(static_cast<int64_t>(k)));
    }
    if (axes.elements.empty()) return;
    const DType dtype = t.x.type.dtype;
    Sym sum = e_.apply(Sym::Builtin{find_builtin("sum")}, {{"", t.x, e_.span()}, {"axis", axes, e_.span()}}, e_.span());
    t = {e_.cast(*sum.leaf(), dtype), left};
  }

  static Labels union_of(const Labels& a, const Labels& b) {
    Labels out = a;
    for (Label l : b)
      if (!has(out, l)) out.push_back(l);
    return out;
  }

  void join_next() {
    size_t best_i = 0, best_j = 1, best = SIZE_MAX;
    for (size_t i = 0; i < terms_.size(); ++i)
      for (size_t j = i + 1; j < terms_.size(); ++j) {
        const Labels kept = others(&terms_[i], &terms_[j]), all = union_of(terms_[i].labels, terms_[j].labels);
        const auto count = static_cast<size_t>(std::count_if(all.begin(), all.end(), [&](Label l) { return has(kept, l); }));
        if (count < best) best = count, best_i = i, best_j = j;
      }
    Term joined = product(terms_[best_i], terms_[best_j], others(&terms_[best_i], &terms_[best_j]));
    terms_.erase(terms_.begin() + static_cast<ptrdiff_t>(best_j));
    terms_[best_i] = std::move(joined);
  }

  Term product(const Term& a, const Term& b, const Labels& kept) {
    Labels batch, summed, left, right;
    for (Label l : a.labels) (!has(b.labels, l) ? left : has(kept, l) ? batch : summed).push_back(l);
    for (Label l : b.labels)
      if (!has(a.labels, l)) right.push_back(l);
    auto joined = [](std::initializer_list<Labels> lists) {
      Labels out;
      for (const Labels& list : lists) out.insert(out.end(), list.begin(), list.end());
      return out;
    };
    const Labels all = joined({batch, left, right});
    if (summed.empty()) return {e_.binary(ast::BinaryOp::Multiply, spread(a, all), spread(b, all)), all};
    const Labels a_order = joined({batch, left, summed}), b_order = joined({batch, right, summed});
    // Sizes 1 under `...` are repeated: the operation takes equal ones.
    Leaf x = e_.broadcast_to(aligned(a, a_order), dims_of(a_order)), y = e_.broadcast_to(aligned(b, b_order), dims_of(b_order));
    std::vector<int64_t> lhs, rhs;
    for (size_t k = 0; k < summed.size(); ++k) {
      lhs.push_back(static_cast<int64_t>(batch.size() + left.size() + k));
      rhs.push_back(static_cast<int64_t>(batch.size() + right.size() + k));
    }
    return {e_.emit(dot_op, {e_.use(x), e_.use(y)}, {{"batch", static_cast<int64_t>(batch.size())}, {"lhs", lhs}, {"rhs", rhs}}), all};
  }

  /// The axes in this order; labels that it has not are left out.
  Leaf aligned(const Term& t, const Labels& order) {
    std::vector<int64_t> perm;
    for (Label l : order)
      if (auto at = std::find(t.labels.begin(), t.labels.end(), l); at != t.labels.end()) perm.push_back(at - t.labels.begin());
    if (std::is_sorted(perm.begin(), perm.end())) return t.x;
    return e_.transpose(t.x, perm);
  }

  /// The same with an axis of size 1 for every label that it has not.
  Leaf spread(const Term& t, const Labels& order) {
    Leaf x = aligned(t, order);
    std::vector<Dim> dims;
    size_t next = 0;
    for (Label l : order) dims.push_back(has(t.labels, l) ? x.type.dims[next++] : Dim(1));
    return e_.reshape(x, dims);
  }

  Elaborator& e_;
  Labels result_;
  std::vector<Labels> labels_;
  std::map<Label, Dim> sizes_;
  std::vector<Term> terms_;
};

}  // namespace

Leaf einsum(Elaborator& e, const std::string& subscripts, std::vector<Leaf> operands) {
  std::vector<int> ranks;
  for (const Leaf& x : operands) ranks.push_back(x.type.rank());
  std::string problem;
  std::optional<Subscripts> read = read_subscripts(subscripts, ranks, &problem);
  if (!read) e.error(Kind::Value, fmt::format("einsum(\"{}\", …): {}", subscripts, problem), "as in einsum(\"ij,jk->ik\", x, y): a letter for every axis");
  return Einsum(e, std::move(*read)).run(std::move(operands));
}

}  // namespace tercet
