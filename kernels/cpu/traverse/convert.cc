// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/traverse/convert.h"

#include <cstring>

#include "kernels/cpu/simd/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/traverse/convert.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/convert_value.h"
#include "kernels/cpu/simd/isa.h"

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

// Doubles to and from floats, as the processor rounds them.
template <>
void convert<float, double>(const void* from, void* to, int64_t n) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> narrow;
  const auto* source = static_cast<const float*>(from);
  auto* target = static_cast<double*>(to);
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + step <= n; i += step) {
    hn::StoreU(hn::PromoteTo(d, hn::LoadU(narrow, source + i)), d, target + i);
  }
  for (; i < n; ++i) {
    float x;
    std::memcpy(&x, source + i, sizeof(x));
    const double y = x;
    std::memcpy(target + i, &y, sizeof(y));
  }
}
template <>
void convert<double, float>(const void* from, void* to, int64_t n) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> narrow;
  const auto* source = static_cast<const double*>(from);
  auto* target = static_cast<float*>(to);
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + step <= n; i += step) {
    hn::StoreU(hn::DemoteTo(narrow, hn::LoadU(d, source + i)), narrow, target + i);
  }
  for (; i < n; ++i) {
    double x;
    std::memcpy(&x, source + i, sizeof(x));
    const float y = static_cast<float>(x);
    std::memcpy(target + i, &y, sizeof(y));
  }
}
template <>
void convert<Complex64, Complex>(const void* from, void* to, int64_t n) {
  convert<float, double>(from, to, 2 * n);
}
template <>
void convert<Complex, Complex64>(const void* from, void* to, int64_t n) {
  convert<double, float>(from, to, 2 * n);
}

// n doubles (whole vectors) to floats, rounded to odd: a second rounding is then that of the double
// itself. A double whose lower half is cut off and left as a single odd bit is such a float, unless
// it is subnormal there: then the answer is false.
bool to_odd_floats(const double* source, int64_t n, float* target) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<double> d;
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));
#if HWY_TARGET == HWY_AVX3
  for (int64_t i = 0; i < n; i += step) {
    const __m512d x = _mm512_loadu_pd(source + i);
    const __m256 cut = _mm512_cvt_roundpd_ps(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    const __mmask8 rest = _mm512_cmp_pd_mask(_mm512_cvtps_pd(cut), x, _CMP_NEQ_UQ);
    const __m256i bits = _mm256_castps_si256(cut);
    const __m256i odd = _mm256_mask_or_epi32(bits, rest, bits, _mm256_set1_epi32(1));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(target + i), odd);
  }
  return true;
#else
  const hn::RebindToUnsigned<decltype(d)> bits;
  const hn::Rebind<float, decltype(d)> narrow;
  const auto lower = hn::Set(bits, 0xFFFFFFFFu), odd = hn::Set(bits, uint64_t{1} << 32);
  const auto least = hn::Set(d, 0x1p-126);
  auto small = hn::Lt(least, hn::Zero(d));  // none
  for (int64_t i = 0; i < n; i += step) {
    const auto x = hn::LoadU(d, source + i);
    const auto size = hn::Abs(x);
    small = hn::Or(small, hn::And(hn::Lt(size, least), hn::Lt(hn::Zero(d), size)));
    const auto raw = hn::BitCast(bits, x);
    const auto exact = hn::Eq(hn::And(raw, lower), hn::Zero(bits));
    const auto kept = hn::Or(hn::AndNot(lower, raw), hn::IfThenZeroElse(exact, odd));
    hn::StoreU(hn::DemoteTo(narrow, hn::BitCast(d, kept)), narrow, target + i);
  }
  return hn::AllFalse(d, small);
