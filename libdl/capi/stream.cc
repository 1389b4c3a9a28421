// SPDX-License-Identifier: Apache-2.0

#include <libdl/stream.h>

#include "capi/device_arguments.h"
#include "device/device.h"
#include "device/stream.h"

using namespace libdl;
using namespace libdl::capi;

static void check_stream(const char* function, const libdl_stream* stream) {
  check_kind(function, "stream", stream, Tag::kStream);
}

static void check_event(const char* function, const libdl_event* event,
                        const char* name = "event") {
  check_kind(function, name, event, Tag::kEvent);
}

libdl_error* libdl_stream_new(const libdl_device* device, int32_t priority, libdl_stream** out) {
  constexpr const char* function = "stream_new";
  return door(function, [&] {
    output(function, "out", out);
    *out = make_stream(in_device(function, device), priority).release();
  });
}

libdl_error* libdl_stream_default(const libdl_device* device, libdl_stream** out) {
  constexpr const char* function = "stream_default";
  return door(function, [&] {
    output(function, "out", out);
    *out = default_stream(in_device(function, device)).release();
  });
}

libdl_error* libdl_stream_wrap(const libdl_device* device, void* native, libdl_stream** out) {
  constexpr const char* function = "stream_wrap";
  return door(function, [&] {
    output(function, "out", out);
    *out = wrap_stream(in_device(function, device), native).release();
  });
}

libdl_error* libdl_stream_current(const libdl_device* device, libdl_stream** out) {
  constexpr const char* function = "stream_current";
  return door(function, [&] {
    output(function, "out", out);
    *out = current_stream(in_device(function, device)).release();
  });
}

libdl_error* libdl_stream_set_current(libdl_stream* stream) {
  constexpr const char* function = "stream_set_current";
  return door(function, [&] {
    check_stream(function, stream);
    set_current_stream(Stream::share(stream));
  });
}

libdl_stream* libdl_stream_retain(libdl_stream* stream) {
  if (!is_kind("libdl_stream_retain", "stream", stream, Tag::kStream)) return nullptr;
  stream->retain();
  return stream;
}

void libdl_stream_release(libdl_stream* stream) {
  if (is_kind("libdl_stream_release", "stream", stream, Tag::kStream)) Stream::take(stream);
}

libdl_error* libdl_stream_get_device(const libdl_stream* stream, libdl_device* out) {
  constexpr const char* function = "stream_get_device";
  return door(function, [&] {
    check_stream(function, stream);
    output(function, "out", out);
    *out = {stream->device.type, stream->device.index};
  });
}

libdl_error* libdl_stream_get_native(const libdl_stream* stream, void** out) {
  constexpr const char* function = "stream_get_native";
  return door(function, [&] {
    check_stream(function, stream);
    output(function, "out", out);
    *out = stream->native;
  });
}

libdl_error* libdl_stream_query(const libdl_stream* stream, libdl_bool* out) {
  constexpr const char* function = "stream_query";
  return door(function, [&] {
    check_stream(function, stream);
    output(function, "out", out);
    *out = query(*stream);
  });
}

libdl_error* libdl_stream_synchronize(const libdl_stream* stream) {
  constexpr const char* function = "stream_synchronize";
  return door(function, [&] {
    check_stream(function, stream);
    synchronize(*stream);
  });
}

libdl_error* libdl_stream_wait(const libdl_stream* stream, const libdl_event* event) {
  constexpr const char* function = "stream_wait";
  return door(function, [&] {
    check_stream(function, stream);
    check_event(function, event);
    wait(*stream, *event);
  });
}

libdl_error* libdl_event_new(const libdl_device* device, libdl_bool timing, libdl_event** out) {
  constexpr const char* function = "event_new";
  return door(function, [&] {
    output(function, "out", out);
    *out = make_event(in_device(function, device), timing != 0).release();
  });
}

libdl_event* libdl_event_retain(libdl_event* event) {
  if (!is_kind("libdl_event_retain", "event", event, Tag::kEvent)) return nullptr;
  event->retain();
  return event;
}

void libdl_event_release(libdl_event* event) {
  if (is_kind("libdl_event_release", "event", event, Tag::kEvent)) Event::take(event);
}

libdl_error* libdl_event_record(libdl_event* event, const libdl_stream* stream) {
  constexpr const char* function = "event_record";
  return door(function, [&] {
    check_event(function, event);
    check_stream(function, stream);
    record(*event, *stream);
  });
}

libdl_error* libdl_event_query(const libdl_event* event, libdl_bool* out) {
  constexpr const char* function = "event_query";
  return door(function, [&] {
    check_event(function, event);
    output(function, "out", out);
    *out = query(*event);
  });
}

libdl_error* libdl_event_synchronize(const libdl_event* event) {
  constexpr const char* function = "event_synchronize";
  return door(function, [&] {
    check_event(function, event);
    synchronize(*event);
  });
}

libdl_error* libdl_event_elapsed(const libdl_event* first, const libdl_event* second, double* out) {
  constexpr const char* function = "event_elapsed";
  return door(function, [&] {
    check_event(function, first, "first");
    check_event(function, second, "second");
    output(function, "out", out);
    *out = elapsed(*first, *second);
  });
}
