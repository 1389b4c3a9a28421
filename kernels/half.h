// SPDX-License-Identifier: Apache-2.0

// float16 and bfloat16 as bits, converted to and from float by integer arithmetic (IEEE 754-2019,
// binary16; bfloat16 is the upper half of a binary32), so the bits agree on every device.
#pragma once

#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define LIBDL_EVERYWHERE __host__ __device__ inline
#else
#define LIBDL_EVERYWHERE inline
#endif

namespace libdl::kernels {

LIBDL_EVERYWHERE uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
LIBDL_EVERYWHERE float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

LIBDL_EVERYWHERE float float_from_bfloat16(uint16_t half) { return float_of(uint32_t{half} << 16); }

LIBDL_EVERYWHERE uint16_t bfloat16_from_float(float value) {
  const uint32_t bits = bits_of(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);  // ties to even
}

LIBDL_EVERYWHERE float float_from_float16(uint16_t half) {
  const uint32_t sign = (half & 0x8000u) << 16;
  const uint32_t magnitude = half & 0x7fffu;
  if (magnitude >= 0x7c00u) return float_of(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
  if (magnitude >= 0x400u) return float_of(sign | ((magnitude << 13) + (112u << 23)));
  const float subnormal = static_cast<float>(magnitude) * 5.9604644775390625e-8f;  // 2^-24, exact
  return float_of(sign | bits_of(subnormal));
}

LIBDL_EVERYWHERE uint16_t float16_from_float(float value) {
  const uint32_t bits = bits_of(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // 65520 and above
  if (magnitude >= 0x38800000u) {                                              // 2^-14: normal
    const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
    return static_cast<uint16_t>(sign | ((rounded - (112u << 23)) >> 13));
  }
  // Adding 0.5 puts the last place of the sum at 2^-24, the step of the subnormals: the hardware's
  // addition rounds ties to even.
  const uint32_t sum = bits_of(float_of(magnitude) + 0.5f);
  return static_cast<uint16_t>(sign | (sum - 0x3f000000u));
}

}  // namespace libdl::kernels
