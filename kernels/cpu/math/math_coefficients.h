// SPDX-License-Identifier: Apache-2.0

// Polynomials of kernels/cpu/math/math-inl.h, lowest power first: interpolation at Chebyshev nodes
// in 240-bit arithmetic, rounded to T. kBits says how many bits the result needs: <double, 24>
// serves float32 results that are computed in double. The comments give the error of the function
// that the polynomial completes, relative to its value.
#pragma once

#include <bit>
#include <cstdint>

// clang-format off: the numbers stand as they are printed.
namespace libdl::kernels::cpu::coefficients {

// ln 2 in two floats: small whole numbers times the first are exact.
constexpr float kLn2First = 0x1.628p-1f, kLn2Second = 0x1.90bfbep-11f;

// (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2.
template <class T, int kBits>
struct ExpTail;
template <>  // 2^-26.6
struct ExpTail<float, 24> {
  static constexpr float c[] = {
      0x1p-1f, 0x1.5554dcp-3f, 0x1.555518p-5f, 0x1.120c00p-7f, 0x1.6d119ap-10f};
};
template <class T, int kBits>  // of -r
struct ExpTailNegated;
template <>
struct ExpTailNegated<float, 24> {
  static constexpr float c[] = {
      0x1p-1f, -0x1.5554dcp-3f, 0x1.555518p-5f, -0x1.120c00p-7f, 0x1.6d119ap-10f};
};
template <>  // 2^-32.2
struct ExpTail<double, 24> {
  static constexpr double c[] = {
      0x1.0000000ba5507p-1, 0x1.5555555a81e0ep-3, 0x1.5554e88885680p-5, 0x1.1110e0ba6338cp-7,
      0x1.6d43d29bda4f5p-10, 0x1.a1258c600f075p-13};
};
template <>  // 2^-61.5
struct ExpTail<double, 53> {
  static constexpr double c[] = {
      0x1p-1, 0x1.5555555555557p-3, 0x1.5555555555556p-5, 0x1.11111111100b6p-7,
      0x1.6c16c16c162bfp-10, 0x1.a01a01abfc8ddp-13, 0x1.a01a01a6e448ep-16, 0x1.71de01f07539bp-19,
      0x1.27e4db3f36203p-22, 0x1.af4e70dd7207dp-26, 0x1.1f7350a074034p-29};
};

// (e^r - 1 - r) / r^2 for |r| <= ln 2 / 16: by Remez' exchange of e^r relative to itself, 2^-58.2.
struct EighthTail {
  static constexpr double c[] = {
      0x1.000000000010bp-1, 0x1.5555555555130p-3, 0x1.55555548102bap-5, 0x1.11111125dd8ccp-7,
      0x1.6c1cbd3061db3p-10, 0x1.a01637dd47678p-13};
};

struct EighthTailNegated {  // of -r
  static constexpr double c[] = {
      0x1.000000000010bp-1, -0x1.5555555555130p-3, 0x1.55555548102bap-5, -0x1.11111125dd8ccp-7,
      0x1.6c1cbd3061db3p-10, -0x1.a01637dd47678p-13};
};

// (2^r - 1) / r for |r| <= 1/2: weighted least squares, 2^-28.3.
struct PowerTail {
  static constexpr float c[] = {0x1.62e430p-1f, 0x1.ebfbdcp-3f,  0x1.c6af7cp-5f,
                                0x1.3b2de0p-7f, 0x1.5f082ep-10f, 0x1.416b50p-13f};
};

// 2^(i / 8), and below the same with i / 8 taken off the exponent, which the bits of n put back.
alignas(64) inline constexpr double kEighths[8] = {
    0x1p+0, 0x1.172b83c7d517bp+0, 0x1.306fe0a31b715p+0, 0x1.4bfdad5362a27p+0,
    0x1.6a09e667f3bcdp+0, 0x1.8ace5422aa0dbp+0, 0x1.ae89f995ad3adp+0, 0x1.d5818dcfba487p+0};
alignas(64) inline constexpr double kEighthsLow[8] = {  // and what that lacks
    0, -0x1.19041b9d78a76p-55, 0x1.6f46ad23182e4p-55, 0x1.d4397afec42e2p-56,
    -0x1.bdd3413b26456p-54, 0x1.6e9f156864b27p-54, 0x1.7a1cd345dcc81p-54, 0x1.2ed02d75b3707p-55};
constexpr double shifted_eighth(int i) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(kEighths[i]) - (uint64_t(i) << 49));
}
alignas(64) inline constexpr double kShiftedEighths[8] = {
    shifted_eighth(0), shifted_eighth(1), shifted_eighth(2), shifted_eighth(3),
    shifted_eighth(4), shifted_eighth(5), shifted_eighth(6), shifted_eighth(7)};

