// Equality of values bit for bit, but that all NaNs are one value.
#pragma once
#include <optional>

#include "interpreter/elaborate/tree.h"

namespace tercet::random_programs {

inline bool same_elements(const Array& a, const Array& b) {
  if (a.dtype != b.dtype || !(a.shape == b.shape)) return false;
  return visit_dtype(a.dtype, [&]<class T>() -> bool {
    for (int64_t i = 0, n = a.count(); i < n; ++i) {
      const T &x = a.data<T>()[i], &y = b.data<T>()[i];
      if constexpr (std::is_same_v<T, StringRef>) {
        if (x.view() != y.view()) return false;
      } else if constexpr (std::is_same_v<T, KeyBits>) {
        if (x.high != y.high || x.low != y.low) return false;
      } else {
        auto p = Compute<T>::load(x), q = Compute<T>::load(y);
        if (std::memcmp(&x, &y, sizeof(T)) != 0 && !(p != p && q != q)) return false;
      }
    }
    return true;
  });
}

inline bool same_value(const Value& a, const Value& b) {
  std::vector<Array> x, y;
  collect_leaves(a, x);
  collect_leaves(b, y);
  bool same = a.node.index() == b.node.index() && x.size() == y.size();
  for (size_t i = 0; same && i < x.size(); ++i) same = same_elements(x[i], y[i]);
  return same;
}

/// Values of lanes with a lane axis in front; nullopt when their shapes differ or they are not made of arrays.
inline std::optional<Value> stacked(const std::vector<Value>& lanes) {
  if (!lanes[0].leaf()) {
    std::vector<std::vector<Array>> leaves(lanes.size());
    for (size_t i = 0; i < lanes.size(); ++i) collect_leaves(lanes[i], leaves[i]);
    bool good = true;
    size_t at = 0;
    Value out = map_leaves<Array>(lanes[0], [&](const Array& first) {
      std::vector<Value> column;
      for (const auto& l : leaves) column.push_back(at < l.size() ? l[at] : first);
      ++at;
      auto all = stacked(column);
      good = good && all;
      return all ? *all->leaf() : first;
    });
    return good && (lanes[0].as<Value::Tuple>() || lanes[0].as<Value::Record>()) ? std::optional(out) : std::nullopt;
  }
  const Array* first = lanes[0].leaf();
  if (!first || first->dtype == DType::Str) return std::nullopt;
  Shape shape = first->shape;
  shape.insert(0, static_cast<int64_t>(lanes.size()));
  Array out = Array::make(first->dtype, shape);
  for (size_t i = 0; i < lanes.size(); ++i) {
    const Array* a = lanes[i].leaf();
    if (!a || a->dtype != first->dtype || !(a->shape == first->shape)) return std::nullopt;
    auto bytes = static_cast<size_t>(a->bytes());
    if (bytes) std::memcpy(out.raw() + i * bytes, a->raw(), bytes);
  }
  return Value(out);
}

}  // namespace tercet::random_programs
