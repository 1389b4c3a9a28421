// SPDX-License-Identifier: Apache-2.0

// The C ABI as C++ tests hold it.
#pragma once

#include <gtest/gtest.h>
#include <libdl/libdl.h>

#include <utility>

// An owning handle.
class T {
 public:
  T() = default;
  explicit T(libdl_tensor* p) : p_(p) {}
  T(const T& other) : p_(libdl_tensor_retain(other.p_)) {}
  T(T&& other) noexcept : p_(std::exchange(other.p_, nullptr)) {}
  T& operator=(T other) noexcept {
    std::swap(p_, other.p_);
    return *this;
  }
  ~T() { libdl_tensor_release(p_); }
  libdl_tensor* get() const { return p_; }
  libdl_tensor** out() { return &p_; }
  explicit operator bool() const { return p_; }

 private:
  libdl_tensor* p_ = nullptr;
};

// A call that fails fails the test.
inline void good(libdl_error* error) {
  if (!error) return;
  ADD_FAILURE() << libdl_error_get_message(error);
  libdl_error_release(error);
}