// (tanh(x) - x) / x^3 by z = x^2 for |x| <= 0.625.
template <class T, int kBits>
struct TanhTail;
template <>  // 2^-30.9
struct TanhTail<double, 24> {
  static constexpr double c[] = {
      -0x1.55555539a3fddp-2, 0x1.1110e919f7ad3p-3, -0x1.ba08c4e66a3acp-5, 0x1.64a9766b3a80bp-6,
      -0x1.116a168e187f2p-7, 0x1.2c83c001d0edap-9};
};
template <>  // 2^-57.1
struct TanhTail<double, 53> {
  static constexpr double c[] = {
      -0x1.5555555555555p-2, 0x1.11111111110a8p-3, -0x1.ba1ba1ba0f126p-5, 0x1.664f487e0a749p-6,
      -0x1.226e3473dce5cp-7, 0x1.d6d39ae3905e2p-9, -0x1.7d9f6f23e867bp-10, 0x1.3526e9ed54d65p-11,
      -0x1.f243823c8c6d1p-13, 0x1.8445870f6f49ep-14, -0x1.05bbdae894ee3p-15,
      0x1.b33642a11e6cfp-18};
};

// tanh(a) in pieces (pieces-inl.h) that end at 0.305 times 1, 2, 4, 6, 10, 14, 22 and 30: 2^-26.2.
// At the centres it is within 1/500 of a last place of a float. The first piece has tanh(a) - a. In
// the others the distance d stays below tanh(centre).
struct TanhPieces {
  alignas(32) static constexpr float c[][8] = {
      {0, 0x1.d46492p-2f, 0x1.d467dcp-1f, 0x1.864f82p+0f,
       0x1.383b00p+1f, 0x1.d46494p+1f, 0x1.708f8cp+2f, 0x1.03ae5ap+3f},
      {0, 0x1.b63f10p-2f, 0x1.72689ap-1f, 0x1.d1aa9ap-1f,
       0x1.f844c2p-1f, 0x1.ff524cp-1f, 0x1.fffd64p-1f, 0x1.fffffap-1f},
      {0, 0x1.a23884p-1f, 0x1.e80d76p-2f, 0x1.61e596p-3f,
       0x1.eb1346p-6f, 0x1.5b2d08p-9f, 0x1.4d942cp-15f, 0x1.7f7cd8p-22f},
      {-0x1.caa19ep-23f, -0x1.65f9dap-2f, -0x1.6115cap-2f, -0x1.41dedcp-3f,
       -0x1.e3a5f8p-6f, -0x1.5ab976p-9f, -0x1.4d6de6p-15f, -0x1.802850p-22f},
      {-0x1.555280p-2f, -0x1.f66ff4p-4f, 0x1.730948p-4f, 0x1.5d8e10p-4f,
       0x1.38a422p-6f, 0x1.cd124ep-10f, 0x1.c43284p-16f, 0x1.03b334p-22f},
      {-0x1.ab4126p-13f, 0x1.5a25d4p-3f, 0x1.956de4p-5f, -0x1.9d84e2p-6f,
       -0x1.25cb3cp-7f, -0x1.ca0c1ap-11f, -0x1.c3b090p-17f, -0x1.fbb3e8p-24f},
      {0x1.14bcd2p-3f, -0x1.b2e5b2p-7f, -0x1.c61a92p-5f, -0x1.b395a4p-10f,
       0x1.9b3268p-9f, 0x1.6aa574p-12f, 0x1.2b02aep-18f, 0x1.63b9bcp-25f},
      {-0x1.f99b5ap-8f, -0x1.d98eaep-5f, 0x1.d4519cp-7f, 0x1.b0fd1cp-8f,
       -0x1.6fc920p-11f, -0x1.eeb99cp-14f, -0x1.d62fd8p-20f, -0x1.33c97ap-26f},
      {-0x1.4771ccp-5f, 0x1.87b004p-6f, 0x1.20531ap-7f, -0x1.e9bb9ep-9f,
       0x1.21ce42p-16f, 0x1.0bf2d6p-15f, 0x1.18e84ap-20f, 0x1.151340p-27f}};
};

