// SPDX-License-Identifier: Apache-2.0

// Tables of kernels/cpu/math/sixteenths-inl.h, for float64 results of sixteen rows: c[k][i] is
// column k of row i. Polynomials as in math_coefficients.h.
#pragma once

#include <cstddef>

// clang-format off: the numbers stand as they are printed.
namespace libdl::kernels::cpu::coefficients {

// A table stored by rows, with the number of columns rounded up to even.
template <class Table>
struct ByRow {
  alignas(16) double c[16][(Table::kColumns + 1) / 2 * 2];
};
template <class Table>
constexpr ByRow<Table> by_row() {
  ByRow<Table> y = {};
  for (size_t k = 0; k < Table::kColumns; ++k) {
    for (size_t i = 0; i < 16; ++i) y.c[i][k] = Table::c[k][i];
  }
  return y;
}
template <class Table>
inline constexpr ByRow<Table> kRows = by_row<Table>();

// For m in the i-th sixteenth of [1, 2): the factor f that takes m to 1 + r, r from -1/32 to 1/32
// (in row 0 from 0 to 1/16), and -log(f) in two parts. f has 7 bits; it is 1 in row 0 and 1/2 in
// row 15, so that r is exact where the logarithm is near 0. The first parts and kUnit, the first
// part of log(2), are whole numbers of 2^-42 (base 10: 2^-43): a sum of k times kUnit and a first
// part is exact, and nothing in row 15 for k = -1.
struct LogColumns {
  alignas(64) double column[3][16];
  constexpr const double* operator[](size_t k) const { return column[k]; }
};
constexpr LogColumns log_columns(const double (&first)[16], const double (&low)[16]) {
  LogColumns y = {
      {{0x1p+0, 0x1.d4p-1, 0x1.bcp-1, 0x1.a4p-1, 0x1.9p-1, 0x1.7cp-1, 0x1.6cp-1, 0x1.5cp-1,
        0x1.5p-1, 0x1.4p-1, 0x1.34p-1, 0x1.28p-1, 0x1.2p-1, 0x1.14p-1, 0x1.0cp-1, 0x1p-1}}};
  for (size_t i = 0; i < 16; ++i) y.column[1][i] = first[i], y.column[2][i] = low[i];
  return y;
}
// log(1 + r) = r (kFirst + q(r)): interpolation at Chebyshev nodes, 2^-60.1.
struct LogTable {
  static constexpr size_t kColumns = 3;
  static constexpr double kUnit = 0x1.62e42fefa38p-1, kUnitLow = 0x1.ef35793c7673p-45;
  static constexpr double kFirst = 0x1p+0;
  static constexpr double q[] = {
      0, -0x1p-1, 0x1.555555555555dp-2, -0x1.0000000000ccap-2, 0x1.9999999988d8ap-3,
      -0x1.5555553b09264p-3, 0x1.2492488c5629p-3, -0x1.00008c6171281p-3, 0x1.c72ede3d314c7p-4,
      -0x1.9808b4e863b47p-4, 0x1.447cbbafa4886p-4};
  static constexpr LogColumns c = log_columns(
      {0, 0x1.700d30aeacp-4, 0x1.23d712a49cp-3, 0x1.95a5adcf7p-3, 0x1.f991c6cb3cp-3,
       0x1.314f1e1d36p-2, 0x1.5d5bddf596p-2, 0x1.8b639a88b3p-2, 0x1.af5295248dp-2,
       0x1.e148a1a272p-2, 0x1.04360be76p-1, 0x1.188ee40f24p-1, 0x1.269621134d8p-1,
       0x1.3c6080c36cp-1, 0x1.4b6fd6f971p-1, 0x1.62e42fefa38p-1},
      {0, 0x1.c1e8da99ded32p-49, 0x1.00d238fd3df5cp-46, 0x1.7f22858a0ff6fp-47,
       -0x1.90d04cd7cc834p-44, -0x1.8e27ad3213cb8p-45, -0x1.a0b2a08a465dcp-47,
       -0x1.05ae1e5e7047p-45, -0x1.17cc552774458p-45, 0x1.b36537e3375b2p-44,
       0x1.d6774030d58c4p-44, -0x1.accec41d52e6cp-44, 0x1.c93c1df5bb3b6p-44,
       -0x1.2b7367cfe13c2p-47, -0x1.f047750959d5fp-44, 0x1.ef35793c7673p-45});
};
// For powers, of LogTable's r: 4 (log(1 + r) - r + r^2 / 2 - r^3 / 3) / r^4, interpolation at
// Chebyshev nodes, 2^-54.0, which is 2^-68.1 of the logarithm; and -2/3 in two parts.
struct LogOfPower {
  static constexpr double kThird = -0x1.5555555555555p-1, kThirdLow = -0x1.5555555555555p-55;
  static constexpr double q[] = {
      -0x1p+0, 0x1.999999999999fp-1, -0x1.5555555556d8bp-1, 0x1.24924924932cfp-1,
      -0x1.ffffffd1197f9p-2, 0x1.c71c6fb8095bdp-2, -0x1.999a80e8af9ffp-2, 0x1.746f34088a241p-2,
      -0x1.543444327dad6p-2, 0x1.1362305d284adp-2};
};
struct Log2Table {
  static constexpr size_t kColumns = 3;
  static constexpr double kUnit = 0x1p+0, kUnitLow = 0;
  static constexpr double kFirst = 0x1.71547652b82fep+0;
  static constexpr double q[] = {
      0x1.777d0ffda0d24p-56, -0x1.71547652b82fep-1, 0x1.ec709dc3a0408p-2, -0x1.71547652b9572p-2,
      0x1.2776c50eedaa1p-2, -0x1.ec709d9dafc2dp-3, 0x1.a61761cc0d092p-3, -0x1.715540d97d26p-3,
      0x1.48585e0ce78acp-3, -0x1.2655961b17dbbp-3, 0x1.d422d97019b7fp-4};
  static constexpr LogColumns c = log_columns(
      {0, 0x1.097e38ce6p-3, 0x1.a5094b54d2p-3, 0x1.249cd2b13dp-2, 0x1.6cb0f6865dp-2,
       0x1.b877c57b1bp-2, 0x1.f804ae8d0dp-2, 0x1.1d368296b5p-1, 0x1.37222bb7078p-1,
       0x1.5b2c3da197p-1, 0x1.7767c129678p-1, 0x1.94c287492c8p-1, 0x1.a8ff9718108p-1,
       0x1.c86f7b7ea48p-1, 0x1.de298ec0bbp-1, 0x1p+0},
      {0, 0x1.924ae921f7ecap-45, 0x1.050809db75676p-44, -0x1.49d97df07e357p-45,
       -0x1.c57f2495fb7fap-44, 0x1.bfbf899cf2b3cp-48, -0x1.7f33943464056p-45,
       0x1.2a606046ad444p-44, -0x1.c22d2cad415aep-44, 0x1.1d406db502403p-44,
       0x1.228d3da3e961bp-44, -0x1.927dfc23d978p-44, 0x1.2f0c0bfe9dbecp-44,
       0x1.4459c4d3a591bp-44, -0x1.f9ab3cf74babap-44, 0});
};
struct Log10Table {
  static constexpr size_t kColumns = 3;
  static constexpr double kUnit = 0x1.34413509f78p-2, kUnitLow = 0x1.fef311f12b358p-46;
  static constexpr double kFirst = 0x1.bcb7b1526e50ep-2;
  static constexpr double q[] = {
      0x1.95355baaafad3p-57, -0x1.bcb7b1526e50ep-3, 0x1.287a7636f4365p-3, -0x1.bcb7b1526fb46p-4,
      0x1.63c6277516802p-4, -0x1.287a76201cb5cp-4, 0x1.fc3fa50c9ad84p-5, -0x1.bcb8a5302976dp-5,
      0x1.8b5df39e7c082p-5, -0x1.6269f14ee35fcp-5, 0x1.19d895b8c2bbep-5};
  static constexpr LogColumns c = log_columns(
      {0, 0x1.3faf7c663p-5, 0x1.fafa6d398p-5, 0x1.605735ee98p-4, 0x1.b721cd1716p-4,
       0x1.093025a199p-3, 0x1.2f7301cf4fp-3, 0x1.576e3b0bdep-3, 0x1.76a45cbb7ep-3,
       0x1.a209a84fbdp-3, 0x1.c4087384f5p-3, 0x1.e76124046bp-3, 0x1.ffbfc2bbc8p-3,
       0x1.12cd31b9c98p-2, 0x1.1fe1e5af2cp-2, 0x1.34413509f78p-2},
      {0, 0x1.83662f181f53fp-47, -0x1.024e9d08ce301p-45, 0x1.7c3cf23a17d9fp-46,
       -0x1.03ad4133e8c4cp-45, 0x1.dae5ed5e3f34cp-45, -0x1.e1471e5cb397ep-45,
       0x1.4e036062e2e73p-48, 0x1.bfb1de334b1cbp-45, -0x1.0cee0ed4ca7e9p-52,
       -0x1.ff2381071d23ep-49, 0x1.f97877007c127p-46, -0x1.ff229f20ed3d2p-45,
       0x1.feed957c16a44p-46, 0x1.40eb9b53054c3p-46, 0x1.fef311f12b358p-46});
};

// The logarithm of floats. Row i, for 1 + i/8 <= m < 1 + (i+1)/8, has f such that r = m f - 1 needs no
// rounding (multiples of 1/32; |r| <= 1/16, but in the first row), -log(f) in multiples of 2^-16 and
// what that lacks; k times the unit is exact. (log(1 + r) - r) / r^2 by r: 2^-28.2 of the result. The
// rows are written twice, for permutations of sixteen.
struct FloatLogTable {
  static constexpr float kUnit = 0x1.62e4p-1f, kUnitLow = 0x1.7f7d1cp-20f;
  alignas(64) static constexpr float c[3][16] = {
      {1, 0.84375f, 0.75f, 0.6875f, 0.625f, 0.59375f, 0.5625f, 0.5f,
       1, 0.84375f, 0.75f, 0.6875f, 0.625f, 0.59375f, 0.5625f, 0.5f},
      {0, 0x1.5bfp-3f, 0x1.2694p-2f, 0x1.7facp-2f, 0x1.e148p-2f, 0x1.0ae6p-1f, 0x1.2696p-1f,
       0x1.62e4p-1f, 0, 0x1.5bfp-3f, 0x1.2694p-2f, 0x1.7facp-2f, 0x1.e148p-2f, 0x1.0ae6p-1f,
       0x1.2696p-1f, 0x1.62e4p-1f},
      {0, 0x1.01ad5p-17f, 0x1.1089a6p-17f, 0x1.d1decp-17f, 0x1.4344e4p-19f, 0x1.6e2d06p-17f,
       0x1.089a6ep-20f, 0x1.7f7d1cp-20f, 0, 0x1.01ad5p-17f, 0x1.1089a6p-17f, 0x1.d1decp-17f,
       0x1.4344e4p-19f, 0x1.6e2d06p-17f, 0x1.089a6ep-20f, 0x1.7f7d1cp-20f}};
  static constexpr float q[] = {-0x1.fffff6p-2f, 0x1.5555aap-2f, -0x1.002076p-2f, 0x1.99cad4p-3f,
                                -0x1.286f28p-3f};
};

// The sine of i pi / 8 and what it lacks, and the same of the cosine.
struct TurnTable {
  static constexpr size_t kColumns = 4;
  alignas(64) static constexpr double c[kColumns][16] = {
      {0, 0x1.87de2a6aea963p-2, 0x1.6a09e667f3bcdp-1, 0x1.d906bcf328d46p-1, 0x1p+0,
       0x1.d906bcf328d46p-1, 0x1.6a09e667f3bcdp-1, 0x1.87de2a6aea963p-2, 0,
       -0x1.87de2a6aea963p-2, -0x1.6a09e667f3bcdp-1, -0x1.d906bcf328d46p-1, -0x1p+0,
       -0x1.d906bcf328d46p-1, -0x1.6a09e667f3bcdp-1, -0x1.87de2a6aea963p-2},
      {0, -0x1.72cedd3d5a61p-57, -0x1.bdd3413b26456p-55, 0x1.457e610231ac2p-56, 0,
       0x1.457e610231ac2p-56, -0x1.bdd3413b26456p-55, -0x1.72cedd3d5a61p-57, 0,
       0x1.72cedd3d5a61p-57, 0x1.bdd3413b26456p-55, -0x1.457e610231ac2p-56, 0,
       -0x1.457e610231ac2p-56, 0x1.bdd3413b26456p-55, 0x1.72cedd3d5a61p-57},
      {0x1p+0, 0x1.d906bcf328d46p-1, 0x1.6a09e667f3bcdp-1, 0x1.87de2a6aea963p-2, 0,
       -0x1.87de2a6aea963p-2, -0x1.6a09e667f3bcdp-1, -0x1.d906bcf328d46p-1, -0x1p+0,
       -0x1.d906bcf328d46p-1, -0x1.6a09e667f3bcdp-1, -0x1.87de2a6aea963p-2, 0,
       0x1.87de2a6aea963p-2, 0x1.6a09e667f3bcdp-1, 0x1.d906bcf328d46p-1},
      {0, 0x1.457e610231ac2p-56, -0x1.bdd3413b26456p-55, -0x1.72cedd3d5a61p-57, 0,
       0x1.72cedd3d5a61p-57, 0x1.bdd3413b26456p-55, -0x1.457e610231ac2p-56, 0,
       -0x1.457e610231ac2p-56, 0x1.bdd3413b26456p-55, 0x1.72cedd3d5a61p-57, 0,
       -0x1.72cedd3d5a61p-57, -0x1.bdd3413b26456p-55, 0x1.457e610231ac2p-56}};
};
// The sines and cosines of TurnTable, as floats.
struct FloatTurnTable {
  alignas(64) static constexpr float c[4][16] = {
      {0, 0x1.87de2ap-2f, 0x1.6a09e6p-1f, 0x1.d906bcp-1f, 0x1p+0f, 0x1.d906bcp-1f,
       0x1.6a09e6p-1f, 0x1.87de2ap-2f, 0, -0x1.87de2ap-2f, -0x1.6a09e6p-1f, -0x1.d906bcp-1f,
       -0x1p+0f, -0x1.d906bcp-1f, -0x1.6a09e6p-1f, -0x1.87de2ap-2f},
      {0, 0x1.abaa58p-28f, 0x1.9fcef4p-27f, 0x1.e651a8p-26f, 0, 0x1.e651a8p-26f,
       0x1.9fcef4p-27f, 0x1.abaa58p-28f, 0, -0x1.abaa58p-28f, -0x1.9fcef4p-27f,
       -0x1.e651a8p-26f, 0, -0x1.e651a8p-26f, -0x1.9fcef4p-27f, -0x1.abaa58p-28f},
      {0x1p+0f, 0x1.d906bcp-1f, 0x1.6a09e6p-1f, 0x1.87de2ap-2f, 0, -0x1.87de2ap-2f,
       -0x1.6a09e6p-1f, -0x1.d906bcp-1f, -0x1p+0f, -0x1.d906bcp-1f, -0x1.6a09e6p-1f,
       -0x1.87de2ap-2f, 0, 0x1.87de2ap-2f, 0x1.6a09e6p-1f, 0x1.d906bcp-1f},
      {0, 0x1.e651a8p-26f, 0x1.9fcef4p-27f, 0x1.abaa58p-28f, 0, -0x1.abaa58p-28f,
       -0x1.9fcef4p-27f, -0x1.e651a8p-26f, 0, -0x1.e651a8p-26f, -0x1.9fcef4p-27f,
       -0x1.abaa58p-28f, 0, 0x1.abaa58p-28f, 0x1.9fcef4p-27f, 0x1.e651a8p-26f}};
  // As in SixteenthTurn: 2^-31.0 of r and 2^-28.2 of 1.
  static constexpr float sin[] = {-0x1.555544p-3f, 0x1.10b7c4p-7f};
  static constexpr float cos[] = {-0x1.ffffc4p-2f, 0x1.54b914p-5f};
};
// (sin(r) - r) / r^3 by r^2 for |r| <= pi / 16, 2^-55.75, and (cos(r) - 1) / r^2, 2^-64.81 of 1.
struct SixteenthTurn {
  static constexpr double sin[] = {
      -0x1.5555555555546p-3, 0x1.11111110de8d3p-7, -0x1.a019fb3a83f7ap-13, 0x1.719bdd84675d2p-19};
  static constexpr double cos[] = {
      -0x1p-1, 0x1.5555555555514p-5, -0x1.6c16c16bad846p-10, 0x1.a019fa299a11cp-16,
      -0x1.27adae2eb0847p-22};
};

// erf(a) in pieces that end at 1/4, 2/4 to 8/4, then 5/2 to 6: a row has the centre and the
// coefficients by rising power of the distance to it, 2^-55.4. Centres were searched for near the
// middle where erf is within 1/1000 of a last place of a double (1/10 in the last piece).
struct ErfTable {
  static constexpr size_t kColumns = 14;
  alignas(64) static constexpr double c[kColumns][16] = {
      {0, 0x1.7fc44f2091354p-2, 0x1.403afd78f4789p-1, 0x1.bfbe6ff47d6fcp-1,
       0x1.200f78bcaea41p+0, 0x1.601bec40fb4afp+0, 0x1.a00cef24843aep+0, 0x1.e00dbda42d531p+0,
       0x1.1fcec951f7a5fp+1, 0x1.5fedb07df0a62p+1, 0x1.9ff7a7847b8fdp+1, 0x1.dfe2b342a46b9p+1,
       0x1.10127ca143b99p+2, 0x1.301197212859dp+2, 0x1.500d374398c3p+2, 0x1.6fe00411b3a3ap+2},
      {0, 0x1.9d964cca30bbfp-2, 0x1.3f4674865bfdap-1, 0x1.914fde1e9fafbp-1,
       0x1.c6e4ab0a24777p-1, 0x1.e5800e5adf2a7p-1, 0x1.f4f8a873c3aadp-1, 0x1.fbe70ad8ad3cdp-1,
       0x1.ff3ede38c91dap-1, 0x1.fff2c4adce68p-1, 0x1.ffff6f5f7e931p-1, 0x1.fffffc284c283p-1,
       0x1.fffffff042691p-1, 0x1.ffffffffd7c5bp-1, 0x1.ffffffffffc0ep-1, 0x1.ffffffffffffcp-1},
      {0x1.20dd750429b6dp+0, 0x1.f606be3342df7p-1, 0x1.86b11ba9a7052p-1, 0x1.0ce799217bf57p-1,
       0x1.45bd4c393b77p-2, 0x1.5c7cfa4325e5ep-3, 0x1.49672b7b309f7p-4, 0x1.12976802d64e5p-5,
       0x1.d7408dc766f07p-8, 0x1.3452fcbb0751bp-11, 0x1.ea859d05ef378p-16,
       0x1.dc66289ad5d46p-21, 0x1.12b4395a1aac2p-26, 0x1.8660d1861585ep-33,
       0x1.514480617d473p-40, 0x1.68510bf8b57e6p-48},
      {0x1.b87870fe59152p-57, -0x1.784a8772214bcp-2, -0x1.e8b76989f5aabp-2,
       -0x1.d6506dde5a31ap-2, -0x1.6e88a578ab366p-2, -0x1.df51dae6653a1p-3,
       -0x1.0bac259a43848p-3, -0x1.0175500fbdadp-4, -0x1.08e703be9abadp-6,
       -0x1.a7dc0de924a33p-10, -0x1.8e8490b9105dbp-14, -0x1.be8482e0b12a1p-19,
       -0x1.23f3535856744p-24, -0x1.cfadcac8d1f9ep-31, -0x1.babaf2ce52ae4p-38,
       -0x1.240ee1ca943b5p-46},
      {-0x1.812746b037ab7p-2, -0x1.e1564e439342p-3, -0x1.c5763a8cba067p-5, 0x1.7bb179452719bp-4,
       0x1.4cc1a3e40be5cp-3, 0x1.43598fe44a373p-3, 0x1.d639f5ccb87b7p-4, 0x1.1417f3dc6521fp-4,
       0x1.65d13e11e6ba5p-6, 0x1.6ac3ec482d092p-9, 0x1.9b416250b11a9p-13, 0x1.0d14fd53c3012p-17,
       0x1.9242a56abde93p-23, 0x1.67077ad859a2dp-29, 0x1.7c6c55cb67b46p-36,
       0x1.20ea6d84dfbcap-43},
      {0x1.048a7590aff46p-39, 0x1.550e818a52e82p-3, 0x1.69436020a2c26p-3, 0x1.cd1092320ff33p-4,
       0x1.c920f534265f9p-6, -0x1.f4ca0dc1d1a47p-6, -0x1.975069ef040ebp-5, -0x1.5a183046420dp-5,
       -0x1.39f99b1a5667ap-6, -0x1.ac0ec57561124p-9, -0x1.2ce8b51008dd6p-12,
       -0x1.d332d958b14e7p-17, -0x1.932f95412f9e3p-22, -0x1.971fb9e71afccp-28,
       -0x1.e0f8024e6949bp-35, -0x1.7bd58e815a5ebp-39},
      {0x1.ce2f21984edc8p-4, 0x1.751845c93590bp-5, -0x1.c2f8350f75477p-6, -0x1.133039d2603efp-4,
       -0x1.f62ee8bee73e2p-5, -0x1.f4852b960a17ep-6, -0x1.15979b7cc71abp-9,
       0x1.77c666ef408f7p-7, 0x1.5e165f056fcb7p-7, 0x1.69f02d6367d22p-9, 0x1.4976770af3e0fp-12,
       0x1.35f40055eabd2p-16, 0x1.38a12002d681ap-21, 0x1.67ed62821fad9p-27,
       0x1.dc87fd9cf5ef1p-34, -0x1.5ffbccdd618efp-40},
      {0x1.fe6145e07874dp-29, -0x1.9a66fdb515744p-5, -0x1.52566b503d077p-5,
       -0x1.55dd9813ee08fp-7, 0x1.fda185131c44ep-7, 0x1.6b051d810a2e2p-6, 0x1.d8104601b707dp-7,
       0x1.0c9049c1ef8a7p-8, -0x1.7bbf6b28b9ecfp-9, -0x1.b31eff57b0f25p-10,
       -0x1.14a5c97eb5864p-12, -0x1.450e4f0fcd9b1p-16, -0x1.85404cd5036bdp-21,
       -0x1.01dc1ef77e392p-26, -0x1.8063dbba3525ep-33, 0x1.64eb1415517d7p-33},
      {-0x1.b82d2dcc7a4f9p-6, -0x1.6718d4c8dcd07p-8, 0x1.c89752ed117f4p-7, 0x1.30cafe34d67f2p-6,
       0x1.3a6ce9d73f529p-7, -0x1.77cda37be190fp-10, -0x1.9559ee1c827e7p-8,
       -0x1.42d4775ad02b6p-8, -0x1.65d300f2f2229p-11, 0x1.52eb9a6554fc9p-11,
       0x1.64d8aaf2573fcp-13, 0x1.12646e4317168p-16, 0x1.8e5b210245137p-21,
       0x1.333453187cf3cp-26, 0x1.0461b60cab777p-32, 0x1.63607207ce2f7p-34},
      {0x1.b53366ba20878p-21, 0x1.70988c6119ce6p-7, 0x1.b53845c05ed6bp-8,
       -0x1.e01bf37170521p-10, -0x1.8b50a1484780dp-8, -0x1.16dabbc44c658p-8,
       -0x1.2cf35a3c740a2p-11, 0x1.772c643f24b6dp-10, 0x1.0751f477d5cc2p-10,
       -0x1.73d63ea4cf1f2p-14, -0x1.56b446914eafp-14, -0x1.770d69e0d3942p-17,
       -0x1.53f3a458e94ap-21, -0x1.35cb92cdca306p-26, -0x1.357229281a8cep-32,
       -0x1.5b2c93d74c9aep-28},
      {0x1.55f4e6ae2595p-8, 0x1.0dc9c6d0472b5p-13, -0x1.dca7343f3de95p-9, -0x1.ab77e7ee7e128p-9,
       -0x1.76e05273a1da1p-12, 0x1.9dfdd6ae26e52p-10, 0x1.719e83d3dcaa6p-10,
       0x1.7b03e2228be86p-12, -0x1.831d0c0edf878p-12, -0x1.2c2b9de770969p-14,
       0x1.b2fb03358a0a2p-16, 0x1.9b93e7f65cd92p-18, 0x1.e724ba24dea57p-22,
       0x1.0ab9cd9bb665dp-26, 0x1.2bff3c11cf79cp-32, -0x1.816ceaee7cc2ep-30},
      {0x1.f396cc17ed651p-16, -0x1.0761bc7a16982p-9, -0x1.7f54cec5afaeep-11,
       0x1.d5a5e9a1bfd2bp-11, 0x1.2e43cc5f9cc58p-10, 0x1.51b2b134bd45fp-12,
       -0x1.75b5ac5029a02p-12, -0x1.983e7a2b835a2p-12, -0x1.a65623bf722dep-17,
       0x1.ce3d660936d06p-15, -0x1.377785f865b01p-19, -0x1.5e9132608fb5cp-19,
       -0x1.257314ea78419p-22, -0x1.8845944f5b8ccp-27, -0x1.0ea4e302481e5p-33,
       0x1.34c8aaa1fc975p-24},
      {-0x1.ef870903c00f2p-11, 0x1.df720e2c4b5b8p-14, 0x1.6126fce63bff1p-11,
       0x1.98c0710164ef9p-12, -0x1.6f219890ea0cp-13, -0x1.6160ecaabf89fp-12,
       -0x1.077f2fa37bfc8p-13, 0x1.3166ed2e568fcp-14, 0x1.11bc98066b60ap-14,
       -0x1.0138a104f0254p-16, -0x1.8ed24001028d9p-19, 0x1.9ac7dd8fbb19ep-21,
       0x1.2d161d7ff062p-23, 0x1.0cae3039b337cp-27, 0x1.a409530df4967p-33, 0x1.3524e99e2fa0ap-27},
      {0x1.48679972b9a9cp-13, 0x1.3771eacba8bdp-12, 0x1.559a466393416p-15,
       -0x1.8896ddd146761p-13, -0x1.32c00f2282162p-13, 0x1.cc34901edc234p-16,
       0x1.7ca72f9b77039p-14, 0x1.722aa99dda88bp-16, -0x1.71ea459154b88p-16,
       -0x1.4d33d9dcfcb9ep-20, 0x1.ff4ed0bfadf72p-20, -0x1.54841550d5966p-24,
       -0x1.e43b6b82ef828p-25, -0x1.5cf3c46323cefp-28, -0x1.97cc7b84bcbf4p-31,
       -0x1.9c482c339cb72p-22}};
};

}  // namespace libdl::kernels::cpu::coefficients
// clang-format on
