// What tests of functions share: an evaluator of their own, equality of arrays, arrays as text.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "interpreter/engine/evaluate.h"
#include "interpreter/ir/op_def.h"
#include "interpreter/runtime/host_group.h"

namespace tercet::test {

/// Evaluates by reference, keeps what is printed, throws what is reported with its lane.
class ReferenceContext : public EvalContext {
 public:
  std::string printed;
  std::vector<Array> run_body(const Function& body, std::vector<Array> arguments) override {
    return evaluate(body, *this, std::move(arguments));
  }
  std::vector<Array> call(const Op& op, std::vector<Array> arguments) override {
    ReferenceContext own;
    own.keys_ = keys_;
    std::vector<Array> out = evaluate(*op.bodies[0], own, std::move(arguments));
    printed += own.printed;
    return out;
  }
  void report(Diagnostic d, LaneIndex lane) override {
    d.row.assign(lane.rbegin(), lane.rend());
    throw Failure(std::move(d));
  }
  void print(std::string text, LaneIndex) override { printed += text + "\n"; }
  void begin_region() override {}
  void end_region() override {}
  void push_lane(int64_t) override {}
  void pop_lane() override {}
  LaneIndex running_lane() const override { return {}; }
  KeyLedger& keys() override { return *keys_; }
  /// A group of this device alone, unless it is one of several.
  Communicator* communicator(int64_t) override {
    if (!devices_ && !alone_) alone_ = lone_communicator();
    return devices_ ? devices_ : alone_.get();
  }
  void on_devices(int count, int64_t, const DeviceWork& work, bool) override {
    run_on_host_devices({count, 0, 60}, [&](Communicator& devices) {
      ReferenceContext own;
      own.devices_ = &devices;
      work(own, devices.rank());
    });
  }
  void poll() override {}

 private:
  Communicator* devices_ = nullptr;
  std::shared_ptr<Communicator> alone_;
  std::shared_ptr<KeyLedger> keys_ = std::make_shared<KeyLedger>();   // a context's uses of keys end with it
};

/// Bit for bit, but that all NaNs are one value. `tolerance`: floats may differ by this much of the larger of 1 and the
/// value.
inline bool same_elements(const Array& a, const Array& b, double tolerance = 0) {
  if (a.dtype != b.dtype || !(a.shape == b.shape)) return false;
  if (a.ragged || b.ragged) {
    if (!a.ragged || !b.ragged || a.ragged->offsets != b.ragged->offsets) return false;
  }
  return visit_dtype(a.dtype, [&]<class T>() -> bool {
    int64_t n = a.ragged ? a.ragged->offsets.back().back() : a.count();
    for (int64_t i = 0; i < n; ++i) {
      const T &x = a.data<T>()[i], &y = b.data<T>()[i];
      if constexpr (std::is_same_v<T, StringRef>) {
        if (x.view() != y.view()) return false;
      } else if constexpr (std::is_same_v<T, KeyBits>) {
        if (x.high != y.high || x.low != y.low) return false;
      } else if (std::memcmp(&x, &y, sizeof(T)) != 0) {
        auto p = static_cast<double>(Compute<T>::load(x)), q = static_cast<double>(Compute<T>::load(y));
        bool close = tolerance > 0 && std::abs(p - q) <= tolerance * std::max(1.0, std::abs(q));
        if (!(p != p && q != q) && !close) return false;
      }
    }
    return true;
  });
}

inline std::string show(const Array& a) {
  std::string out = std::string(name_of(a.dtype)) + to_string(a.shape);
  if (a.dtype > DType::F64 || a.ragged) return out;
  Array flat = a.reshaped({a.count()});
  for (int64_t i = 0; i < std::min<int64_t>(a.count(), 40); ++i)
    out += is_float(a.dtype) ? fmt::format(" {}", flat.row(i).as_double()) : fmt::format(" {}", flat.row(i).as_int());
  return out;
}

}  // namespace tercet::test