// (log((1 + s) / (1 - s)) - 2 s) / s^3 by s^2, s = f / (2 + f), for 1 + f between the roots of 1/2 and 2.
template <class T, int kBits>
struct LogSeries;
template <>  // 2^-57.7
struct LogSeries<double, 53> {
  static constexpr double c[] = {
      0x1.5555555555558p-1, 0x1.99999999952b2p-2, 0x1.2492492df6947p-2, 0x1.c71c62debf86bp-3,
      0x1.7462b69705382p-3, 0x1.39fe208c33457p-3, 0x1.2b5b5fb2eac92p-3};
};

// (log(1 + f) - f + f^2 / 2) / f^3 for 1 + f between the roots of 1/2 and 2.
template <class T, int kBits>
struct LogTail;
template <>  // 2^-28.4
struct LogTail<float, 24> {
  static constexpr float c[] = {
      0x1.555554p-2f, -0x1.fffffcp-3f, 0x1.999d5cp-3f, -0x1.555b52p-3f, 0x1.23d1d8p-3f,
      -0x1.fcf2acp-4f, 0x1.dea5a6p-4f, -0x1.d64804p-4f, 0x1.1d9df2p-4f};
};
template <>  // 2^-33.6
struct LogTail<double, 24> {
  static constexpr double c[] = {
      0x1.5555555e3515ap-2, -0x1.ffffff53b9c9cp-3, 0x1.9999763c3bebdp-3, -0x1.55559c8286a19p-3,
      0x1.249db28bf00d6p-3, -0x1.ffff5a5f0fd5dp-4, 0x1.c48859f047700p-4, -0x1.96c91be38afa4p-4,
      0x1.919cb56eba74ep-4, -0x1.8e85d948ef15ep-4, 0x1.c7312ddfe3289p-5};
};

// Logarithms of floats to other bases: the base's logarithm of 2 (a whole number times its first part
// is exact) and of e, and (log(1 + f) - f log(e)) / f^2 for 1 + f between the roots of 1/2 and 2:
// weighted least squares, 2^-30.2 and 2^-29.9.
struct BaseTwo {
  static constexpr float kUnitHigh = 1, kUnitLow = 0;
  static constexpr float kRatioHigh = 0x1.715476p+0f, kRatioLow = 0x1.4ae0c0p-26f;
  static constexpr float c[] = {
      -0x1.715476p-1f, 0x1.ec708cp-2f, -0x1.7154acp-2f, 0x1.277e66p-2f, -0x1.ec71d2p-3f,
      0x1.a42a9cp-3f, -0x1.6eef18p-3f, 0x1.5f5bccp-3f, -0x1.574cecp-3f, 0x1.8af184p-4f};
};
struct BaseTen {
  static constexpr float kUnitHigh = 0x1.344p-2f, kUnitLow = 0x1.3509f8p-18f;
  static constexpr float kRatioHigh = 0x1.bcb7b2p-2f, kRatioLow = -0x1.5b235ep-27f;
  static constexpr float c[] = {
      -0x1.bcb7b2p-3f, 0x1.287a70p-3f, -0x1.bcb75cp-4f, 0x1.63cd20p-4f, -0x1.2887f0p-4f,
      0x1.fa49b0p-5f, -0x1.b909eap-5f, 0x1.a43f3cp-5f, -0x1.9f208ep-5f, 0x1.e8fa90p-6f};
};

