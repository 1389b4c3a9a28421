// SPDX-License-Identifier: Apache-2.0

// A launch as its kernel sees it: what runs the chunks, where memory comes from, and on which
// device and stream it is queued.
#pragma once

#include <cstdint>

namespace libdl::kernels {

struct Context;

// What every launch on a kind of device offers.
struct Host {
  int32_t device_type;  // libdl_device's
  // Runs body(arg, first, last) over [0, chunks) in any order on any threads. Returns true when all
  // are done, or false if the host interrupted. The number of chunks must depend on sizes only, so
  // that the bits do not depend on the number of threads.
  bool (*parallel)(Context& context, int64_t chunks,
                   void (*body)(void* arg, int64_t first, int64_t last), void* arg);
  // Memory of the launch's device from its caching allocator, aligned to 64 bytes, for work on the
  // launch's stream. NULL on failure, whose error is then in the context. A negative size means
  // that the computation of the size overflowed.
  void* (*allocate)(Context& context, int64_t bytes);
  void (*deallocate)(Context& context, void* data, int64_t bytes);
  // On how many threads `parallel` may run chunks. For cuts that change no bit alone.
  int32_t (*threads)();
};

struct Context {
  const Host* host;
  void* stream = nullptr;  // native; NULL on the CPU
  int32_t device = 0;      // index among those of its type
  int32_t stopped = 0;     // becomes 1 if the host interrupts or `allocate` fails
  void* error = nullptr;   // what went wrong: a libdl_error that the launcher takes over

  bool parallel(int64_t chunks, void (*body)(void* arg, int64_t first, int64_t last), void* arg) {
    return host->parallel(*this, chunks, body, arg);
  }
};

// Memory for one launch. On a device it may be freed before the queued work has run: whatever uses
// it next is queued after that work.
class Scratch {
 public:
  Scratch(Context& context, int64_t bytes)
      : context_(context),
        data_(bytes && !context.error ? context.host->allocate(context, bytes) : nullptr),
        bytes_(bytes) {}
  ~Scratch() {
    if (data_) context_.host->deallocate(context_, data_, bytes_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  void* data() const { return data_; }
  // The kernel must then return at once: the launcher raises the error in the context.
  bool failed() const { return bytes_ && !data_; }

 private:
  Context& context_;
  void* const data_;
  const int64_t bytes_;
};

}  // namespace libdl::kernels
