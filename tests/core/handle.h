// SPDX-License-Identifier: Apache-2.0

// The C ABI as C++ tests hold it.
#pragma once

#include <gtest/gtest.h>
#include <libdl/libdl.h>

#include <cstdint>
#include <utility>

// How many calls this thread has made through T and good().
inline thread_local int64_t calls_made = 0;

// An owning handle.
class T {
 public:
  T() = default;
  explicit T(libdl_tensor* p) : p_(p) { ++calls_made; }  // the call that gave p
  T(const T& other) : p_(libdl_tensor_retain(other.p_)) { ++calls_made; }
  T(T&& other) noexcept : p_(std::exchange(other.p_, nullptr)) {}
  T& operator=(T other) noexcept {
    std::swap(p_, other.p_);
    return *this;
  }
  ~T() {
    libdl_tensor_release(p_);
    calls_made += p_ != nullptr;
  }
  libdl_tensor* get() const { return p_; }
  libdl_tensor** out() { return &p_; }
  explicit operator bool() const { return p_; }

 private:
  libdl_tensor* p_ = nullptr;
};

// A call that fails fails the test.
inline void good(libdl_error* error) {
  ++calls_made;
  if (!error) return;
  ADD_FAILURE() << libdl_error_get_message(error);
  libdl_error_release(error);
}
