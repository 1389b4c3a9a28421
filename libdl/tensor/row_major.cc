// SPDX-License-Identifier: Apache-2.0

#include "tensor/row_major.h"

#include <cstring>
#include <memory>

#include "device/device.h"
#include "device/meta.h"
#include "device/transfer.h"

namespace libdl {

namespace {

// The tensor's geometry with neighbouring dimensions merged, strides in bytes. The innermost
// dimension, if it has no gaps, has become a run.
struct Walk {
  Shape sizes, strides;
  int64_t run;
};

Walk walk_of(const Tensor& x) {
  const int64_t element = size_of(x.dtype());
  Shape sizes, strides;  // innermost first
  for (int d = x.ndim(); d-- > 0;) {
    if (x.size(d) == 1) continue;
    const int64_t stride = x.stride(d) * element;
    if (!sizes.empty() && stride == strides.back() * sizes.back()) {
      sizes.back() *= x.size(d);
    } else {
      sizes.push_back(x.size(d));
      strides.push_back(stride);
    }
  }
  Walk walk{{}, {}, element};
  size_t first = 0;
  if (!sizes.empty() && strides[0] == element) {
    walk.run = sizes[0] * element;
    first = 1;
  }
  for (size_t d = sizes.size(); d-- > first;) {
    walk.sizes.push_back(sizes[d]);
    walk.strides.push_back(strides[d]);
  }
  return walk;
}

// Calls move(strided, flat) for each run, in row-major order.
template <class Move>
void each_run(const Walk& walk, char* strided, char* flat, const Move& move) {
  const size_t outer = walk.sizes.empty() ? 0 : walk.sizes.size() - 1;
  const int64_t inner = walk.sizes.empty() ? 1 : walk.sizes[outer];
  const int64_t step = walk.sizes.empty() ? 0 : walk.strides[outer];
  Shape at(outer, 0);
  for (;;) {
    char* p = strided;
    for (int64_t i = 0; i < inner; ++i, p += step, flat += walk.run) move(p, flat);
    size_t d = outer;
    for (; d > 0; --d) {
      strided += walk.strides[d - 1];
      if (++at[d - 1] < walk.sizes[d - 1]) break;
      strided -= walk.strides[d - 1] * walk.sizes[d - 1];
      at[d - 1] = 0;
    }
    if (d == 0) return;
  }
}

template <size_t N>
struct Bytes {
  static void copy(char* to, const char* from, int64_t) { std::memcpy(to, from, N); }
};
struct AnyBytes {
  static void copy(char* to, const char* from, int64_t run) {
    std::memcpy(to, from, static_cast<size_t>(run));
  }
};

template <class Width>
void copy_runs(const Walk& walk, char* strided, char* flat, bool reading) {
  if (reading)
    each_run(walk, strided, flat, [&](char* p, char* q) { Width::copy(q, p, walk.run); });
  else
    each_run(walk, strided, flat, [&](char* p, char* q) { Width::copy(p, q, walk.run); });
}

void copy_on_host(const Tensor& x, char* strided, char* flat, bool reading) {
  const Walk walk = walk_of(x);
  switch (walk.run) {
    case 1: return copy_runs<Bytes<1>>(walk, strided, flat, reading);
    case 2: return copy_runs<Bytes<2>>(walk, strided, flat, reading);
    case 4: return copy_runs<Bytes<4>>(walk, strided, flat, reading);
    case 8: return copy_runs<Bytes<8>>(walk, strided, flat, reading);
    case 16: return copy_runs<Bytes<16>>(walk, strided, flat, reading);
    default: return copy_runs<AnyBytes>(walk, strided, flat, reading);
  }
}

// A device's memory passes through the host's: all between the first and the last address.
void copy_across(const Tensor& x, char* flat, bool reading) {
  const Access access = reading ? Access::kRead : Access::kUpdate;
  const int64_t element = size_of(x.dtype());
  const Extent reach = extent(x.shape(), x.strides(), "tensor_read");
  const auto bytes = static_cast<size_t>((reach.high - reach.low + 1) * element);
  char* const first = static_cast<char*>(x.plain(access)) + reach.low * element;
  const std::unique_ptr<char[]> passing(new char[bytes]);
  read_bytes(passing.get(), x.device(), first, bytes);
  copy_on_host(x, passing.get() - reach.low * element, flat, reading);
  if (!reading) write_bytes(x.device(), first, passing.get(), bytes);
}

void copy(const Tensor& x, char* flat, bool reading) {
  const Access access = reading ? Access::kRead : Access::kOverwrite;
  if (x.numel() == 0) return;
  if (!x.device().is_cpu()) return copy_across(x, flat, reading);
  copy_on_host(x, static_cast<char*>(x.plain(access)), flat, reading);
}

}  // namespace

void read_elements(const Tensor& x, void* to) {
  check_has_values("copy", x.device());
  copy(x, static_cast<char*>(to), true);
}

void write_elements(const Tensor& x, const void* from) {
  if (is_meta(x.device())) return;
  copy(x, static_cast<char*>(const_cast<void*>(from)), false);
}

Tensor row_major_copy(const Tensor& x) {
  check_has_values("copy", x.device());
  Tensor result = empty(x.shape(), x.dtype(), Device{});
  read_elements(x, result.overwrite_plain());
  return result;
}

}  // namespace libdl