// (sin(r) - r) / r^3 by r^2 for |r| <= pi / 4: 2^-55.6.
struct SinTail {
  static constexpr double c[] = {
      -0x1.5555555555555p-3, 0x1.1111111110bb1p-7, -0x1.a01a019e83460p-13, 0x1.71de379607474p-19,
      -0x1.ae600a7a70c62p-26, 0x1.5e0ae8e372075p-33};
};

// (sin(r) - r) / r^3 by r^2 for |r| <= pi / 2: weighted least squares, 2^-27.3.
struct HalfTurnTail {
  static constexpr double c[] = {
      -0x1.55554bcb1b292p-3, 0x1.110ed3f72dc5ep-7, -0x1.9f701327b0055p-13, 0x1.5dbefdb7a27d3p-19};
};

// tan(r) / r as a quotient by r^2, for |r| <= pi / 4: weighted least squares, 2^-35.2.
struct TanTop {
  static constexpr double c[] = {
      0x1.000000001af05p+0, -0x1.c8284223d8b56p-4, 0x1.19efde00dda04p-10};
};
struct TanBottom {
  static constexpr double c[] = {1, -0x1.c75f65bf4b78dp-2, 0x1.05bdd2907b71dp-6};
};

// (cos(r) - 1 + r^2 / 2) / r^4 by r^2 for |r| <= pi / 4: 2^-60.1.
struct CosTail {
  static constexpr double c[] = {
      0x1.5555555555555p-5, -0x1.6c16c16c16966p-10, 0x1.a01a019f4e7d9p-16,
      -0x1.27e4fa179895fp-22, 0x1.1eeb68a508534p-29, -0x1.907d724680cf5p-37};
};

// erf(x) / x - 1 by x^2 for |x| <= 1.
template <class T, int kBits>
struct ErfTail;
template <>  // 2^-29.6
struct ErfTail<float, 24> {
  static constexpr float c[] = {
      0x1.06eba8p-3f, -0x1.81273ep-2f, 0x1.ce2cf8p-4f, -0x1.b7f90cp-6f, 0x1.5405b0p-8f,
      -0x1.a3f6f6p-11f, 0x1.496a16p-14f};
};

// e^(a^2) erfc(a) by a - 1 for 15/16 <= a <= 4: weighted least squares, 2^-28.0 relative to erf(a).
struct ErfcTail {
  static constexpr float c[] = {
      0x1.b5d878p-2f, -0x1.17c4f8p-2f, 0x1.3c2602p-3f, -0x1.443bd8p-4f, 0x1.306104p-5f,
      -0x1.fc0386p-7f, 0x1.5535e2p-8f, -0x1.325cf2p-10f, 0x1.02e230p-13f};
};

// e^(z^2 / 2) Phi(-z) (z + 5) by w = (z - 5) / (z + 5), for 0 <= z <= 15 (39 for all bits).
template <class T, int kBits>
struct NormalTail;
template <>  // 2^-33.3
struct NormalTail<double, 24> {
  static constexpr double c[] = {
      0x1.89d3abe1a158ep-1, -0x1.54ad03ea02083p-1, 0x1.fb3165860c0b8p-2, -0x1.410ed95d0d7c0p-2,
      0x1.51f6254551176p-3, -0x1.1b1b68e3e327dp-4, 0x1.54b92188a2e4cp-6, -0x1.88dc4f508bbb0p-9,
      -0x1.a54978448daabp-11, 0x1.2271c6db6b2b8p-11, -0x1.6ff1c81d0e503p-15,
      -0x1.d0e46f5a00979p-15};
};
template <>  // 2^-55.4
struct NormalTail<double, 53> {
  static constexpr double c[] = {
      0x1.89d3abe1f95aep-1, -0x1.54ad03f27ca18p-1, 0x1.fb31653876f88p-2, -0x1.410ed5f875951p-2,
      0x1.51f6329f01c14p-3, -0x1.1b1c254ca3cfbp-4, 0x1.54b4d4f485917p-6, -0x1.88590e98b86c4p-9,
      -0x1.a25037709917fp-11, 0x1.1daf1aefb143cp-11, -0x1.f214964402c05p-15,
      -0x1.a17019ab0560dp-15, 0x1.17df303be3db5p-16, 0x1.0b15ba96cf05bp-18,
      -0x1.73e2fe53a223bp-19, -0x1.676fde1639a77p-22, 0x1.d48a16d350a97p-22,
      0x1.5bb2d91655ceep-25, -0x1.2d64fbccec4e3p-24, -0x1.30fa17f73f0edp-27,
      0x1.71aa46057bf7ap-27, 0x1.4c52fe9f5800cp-29, -0x1.2eabcbe0ea437p-30,
      -0x1.de076b25a9b3fp-32, -0x1.a50f96333ac8ep-36};
};

