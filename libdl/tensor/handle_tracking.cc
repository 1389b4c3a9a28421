// SPDX-License-Identifier: Apache-2.0

#include "tensor/handle_tracking.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <unordered_map>

#include "base/handle.h"
#include "base/lock.h"
#include "base/slab.h"
#include "base/uncancelled.h"
#include "runtime/log.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/tensor_cell.h"

namespace libdl::tracking {

namespace {

constexpr size_t kRemembered = 1 << 16;  // retired cells: 8 MB

struct Origin {
  const char* function;
  bool alive;
};

struct Register {
  Mutex mutex;
  std::unordered_map<const libdl_tensor*, Origin> tensors;
  std::deque<libdl_tensor*> retired;
};
// Never destroyed: tensors may go after static destructors have run.
Register& all() {
  static Register* const instance = new Register;
  return *instance;
}

constinit thread_local const char* function = "";

std::string hexadecimal(const void* handle) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", handle);
  return text;
}

void tell_living() {
  const std::string text = living();
  if (!text.empty()) tell("tensors that were never released:\n" + text);
}

}  // namespace

// Other files' variables may not be set yet.
[[maybe_unused]] static const bool report_at_exit =
    environment_tracks_handles() && std::atexit(tell_living) == 0;

void tell(const std::string& text) {
  const Uncancelled whole;
  if (logging())
    log(LogLevel::kError, "%s", text.c_str());
  else
    std::fprintf(stderr, "libdl: %s\n", text.c_str());
}

void entered(const char* name) noexcept { function = name; }

void created(const libdl_tensor* tensor) noexcept {
  try {
    Register& r = all();
    const std::lock_guard lock(r.mutex);
    r.tensors[tensor] = {function, true};
  } catch (...) {
    // No memory to remember it in: its release will be reported.
  }
}

void retired(libdl_tensor* tensor) noexcept {
  tensor->flags = kEmptied;  // whoever uses it gets an error
  tensor->storage = nullptr;
  tensor->meta = nullptr;
  tensor->dims = tensor->inline_dims;
  tensor->ndim = 0;
  tensor->numel = 0;
  libdl_tensor* oldest = nullptr;
  try {
    Register& r = all();
    const std::lock_guard lock(r.mutex);
    r.retired.push_back(tensor);
    if (const auto at = r.tensors.find(tensor); at != r.tensors.end()) at->second.alive = false;
    if (r.retired.size() > kRemembered) {
      oldest = r.retired.front();
      r.retired.pop_front();
      r.tensors.erase(oldest);
    }
  } catch (...) {
    oldest = tensor;
  }
  if (oldest) slab_free(oldest, sizeof(libdl_tensor));
}

bool may_be_released(const libdl_tensor* tensor) noexcept {
  try {
    Register& r = all();
    const char* maker = nullptr;
    {
      const std::lock_guard lock(r.mutex);
      const auto at = r.tensors.find(tensor);
      if (at != r.tensors.end() && at->second.alive) return true;
      if (at != r.tensors.end()) maker = at->second.function;
    }
    tell("libdl_tensor_release: " + hexadecimal(tensor) +
         (maker ? ", a tensor made by " + std::string(maker) + ", was released before"
                : " is no tensor that lives") +
         ": nothing was done");
  } catch (...) {
    // No memory to say so.
  }
  return false;
}

bool was_released(const libdl_tensor* tensor) noexcept {
  Register& r = all();
  const std::lock_guard lock(r.mutex);
  const auto at = r.tensors.find(tensor);
  return at != r.tensors.end() && !at->second.alive;
}

std::string living() {
  std::map<std::string, int64_t> lines;
  Register& r = all();
  {
    const std::lock_guard lock(r.mutex);
    for (const auto& [tensor, origin] : r.tensors) {
      if (!origin.alive) continue;
      const std::string maker = *origin.function ? origin.function : "the library";
      const bool known = tensor->dtype != Dtype::kNone;
      ++lines[maker + ": " + (known ? name_of(tensor->dtype) : "no dtype") + " " +
              to_string(Dims(tensor->dims, tensor->ndim))];
    }
  }
  std::string text;
  for (const auto& [line, count] : lines) text += std::to_string(count) + " x " + line + "\n";
  return text;
}

}  // namespace libdl::tracking
