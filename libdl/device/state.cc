// SPDX-License-Identifier: Apache-2.0

#include "device/state.h"

#include <new>

#include "base/contained.h"
#include "base/thread_end.h"
#include "device/stream_set.h"
#include "memory/account.h"

libdl_state::~libdl_state() {
  if (release_attachments) release_attachments(*this);
  libdl::Streams::take(streams);
  if (account) account->release();
}

namespace libdl {

constinit thread_local State* current_state = nullptr;
constinit std::atomic<OnNewState> on_new_state = nullptr;

// While one thread runs, before anything calls a host.
[[maybe_unused]] static const bool callbacks_apart = [] {
  run_apart = [](void (*run)(void*), void* arg) {
    const OutsideScope outside;
    run(arg);
  };
  return true;
}();

namespace {
// The state that a thread starts with and returns to. It ends with the thread.
alignas(State) constinit thread_local std::byte own_storage[sizeof(State)]{};
constinit thread_local State* own_state = nullptr;

void end_own() noexcept {
  State* const ending = std::exchange(own_state, nullptr);
  ending->~State();
  if (current_state == ending) current_state = nullptr;
}
constinit thread_local ThreadEnd own_end{EndOrder::kState, end_own};
}  // namespace

State& make_state() {
  const bool first = !own_state;
  if (first) own_state = new (own_storage) State;
  current_state = own_state;
  if (const OnNewState created = on_new_state.load(std::memory_order_acquire); created && first)
    created(*own_state);
  return *own_state;
}

void end_with_thread(State& state) {
  if (&state == own_state && !at_thread_end(own_end)) throw std::bad_alloc();
}

State* swap_state(State* next) {
  State* const previous = current_state;
  current_state = next;
  return previous == own_state ? nullptr : previous;
}

void destroy(State* state) { delete state; }

}  // namespace libdl
