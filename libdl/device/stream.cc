// SPDX-License-Identifier: Apache-2.0

#include "device/stream.h"

#include <utility>

#include "base/error.h"
#include "device/device.h"
#include "device/events.h"

namespace libdl {
namespace {

void check_same_device(const char* op, Device event, Device stream) {
  if (event == stream) return;
  fail(LIBDL_ERROR_DEVICE, op,
       "the event is of " + device_name(event) + ", the stream of " + device_name(stream));
}

Stream stream_object(Device device, void* native, bool owned) {
  Stream stream = Stream::take(new libdl_stream);
  stream->device = device;
  stream->native = native;
  stream->owned = owned;
  return stream;
}

}  // namespace

void destroy(libdl_event* event) {
  if (event->native) {
    const Backend& table = backend(event->device.type);
    if (event->timing)
      table.event_destroy(event->device.index, event->native);
    else
      give_event(table, event->device.index, event->native);
  }
  delete event;
}

Stream make_stream(Device device, int32_t priority) {
  check_device("stream_new", device);
  Stream stream = stream_object(device, nullptr, false);
  stream->priority = priority;
  stream->native = take_idle_stream(device, priority);
  if (!stream->native)
    check_backend(backend(device.type).stream_create(device.index, priority, &stream->native));
  stream->owned = true;
  return stream;
}

Stream default_stream(Device device) {
  check_device("stream_default", device);
  return stream_object(device, nullptr, false);
}

Stream wrap_stream(Device device, void* native) {
  check_device("stream_wrap", device);
  return stream_object(device, native, false);
}

Stream current_stream(Device device) {
  const StreamSet* const set = current_streams();
  libdl_stream* const current = set ? set->find(device) : nullptr;
  return current ? Stream::share(current) : default_stream(device);
}

void set_current_stream(const Stream& stream) {
  State& s = state();
  end_with_thread(s);
  const Streams next = Streams::take(new StreamSet);
  if (s.streams) {
    for (const Stream& other : s.streams->streams)
      if (other->device != stream->device) next->streams.push_back(other);
  }
  if (stream->native || stream->device.is_cpu()) next->streams.push_back(stream);
  exchange_current_streams(next->streams.empty() ? Streams() : next);
}

Streams exchange_current_streams(Streams next) {
  return Streams::take(std::exchange(state().streams, next.release()));
}

void* native_stream(Device device) {
  const StreamSet* const set = current_streams();
  const libdl_stream* const current = set ? set->find(device) : nullptr;
  return current ? current->native : nullptr;
}

bool query(const libdl_stream& stream) {
  int32_t done = 0;
  check_backend(
      backend(stream.device.type).stream_query(stream.device.index, stream.native, &done));
  return done != 0;
}

void synchronize(const libdl_stream& stream) {
  check_waited(stream.device, stream.native,
               backend(stream.device.type).stream_synchronize(stream.device.index, stream.native));
}

// Events of the CPU are over when they can be seen; waiting for another device's event holds the
// calling thread if the stream is the CPU's.
void wait(const libdl_stream& stream, const libdl_event& event) {
  if (!event.recorded.load(std::memory_order_acquire)) return;
  if (stream.device.is_cpu() || event.device.is_cpu()) return synchronize(event);
  if (stream.device.type != event.device.type) {
    check_same_device("stream_wait", event.device, stream.device);
  }
  check_backend(
      backend(stream.device.type).stream_wait(stream.device.index, stream.native, event.native));
}

Event make_event(Device device, bool timing) {
  check_device("event_new", device);
  Event event = Event::take(new libdl_event);
  event->device = device;
  event->timing = timing;
  const Backend& table = backend(device.type);
  check_backend(timing ? table.event_create(device.index, timing, &event->native)
                       : take_event(table, device.index, &event->native));
  return event;
}

void record(libdl_event& event, const libdl_stream& stream) {
  check_same_device("event_record", event.device, stream.device);
  check_backend(
      backend(event.device.type).event_record(event.device.index, event.native, stream.native));
  event.stream.store(stream.native, std::memory_order_relaxed);
  event.recorded.store(true, std::memory_order_release);
}

bool query(const libdl_event& event) {
  if (!event.recorded.load(std::memory_order_acquire)) return true;
  int32_t done = 0;
  check_backend(backend(event.device.type).event_query(event.device.index, event.native, &done));
  return done != 0;
}

void synchronize(const libdl_event& event) {
  if (!event.recorded.load(std::memory_order_acquire)) return;
  check_waited(event.device, event.stream.load(std::memory_order_relaxed),
               backend(event.device.type).event_synchronize(event.device.index, event.native));
}

double elapsed(const libdl_event& first, const libdl_event& second) {
  if (!(first.device == second.device))
    fail_argument(LIBDL_ERROR_DEVICE, "event_elapsed", "second",
                  "is of " + device_name(second.device),
                  "an event of " + device_name(first.device) + ", as the first");
  if (!first.timing || !second.timing) {
    fail(LIBDL_ERROR_STATE, "event_elapsed", "both events must be made with timing");
  }
  if (!first.recorded || !second.recorded) {
    fail(LIBDL_ERROR_STATE, "event_elapsed", "both events must have been recorded");
  }
  if (!query(first) || !query(second)) {
    fail(LIBDL_ERROR_STATE, "event_elapsed", "both events must be complete; synchronize first");
  }
  double milliseconds = 0;
  check_backend(backend(first.device.type)
                    .event_elapsed(first.device.index, first.native, second.native, &milliseconds));
  return milliseconds;
}

}  // namespace libdl
