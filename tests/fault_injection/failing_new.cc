// SPDX-License-Identifier: Apache-2.0

#include "tests/fault_injection/failing_new.h"

#include <cstddef>
#include <cstdlib>
#include <new>

#include "base/slab.h"

namespace {

struct Plan {
  bool armed = false, all = false, failed = false;
  int64_t left = 0;
};
constinit thread_local Plan plan;

bool fails() {
  if (!plan.armed) return false;
  if (plan.left > 0) {
    --plan.left;
    return false;
  }
  if (plan.failed && !plan.all) return false;
  return plan.failed = true;
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (fails()) return nullptr;
  if (alignment <= alignof(std::max_align_t)) return std::malloc(bytes ? bytes : 1);
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  if (void* const p = allocate(bytes, alignment)) return p;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t n) { return allocate_or_throw(n, 1); }
void* operator new[](std::size_t n) { return allocate_or_throw(n, 1); }
void* operator new(std::size_t n, std::align_val_t a) {
  return allocate_or_throw(n, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t n, std::align_val_t a) {
  return allocate_or_throw(n, static_cast<std::size_t>(a));
}
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return allocate(n, 1); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return allocate(n, 1); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace failures {

static Where where_armed;
static int64_t failed_so_far = 0;

int64_t failed_allocations() { return failed_so_far; }

void arm(Where where, int64_t n, bool all) {
  where_armed = where;
  if (where == Where::kNew)
    plan = {true, all, false, n};
  else
    libdl_memory_fail_after(n, all);
}

bool disarm() {
  // The library counts down to the failure, and below once it happened.
  const bool reached =
      where_armed == Where::kNew ? plan.failed : libdl::slab::fail_countdown.load() <= 0;
  plan = {};
  failed_so_far += reached;
  libdl_memory_fail_after(-1, 0);
  return reached;
}

}  // namespace failures
