// SPDX-License-Identifier: Apache-2.0

#include "ops/primitive/recording.h"

#include <unistd.h>

namespace libdl {

namespace {
enum : uint64_t { kOpen = 1, kShapes = 2 };
// kOpen and kShapes, and above them a number that no recording before it had.
constinit std::atomic<uint64_t> recording = 0;
constinit std::atomic<Recorder*> joined = nullptr;  // a reference
constinit std::atomic<pid_t> opened_by = 0;
}  // namespace

bool recording_is_open() { return recording.load() & kOpen; }

bool open_recording(bool with_shapes) {
  uint64_t before = recording.load();
  if (before & kOpen) return false;
  const uint64_t opened = (before | kOpen | kShapes) + 1;  // the next number, and neither bit
  if (!recording.compare_exchange_strong(before, opened | (with_shapes ? kOpen | kShapes : kOpen)))
    return false;
  opened_by.store(getpid());
  return true;
}

void join_recording(State& state) {
  const uint64_t seen = recording.load();
  if (!(seen & kOpen) || interceptor_runs(state)) return;
  drop_closed_interceptors(state);
  if (find_recorder(state)) return;
  Ref<Recorder> recorder = Ref<Recorder>::take(new Recorder(seen & kShapes, true));
  interceptors_can_be_closed.store(true, std::memory_order_relaxed);
  put_recorder(state, Ref<Recorder>::share(recorder.get()));
  Recorder* const listed = recorder.release();
  Recorder* next = joined.load();
  do {
    listed->next_joined.release();
    listed->next_joined = Ref<Recorder>::take(next);
  } while (!joined.compare_exchange_weak(next, listed));
  // If the recording was closed before this thread was in the list, nobody else closes it.
  if (recording.load() != seen) find_recorder(state)->close();
}

Ref<Recorder> close_recording() {
  recording.fetch_and(~uint64_t{kOpen});
  Ref<Recorder> first = Ref<Recorder>::take(joined.exchange(nullptr));
  // In a forked process their threads are gone, in the middle of something perhaps.
  if (opened_by.load() != getpid()) return {};
  for (Recorder* at = first.get(); at; at = at->next_joined.get()) at->close();
  return first;
}

void end_recording() {
  Ref<Recorder> joined = close_recording();
  while (joined) joined = std::move(joined->next_joined);  // a destructor would nest
}

}  // namespace libdl
