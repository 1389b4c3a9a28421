// SPDX-License-Identifier: Apache-2.0

// Streams order a device's work; events mark points in them. The CPU has both, so that programs
// need no special case for it: its work is done when a call returns.
#pragma once

#include <atomic>

#include "base/handle.h"
#include "device/state.h"
#include "device/stream_set.h"

struct libdl_event : libdl::Handle<libdl_event> {
  libdl_event() : Handle(libdl::Tag::kEvent) {}
  libdl::Device device;
  void* native = nullptr;
  bool timing = false;
  std::atomic<void*> stream{nullptr};  // on which it was recorded last
  std::atomic<bool> recorded{false};
};

namespace libdl {

using Event = Ref<libdl_event>;

void destroy(libdl_event* event);

// priority: lower numbers go first; the default is 0.
Stream make_stream(Device device, int32_t priority = 0);
Stream default_stream(Device device);

// A foreign stream: its owner keeps it alive longer than this object and destroys it.
Stream wrap_stream(Device device, void* native);

// The calling state's stream of a device: the one set with set_current_stream, else the default.
Stream current_stream(Device device);
void set_current_stream(const Stream& stream);
void* native_stream(Device device);  // current_stream's handle, without a reference

inline StreamSet* current_streams() { return state().streams; }  // borrowed
Streams exchange_current_streams(Streams next);                  // returns the previous ones

bool query(const libdl_stream& stream);
void synchronize(const libdl_stream& stream);
// The stream's later work waits for the event; an event that was never recorded causes no wait.
void wait(const libdl_stream& stream, const libdl_event& event);

Event make_event(Device device, bool timing);
void record(libdl_event& event, const libdl_stream& stream);
bool query(const libdl_event& event);
void synchronize(const libdl_event& event);
// Milliseconds between two recorded events, both created with timing and complete.
double elapsed(const libdl_event& first, const libdl_event& second);

}  // namespace libdl
