// SPDX-License-Identifier: Apache-2.0

#include "device/state.h"

#include "device/stream.h"

libdl_state::~libdl_state() {
  if (release_attachments) release_attachments(*this);
  for (libdl_stream* current : stream) libdl::Stream::take(current);
}

namespace libdl {

constinit thread_local State* current_state = nullptr;

namespace {
// The state that a thread starts with, and that it comes back to. Ends with the thread.
struct Own {
  State state;
  ~Own() {
    if (current_state == &state) current_state = nullptr;
  }
};
Own& own() {
  static thread_local Own instance;
  return instance;
}
}  // namespace

State& make_state() {
  current_state = &own().state;
  return *current_state;
}

State* swap_state(State* next) {
  State* const previous = current_state;
  current_state = next;
  return previous == &own().state ? nullptr : previous;
}

void destroy(State* state) { delete state; }

}  // namespace libdl