// Phi(-a) for 0 <= a <= 4.8 in pieces (pieces-inl.h) that meet at 0.64 times 1/2, 3/2 and so on:
// 2^-25.1. At the centres it is within 1/500 of a last place of a float.
struct NormalPieces {
  alignas(32) static constexpr float c[][8] = {
      {0, 0x1.4797d8p-1f, 0x1.57fb42p+0f, 0x1.0a284ep+1f,
       0x1.602a68p+1f, 0x1.ba4c52p+1f, 0x1.081a40p+2f, 0x1.311020p+2f},
      {0x1p-1f, 0x1.0b68aap-2f, 0x1.6eb328p-4f, 0x1.33e4e6p-6f,
       0x1.850616p-9f, 0x1.2006c0p-12f, 0x1.34d64ap-16f, 0x1.f6eb76p-21f},
      {-0x1.988454p-2f, -0x1.4ce660p-2f, -0x1.4b4622p-3f, -0x1.7832c0p-5f,
       -0x1.28eb46p-7f, -0x1.0b1a04p-10f, -0x1.4f95e0p-14f, -0x1.37e05ap-18f},
      {-0x1.21534ap-30f, 0x1.a9ffb8p-4f, 0x1.bd201ap-4f, 0x1.871ff6p-5f,
       0x1.9874b0p-7f, 0x1.cd7a92p-10f, 0x1.5a34fcp-13f, 0x1.73a5d4p-17f},
      {0x1.105842p-4f, 0x1.0627c0p-5f, -0x1.63c654p-6f, -0x1.a0cac0p-6f,
       -0x1.451b8ap-7f, -0x1.e70582p-10f, -0x1.c04340p-13f, -0x1.1a3cb8p-16f},
      {-0x1.3fc9a2p-21f, -0x1.6fddb0p-6f, -0x1.627b9ep-7f, 0x1.5926f8p-8f,
       0x1.3713ccp-8f, 0x1.57ca36p-10f, 0x1.9497d4p-13f, 0x1.31bae0p-16f},
      {-0x1.46a240p-7f, -0x1.f945e8p-10f, 0x1.93f85ap-8f, 0x1.a9e91cp-10f,
       -0x1.2694a2p-10f, -0x1.49a5f2p-11f, -0x1.0bce66p-13f, -0x1.ec499cp-17f},
      {-0x1.eff5eep-16f, 0x1.a32ffcp-9f, 0x1.154316p-14f, -0x1.4b8a10p-10f,
       -0x1.e49d76p-14f, 0x1.7c07b8p-13f, 0x1.f8591ep-15f, 0x1.4e1908p-17f},
      {0x1.4f9ffcp-10f, -0x1.da5fe4p-15f, -0x1.83aedap-11f, 0x1.a4d762p-13f,
       0x1.8c97e2p-13f, -0x1.022228p-15f, -0x1.955730p-16f, -0x1.c3e3e6p-19f},
      {-0x1.4d1cd6p-13f, -0x1.585278p-12f, 0x1.6b058ep-14f, 0x1.1b1ca8p-13f,
       -0x1.2fff86p-15f, -0x1.d9ba82p-16f, 0x1.1ed386p-19f, 0x1.94e2a0p-19f}};
};

// a Phi(-a) e^(a^2 / 2) by a^-2 for 4.8 <= a <= 15, 2^-26.6.
struct GeluTail {
  static constexpr float c[] = {
      0x1.988454p-2f, -0x1.98841ap-2f, 0x1.321c36p+0f, -0x1.7575fcp+2f, 0x1.0b1e26p+5f,
      -0x1.03fc4ap+7f};
};
}  // namespace libdl::kernels::cpu::coefficients
// clang-format on
