// SPDX-License-Identifier: Apache-2.0

// The simulated machine: a context per device, their memory and streams, and the work that is
// queued on these and runs when somebody waits for it, or earlier by the throw of a seeded die.
#pragma once

#include <cuda.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace emulator {
struct Kernel;
}

namespace simulation {

using Clock = std::map<const void*, int64_t>;  // how far each stream's work is known to be done
void join(Clock& into, const Clock& other);

struct Mark {  // one record of an event
  bool done = false;
  Clock clock;
  std::chrono::steady_clock::time_point time;
};

// Which memory the work reaches: a kernel that of its own device, a copy that of all.
enum class Reach : uint8_t { kNothing, kDevice, kAll };

struct Work {
  const char* name = nullptr;
  std::shared_ptr<Mark> awaited;  // not before this
  Reach reach = Reach::kNothing;
  std::function<void()> run;
  int fault = 0;  // planted: the result with which it fails instead of running
};

struct Access {
  size_t begin, end;
  const void* stream;
  int64_t time;
  bool write;
};

struct Memory {
  CUcontext context = nullptr;
  char* first = nullptr;  // of its pages
  size_t mapped = 0;
  char* data = nullptr;
  size_t bytes = 0;  // as asked for
  bool live = false;
  std::vector<bool> filled;             // its parts that were ever open
  size_t open_begin = 0, open_end = 0;  // offsets, while work runs
  Memory* opened_before = nullptr;
  std::vector<Access> accesses;
};

}  // namespace simulation

struct CUstream_st {
  explicit CUstream_st(CUcontext owner) : context(owner) {}
  const CUcontext context;
  std::vector<simulation::Work> queue;
  size_t next = 0;
  simulation::Clock clock;
  bool idle() const { return next == queue.size(); }
};

struct CUevent_st {
  const CUcontext context;
  std::shared_ptr<simulation::Mark> mark;
};

struct CUctx_st {
  explicit CUctx_st(int number) : device(number), unnamed(this) {}
  const int device;
  size_t used = 0;  // bytes of its memory
  CUstream_st unnamed;
  std::vector<std::unique_ptr<CUstream_st>> streams;
  int lost = 0;  // the result that its work failed with: every later call gives the same
  bool idle() const;
};

struct CUmod_st {
  const CUcontext context;
};

struct CUfunc_st {
  const CUcontext context;
  const emulator::Kernel* const kernel;
};

namespace simulation {

struct Machine {
  std::recursive_mutex mutex;
  std::mt19937_64 dice{1};
  int devices = 1, version = CUDA_VERSION;
  bool runs = true;                // false: calls are counted, and nothing is queued
  size_t total = size_t{1} << 30;  // bytes of each device
  std::vector<std::unique_ptr<CUctx_st>> contexts;  // by device
  std::map<char*, Memory> memory;  // by its end, so that upper_bound finds the owner of an address
  std::map<const char*, size_t> pinned;  // memory of the host: bytes by the first address
  std::set<const void*> handles;         // of streams, events, modules and functions that exist
  Clock host;
  int64_t calls = 0, fail_at = 0, reports = 0, waits = 0;
  int fail_result = 0;
  bool fail_sticks = false, fail_late = false;
  int stuck = 0, late = 0, fault = 0;
  std::string report;
  std::map<std::string, int64_t> launches, calls_of;
  int64_t all_launches = 0;
};

Machine& machine();
CUcontext& current();  // the calling thread's

// Every call passes here: counted, refused without a context that is whole if it needs one, and
// failed where a test planned it.
enum class Needs : uint8_t { kNothing, kContext };
CUresult begin(Needs needs);
// Of a function, by its name without a version.
int64_t& calls_of(std::string name);
// After work of that context was waited for.
CUresult end_of_wait(const CUctx_st& context);

// The simulation's own lock orders nothing for the thread sanitizer: a plugin must not rely on the
// driver's locks.
class Unseen {
 public:
  Unseen();
  ~Unseen();
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;
};

#define ENTER(needs)                                                        \
  const simulation::Unseen unseen;                                          \
  const std::lock_guard lock(simulation::machine().mutex);                  \
  static int64_t& calls = simulation::calls_of(__func__);                   \
  ++calls;                                                                  \
  if (const CUresult refused = simulation::begin(simulation::Needs::needs); \
      refused != CUDA_SUCCESS)                                              \
  return refused

// What a test must see: LIBDL_SIMULATED_LOUD prints it too.
void report(const std::string& text);

bool exists(const void* handle);
// Whether work can be queued there.
CUresult check_stream(CUstream stream);
// Of a handle that exists; NULL is the current context's own.
CUstream_st& stream_of(CUstream stream);

// -- memory
// What lies at an address that work must not touch, in words.
std::string position_of(const void* address, CUcontext context);
Memory* owner(const void* address);
// Between these, work may touch the context's memory; NULL: that of all. Parts are opened as they
// are touched.
void open_memory(CUcontext context);
bool touched(const void* address);
void close_memory();

// -- declared accesses
void note_pending(CUstream_st& stream, Reach reach);
void forget_pending();  // of work that is not queued

// -- work
void queue(CUstream_st& stream, Work work);
// One step of whichever stream the die says; false if none can go on.
bool step();
template <class Done>
void run_until(const Done& done) {
  while (!done() && step()) {
  }
}

}  // namespace simulation
