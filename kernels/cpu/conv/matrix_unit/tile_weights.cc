// SPDX-License-Identifier: Apache-2.0

// Weights in the tiles that products with patches read.
#include <algorithm>

#include "kernels/cpu/conv/matrix_unit/tile_steps.h"
#include "kernels/cpu/gemm/matmul_parts.h"
#include "kernels/cpu/gemm/tiles_amx.h"

namespace libdl::kernels::cpu {
namespace {

using amx::kSide, amx::kStep, amx::kStepBytes;

// One panel of the matrix [(tap, row), column] of weights.
class Panel {
 public:
  Panel(const Taps<Bfloat>& taps, int64_t panel)
      : t_(taps),
        from_(reinterpret_cast<const uint16_t*>(taps.weights) + panel * kSide * taps.col_stride),
        columns_(std::min(kSide, taps.columns - panel * kSide)) {}

  void pack(char* to) const {
    if (is_one_line()) {
      amx::pack_columns(to, {from_, t_.col_stride, t_.row_stride}, columns_, t_.all_rows());
    } else if (t_.rows % kStep == 0) {
      by_taps(to);
    } else {
      across_taps(to);
    }
  }

 private:
  // Whether k goes through memory in steps of one length.
  bool is_one_line() const {
    int64_t next = t_.row_stride * t_.rows;
    for (int d = 2; d >= 0; --d) {
      if (t_.counts[d] > 1 && t_.strides[d] != next) return false;
      next *= t_.counts[d];
    }
    return true;
  }
  const uint16_t* tap(int64_t n) const {
    const int64_t k = n % t_.counts[2], j = n / t_.counts[2] % t_.counts[1];
    const int64_t i = n / t_.counts[2] / t_.counts[1];
    return from_ + i * t_.strides[0] + j * t_.strides[1] + k * t_.strides[2];
  }
  void by_taps(char* to) const {
    const int64_t count = t_.all_rows() / t_.rows;
    for (int64_t n = 0; n < count; ++n, to += t_.rows / kStep * kStepBytes)
      amx::pack_columns(to, {tap(n), t_.col_stride, t_.row_stride}, columns_, t_.rows);
  }
  // Steps that more than one tap shares.
  void across_taps(char* to) const {
    uint16_t lines[kSide][kStep];
    const int64_t all = t_.all_rows();
    for (int64_t k0 = 0; k0 < all; k0 += kStep, to += kStepBytes) {
      const int64_t here = std::min(kStep, all - k0);
      int64_t n = k0 / t_.rows, row = k0 % t_.rows;
      const uint16_t* from = tap(n) + row * t_.row_stride;
      for (int64_t k = 0; k < here; ++k) {
        for (int64_t c = 0; c < columns_; ++c) lines[c][k] = from[c * t_.col_stride];
        from += t_.row_stride;
        if (++row == t_.rows && k + 1 < here) row = 0, from = tap(++n);
      }
      amx::pack_columns(to, {lines[0], kStep, 1}, columns_, here);
    }
  }

  const Taps<Bfloat>& t_;
  const uint16_t* from_;
  int64_t columns_;
};

}  // namespace

void pack_taps_in_tiles(Context& context, char* packed, const Taps<Bfloat>& taps) {
  const int64_t panel = amx::steps(taps.all_rows()) * kStepBytes;
  for_chunks(context, ceil_div(taps.columns, kSide),
             [&](int64_t n) { Panel(taps, n).pack(packed + n * panel); });
}

}  // namespace libdl::kernels::cpu
