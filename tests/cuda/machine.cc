// SPDX-License-Identifier: Apache-2.0

#include "machine.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "fault.h"
#include "work.h"

bool CUctx_st::idle() const {
  return unnamed.idle() &&
         std::all_of(streams.begin(), streams.end(), [](const auto& s) { return s->idle(); });
}

extern "C" {  // the thread sanitizer's, where it is
[[gnu::weak]] void AnnotateIgnoreSyncBegin(const char* file, int line);
[[gnu::weak]] void AnnotateIgnoreSyncEnd(const char* file, int line);
[[gnu::weak]] void AnnotateIgnoreReadsBegin(const char* file, int line);
[[gnu::weak]] void AnnotateIgnoreReadsEnd(const char* file, int line);
[[gnu::weak]] void AnnotateIgnoreWritesBegin(const char* file, int line);
[[gnu::weak]] void AnnotateIgnoreWritesEnd(const char* file, int line);
}

namespace simulation {

Unseen::Unseen() {
  if (!AnnotateIgnoreSyncBegin) return;
  AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
}
Unseen::~Unseen() {
  if (!AnnotateIgnoreSyncBegin) return;
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
}

void join(Clock& into, const Clock& other) {
  for (const auto& [stream, time] : other) into[stream] = std::max(into[stream], time);
}

Machine& machine() {
  static Machine* const made = [] {
    auto* const m = new Machine;
    if (const char* text = std::getenv("LIBDL_SIMULATED_DEVICES")) m->devices = std::atoi(text);
    if (const char* text = std::getenv("LIBDL_SIMULATED_VERSION")) m->version = std::atoi(text);
    if (const char* text = std::getenv("LIBDL_SIMULATED_MEMORY"))
      m->total = std::strtoull(text, nullptr, 10);
    m->runs = !std::getenv("LIBDL_SIMULATED_NOOP");
    if (const char* text = std::getenv("LIBDL_SIMULATED_SEED"))
      m->dice.seed(std::strtoull(text, nullptr, 10));
    for (int device = 0; device < m->devices; ++device)
      m->contexts.push_back(std::make_unique<CUctx_st>(device));
    return m;
  }();
  return *made;
}

CUcontext& current() {
  static thread_local CUcontext context = nullptr;
  return context;
}

int64_t& calls_of(std::string name) {
  const size_t version = name.rfind("_v");
  if (version != std::string::npos) name.resize(version);
  return machine().calls_of[name];
}

namespace {

CUresult refusal(Needs needs) {
  Machine& m = machine();
  ++m.calls;
  if (m.stuck) return static_cast<CUresult>(m.stuck);
  if (needs == Needs::kContext) {
    if (!current()) return CUDA_ERROR_INVALID_CONTEXT;
    if (current()->lost) return static_cast<CUresult>(current()->lost);
  }
  if (m.fail_at != m.calls) return CUDA_SUCCESS;
  if (m.fail_sticks) m.stuck = m.fail_result;
  if (m.fail_late) {
    m.late = m.fail_result;
    return CUDA_SUCCESS;
  }
  return static_cast<CUresult>(m.fail_result);
}

}  // namespace

CUresult begin(Needs needs) {
  const CUresult result = refusal(needs);
  if (result != CUDA_SUCCESS) forget_pending();
  return result;
}

CUresult end_of_wait(const CUctx_st& context) {
  ++machine().waits;
  if (context.lost) return static_cast<CUresult>(context.lost);
  return static_cast<CUresult>(std::exchange(machine().late, 0));
}

void report(const std::string& text) {
  Machine& m = machine();
  ++m.reports;
  m.report = text;
  if (std::getenv("LIBDL_SIMULATED_LOUD"))
    std::fprintf(stderr, "simulated driver: %s\n", text.c_str());
}

bool exists(const void* handle) { return machine().handles.count(handle) != 0; }

CUresult check_stream(CUstream stream) {
  if (stream && !exists(stream)) return CUDA_ERROR_INVALID_HANDLE;
  return static_cast<CUresult>(stream_of(stream).context->lost);
}

CUstream_st& stream_of(CUstream stream) { return stream ? *stream : current()->unnamed; }

// -- work -----------------------------------------------------------------------------------------

namespace {

bool is_ready(const CUstream_st& stream) {
  if (stream.idle()) return false;
  const Work& work = stream.queue[stream.next];
  return !work.awaited || work.awaited->done;
}

// Its queued work never runs; only events are still recorded, for other contexts may wait for them.
void lose(CUctx_st& context, int result) {
  context.lost = result;
  const auto drop = [](CUstream_st& stream) {
    for (size_t i = stream.next; i < stream.queue.size(); ++i)
      if (stream.queue[i].reach != Reach::kNothing) stream.queue[i].run = nullptr;
  };
  drop(context.unnamed);
  for (const auto& stream : context.streams) drop(*stream);
}

void report_fault(const Work& work, const emulator::Fault& fault, CUcontext context) {
  const char* text = nullptr;
  cuGetErrorString(static_cast<CUresult>(fault.result), &text);
  std::string all = std::string(work.name) + ": " + (text ? text : "unknown");
  if (fault.result == CUDA_ERROR_ILLEGAL_ADDRESS) all += ": " + position_of(fault.address, context);
  if (fault.why) all += std::string(": ") + fault.why;
  report(all);
}

void run_one(CUstream_st& stream) {
  const Work work = std::move(stream.queue[stream.next++]);
  if (stream.idle()) {
    stream.queue.clear();
    stream.next = 0;
  }
  if (!work.run) return;
  if (work.fault) return lose(*stream.context, work.fault);
  if (work.reach == Reach::kNothing) return work.run();
  open_memory(work.reach == Reach::kAll ? nullptr : stream.context);
  const emulator::Fault fault = emulator::guarded(work.run, touched);
  close_memory();
  if (!fault.result) return;
  report_fault(work, fault, stream.context);
  lose(*stream.context, fault.result);
}

std::vector<CUstream_st*> ready_streams() {
  std::vector<CUstream_st*> ready;
  for (const auto& context : machine().contexts) {
    if (is_ready(context->unnamed)) ready.push_back(&context->unnamed);
    for (const auto& stream : context->streams)
      if (is_ready(*stream)) ready.push_back(stream.get());
  }
  return ready;
}

}  // namespace

bool step() {
  const auto ready = ready_streams();
  if (ready.empty()) return false;
  run_one(*ready[machine().dice() % ready.size()]);
  return true;
}

void queue(CUstream_st& stream, Work work) {
  if (!machine().runs) {
    if (work.reach == Reach::kNothing && work.run) work.run();
    return;
  }
  note_pending(stream, work.reach);
  join(stream.clock, machine().host);
  ++stream.clock[&stream];
  stream.queue.push_back(std::move(work));
  while (machine().dice() % 4 == 0 && step()) {
  }
}

}  // namespace simulation

void run_later(CUstream stream, std::function<void()> work) {
  using namespace simulation;
  const Unseen unseen;
  const std::lock_guard lock(machine().mutex);
  queue(stream_of(stream), {"product", nullptr, Reach::kDevice, std::move(work)});
}
