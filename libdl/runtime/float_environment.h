// SPDX-License-Identifier: Apache-2.0

// The floating-point environment in which kernels run, whatever the host has set on its thread:
// round to nearest, no flush to zero, no traps. Otherwise the same call could give different bits.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace libdl {

class DefaultFloatEnvironment {
 public:
  DefaultFloatEnvironment() : saved_(read()), differs_((saved_ & ~kFlags) != kDefault) {
    if (differs_) write(kDefault);
  }
  ~DefaultFloatEnvironment() {
    if (differs_) write(saved_);
  }
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;

 private:
#if defined(__x86_64__)
  static constexpr uint64_t kDefault = 0x1F80;  // MXCSR: all exceptions masked
  static constexpr uint64_t kFlags = 0x3F;      // exception flags raised so far
  static uint64_t read() { return _mm_getcsr(); }
  static void write(uint64_t word) { _mm_setcsr(static_cast<unsigned>(word)); }
#elif defined(__aarch64__)
  static constexpr uint64_t kDefault = 0;  // FPCR
  static constexpr uint64_t kFlags = 0;
  static uint64_t read() {
    uint64_t word;
    asm volatile("mrs %0, fpcr" : "=r"(word));
    return word;
  }
  static void write(uint64_t word) { asm volatile("msr fpcr, %0" ::"r"(word)); }
#else
#error "libdl: write the floating-point environment of this processor"
#endif

  const uint64_t saved_;
  const bool differs_;
};

}  // namespace libdl
