// How a session runs one body on several devices.
#include <algorithm>

#include "interpreter/engine/context.h"
#include "interpreter/runtime/host_group.h"
#include "interpreter/runtime/parallel.h"

namespace tercet {

Session::Context::Context(const Context& parent, Communicator& devices, int64_t level, bool by_reference)
    : session_(parent.session_), hot_loops_(parent.hot_loops_), keys_(&own_keys_), seen_interrupts_(parent.seen_interrupts_), deadline_(parent.deadline_), call_depth_(parent.call_depth_), call_span_(parent.call_span_), devices_(&devices), level_(level),
      by_reference_(by_reference || parent.by_reference_), around_(parent.running_lane()) {
  around_.push_back(devices.rank());
  own_keys_.set_trial(parent.keys_->trial());
}

void Session::Context::run_devices(int count, int64_t level, const DeviceWork& work, bool by_reference,
                                   std::vector<std::unique_ptr<Context>>& contexts) {
  contexts.clear();
  contexts.resize(static_cast<size_t>(count));
  auto one = [&](Communicator& devices) {
    auto context = std::make_unique<Context>(*this, devices, level, by_reference);
    Context& device = *context;
    contexts[static_cast<size_t>(devices.rank())] = std::move(context);
    Poll ask = [&] { device.poll(); };
    PollScope asked(&ask);
    work(device, devices.rank());
  };
  HostGroupOptions options{count, session_.options_.compile.threads, session_.options_.device_timeout_seconds};
  run_on_host_devices(options, one, [&](int rank) { contexts.resize(static_cast<size_t>(rank) + 1); });
}

void Session::Context::on_devices(int count, int64_t level, const DeviceWork& work, bool silent) {
  if (devices_) fail(Kind::Unsupported, call_span_, "a pmap inside a pmap", "vmap inside a pmap uses the cores of its device");
  std::vector<std::unique_ptr<Context>> contexts;
  std::optional<Diagnostic> failure;
  auto run = [&](bool by_reference) {
    try {
      run_devices(count, level, work, by_reference, contexts);
    } catch (Failure& failed) {
      failure = failed.first();
    }
  };
  try {
    run(false);
  } catch (const RepeatByReference&) {
    run(true);
  }
  // As if the devices had run one after another: those before the one that failed have printed all they had.
  for (size_t r = 0; r < contexts.size() && !silent; ++r)
    for (Line& line : contexts[r]->printed_) {
      line.lane.insert(line.lane.begin(), static_cast<int64_t>(r));
      print(std::move(line.text), std::move(line.lane));
    }
  if (failure) device_failed(std::move(*failure), static_cast<int>(contexts.size()) - 1);
  for (auto& context : contexts) keys_->take_over(context->own_keys_);
}

void Session::Context::device_failed(Diagnostic diagnostic, int rank) {
  if (diagnostic.kind != Kind::Interrupt && diagnostic.kind != Kind::Device) diagnostic.device = rank;
  diagnostic.row.insert(diagnostic.row.end(), lanes_.rbegin(), lanes_.rend());
  if (region_depth_ > 0) {   // lanes before this one come first
    LaneIndex here(diagnostic.row.rbegin(), diagnostic.row.rend());
    LaneIndex known = failure_ ? LaneIndex(failure_->row.rbegin(), failure_->row.rend()) : LaneIndex();
    if (!failure_ || std::lexicographical_compare(here.begin(), here.end(), known.begin(), known.end())) {
      failure_ = diagnostic;
      failure_at_ = lines_.size();
    }
    region_depth_ = 1;
    lanes_.clear();
    end_region();
  }
  throw Failure(std::move(diagnostic));
}

}  // namespace tercet
