// How the driver calls the machine code of a whole loop (plan/loop_code.h).
#pragma once
#include <cstdint>

namespace tercet::codegen {

struct LoopContext {
  void** pointers;           // of each pointer; in and out
  int64_t* cells;            // in: the operands' cells; out: the results'. An element lies in the first bytes of each
  const int64_t* sizes;      // of all parts
  const int64_t* bytes;      // of the array at each pointer
  const int64_t* lengths;    // of each scan, by number
  const int64_t* costs;      // of a step of each repetition, by number: what it takes off the budget
  int64_t (*poll)(LoopContext*);   // asked when the budget is used up inside an inner loop; gives a new one, or 0: stop
  int64_t budget;            // in; out: what is left
  int64_t done;              // steps of the outermost loop; in and out
  int64_t leave;             // not 0: as if the budget were used up, before the next step of the outermost loop
};

/// Done: it has ended. Again: the budget is used up, or `leave` set, between two steps of the outermost loop, and a call goes on from there, maybe
/// of other code for the same loop. Failed: a check did not hold. Stopped: poll gave 0.
enum class LoopEnd : int64_t { Done, Again, Failed, Stopped };

using LoopFunction = LoopEnd (*)(LoopContext*);

}  // namespace tercet::codegen
