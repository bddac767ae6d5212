// Rows: the k rows of a sparse matrix that have the largest products with a sparse vector, through an inverted index: for each
// term the rows that have it ("postings"). What it computes is
//   top_k(put(zeros(n), places[postings of the terms], weights[…] * factor of the term, mode="drop", op="add"), k)
// in this order of additions; what it saves are the arrays between. Scores live in one dense array a thread (Zobel and Moffat,
// Inverted Files for Text Search Engines, 2006, section 4: accumulators).
#include <algorithm>

#include "interpreter/ops/batch_rules.h"
#include "interpreter/ops/diff_rules.h"
#include "interpreter/ops/flat_rules.h"
#include "interpreter/ops/row_ops.h"
#include "interpreter/ops/rows.h"
#include "interpreter/ops/sample_arrays.h"
#include "interpreter/runtime/row_runs.h"
#include "interpreter/runtime/sort.h"

namespace tercet {
namespace {

using Dims = std::vector<Dim>;
using Ints = std::vector<int64_t>;
// Operands: for each posting its row and weight; where each term's postings begin; the query's terms and their factors.
enum : size_t { Places, Weights, Begins, Terms, Factors, Queries };

std::vector<Type> results(const InferInput& in, Dims dims) {
  dims.push_back(in.attrs.get<Dim>("k"));
  return {{in.operands[Weights].dtype, dims}, {DType::I32, dims}};
}
/// terms and factors [lanes…, m] -> [lanes…, k]
std::vector<Type> infer_search(const InferInput& in) {
  const Dims& terms = in.operands[Terms].dims;
  TERCET_CHECK(!terms.empty());
  return results(in, {terms.begin(), terms.end() - 1});
}
/// terms and factors [total], cut into queries by offsets -> [queries, k]
std::vector<Type> infer_search_rows(const InferInput& in) { return results(in, {size_at(in.operands[Queries].dims, 0) - Dim(1)}); }

/// The postings of a term: none where it, or what the index says of it, is out of range.
struct Postings {
  explicit Postings(std::span<const Array> in)
      : begins(in[Begins].data<int64_t>()), terms(in[Begins].count() - 1), count(std::min(in[Places].count(), in[Weights].count())) {}
  std::pair<int64_t, int64_t> of(int64_t term) const {
    if (term < 0 || term >= terms) return {0, 0};
    return {std::max<int64_t>(0, begins[term]), std::min(count, begins[term + 1])};
  }
  const int64_t* begins;
  int64_t terms, count;
};

/// One query after another with the scores of all n rows, which are zero between queries.
template <class T, class P> class Search {
 public:
  Search(std::span<const Array> in, int64_t n, int64_t k)
      : in_(in), postings_(in), places_(in[Places].data<P>()), weights_(in[Weights].data<T>()), k_(std::min(k, n)), scores_(static_cast<size_t>(n)) {
    clear();
  }

  void run(int64_t from, int64_t to, T* values, int32_t* indices) {
    for (int64_t j = from; j < to; ++j) {
      auto [begin, end] = postings_.of(in_[Terms].data<int64_t>()[j]);
      add(begin, end, in_[Factors].data<T>()[j]);
    }
    top_order(scores_.data(), static_cast<int64_t>(scores_.size()), k_, order_);
    for (int64_t i = 0; i < k_; ++i) {
      indices[i] = order_[static_cast<size_t>(i)];
      values[i] = scores_[static_cast<size_t>(indices[i])];
    }
    clear();
  }

 private:
  void clear() { clear_bytes(scores_.data(), scores_.size() * sizeof(T)); }
  void add(int64_t begin, int64_t end, T factor) {
    T* scores = scores_.data();
    const auto n = static_cast<uint64_t>(scores_.size());
    in_strips(end - begin, [&](int64_t from, int64_t to) {
      for (int64_t p = begin + from; p < begin + to; ++p)
        if (const auto place = static_cast<uint64_t>(places_[p]); place < n) scores[place] += weights_[p] * factor;
    });
  }

  std::span<const Array> in_;
  Postings postings_;
  const P* places_;
  const T* weights_;
  int64_t k_;
  Scratch<T> scores_;
  Scratch<int32_t> order_;
};

/// Queries by the offsets of their terms.
std::vector<Array> search_all(EvalContext& context, const Op& op, std::span<Array> in, Shape shape, const std::vector<int64_t>& queries) {
  const int64_t n = context.size(op.attrs.get<Dim>("n")), k = context.size(op.attrs.get<Dim>("k")), count = static_cast<int64_t>(queries.size()) - 1;
  shape.push_back(k);
  Array values = Array::zeros(in[Weights].dtype, shape), indices = Array::zeros(DType::I32, shape);
  // A query costs its postings and a look at every score.
  Postings postings(in);
  std::vector<int64_t> work(queries.size());
  for (size_t q = 0; q + 1 < queries.size(); ++q) {
    work[q + 1] = work[q] + n / 8 + 1;
    for (int64_t j = queries[q]; j < queries[q + 1]; ++j) {
      auto [begin, end] = postings.of(in[Terms].data<int64_t>()[j]);
      work[q + 1] += std::max<int64_t>(0, end - begin);
    }
  }
  auto run = [&]<class T, class P>() {
    each_run_of_rows(work.data(), count, 2, [&](int64_t begin, int64_t end) {
      Search<T, P> search(in, n, k);
      for (int64_t q = begin; q < end; ++q) {
        poll();
        search.run(queries[static_cast<size_t>(q)], queries[static_cast<size_t>(q) + 1], values.data<T>() + q * k, indices.data<int32_t>() + q * k);
      }
    });
  };
  const bool narrow = in[Places].dtype == DType::I32;
  if (in[Weights].dtype == DType::F64) narrow ? run.operator()<double, int32_t>() : run.operator()<double, int64_t>();
  else narrow ? run.operator()<float, int32_t>() : run.operator()<float, int64_t>();
  return {std::move(values), std::move(indices)};
}

std::vector<Array> eval_search(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  Shape shape = in[Terms].shape;
  const int64_t m = shape.back();
  shape.erase(shape.size() - 1);
  int64_t count = 1;
  for (int64_t d : shape) count *= d;
  std::vector<int64_t> queries;
  for (int64_t q = 0; q <= count; ++q) queries.push_back(q * m);
  return search_all(context, op, in, shape, queries);
}
std::vector<Array> eval_search_rows(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  const int64_t* at = in[Queries].data<int64_t>();
  return search_all(context, op, in, {in[Queries].count() - 1}, {at, at + in[Queries].count()});
}

// ---- batches ----
bool shares_index(std::span<const BatchedValue> in) { return !in[Places].mapped && !in[Weights].mapped && !in[Begins].mapped; }
Attrs sizes(BatchContext& c, const Op& op) { return {{"n", c.size(op.attrs.get<Dim>("n"))}, {"k", c.size(op.attrs.get<Dim>("k"))}}; }

std::vector<BatchedValue> batch_search(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in) {
  if (!shares_index(in)) return c.loop_over_lanes(f, op, in);
  return emit_mapped(c, op, {in[Places].value, in[Weights].value, in[Begins].value, c.mapped(in[Terms], op.span), c.mapped(in[Factors], op.span)}, sizes(c, op));
}
std::vector<BatchedValue> flat_search(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in) {
  if (!shares_index(in) || !in[Terms].packing || in[Terms].packing != in[Factors].packing || f.type(op.inputs[Terms]).rank() != 1) fail_lane_dependent(op.span);
  std::vector<BatchedValue> out;
  std::vector<ValueId> inputs{in[Places].value, in[Weights].value, in[Begins].value, in[Terms].value, in[Factors].value, in[Terms].packing->offsets};
  for (ValueId v : c.out().emit_many(*rows_version(*op.def), std::move(inputs), sizes(c, op), op.span)) out.push_back({v, true});
  return out;
}
std::vector<BatchedValue> batch_search_rows(BatchContext&, const Function&, const Op& op, std::span<const BatchedValue>) { fail_lane_dependent(op.span); }

// ---- derivatives: those of the products that were added to the scores found ----
Expr take(Expr x, Expr index) { return x.emit(gather_op, {x.id, index.id}, {{"axes", Ints{0}}, {"batch", int64_t{0}}}); }
Expr put(Expr values, Expr index, const Dim& size) {
  ValueId zeros = zeros_of(*values.b, {values.type().dtype, {size}}, values.span);
  return values.emit(scatter_op, {zeros, values.id, index.id}, {{"axes", Ints{0}}, {"batch", int64_t{0}}, {"mode", std::string("add")}});
}
Expr flat(Expr x, const Dim& size) { return x.emit(reshape_op, {x.id}, {{"dims", Dims{size}}}); }
Expr iota(Expr like, const Dims& dims) { return like.emit(iota_op, {}, {{"dims", dims}, {"axis", int64_t{0}}, {"dtype", DType::I64}}); }

void reverse_search(ReverseContext& c) {
  if (c.cotangent(0) == no_value) return;
  Builder& b = c.out();
  const Span span = c.op().span;
  auto value = [&](ValueId id) { return Expr{&b, id, span}; };
  const Dim n = c.op().attrs.get<Dim>("n"), k = c.op().attrs.get<Dim>("k");
  Dim entries = 1, queries = 1;
  for (const Dim& d : b.type(c.operand(Terms)).dims) entries = entries * d;
  for (size_t i = 0; i + 1 < b.type(c.result()).dims.size(); ++i) queries = queries * b.type(c.result()).dims[i];
  Expr places = value(c.operand(Places)), begins = value(c.operand(Begins)), factors = flat(value(c.operand(Factors)), entries);
  Expr terms = value(clamped(b, flat(value(c.operand(Terms)), entries).id, begins.type().dims[0] - Dim(1), span));
  // All postings of all entries, one after another: whose they are, and which.
  Expr begin = take(begins, terms), lengths = take(begins, terms + terms.number(1)) - begin;
  const Dim total = Dim::symbol("postings");
  Expr offsets = lengths.emit(offsets_of_op, {lengths.id}, {{"defines", total}});
  Expr entry = offsets.emit(row_ids_op, {offsets.id}, {{"total", total}});
  Expr posting = take(begin, entry) + iota(entry, {total}) - take(offsets, entry);
  // The query of each entry, and the cotangent of each score: zero for those that were not found.
  Expr query = c.op().inputs.size() > Queries
                   ? begins.emit(row_ids_op, {c.operand(Queries)}, {{"total", entries}})
                   : flat(begins.emit(iota_op, {}, {{"dims", Dims{queries, b.type(c.operand(Terms)).dims.back()}}, {"axis", int64_t{0}}, {"dtype", DType::I64}}), entries);
  auto rows = [&](Expr like) { return value(repeated(b, b.emit(dim_value_op, {}, {{"dim", n}}, span), like.type().dims, {}, span)); };
  Expr found = flat(iota(begins, {queries, k}), queries * k);
  found = found * rows(found) + flat(as(value(c.result(1)), DType::I64), queries * k);
  Expr scores = put(flat(value(c.cotangent(0)), queries * k), found, queries * n);
  Expr place = take(as(places, DType::I64), posting);
  Expr inside = (place >= place.number(0)) & (place < rows(place));
  Expr ct = take(scores, take(query, entry) * rows(place) + value(clamped(b, place.id, n, span)));
  ct = choose(inside, ct, ct.number(0));
  if (c.wanted(Weights)) c.add(Weights, put(ct * take(factors, entry), posting, places.type().dims[0]).id);
  if (!c.wanted(Factors)) return;
  Expr products = ct * take(value(c.operand(Weights)), posting);
  Expr sums = products.emit(*find_op("sum_rows"), {products.id, offsets.id}, {{"axes", int64_t{1}}});
  c.add(Factors, sums.emit(reshape_op, {sums.id}, {{"dims", b.type(c.operand(Factors)).dims}}).id);
}

// ---- samples: an index of 5 terms over 7 rows ----
std::vector<Array> an_index(DType places, DType weights) {
  Array all = counting(weights, {9});
  return {integers(places, {9}, {0, 3, 6, 1, 3, 2, 5, 3, 4}), all, integers(DType::I64, {6}, {0, 3, 3, 5, 8, 9})};
}
std::vector<Sample> search_samples() {
  std::vector<Sample> out;
  for (auto [places, weights] : {std::pair{DType::I32, DType::F32}, std::pair{DType::I64, DType::F64}}) {
    std::vector<Array> in = an_index(places, weights);
    in.push_back(integers(DType::I64, {3}, {3, 0, 2}));
    in.push_back(integers(weights, {3}, {2, 1, 3}));
    out.push_back({in, {{"n", Dim(7)}, {"k", Dim(2)}}});
    in[Terms] = integers(DType::I64, {2, 2}, {0, 3, 1, 4});
    in[Factors] = integers(weights, {2, 2}, {1, 2, 3, 4});
    out.push_back({in, {{"n", Dim(7)}, {"k", Dim(1)}}});
  }
  return out;
}
std::vector<Sample> search_rows_samples() {
  std::vector<Array> in = an_index(DType::I32, DType::F32);
  in.push_back(integers(DType::I64, {4}, {0, 3, 2, 4}));
  in.push_back(integers(DType::F32, {4}, {1, 2, 3, 4}));
  in.push_back(integers(DType::I64, {3}, {0, 2, 4}));
  return {{in, {{"n", Dim(7)}, {"k", Dim(1)}}}};
}

const OpDef search_top = {
    .name = "search_top", .doc = "The k rows of a sparse matrix with the largest products with a sparse vector, by an inverted index.",
    .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Dense, .infer = infer_search, .eval = eval_search,
    .batch = BatchCustom{batch_search, flat_search}, .diff = ByRule{nullptr, reverse_search}, .code = CodeCall{}, .samples = search_samples};
const OpDef search_top_rows = {
    .name = "search_top_rows", .doc = "search_top of queries with different numbers of terms.",
    .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Dense, .infer = infer_search_rows, .eval = eval_search_rows,
    .batch = BatchCustom{batch_search_rows}, .diff = ByRule{nullptr, reverse_search}, .code = CodeCall{}, .samples = search_rows_samples};
constexpr const OpDef* rows[] = {&search_top, &search_top_rows};

}  // namespace
const Family search_rows = rows;

}  // namespace tercet