#endif
}
template <class To>
void round_once(const void* from, void* to, int64_t n) {
  constexpr int64_t kPiece = 128;
  const auto* source = static_cast<const double*>(from);
  auto* target = static_cast<Anywhere<To>*>(to);
  const auto step =
      static_cast<int64_t>(hwy::HWY_NAMESPACE::Lanes(hwy::HWY_NAMESPACE::ScalableTag<double>()));
  float piece[kPiece];
  int64_t i = 0;
  for (int64_t count; i + step <= n; i += count) {
    count = std::min(kPiece, (n - i) / step * step);
    if (to_odd_floats(source + i, count, piece)) {
      convert<float, To>(piece, target + i, count);
      continue;
    }
    for (int64_t k = 0; k < count; ++k) {
      double x;
      std::memcpy(&x, source + i + k, sizeof(x));
      target[i + k].value = convert_value<To>(x);
    }
  }
  for (; i < n; ++i) {
    double x;
    std::memcpy(&x, source + i, sizeof(x));
    target[i].value = convert_value<To>(x);
  }
}
template <>
void convert<double, Bfloat>(const void* from, void* to, int64_t n) {
  round_once<Bfloat>(from, to, n);
}
template <>
void convert<double, Half>(const void* from, void* to, int64_t n) {
  round_once<Half>(from, to, n);
}

// The bits of 1 where a byte is not 0.
template <class Bits>
void convert_truths(const void* from, void* to, int64_t n, Bits one) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<Bits> d;
  const hn::Rebind<uint8_t, decltype(d)> bytes;
  const auto* source = static_cast<const uint8_t*>(from);
  auto* target = static_cast<Bits*>(to);
  const auto ones = hn::Set(d, one);
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));
  const auto wide = [&](int64_t i) HWY_ATTR {
    const auto x = hn::LoadU(bytes, source + i);
    if constexpr (sizeof(Bits) == 8) {
      return hn::PromoteTo(d, hn::PromoteTo(hn::Rebind<uint32_t, decltype(d)>(), x));
    } else {
      return hn::PromoteTo(d, x);
    }
  };
  int64_t i = 0;
  for (; i + step <= n; i += step) {
    hn::StoreU(hn::IfThenZeroElse(hn::Eq(wide(i), hn::Zero(d)), ones), d, target + i);
  }
  for (; i < n; ++i) {
    const Bits y = source[i] != 0 ? one : Bits{0};
    std::memcpy(static_cast<void*>(target + i), &y, sizeof(y));
  }
}
#define LIBDL_TRUTHS(To, Bits, one)                               \
  template <>                                                     \
  void convert<Bool, To>(const void* from, void* to, int64_t n) { \
    convert_truths<Bits>(from, to, n, Bits{one});                 \
  }
LIBDL_TRUTHS(Half, uint16_t, 0x3C00)
LIBDL_TRUTHS(Bfloat, uint16_t, 0x3F80)
LIBDL_TRUTHS(int16_t, uint16_t, 1)
LIBDL_TRUTHS(int32_t, uint32_t, 1)
LIBDL_TRUTHS(int64_t, uint64_t, 1)
LIBDL_TRUTHS(float, uint32_t, 0x3F800000)
LIBDL_TRUTHS(double, uint64_t, 0x3FF0000000000000)
#undef LIBDL_TRUTHS
#endif

#define LIBDL_BY_CLASS(macro, T)                           \
  {macro(T, Bool),  macro(T, int64_t), macro(T, uint64_t), \
   macro(T, float), macro(T, double),  macro(T, Complex)}
#define LIBDL_LOAD(T, C) std::is_same_v<T, C> ? nullptr : &convert<T, C>
#define LIBDL_STORE(T, C) std::is_same_v<T, C> ? nullptr : &convert<C, T>
// In the order of libdl_dtype; 0 is no dtype.
#define LIBDL_BY_DTYPE(macro)        \
  {{},                               \
   LIBDL_BY_CLASS(macro, Bool),      \
   LIBDL_BY_CLASS(macro, uint8_t),   \
   LIBDL_BY_CLASS(macro, uint16_t),  \
   LIBDL_BY_CLASS(macro, uint32_t),  \
   LIBDL_BY_CLASS(macro, uint64_t),  \
   LIBDL_BY_CLASS(macro, int8_t),    \
   LIBDL_BY_CLASS(macro, int16_t),   \
   LIBDL_BY_CLASS(macro, int32_t),   \
   LIBDL_BY_CLASS(macro, int64_t),   \
   LIBDL_BY_CLASS(macro, Half),      \
   LIBDL_BY_CLASS(macro, Bfloat),    \
   LIBDL_BY_CLASS(macro, float),     \
   LIBDL_BY_CLASS(macro, double),    \
   LIBDL_BY_CLASS(macro, Complex64), \
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
