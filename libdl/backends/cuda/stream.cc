// SPDX-License-Identifier: Apache-2.0

#include "backends/cuda/stream.h"

#include <atomic>
#include <cstring>
#include <mutex>
#include <string>

#include "backends/cuda/driver.h"
#include "backends/cuda/host.h"

namespace libdl::cuda {

namespace {

CUstream queue(void* stream) { return static_cast<CUstream>(stream); }
CUevent mark(void* event) { return static_cast<CUevent>(event); }

using kernels::cuda::Complaint;

std::atomic<Complaint*> complaints[kMostDevices];
std::mutex making;

// The work that the caller waited for is done, so its complaint, if any, is complete.
libdl_error* told(int32_t device) {
  Complaint* const c = complaints[device].load(std::memory_order_acquire);
  if (!c || !*static_cast<volatile int32_t*>(&c->set)) return nullptr;
  const std::string text =
      std::string(c->op) + ": an index on cuda:" + std::to_string(device) + " is " +
      std::to_string(c->value) + " at element " + std::to_string(c->position) + ", wanted " +
      (c->size ? std::to_string(-c->size) + " to " + std::to_string(c->size - 1)
               : std::string("none: the dimension has size 0"));
  std::memset(c, 0, sizeof *c);
  return host().error(LIBDL_ERROR_INDEX, text.c_str());
}

libdl_error* waited(int32_t device, CUresult result, const char* doing) {
  if (libdl_error* error = checked(result, doing)) return error;
  return told(device);
}

libdl_error* asked(CUresult result, int32_t* done, const char* doing) {
  *done = result != CUDA_ERROR_NOT_READY;
  return *done ? checked(result, doing) : nullptr;
}

}  // namespace

Complaint* complaint_of(int32_t device, libdl_error** error) {
  if (Complaint* const made = complaints[device].load(std::memory_order_acquire)) return made;
  const std::lock_guard lock(making);
  if (Complaint* const made = complaints[device].load(std::memory_order_acquire)) return made;
  void* memory = nullptr;
  *error =
      checked(opened_driver().cuMemHostAlloc(&memory, sizeof(Complaint),
                                             CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP),
              "allocating pinned memory");
  if (*error) return nullptr;
  std::memset(memory, 0, sizeof(Complaint));
  complaints[device].store(static_cast<Complaint*>(memory), std::memory_order_release);
  return static_cast<Complaint*>(memory);
}

// -- streams --------------------------------------------------------------------------------------

libdl_error* stream_create(int32_t device, int32_t priority, void** stream) {
  if (libdl_error* error = enter(device)) return error;
  CUstream made = nullptr;
  libdl_error* const error =
      checked(opened_driver().cuStreamCreateWithPriority(&made, CU_STREAM_NON_BLOCKING, priority),
              "creating a stream");
  *stream = made;
  return error;
}

void stream_destroy(int32_t device, void* stream) {
  if (libdl_error* error = enter(device)) return host().release(error);
  opened_driver().cuStreamDestroy(queue(stream));
}

libdl_error* stream_query(int32_t device, void* stream, int32_t* done) {
  if (libdl_error* error = enter(device)) return error;
  return asked(opened_driver().cuStreamQuery(queue(stream)), done, "asking a stream");
}

libdl_error* stream_synchronize(int32_t device, void* stream) {
  if (libdl_error* error = enter(device)) return error;
  return waited(device, opened_driver().cuStreamSynchronize(queue(stream)), "waiting for a stream");
}

libdl_error* device_synchronize(int32_t device) {
  if (libdl_error* error = enter(device)) return error;
  return waited(device, opened_driver().cuCtxSynchronize(), "waiting for the device");
}

// -- events ---------------------------------------------------------------------------------------

libdl_error* event_create(int32_t device, int32_t timing, void** event) {
  if (libdl_error* error = enter(device)) return error;
  CUevent made = nullptr;
  libdl_error* const error = checked(
      opened_driver().cuEventCreate(&made, timing ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING),
      "creating an event");
  *event = made;
  return error;
}

void event_destroy(int32_t device, void* event) {
  if (libdl_error* error = enter(device)) return host().release(error);
  opened_driver().cuEventDestroy(mark(event));
}

libdl_error* event_record(int32_t device, void* event, void* stream) {
  if (libdl_error* error = enter(device)) return error;
  return checked(opened_driver().cuEventRecord(mark(event), queue(stream)), "recording an event");
}

libdl_error* stream_wait(int32_t device, void* stream, void* event) {
  if (libdl_error* error = enter(device)) return error;
  return checked(opened_driver().cuStreamWaitEvent(queue(stream), mark(event), 0),
                 "queueing a wait");
}

libdl_error* event_query(int32_t device, void* event, int32_t* done) {
  if (libdl_error* error = enter(device)) return error;
  return asked(opened_driver().cuEventQuery(mark(event)), done, "asking an event");
}

libdl_error* event_synchronize(int32_t device, void* event) {
  if (libdl_error* error = enter(device)) return error;
  return waited(device, opened_driver().cuEventSynchronize(mark(event)), "waiting for an event");
}

libdl_error* event_elapsed(int32_t device, void* first, void* second, double* milliseconds) {
  if (libdl_error* error = enter(device)) return error;
  float passed = 0;
  libdl_error* const error = checked(
      opened_driver().cuEventElapsedTime(&passed, mark(first), mark(second)), "reading two events");
  *milliseconds = passed;
  return error;
}

}  // namespace libdl::cuda
