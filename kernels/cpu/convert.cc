// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/convert.h"

#include <cstring>

#include "kernels/cpu/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/convert.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/convert_value.h"
#include "kernels/cpu/isa.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu::HWY_NAMESPACE {
namespace {

// An element that need not be aligned, in memory that may hold anything.
template <class T>
struct __attribute__((packed, may_alias)) Anywhere {
  T value;
};

template <class From, class To>
void convert(const void* from, void* to, int64_t n) {
  const auto* __restrict source = static_cast<const Anywhere<From>*>(from);
  auto* __restrict target = static_cast<Anywhere<To>*>(to);
  for (int64_t i = 0; i < n; ++i) target[i].value = convert_value<To>(From(source[i].value));
}

#if LIBDL_FUSED  // targets with fma have F16C too
// The processor's own conversion (F16C) gives the bits of to_half and to_float.
template <>
void convert<Half, float>(const void* from, void* to, int64_t n) {
  namespace hn = hwy::HWY_NAMESPACE;
  hn::ScalableTag<float> d;
  hn::Rebind<hwy::float16_t, decltype(d)> half;
  const auto* source = static_cast<const hwy::float16_t*>(from);
  float* target = static_cast<float*>(to);
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + step <= n; i += step) {
    hn::StoreU(hn::PromoteTo(d, hn::LoadU(half, source + i)), d, target + i);
  }
  for (; i < n; ++i) {
    Half x;
    std::memcpy(&x, source + i, sizeof(x));
    float y = to_float(x);
    std::memcpy(target + i, &y, sizeof(y));
  }
}
template <>
void convert<float, Half>(const void* from, void* to, int64_t n) {
  namespace hn = hwy::HWY_NAMESPACE;
  hn::ScalableTag<float> d;
  hn::Rebind<hwy::float16_t, decltype(d)> half;
  const float* source = static_cast<const float*>(from);
  auto* target = static_cast<hwy::float16_t*>(to);
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + step <= n; i += step) {
    hn::StoreU(hn::DemoteTo(half, hn::LoadU(d, source + i)), half, target + i);
  }
  for (; i < n; ++i) {
    float x;
    std::memcpy(&x, source + i, sizeof(x));
    Half y = to_half(x);
    std::memcpy(static_cast<void*>(target + i), &y, sizeof(y));
  }
}
#endif

#define LIBDL_BY_CLASS(macro, T)                                                          \
  {macro(T, Bool), macro(T, int64_t), macro(T, uint64_t), macro(T, float), macro(T, double), \
   macro(T, Complex)}
#define LIBDL_LOAD(T, C) std::is_same_v<T, C> ? nullptr : &convert<T, C>
#define LIBDL_STORE(T, C) std::is_same_v<T, C> ? nullptr : &convert<C, T>
// In the order of libdl_dtype; 0 is no dtype.
#define LIBDL_BY_DTYPE(macro)                                                                \
  {{},                                                                                       \
   LIBDL_BY_CLASS(macro, Bool),     LIBDL_BY_CLASS(macro, uint8_t),                          \
   LIBDL_BY_CLASS(macro, uint16_t), LIBDL_BY_CLASS(macro, uint32_t),                         \
   LIBDL_BY_CLASS(macro, uint64_t), LIBDL_BY_CLASS(macro, int8_t),                           \
   LIBDL_BY_CLASS(macro, int16_t),  LIBDL_BY_CLASS(macro, int32_t),                          \
   LIBDL_BY_CLASS(macro, int64_t),  LIBDL_BY_CLASS(macro, Half),                             \
   LIBDL_BY_CLASS(macro, Bfloat),   LIBDL_BY_CLASS(macro, float),                            \
   LIBDL_BY_CLASS(macro, double),   LIBDL_BY_CLASS(macro, Complex64),                        \
   LIBDL_BY_CLASS(macro, Complex)}

}  // namespace

extern const ConvertFn load_table[kDtypes][kClasses];
extern const ConvertFn store_table[kDtypes][kClasses];
const ConvertFn load_table[kDtypes][kClasses] = LIBDL_BY_DTYPE(LIBDL_LOAD);
const ConvertFn store_table[kDtypes][kClasses] = LIBDL_BY_DTYPE(LIBDL_STORE);

#undef LIBDL_BY_CLASS
#undef LIBDL_LOAD
#undef LIBDL_STORE
#undef LIBDL_BY_DTYPE

}  // namespace libdl::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {
namespace {

using Table = const ConvertFn (*)[kClasses];
constexpr Table kLoad[kIsas] = LIBDL_FOR_EACH_ISA(load_table);
constexpr Table kStore[kIsas] = LIBDL_FOR_EACH_ISA(store_table);

}  // namespace

ConvertFn convert_to_class(int32_t from, Class to) {
  return kLoad[static_cast<int>(isa())][from][static_cast<int>(to)];
}
ConvertFn convert_from_class(Class from, int32_t to) {
  return kStore[static_cast<int>(isa())][to][static_cast<int>(from)];
}

}  // namespace libdl::kernels::cpu
#endif
