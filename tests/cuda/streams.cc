// SPDX-License-Identifier: Apache-2.0

// The driver's streams and events. What another context than the current one may be used for is as
// CUDA's programming guide says under "Stream and Event Behavior".

#include <cuda.h>

#include <chrono>
#include <memory>
#include <vector>

#include "machine.h"

using namespace simulation;

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned, int) {
  ENTER(kContext);
  auto& streams = current()->streams;
  streams.push_back(std::make_unique<CUstream_st>(current()));
  *stream = streams.back().get();
  machine().handles.insert(*stream);
  return CUDA_SUCCESS;
}
CUresult cuStreamDestroy(CUstream handle) {
  ENTER(kContext);
  if (!exists(handle)) return CUDA_ERROR_INVALID_HANDLE;
  run_until([&] { return handle->idle(); });
  machine().handles.erase(handle);
  std::erase_if(handle->context->streams,
                [&](const auto& stream) { return stream.get() == handle; });
  return CUDA_SUCCESS;
}
CUresult cuStreamQuery(CUstream handle) {
  ENTER(kContext);
  if (const CUresult refused = check_stream(handle)) return refused;
  step();
  if (!stream_of(handle).idle()) return CUDA_ERROR_NOT_READY;
  join(machine().host, stream_of(handle).clock);
  return static_cast<CUresult>(stream_of(handle).context->lost);
}
CUresult cuStreamSynchronize(CUstream handle) {
  ENTER(kContext);
  if (const CUresult refused = check_stream(handle)) return refused;
  CUstream_st& stream = stream_of(handle);
  run_until([&] { return stream.idle(); });
  join(machine().host, stream.clock);
  return end_of_wait(*stream.context);
}
CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned) {
  ENTER(kContext);
  if (!exists(event)) return CUDA_ERROR_INVALID_HANDLE;
  if (const CUresult refused = check_stream(handle)) return refused;
  if (!event->mark) return CUDA_SUCCESS;
  CUstream_st& stream = stream_of(handle);
  join(stream.clock, event->mark->clock);
  queue(stream, {"wait", event->mark, Reach::kNothing, nullptr});
  return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent* event, unsigned) {
  ENTER(kContext);
  *event = new CUevent_st{current(), nullptr};
  machine().handles.insert(*event);
  return CUDA_SUCCESS;
}
CUresult cuEventDestroy(CUevent event) {
  ENTER(kContext);
  if (machine().handles.erase(event) == 0) return CUDA_ERROR_INVALID_HANDLE;
  delete event;
  return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent event, CUstream handle) {
  ENTER(kContext);
  if (!exists(event)) return CUDA_ERROR_INVALID_HANDLE;
  if (const CUresult refused = check_stream(handle)) return refused;
  CUstream_st& stream = stream_of(handle);
  if (event->context != stream.context) return CUDA_ERROR_INVALID_HANDLE;
  const auto mark = std::make_shared<Mark>();
  join(stream.clock, machine().host);
  mark->clock = stream.clock;
  event->mark = mark;
  queue(stream, {"record", nullptr, Reach::kNothing, [mark] {
                   mark->done = true;
                   mark->time = std::chrono::steady_clock::now();
                 }});
  return CUDA_SUCCESS;
}
CUresult cuEventQuery(CUevent event) {
  ENTER(kContext);
  if (!exists(event)) return CUDA_ERROR_INVALID_HANDLE;
  step();
  if (event->mark && !event->mark->done) return CUDA_ERROR_NOT_READY;
  if (event->mark) join(machine().host, event->mark->clock);
  return static_cast<CUresult>(event->context->lost);
}
CUresult cuEventSynchronize(CUevent event) {
  ENTER(kContext);
  if (!exists(event)) return CUDA_ERROR_INVALID_HANDLE;
  const auto mark = event->mark;
  if (mark) run_until([&] { return mark->done; });
  if (mark) join(machine().host, mark->clock);
  return end_of_wait(*event->context);
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent first, CUevent second) {
  ENTER(kContext);
  if (!exists(first) || !exists(second) || first->context != second->context || !first->mark ||
      !second->mark)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!first->mark->done || !second->mark->done) return CUDA_ERROR_NOT_READY;
  *milliseconds =
      std::chrono::duration<float, std::milli>(second->mark->time - first->mark->time).count();
  return CUDA_SUCCESS;
}
