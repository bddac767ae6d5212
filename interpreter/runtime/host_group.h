// One program on several devices of this machine.
#pragma once
#include <functional>
#include <memory>

#include "interpreter/runtime/communicator.h"

namespace tercet {

struct HostGroupOptions {
  int size = 1;
  int cores = 0;              // that the devices share; 0: those that this process may use
  double timeout_seconds = 600;   // how long a rank waits in a collective for one that still runs
};

/// Runs work(communicator) once for every rank, each on a device of its own, with this thread's memory budget, and waits
/// for all. When a rank fails, later ranks stop at their next poll or collective, and earlier ones go on until they end
/// or wait for one that is gone, as if the ranks ran one after another; what the first failing rank in order threw is
/// thrown on, after `failed(rank)`.
void run_on_host_devices(const HostGroupOptions& options, const std::function<void(Communicator&)>& work,
                         const std::function<void(int rank)>& failed = {});

/// The communicator of a group of one.
std::shared_ptr<Communicator> lone_communicator();

/// The array of every rank, in their order, combined element by element; all of one shape. The order is that of a
/// reduction over an axis of that many elements.
Array combine_arrays(ReduceKind kind, std::span<const Array> arrays);

}  // namespace tercet
