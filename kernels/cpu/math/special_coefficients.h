// SPDX-License-Identifier: Apache-2.0

// Polynomials of the special functions for float32 results, lowest power first: near-minimax
// interpolation (mpmath's chebyfit, 40 digits), rounded to double. The comments give the error
// relative to the function that is approximated.
#pragma once

// clang-format off: the numbers stand as they are printed.
namespace libdl::kernels::cpu::coefficients {

// (asin(r) / r - 1) / z for z = r^2 up to 1/4: 2^-35.
inline constexpr double kAsin[] = {
    0x1.55555554ee47bp-3, 0x1.333334ceb6520p-4, 0x1.6db5cfb6af282p-5, 0x1.f208eb1ddd0fbp-6,
    0x1.6a9e3262c37dbp-6, 0x1.3c5053c2afce1p-6, 0x1.64b97e009bd03p-8, 0x1.e0231588b1e55p-6};

// (atan(r) / r - 1) / z for z = r^2, r up to tan(pi / 8): 2^-36.
inline constexpr double kAtan[] = {
    -0x1.5555555502188p-2, 0x1.99999825954bep-3, -0x1.2491c08b2dc95p-3, 0x1.c6f68737bd590p-4,
    -0x1.71d3c10805470p-4, 0x1.24434e877a5ddp-4, -0x1.4b3891ff382b2p-5};

// kAsin and kAtan for results of 16 bits: 2^-21.
inline constexpr float kShortAsin[] = {
    0x1.5554cap-3f, 0x1.33be76p-4f, 0x1.58ad64p-5f, 0x1.7473f6p-5f};
inline constexpr float kShortAtan[] = {
    -0x1.555536p-2f, 0x1.996baap-3f, -0x1.1f36e6p-3f, 0x1.5cffd6p-4f};

// (1 + 2 x) exp(x^2) erfc(x) for t = (x - kErfcxMiddle) / (x + kErfcxMiddle), x not below 0: 2^-35.
inline constexpr double kErfcxMiddle = 3.25;
inline constexpr double kErfcx[] = {
    0x1.3f5d26848ff4ep+0, -0x1.1be042459b06bp-3, -0x1.c1da1971ba40fp-6, 0x1.d0ed3bcbc3ea8p-4,
    -0x1.e756584d23430p-4, 0x1.484a4e124e459p-4, -0x1.2ec90211c4347p-5, 0x1.4c8cec4d3a79cp-7,
    -0x1.851afe3f40322p-13, -0x1.19d310f29e0afp-10, 0x1.3b358df5072fdp-12, 0x1.3a41a385380dap-14,
    -0x1.975a37bd3e610p-15, -0x1.1b052e7761220p-18, 0x1.38b10e855d1f0p-18, 0x1.69a39a2496a01p-23};

// erf^-1(x) / x of w = -log(1 - x^2): of w - 5/2 up to w = 5, of sqrt(w) - 13/4 from there to
// sqrt(w) = 4.28, and of sqrt(w) - 29/4 from 4.1 to 10.3: 2^-34.
inline constexpr double kErfinvNear[] = {
    0x1.805c5cfd043b8p+0, 0x1.f91e8993e00d7p-3, -0x1.11c3c460bbaa9p-8, -0x1.4863cd77abe81p-10,
    0x1.c9b4a8432cb27p-13, -0x1.4f4953321e49bp-18, -0x1.caad4c1e3e33cp-19, 0x1.010dee4262fe4p-21,
    0x1.d98cbaf0d2408p-27, -0x1.766c825a004cep-27, 0x1.c2b5865572ca7p-31, 0x1.1ad437a7cc8b8p-33,
    -0x1.68f6b3af48143p-36, -0x1.3ace6574bd4f9p-42};
inline constexpr double kErfinvFar[] = {
    0x1.8abcc380d3ec3p+1, 0x1.0158a6d7f0948p+0, 0x1.5ffcfe7808e60p-8, -0x1.ebae24cdeb80bp-9,
    0x1.468f1a895c5a2p-9, -0x1.ba887f0d086c5p-10, 0x1.f3c1be002f1f1p-11, -0x1.74f7ff5330067p-12,
    0x1.9a3f5fd12687dp-16, 0x1.24969a56b8020p-14, -0x1.961340f28719fp-15, 0x1.69ada2c17d6fcp-17,
    0x1.27009484e9951p-18, -0x1.a843dae23ee69p-19, 0x1.0bfce4aef5fc3p-21};
inline constexpr double kErfinvTail[] = {
    0x1.c7c0b3e1156d0p+2, 0x1.02229fc0dd848p+0, -0x1.093d85efc432fp-11, 0x1.7f1f71deaa9d4p-17,
    0x1.2056be5f67086p-18, -0x1.4517e86f65b61p-20, 0x1.f77a2f81ae81ep-23, -0x1.5537a66271a70p-25,
    0x1.8cd8c3af86361p-28, -0x1.a719def0c9419p-31, 0x1.c276ebca85e45p-33, -0x1.8e7454b0dc09ap-35,
    -0x1.28a49c3c6ab82p-38, 0x1.190f9b83d66d7p-39, 0x1.6738b94016b6cp-42, -0x1.a028c62cb54cdp-44};

// log(gamma(x)) / ((x - 1) (x - 2)) of x - 3/2 for x from 1 to 2: 2^-38.
inline constexpr double kLogGamma[] = {
    0x1.eeb95b09510ffp-2, -0x1.2aed059bdc482p-3, 0x1.01af628432734p-4, -0x1.007aa816b30f6p-5,
    0x1.1334418a4252dp-6, -0x1.34dc001c7b8b9p-7, 0x1.64e52f5147cc2p-8, -0x1.a4f53522da043p-9,
    0x1.fa0c271c081adp-10, -0x1.327b472d85356p-10, 0x1.5eb6b70fde261p-11, -0x1.af2dfa0564697p-12,
    0x1.95ba3c341cf1ep-12, -0x1.fab4174ab7e71p-13};

// log(gamma(x)) of x - 21/4 for x from 5/2 to 8: 2^-35.
inline constexpr double kLogGammaMiddle[] = {
    0x1.c7db2a73efc17p+1, 0x1.8f5aacba442d9p+0, 0x1.ad96ddf6cd8abp-4, -0x1.dee01a82e50dap-8,
    0x1.8ef6e268a4093p-11, -0x1.8d82c2fef1bb2p-14, 0x1.b69cf3a941d36p-17, -0x1.025f4fd58ffd5p-19,
    0x1.3eb14875e5443p-22, -0x1.98cb7e8b2785cp-25, 0x1.0b854f1552c46p-27, -0x1.4bb54ce6acd17p-30,
    0x1.bf59d44947e0fp-33, -0x1.d6e37576c8c87p-35, 0x1.4af76cb00ec23p-37, 0x1.553c8df3c2d0fp-41,
    -0x1.03afa9decd376p-43, -0x1.2105576ea60f9p-43, 0x1.a08a7636b13a1p-46};

// x times what Stirling's formula lacks, of 1 / x^2 for x from 8: 2^-37.
inline constexpr double kStirling[] = {
    0x1.555555554ee56p-4, -0x1.6c16bafa5f149p-9, 0x1.9ff998fa2738dp-11, -0x1.2aebd65128751p-11};

// x^2 (log(x) - 1 / (2 x) - digamma(x)), of 1 / x^2 for x from 8: 2^-41.
inline constexpr double kDigamma[] = {
    0x1.5555555554c01p-4, -0x1.111110d6afc2dp-7, 0x1.040f560d6d7c5p-8, -0x1.106a54cf67b24p-8,
    0x1.bf5de4e8a18d4p-8};

// exp(-x) I0(x) of x - 4 up to x = 8: 2^-38.
inline constexpr double kBessel0Near[] = {
    0x1.a7f09f8eedf5ap-3, -0x1.cedda005415ddp-6, 0x1.8322d1d8ddd2dp-8, -0x1.6cb8d088c9ef1p-10,
    0x1.65c235abf7cdep-12, -0x1.5c029669bfa3dp-14, 0x1.44b61b6feb33bp-16, -0x1.1cd6ecb81fa8fp-18,
    0x1.d11de0a34503fp-21, -0x1.6028194e604b0p-23, 0x1.ee71d6ec38755p-26, -0x1.425a8247854a6p-28,
    0x1.87d430342e181p-31, -0x1.be75937e0e228p-34, 0x1.daebaa0501240p-37, -0x1.d223e5a3e4913p-40,
    0x1.bb738b0695f1bp-43, -0x1.b7e1fac2e22cbp-46, 0x1.6c8f2da180618p-49, -0x1.5859007bf28c7p-53,
    0x1.26169fa3bb185p-56, -0x1.2f94b763c17bcp-58, 0x1.95155af42a1f3p-62};

// sqrt(x) exp(-x) I0(x) of 1 / x from x = 8 on: 2^-36.
inline constexpr double kBessel0Far[] = {
    0x1.9884533d382d8p-2, 0x1.988455e2855d8p-5, 0x1.cb8e51ad98a32p-6, 0x1.e1dc5410647afp-6,
    0x1.0d769c696fee6p-5, 0x1.064892d1dbf03p-1, -0x1.1cc9ca5d17757p+3, 0x1.eb1f821a94671p+6,
    -0x1.ea186738adc12p+9, 0x1.0f59c8d039efep+12, -0x1.ea40bb501e1bep+12};

// exp(-x) I1(x) / x of x - 4 up to x = 8: 2^-38.
inline constexpr double kBessel1Near[] = {
    0x1.6e14eb8e5d319p-5, -0x1.f4bb071a9e5eep-7, 0x1.16c390ddb657bp-8, -0x1.1881379946ec0p-10,
    0x1.0530f81603087p-12, -0x1.c4daa66f1b3b4p-15, 0x1.6df95ef2f6b8ap-17, -0x1.13d5e31a5588ap-19,
    0x1.8412516bcdd45p-22, -0x1.fe3f4ab84747cp-25, 0x1.3a0c99bb69326p-27, -0x1.6aa90b74cef70p-30,
    0x1.89f0955938925p-33, -0x1.93f4bad0f3b73p-36, 0x1.86aa4024d1d66p-39, -0x1.620ba0748a5c4p-42,
    0x1.350f6c76f62f6p-45, -0x1.11c3b3bcbd1ffp-48, 0x1.a9ca646adb5c1p-52, -0x1.b7b5cfee006a0p-56,
    0x1.52897af6df570p-59, -0x1.171060a6741c4p-61, 0x1.6268c4f49300dp-65};

// sqrt(x) exp(-x) I1(x) of 1 / x from x = 8 on: 2^-36.
inline constexpr double kBessel1Far[] = {
    0x1.9884533d4f8a3p-2, -0x1.32633f2542d75p-3, -0x1.7ef8831ea65f4p-5, -0x1.50cdd41abc7c9p-5,
    -0x1.6e61efbd031f3p-5, -0x1.21a2a6e7703c7p-1, 0x1.31ff1d9414deep+3, -0x1.0818038cd5674p+7,
    0x1.06c827e17e5c9p+10, -0x1.223f719f055e7p+12, 0x1.052aebac8618ap+13};

// (2 atanh(s) / s - 2) / z for z = s^2 up to 1/9: 2^-37.
inline constexpr double kLogSum[] = {
    0x1.555555555ed28p-1, 0x1.99999958485b0p-2, 0x1.24926db12eb2ap-2, 0x1.c70d2f5e45807p-3,
    0x1.75de5d874a272p-3, 0x1.27db2445d4862p-3, 0x1.8677a4bf9332ap-3};

}  // namespace libdl::kernels::cpu::coefficients
