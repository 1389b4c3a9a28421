// SPDX-License-Identifier: Apache-2.0

// The driver's functions over the host's memory. Work is queued and runs when somebody waits for
// it, or earlier by the throw of a seeded die; streams interleave as their events allow. Device
// memory is closed to the host except while such work runs, so that code which touches it directly
// dies in the test. Kernels are the plugin's own sources, run by the emulator.

#include <cuda.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "emulator.h"
#include "simulation.h"
#include "work.h"

namespace {

using Clock = std::map<const void*, int64_t>;  // how far each stream's work is known to be done

void join(Clock& into, const Clock& other) {
  for (const auto& [stream, time] : other) into[stream] = std::max(into[stream], time);
}

struct Mark {  // one record of an event
  bool done = false;
  Clock clock;
  std::chrono::steady_clock::time_point time;
};

}  // namespace

struct CUevent_st {
  std::shared_ptr<Mark> mark;
};

namespace {

struct Work {
  std::shared_ptr<Mark> awaited;  // not before this
  std::function<void()> run;
};

}  // namespace

struct CUstream_st {
  std::vector<Work> queue;
  size_t next = 0;
  Clock clock;
  bool idle() const { return next == queue.size(); }
};

namespace {

struct Access {
  size_t begin, end;
  const void* stream;
  int64_t time;
  bool write;
};

struct Memory {
  char* data;
  size_t bytes;
  bool live;
  std::vector<Access> accesses;
};

struct Machine {
  std::recursive_mutex mutex;
  std::mt19937_64 dice{1};
  int devices = 1, version = CUDA_VERSION;
  size_t total = size_t{1} << 30, used = 0;
  std::map<char*, Memory> memory;  // by its end, so that upper_bound finds the owner of an address
  std::vector<std::unique_ptr<CUstream_st>> streams;
  CUstream_st unnamed;
  Clock host;
  int64_t calls = 0, fail_at = 0, reports = 0, waits = 0;
  int fail_result = 0;
  bool fail_sticks = false, fail_late = false;
  int stuck = 0, late = 0;
  std::string report;
  std::map<std::string, int64_t> launches;
  int64_t all_launches = 0;
};

Machine& machine() {
  static Machine* const made = [] {
    auto* const m = new Machine;
    if (const char* text = std::getenv("LIBDL_SIMULATED_DEVICES")) m->devices = std::atoi(text);
    if (const char* text = std::getenv("LIBDL_SIMULATED_VERSION")) m->version = std::atoi(text);
    if (const char* text = std::getenv("LIBDL_SIMULATED_MEMORY"))
      m->total = std::strtoull(text, nullptr, 10);
    return m;
  }();
  return *made;
}

CUstream_st& stream_of(CUstream stream) { return stream ? *stream : machine().unnamed; }

// Every call passes here: counted, and failed where a test planned it.
CUresult begin() {
  Machine& m = machine();
  ++m.calls;
  if (m.stuck) return static_cast<CUresult>(m.stuck);
  if (m.fail_at != m.calls) return CUDA_SUCCESS;
  if (m.fail_sticks) m.stuck = m.fail_result;
  if (m.fail_late) {
    m.late = m.fail_result;
    return CUDA_SUCCESS;
  }
  return static_cast<CUresult>(m.fail_result);
}

CUresult end_of_wait() {
  ++machine().waits;
  return static_cast<CUresult>(std::exchange(machine().late, 0));
}

#define ENTER                                  \
  const std::lock_guard lock(machine().mutex); \
  if (const CUresult refused = begin(); refused != CUDA_SUCCESS) return refused

void report(const std::string& text) {
  Machine& m = machine();
  ++m.reports;
  m.report = text;
  if (std::getenv("LIBDL_SIMULATED_LOUD"))
    std::fprintf(stderr, "simulated driver: %s\n", text.c_str());
}

Memory* owner(const void* address) {
  auto& memory = machine().memory;
  char* const at = static_cast<char*>(const_cast<void*>(address));
  const auto found = memory.upper_bound(at);
  return found != memory.end() && found->second.data <= at ? &found->second : nullptr;
}

// -- work -----------------------------------------------------------------------------------------

void open_memory(bool open) {
  for (auto& [end, memory] : machine().memory)
    if (memory.live) mprotect(memory.data, memory.bytes, open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

bool is_ready(const CUstream_st& stream) {
  if (stream.idle()) return false;
  const Work& work = stream.queue[stream.next];
  return !work.awaited || work.awaited->done;
}

void run_one(CUstream_st& stream) {
  Work work = std::move(stream.queue[stream.next++]);
  if (stream.idle()) {
    stream.queue.clear();
    stream.next = 0;
  }
  if (!work.run) return;
  open_memory(true);
  work.run();
  open_memory(false);
}

std::vector<CUstream_st*> ready_streams() {
  std::vector<CUstream_st*> ready;
  if (is_ready(machine().unnamed)) ready.push_back(&machine().unnamed);
  for (const auto& stream : machine().streams)
    if (is_ready(*stream)) ready.push_back(stream.get());
  return ready;
}

// One step of whichever stream the die says; false if none can go on.
bool step() {
  const auto ready = ready_streams();
  if (ready.empty()) return false;
  run_one(*ready[machine().dice() % ready.size()]);
  return true;
}

template <class Done>
void run_until(const Done& done) {
  while (!done() && step()) {
  }
}

void queue(CUstream_st& stream, Work work) {
  join(stream.clock, machine().host);
  ++stream.clock[&stream];
  stream.queue.push_back(std::move(work));
  while (machine().dice() % 4 == 0 && step()) {
  }
}

}  // namespace

void run_later(CUstream stream, std::function<void()> work) {
  const std::lock_guard lock(machine().mutex);
  queue(stream_of(stream), {nullptr, std::move(work)});
}

// -- accesses -------------------------------------------------------------------------------------

extern "C" void libdl_simulated_access(CUstream handle, const void* first, size_t bytes,
                                       int write) {
  Machine& m = machine();
  const std::lock_guard lock(m.mutex);
  Memory* const memory = owner(first);
  if (!memory) return;  // the host's
  const auto begin = static_cast<size_t>(static_cast<const char*>(first) - memory->data);
  const Access now{begin, begin + bytes, &stream_of(handle), 0, write != 0};
  if (!memory->live || now.end > memory->bytes)
    return report("work on memory that is free or too short");
  CUstream_st& stream = stream_of(handle);
  join(stream.clock, m.host);
  const int64_t time = stream.clock[&stream] + 1;
  std::vector<Access> kept;
  for (const Access& before : memory->accesses) {
    const bool meet = before.begin < now.end && now.begin < before.end;
    const bool ordered = before.stream == &stream || stream.clock[before.stream] >= before.time;
    if (meet && (before.write || now.write) && !ordered)
      report("two streams use the same memory and no event orders them");
    const bool covered = now.begin <= before.begin && before.end <= now.end;
    if (!(covered && (now.write || (before.stream == now.stream && !before.write))))
      kept.push_back(before);
  }
  kept.push_back(now);
  kept.back().time = time;
  memory->accesses = std::move(kept);
}

// -- steering -------------------------------------------------------------------------------------

void libdl_simulated_reset(uint64_t seed) {
  Machine& m = machine();
  const std::lock_guard lock(m.mutex);
  m.dice.seed(seed);
  m.calls = m.fail_at = m.reports = 0;
  m.stuck = m.late = 0;
  m.report.clear();
  m.launches.clear();
  m.all_launches = 0;
}
void libdl_simulated_fail(int64_t n, int result, int sticks, int late) {
  Machine& m = machine();
  const std::lock_guard lock(m.mutex);
  m.fail_at = n > 0 ? m.calls + n : 0;
  m.fail_result = result;
  m.fail_sticks = sticks != 0;
  m.fail_late = late != 0;
  if (n <= 0) m.stuck = m.late = 0;
}
int64_t libdl_simulated_calls() { return machine().calls; }
void libdl_simulated_memory(size_t bytes) { machine().total = bytes; }
int64_t libdl_simulated_waits() { return machine().waits; }
int64_t libdl_simulated_reports() { return machine().reports; }
const char* libdl_simulated_last_report() { return machine().report.c_str(); }
int64_t libdl_simulated_launches(const char* kernel) {
  return kernel ? machine().launches[kernel] : machine().all_launches;
}

// -- the driver's functions -----------------------------------------------------------------------

CUresult cuInit(unsigned) {
  ENTER;
  return machine().devices < 0 ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int* version) {
  ENTER;
  *version = machine().version;
  return CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult result, const char** name) {
  *name = result == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_SIMULATED";
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult, const char** text) {
  *text = "as the test wanted";
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
  ENTER;
  *count = std::max(machine().devices, 0);
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  ENTER;
  if (ordinal < 0 || ordinal >= machine().devices) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char* name, int length, CUdevice) {
  ENTER;
  std::snprintf(name, static_cast<size_t>(length), "simulated device");
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  ENTER;
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = 2; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = 9; break;
    default: *value = 0;
  }
  return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem(size_t* bytes, CUdevice) {
  ENTER;
  *bytes = machine().total;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  ENTER;
  *context = reinterpret_cast<CUcontext>(static_cast<intptr_t>(device) + 1);
  return CUDA_SUCCESS;
}
static thread_local CUcontext current_context;
CUresult cuCtxGetCurrent(CUcontext* context) {
  ENTER;
  *context = current_context;
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  ENTER;
  current_context = context;
  return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() {
  ENTER;
  while (step()) {
  }
  Machine& m = machine();
  join(m.host, m.unnamed.clock);
  for (const auto& stream : m.streams) join(m.host, stream->clock);
  return end_of_wait();
}
CUresult cuMemGetInfo(size_t* free, size_t* total) {
  ENTER;
  *total = machine().total;
  *free = machine().total - machine().used;
  return CUDA_SUCCESS;
}
CUresult cuMemAlloc(CUdeviceptr* address, size_t bytes) {
  ENTER;
  Machine& m = machine();
  if (bytes > m.total - m.used) return CUDA_ERROR_OUT_OF_MEMORY;
  const size_t size = (bytes + 4095) / 4096 * 4096;
  void* const data =
      mmap(nullptr, size + 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  m.used += bytes;
  auto* const start = static_cast<char*>(data);
  m.memory.emplace(start + size, Memory{start, size, true, {}});
  *address = reinterpret_cast<CUdeviceptr>(data);
  return CUDA_SUCCESS;
}
// As on a device: waits for all work first. The addresses are never given out again, so that every
// later use is found.
CUresult cuMemFree(CUdeviceptr address) {
  ENTER;
  Memory* const memory = owner(reinterpret_cast<void*>(address));
  if (!memory || !memory->live || memory->data != reinterpret_cast<char*>(address)) {
    report("memory freed that is not there");
    return CUDA_ERROR_INVALID_VALUE;
  }
  while (step()) {
  }
  machine().used -= memory->bytes;
  memory->live = false;
  mmap(memory->data, memory->bytes, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  return CUDA_SUCCESS;
}
CUresult cuMemHostAlloc(void** data, size_t bytes, unsigned) {
  ENTER;
  *data = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  return *data ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult cuMemFreeHost(void* data) {
  ENTER;
  std::free(data);
  return CUDA_SUCCESS;
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream handle) {
  ENTER;
  auto* const target = reinterpret_cast<char*>(to);
  const auto* const source = reinterpret_cast<const char*>(from);
  if (owner(source)) {
    queue(stream_of(handle), {nullptr, [=] { std::memcpy(target, source, bytes); }});
    return CUDA_SUCCESS;
  }
  // Pageable memory is staged before the call returns.
  const auto staged = std::make_shared<std::vector<char>>(source, source + bytes);
  queue(stream_of(handle), {nullptr, [=] { std::memcpy(target, staged->data(), bytes); }});
  return CUDA_SUCCESS;
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char byte, size_t bytes, CUstream handle) {
  ENTER;
  queue(stream_of(handle),
        {nullptr, [=] { std::memset(reinterpret_cast<void*>(to), byte, bytes); }});
  return CUDA_SUCCESS;
}

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned, int) {
  ENTER;
  machine().streams.push_back(std::make_unique<CUstream_st>());
  *stream = machine().streams.back().get();
  return CUDA_SUCCESS;
}
CUresult cuStreamDestroy(CUstream handle) {
  ENTER;
  run_until([&] { return handle->idle(); });
  auto& streams = machine().streams;
  std::erase_if(streams, [&](const auto& stream) { return stream.get() == handle; });
  return CUDA_SUCCESS;
}
CUresult cuStreamQuery(CUstream handle) {
  ENTER;
  step();
  if (!stream_of(handle).idle()) return CUDA_ERROR_NOT_READY;
  join(machine().host, stream_of(handle).clock);
  return CUDA_SUCCESS;
}
CUresult cuStreamSynchronize(CUstream handle) {
  ENTER;
  CUstream_st& stream = stream_of(handle);
  run_until([&] { return stream.idle(); });
  join(machine().host, stream.clock);
  return end_of_wait();
}
CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned) {
  ENTER;
  if (!event->mark) return CUDA_SUCCESS;
  CUstream_st& stream = stream_of(handle);
  join(stream.clock, event->mark->clock);
  queue(stream, {event->mark, nullptr});
  return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent* event, unsigned) {
  ENTER;
  *event = new CUevent_st;
  return CUDA_SUCCESS;
}
CUresult cuEventDestroy(CUevent event) {
  ENTER;
  delete event;
  return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent event, CUstream handle) {
  ENTER;
  CUstream_st& stream = stream_of(handle);
  const auto mark = std::make_shared<Mark>();
  join(stream.clock, machine().host);
  mark->clock = stream.clock;
  event->mark = mark;
  queue(stream, {nullptr, [mark] {
                   mark->done = true;
                   mark->time = std::chrono::steady_clock::now();
                 }});
  return CUDA_SUCCESS;
}
CUresult cuEventQuery(CUevent event) {
  ENTER;
  step();
  if (event->mark && !event->mark->done) return CUDA_ERROR_NOT_READY;
  if (event->mark) join(machine().host, event->mark->clock);
  return CUDA_SUCCESS;
}
CUresult cuEventSynchronize(CUevent event) {
  ENTER;
  const auto mark = event->mark;
  if (mark) run_until([&] { return mark->done; });
  if (mark) join(machine().host, mark->clock);
  return end_of_wait();
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent first, CUevent second) {
  ENTER;
  *milliseconds =
      std::chrono::duration<float, std::milli>(second->mark->time - first->mark->time).count();
  return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  ENTER;
  constexpr uint32_t kFatbin = 0xBA55ED50;
  uint32_t magic;
  std::memcpy(&magic, image, sizeof magic);
  if (magic != kFatbin) return CUDA_ERROR_INVALID_IMAGE;
  *module = static_cast<CUmodule>(const_cast<void*>(image));
  return CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char* name) {
  ENTER;
  const emulator::Kernel* const kernel = emulator::find(name);
  *function = reinterpret_cast<CUfunction>(const_cast<emulator::Kernel*>(kernel));
  return kernel ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned, CUstream handle, void** arguments,
                        void**) {
  ENTER;
  const auto* const kernel = reinterpret_cast<const emulator::Kernel*>(function);
  if (gx == 0 || gy == 0 || gy > 65535 || gz != 1 || bx == 0 || bx > 1024 || by != 1 || bz != 1)
    return CUDA_ERROR_INVALID_VALUE;
  Machine& m = machine();
  ++m.launches[kernel->name];
  ++m.all_launches;
  const auto* const first = static_cast<const char*>(arguments[0]);
  const auto params = std::make_shared<std::vector<char>>(first, first + kernel->bytes);
  queue(stream_of(handle),
        {nullptr, [=] { emulator::run(*kernel, {gx, gy, 1}, {bx, 1, 1}, params->data()); }});
  return CUDA_SUCCESS;
}
