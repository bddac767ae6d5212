// Reading of arguments: what a lowering needs to know while elaborating.
#include <fmt/format.h>

#include <algorithm>

#include "interpreter/elaborate/elaborator.h"
#include "interpreter/ops/rows.h"
#include "interpreter/runtime/print.h"

namespace tercet {

void require_static(const Leaf& x, const std::string& message, Span span) {
  if (!x.frame || !x.frame->isolated()) return;
  if (auto parameter = x.frame->parameter(x.id)) throw StaticNeeded{*parameter, message, span};
}

int64_t Elaborator::static_int(const Sym& value, const char* what) {
  const Leaf* x = value.leaf();
  if (!x || x->type.rank() != 0 || !is_int(x->type.dtype)) error(Kind::Type, fmt::format("{} takes an integer, and this is {}", what, describe(value)));
  if (x->constant) return x->constant->integer;
  std::string message = fmt::format("{} must be known before the program runs", what);
  require_static(*x, message, span_);
  error(Kind::Value, message, "write it as a number, or as a name whose value no loop changes");
}

bool Elaborator::static_bool(const Sym& value, const char* what) {
  const Leaf* x = value.leaf();
  if (x && x->type.dtype == DType::Bool) require_static(*x, fmt::format("{} must be known before the program runs", what), span_);
  if (!x || !x->constant || x->type.dtype != DType::Bool) error(Kind::Type, fmt::format("{} takes true or false, and this is {}", what, describe(value)));
  return x->constant->integer != 0;
}

namespace {

/// A value that is known while elaborating: a constant, or texts put together from up to `parts_left` constants.
std::optional<Array> known_value(const Builder& b, ValueId id, int& parts_left) {
  const Op* op = b.definition(id);
  if (!op || parts_left-- <= 0) return std::nullopt;
  if (op->def == &constant_op) return op->attrs.get<Array>("value");
  bool joins = op->def == find_op("format_text");
  if (!joins && op->def != find_op("concat_text")) return std::nullopt;
  std::vector<Array> parts;
  for (ValueId v : op->inputs) {
    std::optional<Array> part = known_value(b, v, parts_left);
    if (!part || part->rank() != 0) return std::nullopt;
    parts.push_back(std::move(*part));
  }
  std::string text, marks = joins ? op->attrs.get<std::string>("text") : std::string(parts.size(), '\1');
  size_t next = 0;
  for (char c : marks) text += c == '\1' ? format(parts[next++]) : c == '\2' ? format_inside(parts[next++]) : std::string(1, c);
  std::string_view view = text;
  return Array::strings({&view, 1}).reshaped({});
}

}  // namespace

std::optional<std::string> Elaborator::known_string(const Leaf& x) const {
  if (!x.frame || x.type.dtype != DType::Str || x.type.rank() != 0) return std::nullopt;
  int most_parts = 1000;
  std::optional<Array> value = known_value(x.frame->builder(), x.id, most_parts);
  if (!value) return std::nullopt;
  return std::string(value->data<StringRef>()->view());
}

std::string Elaborator::static_string(const Sym& value, const char* what) {
  const Leaf* x = value.leaf();
  std::optional<std::string> text = x ? known_string(*x) : std::nullopt;
  if (!text) error(Kind::Type, fmt::format("{} takes a string written in place, and this is {}", what, describe(value)));
  return *text;
}

Dim Elaborator::size(const Sym& value, const char* what) {
  const Leaf* x = value.leaf();
  if (!x || x->type.rank() != 0 || !is_int(x->type.dtype)) error(Kind::Type, fmt::format("{} takes an integer, and this is {}", what, describe(value)));
  Dim size = frame_->size_of(*x, span_), positive = positive_part(size);
  if (positive == size) return size;
  if (size.constant() && certain()) error(Kind::Value, fmt::format("{} must not be negative, and this is {}", what, size.text()));
  emit_effect(check_dims_op, {}, {{"left", size}, {"right", Dim(0)}, {"relation", std::string("at_least")}, {"is_value", true},
                                  {"message", fmt::format("{} must not be negative, and this is {{left}}", what)}});
  return positive;
}

std::vector<Dim> Elaborator::shape(const Sym& value, const char* what) {
  std::vector<Dim> out;
  if (auto* t = value.as<Sym::Tuple>()) {
    for (const Sym& e : t->elements) out.push_back(size(e, what));
    return out;
  }
  const Leaf* x = value.leaf();
  if (!x) error(Kind::Type, fmt::format("{} takes a size or a tuple of sizes, and this is {}", what, describe(value)));
  if (x->type.rank() == 0) return {size(value, what)};
  if (x->type.rank() != 1 || !x->type.dims[0].constant()) error(Kind::Type, fmt::format("{} takes a size or a tuple of sizes, and this is {}", what, describe(value)));
  const Op* op = x->frame ? x->frame->builder().definition(x->id) : nullptr;
  for (int64_t i = 0; i < *x->type.dims[0].constant(); ++i) {
    if (op && op->def == &constant_op) {
      Array all = op->attrs.get<Array>("value");
      out.push_back(size(int_leaf(all.row(i).as_int()), what));
    } else {
      out.push_back(size(slice_rows(*x, Dim(i), Dim(-1)), what));
    }
  }
  return out;
}

int64_t Elaborator::axis(const Sym& value, int rank, const char* what) {
  int64_t k = static_int(value, what);
  if (k < -rank || k >= rank)
    error(Kind::Shape, rank == 0 ? "a scalar has no axes" : fmt::format("axis {} is out of range for {} axes", k, rank), rank ? fmt::format("valid are {} to {}", -rank, rank - 1) : "");
  return k < 0 ? k + rank : k;
}

std::vector<int64_t> Elaborator::axes(const Sym& value, int rank) {
  std::vector<int64_t> out;
  if (value.is_none()) {
    for (int k = 0; k < rank; ++k) out.push_back(k);
    return out;
  }
  if (auto* t = value.as<Sym::Tuple>())
    for (const Sym& e : t->elements) out.push_back(axis(e, rank, "`axis`"));
  else out.push_back(axis(value, rank, "`axis`"));
  std::sort(out.begin(), out.end());
  if (std::adjacent_find(out.begin(), out.end()) != out.end()) error(Kind::Value, "an axis is given twice");
  return out;
}

}  // namespace tercet
