// The row of the operation table: everything Tercet knows about one operation. Rows live in interpreter/ops/, one
// file a family; every transformation is a reading of them. No field has a default: a forgotten rule does not compile.
#pragma once
#include <functional>
#include <span>
#include <variant>
#include <vector>

#include "interpreter/ir/differentiation.h"
#include "interpreter/ir/function.h"
#include "interpreter/runtime/reduce_kind.h"

namespace tercet {

class EvalContext;   // interpreter/ir/eval.h
class BatchContext;  // interpreter/ir/batching.h
struct BatchedValue;

// ---- meaning on arrays ----
/// Operands may be moved from: one that is unique() may be overwritten and returned.
using EvalRule = std::vector<Array> (*)(EvalContext&, const Function&, const Op&, std::span<Array> operands);
using InferRule = std::vector<Type> (*)(const InferInput&);

// ---- how a call in the language reaches the row ----
/// What happens to the dtypes of the arguments of a public elementwise function before the row sees them.
enum class Promotion : uint8_t {
  Common,          // joined as jax-semantics.md section 0; bools become i32
  CommonOrBool,    // joined; bools stay bool
  CommonFloat,     // joined, and integers become the default float
  CommonInt,       // joined; floats are an error
  Keep             // each as it is
};
/// Callable by name with these parameters ("x", "y"); operands are broadcast.
struct Public { const char* params; Promotion promotion; };
/// Reached through syntax or a builtin's lowering only.
struct Internal {};
using Surface = std::variant<Public, Internal>;

// ---- effects ----
/// Pure: may be dropped, moved, computed twice. Endless: pure, but it may never end, so it stays where nobody needs its
/// results. Check: may fail (a bounds check). Output: prints, asserts, reads files.
enum class Effect : uint8_t { Pure, Endless, Check, Output };

// ---- ragged operands ----
/// Dense: only arrays whose rows have one length. Whole: the row's own rules read offsets too.
enum class RaggedRule : uint8_t { Dense, Whole };

// ---- batching ----
using BatchFn = std::vector<BatchedValue> (*)(BatchContext&, const Function&, const Op&,
                                              std::span<const BatchedValue> operands);
struct BatchElementwise {};                 // lanes are one more axis in front
/// `flat`: the rule where a size differs between lanes (packed operands, batching.h); without one the whole function runs
/// lane by lane there.
struct BatchCustom { BatchFn rule; BatchFn flat = nullptr; };
struct BatchByLoop {};                      // one lane at a time
using Batch = std::variant<BatchElementwise, BatchCustom, BatchByLoop>;

// ---- differentiation ----
/// Elementwise with one result. A zero cotangent gives zero whatever the partial derivative is.
struct ByPartials { PartialFn partial; };
/// Linear in the active operands together; `transpose` does not look at their values.
struct Linear { ReverseFn transpose; };
/// Linear in each operand alone.
struct Multilinear { ReverseFn transpose; };
/// Anything else. `forward` null: the operation itself.
struct ByRule { ForwardFn forward; ReverseFn reverse; };
/// Its results have no derivative, or it is zero everywhere.
struct NotDifferentiable { const char* why; };
struct NotYet { const char* why; };
using Diff = std::variant<ByPartials, Linear, Multilinear, ByRule, NotDifferentiable, NotYet>;

// ---- compiled code: the KIND of a rule, one emitter a kind ----
/// Lane by lane over equal sizes. f16/bf16 operands arrive as F32 and the result is rounded by the emitter.
struct CodeElementwise { Num (*emit)(std::span<const Num> operands, const Op& op, DType result); };
/// A strided view of operand 0 (transpose, broadcast, slice, …).
struct View {
  std::vector<Dim> sizes;      // of the view
  std::vector<Dim> strides;    // in elements of the underlying array, one per size; 0 repeats
  Dim offset;                  // elements
};
/// `in` describes operand 0; returns the same memory seen as the result. `sizes_equal`/by-value size 1: a stride of a
/// broadcast axis is `stride * (size is not 1)`, written by the helper broadcast_stride(in size, in stride, out size).
struct CodeView { View (*apply)(const Function&, const Op&, const View& in); };
/// The same elements in row-major order under other sizes (attr "dims"): free where the operand is contiguous.
struct CodeReshape {};
/// Reduction over attr "axes" in the defined order.
struct CodeReduce { ReduceKind kind; };
/// Cumulative left fold along attr "axis".
struct CodeScan { ReduceKind kind; };
struct CodeIota {};              // value = index along attr "axis" (result dtype)
struct CodeConstant {};          // attr "value"
struct CodeGather {};            // interpreter/ops/indexing.cpp
struct CodeWindow {};
struct CodeScatter {};
struct CodeConcat {};
struct CodeContract {};
/// Effect::Check rows: which lanes fail. `operands` are the op's without `live`, all of equal sizes (f16/bf16 as F32);
/// `sizes` are its Dim attributes in the order of attrs.items(), as I64. Null: the back end calls the row's eval.
struct CodeCheck { Num (*failed)(std::span<const Num> operands, std::span<const Num> sizes) = nullptr; };
struct CodeSize {};              // moves between sizes and scalar values
struct CodeControl {};           // cond, while, for, map, call
struct CodeCall {};              // the row's eval on whole arrays
/// Other operations in its place before anything is planned.
struct CodeExpand { std::vector<ValueId> (*expand)(Builder&, const Op&); };
using Code = std::variant<CodeElementwise, CodeView, CodeReshape, CodeReduce, CodeScan, CodeIota, CodeConstant, CodeGather, CodeWindow,
                          CodeScatter, CodeConcat, CodeContract, CodeCheck, CodeSize, CodeControl, CodeCall, CodeExpand>;

// ---- samples ----
/// One application for the property tests. Operand i has dims[i] (small numbers mean symbols in the tests) and dtype.
struct Sample {
  std::vector<Array> operands;
  Attrs attrs;
};
using Samples = std::vector<Sample> (*)();

struct OpDef {
  const char* name;
  const char* doc;             // one line, for docs/ops.md and :help
  Surface surface;
  Effect effect;
  RaggedRule ragged;
  InferRule infer;
  EvalRule eval;
  Batch batch;
  Diff diff;
  Code code;
  Samples samples;             // nullptr only for Effect::Output rows and CodeControl, which have tests of their own
};

/// The whole table, sorted by name; defined in interpreter/ops/table.cpp.
std::span<const OpDef* const> op_table();
/// The row of that name, or nullptr.
const OpDef* find_op(std::string_view name);

}  // namespace tercet
