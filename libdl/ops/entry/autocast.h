// SPDX-License-Identifier: Apache-2.0

// Autocast: while it is on (libdl_set_autocast_enabled), the operators whose cards have the line
// "Autocast:" cast their floating operands on the CPU, float64 excepted, and compute with autocast
// off. The casts are recorded, so gradients arrive in the dtype of what was cast. Into forms cast
// nothing. The lists are those of PyTorch for CPUs (autocast_mode.cpp).
//
// Their entries (tools/entries.py) ask autocasting(), a test of the mode word.
#pragma once

#include <initializer_list>
#include <tuple>
#include <vector>

#include "ops/primitive/into.h"
#include "ops/primitive/seen.h"
#include "tensor/tensor.h"

namespace libdl {

enum class CastPolicy : uint8_t {
  kLower,    // lower: to autocast's dtype
  kFloat32,  // float32: to that
  kPromote,  // promote: to float32 if an operand has it
  kState,    // state: to float32 if the states of a recurrent network have it, else to autocast's
             // dtype
  kOff,      // off: operands are left alone, also by the operators that it is composed of
};

// x as autocast would pass it on: itself, or cast.
Tensor autocast(const Tensor& x, Dtype dtype);

namespace autocast_detail {

inline TensorSpan tensors_of(const Tensor& x) { return {&x, 1}; }
inline TensorSpan tensors_of(const Tensor* x) { return {x, x ? size_t{1} : size_t{0}}; }
inline TensorSpan tensors_of(TensorSpan list) { return list; }
template <class T>
TensorSpan tensors_of(const T&) {
  return {};
}
inline bool is_destination(Into into) { return static_cast<bool>(into); }
template <class T>
bool is_destination(const T&) {
  return false;
}

// The dtype that the operands are cast to; kNone: they are left alone.
Dtype target(CastPolicy policy, std::initializer_list<TensorSpan> operands);

// An argument as it is passed on.
template <class T>
struct Argument {
  const T& given;
  Argument(const T& x, Dtype) : given(x) {}
  const T& get() const { return given; }
};
template <>
struct Argument<Tensor> {
  Tensor cast;
  Argument(const Tensor& x, Dtype dtype) : cast(autocast(x, dtype)) {}
  const Tensor& get() const { return cast; }
};
template <>
struct Argument<const Tensor*> {
  Tensor cast;
  bool given;
  Argument(const Tensor* x, Dtype dtype)
      : cast(x ? autocast(*x, dtype) : Tensor()), given(x != nullptr) {}
  const Tensor* get() const { return given ? &cast : nullptr; }
};
template <>
struct Argument<TensorSpan> {
  std::vector<Tensor> cast;
  Argument(TensorSpan list, Dtype dtype) {
    cast.reserve(list.size());
    for (const Tensor& x : list) cast.push_back(autocast(x, dtype));
  }
  TensorSpan get() const { return cast; }
};

// The call that follows was shown to interceptors before its operands were cast.
void hide_next_call();

template <CastPolicy policy, class R, class F, class... A>
[[gnu::cold, gnu::noinline]] R call(F f, const A&... a) {
  const ModeGuard off(kModeAutocast);
  const Dtype dtype =
      (is_destination(a) || ...) ? Dtype::kNone : target(policy, {tensors_of(a)...});
  const std::tuple<Argument<A>...> cast{Argument<A>(a, dtype)...};
  hide_next_call();
  return std::apply([&](const auto&... x) { return f(x.get()...); }, cast);
}

}  // namespace autocast_detail

}  // namespace libdl
