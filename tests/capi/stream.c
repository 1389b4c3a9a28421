/* SPDX-License-Identifier: Apache-2.0 */

/* Devices, streams and events as a C program sees them where only the CPU is certain. */
#include "check.h"

static const libdl_device cpu = {LIBDL_DEVICE_CPU, 0};

static void devices_are_described(void) {
  const libdl_device second = {LIBDL_DEVICE_CPU, 1};
  libdl_device_properties p;
  CHECK(libdl_device_count(LIBDL_DEVICE_CPU) == 1);
  CHECK(libdl_device_count(LIBDL_DEVICE_CUDA) >= 0);
  CHECK(libdl_device_count(-1) == 0 && libdl_device_count(99) == 0);
  memset(&p, 0, sizeof p);
  BAD_CODE(libdl_device_get_properties(&cpu, &p), OPTION);
  p.struct_size = sizeof p;
  GOOD(libdl_device_get_properties(&cpu, &p));
  CHECK(p.processors >= 1 && p.total_memory > 0 && p.free_memory > 0 && p.name[0] != 0);
  BAD(libdl_device_get_properties(&second, &p), DEVICE,
      "device_get_properties: argument 1 (device) is cpu:1, wanted cpu:0");
  GOOD(libdl_device_synchronize(NULL));
  BAD_CODE(libdl_device_synchronize(&second), DEVICE);
}

static void a_missing_backend_is_named(void) {
  const libdl_device cuda = {LIBDL_DEVICE_CUDA, 0};
  libdl_stream *stream = NULL;
  libdl_error *error;
  if (libdl_device_count(LIBDL_DEVICE_CUDA) > 0) return;
  error = libdl_stream_new(&cuda, 0, &stream);
  CHECK(error != NULL && stream == NULL);
  CHECK(libdl_error_get_code(error) == LIBDL_ERROR_BACKEND ||
        libdl_error_get_code(error) == LIBDL_ERROR_DEVICE);
  CHECK(strstr(libdl_error_get_message(error), "cuda") != NULL);
  libdl_error_release(error);
}

static void streams_and_events_work_on_the_cpu(void) {
  libdl_stream *stream, *other, *current;
  libdl_event *first, *second, *untimed;
  libdl_device device = {0, 0};
  libdl_bool done = 0;
  double milliseconds = -1;
  void *native = NULL;
  GOOD(libdl_stream_new(NULL, 0, &stream));
  GOOD(libdl_stream_new(&cpu, -1, &other));
  GOOD(libdl_stream_get_device(stream, &device));
  CHECK(device.type == LIBDL_DEVICE_CPU && device.index == 0);
  GOOD(libdl_stream_query(stream, &done));
  CHECK(done == 1);
  GOOD(libdl_stream_synchronize(stream));

  GOOD(libdl_event_new(&cpu, 1, &first));
  GOOD(libdl_event_new(&cpu, 1, &second));
  GOOD(libdl_event_new(&cpu, 0, &untimed));
  GOOD(libdl_stream_wait(stream, first));
  BAD(libdl_event_elapsed(first, second, &milliseconds), STATE,
      "event_elapsed: both events must have been recorded");
  GOOD(libdl_event_record(first, stream));
  GOOD(libdl_event_record(second, other));
  GOOD(libdl_event_record(untimed, other));
  GOOD(libdl_stream_wait(other, first));
  GOOD(libdl_event_query(first, &done));
  CHECK(done == 1);
  GOOD(libdl_event_synchronize(second));
  GOOD(libdl_event_elapsed(first, second, &milliseconds));
  CHECK(milliseconds >= 0 && milliseconds < 10000);
  BAD_CODE(libdl_event_elapsed(first, untimed, &milliseconds), STATE);

  GOOD(libdl_stream_set_current(stream));
  GOOD(libdl_stream_current(NULL, &current));
  CHECK(current == stream);
  libdl_stream_release(current);
  GOOD(libdl_stream_default(&cpu, &current));
  GOOD(libdl_stream_get_native(current, &native));
  CHECK(native == NULL);
  GOOD(libdl_stream_set_current(current));
  libdl_stream_release(current);

  GOOD(libdl_stream_wrap(&cpu, &milliseconds, &current));
  GOOD(libdl_stream_get_native(current, &native));
  CHECK(native == &milliseconds);
  libdl_stream_release(current);

  CHECK(libdl_stream_retain(stream) == stream);
  libdl_stream_release(stream);
  libdl_stream_release(stream);
  libdl_stream_release(other);
  CHECK(libdl_event_retain(first) == first);
  libdl_event_release(first);
  libdl_event_release(first);
  libdl_event_release(second);
  libdl_event_release(untimed);
  libdl_stream_release(NULL);
  libdl_event_release(NULL);
  CHECK(libdl_stream_retain(NULL) == NULL && libdl_event_retain(NULL) == NULL);
}

static void handles_are_checked(void) {
  libdl_stream *stream;
  libdl_event *event;
  libdl_bool done;
  GOOD(libdl_stream_new(NULL, 0, &stream));
  GOOD(libdl_event_new(NULL, 0, &event));
  BAD(libdl_stream_query(NULL, &done), NULL,
      "stream_query: argument 1 (stream) is NULL, wanted a stream");
  BAD(libdl_stream_query((libdl_stream *)event, &done), KIND,
      "stream_query: argument 1 (stream) is an event, wanted a stream");
  BAD(libdl_event_record(event, (libdl_stream *)event), KIND,
      "event_record: argument 2 (stream) is an event, wanted a stream");
  BAD_CODE(libdl_event_query((libdl_event *)stream, &done), KIND);
  BAD_CODE(libdl_event_elapsed(event, NULL, NULL), NULL);
  BAD(libdl_stream_new(NULL, 0, NULL), NULL,
      "stream_new: argument 3 (out) is NULL, wanted a place for the result");
  BAD_CODE(libdl_stream_set_current(NULL), NULL);
  BAD_CODE(libdl_stream_query(stream, NULL), NULL);
  libdl_event_release(event);
  libdl_stream_release(stream);
}

int main(void) {
  devices_are_described();
  a_missing_backend_is_named();
  streams_and_events_work_on_the_cpu();
  handles_are_checked();
  return failures != 0;
}
