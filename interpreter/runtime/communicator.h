// How devices that run one program meet: collectives over all ranks of a group. Every rank calls the same ones in the same
// order. MPI and accelerators implement the same interface; a group of host devices is host_group.h.
#pragma once
#include <span>
#include <utility>

#include "base/source.h"
#include "interpreter/runtime/array.h"
#include "interpreter/runtime/reduce_kind.h"

namespace tercet {

/// Which collective of the program it is: for messages, and to notice when ranks come to different ones.
struct Meeting {
  const char* name = "";   // "psum"
  Span span;
};

class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Every rank gets the elements of all ranks combined, in the order of reduce.h with the rank as index: one result for
  /// a number of ranks. kind: Sum, Prod, Max, Min. Error `device` when a rank comes with another shape or dtype, does not
  /// come any more, or not in time.
  virtual Array all_reduce(const Meeting& meeting, ReduceKind kind, Array x) = 0;
  /// [size, …]: the arrays of all ranks in their order.
  virtual Array all_gather(const Meeting& meeting, Array x) = 0;
  /// x is [size, …]; this rank gets row `rank` of all, combined.
  virtual Array reduce_scatter(const Meeting& meeting, ReduceKind kind, Array x) = 0;
  /// x is [size, …]: row i goes to rank i. Row j of the result is what rank j had for this one.
  virtual Array all_to_all(const Meeting& meeting, Array x) = 0;
  /// For every pair (from, to) rank `to` gets the array of rank `from`; a rank that is nobody's `to` gets zeros.
  virtual Array permute(const Meeting& meeting, Array x, std::span<const std::pair<int64_t, int64_t>> pairs) = 0;

  /// Throws when this rank is to stop because another one failed. Cheap; asked at every poll.
  virtual void poll() = 0;
};

/// Thrown on a rank that stops because of another one, whose failure is the one that counts.
struct RankStopped {};

}  // namespace tercet
