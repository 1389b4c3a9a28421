// SPDX-License-Identifier: Apache-2.0

#include "backends/cuda/stream.h"

#include "backends/cuda/driver.h"
#include "backends/cuda/host.h"

namespace libdl::cuda {

namespace {

CUstream queue(void* stream) { return static_cast<CUstream>(stream); }
CUevent mark(void* event) { return static_cast<CUevent>(event); }

libdl_error* query_result(int32_t device, CUresult result, int32_t* done, const char* doing) {
  *done = result != CUDA_ERROR_NOT_READY;
  return *done ? checked(device, result, doing) : nullptr;
}

}  // namespace

// -- streams --------------------------------------------------------------------------------------

libdl_error* stream_create(int32_t device, int32_t priority, void** stream) {
  const Entered in(device);
  if (in.error) return in.error;
  CUstream created = nullptr;
  libdl_error* const error = checked(
      device,
      opened_driver().cuStreamCreateWithPriority(&created, CU_STREAM_NON_BLOCKING, priority),
      "creating a stream");
  *stream = created;
  return error;
}

void stream_destroy(int32_t device, void* stream) {
  const Entered in(device);
  if (in.error) return host().release(in.error);
  opened_driver().cuStreamDestroy(queue(stream));
}

libdl_error* stream_query(int32_t device, void* stream, int32_t* done) {
  const Entered in(device);
  if (in.error) return in.error;
  return query_result(device, opened_driver().cuStreamQuery(queue(stream)), done,
                      "asking a stream");
}

libdl_error* stream_synchronize(int32_t device, void* stream) {
  const Entered in(device);
  if (in.error) return in.error;
  return checked(device, opened_driver().cuStreamSynchronize(queue(stream)),
                 "waiting for a stream");
}

libdl_error* device_synchronize(int32_t device) {
  const Entered in(device);
  if (in.error) return in.error;
  return checked(device, opened_driver().cuCtxSynchronize(), "waiting for the device");
}

// -- events ---------------------------------------------------------------------------------------

libdl_error* event_create(int32_t device, int32_t timing, void** event) {
  const Entered in(device);
  if (in.error) return in.error;
  CUevent created = nullptr;
  libdl_error* const error = checked(
      device,
      opened_driver().cuEventCreate(&created, timing ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING),
      "creating an event");
  *event = created;
  return error;
}

void event_destroy(int32_t device, void* event) {
  const Entered in(device);
  if (in.error) return host().release(in.error);
  opened_driver().cuEventDestroy(mark(event));
}

libdl_error* event_record(int32_t device, void* event, void* stream) {
  const Entered in(device);
  if (in.error) return in.error;
  return checked(device, opened_driver().cuEventRecord(mark(event), queue(stream)),
                 "recording an event");
}

libdl_error* stream_wait(int32_t device, void* stream, void* event) {
  const Entered in(device);
  if (in.error) return in.error;
  return checked(device, opened_driver().cuStreamWaitEvent(queue(stream), mark(event), 0),
                 "queueing a wait");
}

libdl_error* event_query(int32_t device, void* event, int32_t* done) {
  const Entered in(device);
  if (in.error) return in.error;
  return query_result(device, opened_driver().cuEventQuery(mark(event)), done, "asking an event");
}

libdl_error* event_synchronize(int32_t device, void* event) {
  const Entered in(device);
  if (in.error) return in.error;
  return checked(device, opened_driver().cuEventSynchronize(mark(event)), "waiting for an event");
}

libdl_error* event_elapsed(int32_t device, void* first, void* second, double* milliseconds) {
  const Entered in(device);
  if (in.error) return in.error;
  float passed = 0;
  libdl_error* const error =
      checked(device, opened_driver().cuEventElapsedTime(&passed, mark(first), mark(second)),
              "reading two events");
  *milliseconds = passed;
  return error;
}

}  // namespace libdl::cuda
