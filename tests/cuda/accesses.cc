// SPDX-License-Identifier: Apache-2.0

// What work was declared to read and write, to report uses of the same bytes that nothing orders.

#include <cuda.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "machine.h"
#include "simulation.h"

namespace simulation {

namespace {

struct Declared {
  const void* first;
  size_t bytes;
  bool write;
};
// On the NULL stream of a device that the thread has not entered yet: which one it is, the work
// itself will tell.
thread_local std::vector<Declared> pending;

void note(CUstream_st& stream, Memory& memory, const Declared& what) {
  const auto begin = static_cast<size_t>(static_cast<const char*>(what.first) - memory.data);
  if (!memory.live) return report("work on memory that is free or too short");
  const size_t end = std::min(begin + what.bytes, memory.bytes);
  const size_t rest = begin + what.bytes - end;
  if (rest) {  // it may go on in memory that was mapped behind this
    Memory* const next = owner(memory.data + memory.bytes);
    if (!next) return report("work on memory that is free or too short");
    note(stream, *next, {next->data, rest, what.write});
  }
  join(stream.clock, machine().host);
  std::vector<Access> kept;
  for (const Access& before : memory.accesses) {
    const bool meet = before.begin < end && begin < before.end;
    const bool ordered = before.stream == &stream || stream.clock[before.stream] >= before.time;
    if (meet && (before.write || what.write) && !ordered)
      report("two streams use the same memory and no event orders them");
    const bool covered = begin <= before.begin && before.end <= end;
    if (!(covered && (what.write || (before.stream == &stream && !before.write))))
      kept.push_back(before);
  }
  kept.push_back({begin, end, &stream, stream.clock[&stream] + 1, what.write});
  memory.accesses = std::move(kept);
}

}  // namespace

void note_pending(CUstream_st& stream, Reach reach) {
  for (const Declared& what : std::exchange(pending, {})) {
    Memory* const memory = owner(what.first);
    if (memory && (reach == Reach::kAll || memory->context == stream.context))
      note(stream, *memory, what);
  }
}

void forget_pending() { pending.clear(); }

}  // namespace simulation

using namespace simulation;

extern "C" void libdl_simulated_access(CUstream handle, const void* first, size_t bytes,
                                       int write) {
  if (!machine().runs) return;
  const Unseen unseen;
  const std::lock_guard lock(machine().mutex);
  Memory* const memory = owner(first);
  if (!memory) return;  // the host's
  const Declared what{first, bytes, write != 0};
  if (handle && !exists(handle)) return;  // which the call itself will refuse
  if (!handle && current() != memory->context) return pending.push_back(what);
  note(stream_of(handle), *memory, what);
}
