// SPDX-License-Identifier: Apache-2.0

// For tests of CPU kernels: arrays with views, contexts that run chunks in different orders and
// sizes, and every instruction set of the machine.
#pragma once

#include <gtest/gtest.h>
#include <libdl/dtype.h>

#include <complex>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "kernels/args.h"
#include "kernels/cpu/simd/isa.h"
#include "tests/core/kernel_context.h"

namespace libdl::kernels::test {

enum class Truth : uint8_t { kFalse, kTrue };

template <class T>
constexpr int32_t dtype_of() {
  if constexpr (std::is_same_v<T, float>) return LIBDL_DTYPE_FLOAT32;
  if constexpr (std::is_same_v<T, double>) return LIBDL_DTYPE_FLOAT64;
  if constexpr (std::is_same_v<T, int64_t>) return LIBDL_DTYPE_INT64;
  if constexpr (std::is_same_v<T, int32_t>) return LIBDL_DTYPE_INT32;
  if constexpr (std::is_same_v<T, int16_t>) return LIBDL_DTYPE_INT16;
  if constexpr (std::is_same_v<T, int8_t>) return LIBDL_DTYPE_INT8;
  if constexpr (std::is_same_v<T, uint8_t>) return LIBDL_DTYPE_UINT8;
  if constexpr (std::is_same_v<T, uint64_t>) return LIBDL_DTYPE_UINT64;
  if constexpr (std::is_same_v<T, uint16_t>) return LIBDL_DTYPE_UINT16;
  if constexpr (std::is_same_v<T, Truth>) return LIBDL_DTYPE_BOOL;
  if constexpr (std::is_same_v<T, std::complex<float>>) return LIBDL_DTYPE_COMPLEX64;
  if constexpr (std::is_same_v<T, std::complex<double>>) return LIBDL_DTYPE_COMPLEX128;
}

// An array and the view of it; the view may be permuted or strided after.
template <class T>
struct Array {
  std::vector<int64_t> sizes, strides;
  std::vector<T> data;
  int64_t offset = 0;
  int32_t dtype = dtype_of<T>();

  explicit Array(std::vector<int64_t> shape, T value = T{}) : sizes(std::move(shape)) {
    int64_t n = 1;
    strides.resize(sizes.size());
    for (size_t d = sizes.size(); d-- > 0;) {
      strides[d] = n;
      n *= sizes[d];
    }
    data.assign(static_cast<size_t>(n), value);
  }
  int64_t numel() const {
    int64_t n = 1;
    for (int64_t s : sizes) n *= s;
    return n;
  }
  View view() const {
    return {const_cast<T*>(data.data()) + offset, sizes.data(), strides.data(),
            static_cast<int32_t>(sizes.size()), dtype};
  }
  // The i-th element of the view in row-major order.
  T& operator[](int64_t i) {
    int64_t at = offset;
    for (size_t d = sizes.size(); d-- > 0;) {
      at += i % sizes[d] * strides[d];
      i /= sizes[d];
    }
    return data[static_cast<size_t>(at)];
  }
  T operator[](int64_t i) const { return (*const_cast<Array*>(this))[i]; }
  void swap_dims(size_t a, size_t b) {
    std::swap(sizes[a], sizes[b]);
    std::swap(strides[a], strides[b]);
  }
  // The same values in memory `gap` apart, with a few elements before.
  Array spread(int64_t gap) const {
    Array copy(sizes);
    for (int64_t& s : copy.strides) s *= gap;
    copy.offset = 3;
    copy.data.assign(static_cast<size_t>(numel() * gap + 3), T{});
    for (int64_t i = 0; i < numel(); ++i) copy[i] = (*this)[i];
    return copy;
  }
  // The same values with the last two dimensions laid out the other way round.
  Array crossed() const {
    const size_t n = sizes.size();
    Array copy(*this);
    std::swap(copy.sizes[n - 1], copy.sizes[n - 2]);
    copy = Array(copy.sizes);
    copy.swap_dims(n - 1, n - 2);
    for (int64_t i = 0; i < numel(); ++i) copy[i] = (*this)[i];
    return copy;
  }
};

template <class T = float>
Array<T> normal(std::vector<int64_t> shape, unsigned seed = 1, double scale = 1) {
  Array<T> a(std::move(shape));
  std::mt19937 random(seed);
  std::normal_distribution<double> draw(0, scale);
  for (T& x : a.data) {
    if constexpr (std::is_same_v<T, std::complex<float>> ||
                  std::is_same_v<T, std::complex<double>>) {
      const double re = draw(random);
      x = T(std::complex<double>(re, draw(random)));
    } else {
      x = static_cast<T>(draw(random));
    }
  }
  return a;
}

// All at once; halves, the second first; one by one, odd ones first; two threads.
inline std::vector<Context> contexts() {
  const auto halves = [](Context&, int64_t n, Body body, void* arg) {
    if (n > 1) body(arg, n / 2, n);
    body(arg, 0, n > 1 ? n / 2 : n);
    return true;
  };
  const auto single = [](Context&, int64_t n, Body body, void* arg) {
    for (int64_t i = 1; i < n; i += 2) body(arg, i, i + 1);
    for (int64_t i = 0; i < n; i += 2) body(arg, i, i + 1);
    return true;
  };
  const auto threads = [](Context&, int64_t n, Body body, void* arg) {
    std::thread other([=] { body(arg, n / 3, n); });
    body(arg, 0, n / 3);
    other.join();
    return true;
  };
  return {plain_context(), context_with(halves), context_with(single), context_with(threads)};
}

// Runs f with every instruction set that the machine has.
inline void for_isas(const std::function<void(cpu::Isa)>& f) {
  const cpu::Isa before = cpu::isa();
  for (int i = 0; i < cpu::kIsas; ++i) {
    const cpu::Isa isa = static_cast<cpu::Isa>(i);
    if (!cpu::set_isa(isa)) continue;
    SCOPED_TRACE(cpu::isa_name(isa));
    f(isa);
  }
  cpu::set_isa(before);
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

}  // namespace libdl::kernels::test
