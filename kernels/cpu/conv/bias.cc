// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/conv/bias.h"

#include <algorithm>

#include "kernels/cpu/conv/stored.h"
#include "kernels/cpu/gemm/matmul_parts.h"

namespace libdl::kernels::cpu {

namespace {

// The sums over all pixels: of 64 at a time in T, these in double.
template <class S>
void compute_bias(Context& context, const ConvolutionArgs& a) {
  using T = Wide<S>;
  constexpr int64_t kRun = 64, kPart = 4096;
  const int64_t k = a.y.sizes[1], pixels = element_count(a.y) / k, parts = (pixels - 1) / kPart + 1;
  const Scratch scratch(context, product(parts, k, sizeof(double)));
  if (scratch.failed()) return;
  double* const sums = static_cast<double*>(scratch.data());
  const S* const y = static_cast<const S*>(a.y.data);
  for_chunks(context, parts, [&](int64_t part) {
    double* const sum = sums + part * k;
    const int64_t end = std::min(pixels, (part + 1) * kPart);
    T run[kRun];
    for (int64_t c0 = 0; c0 < k; c0 += kRun) {
      const int64_t width = std::min(kRun, k - c0);
      std::fill_n(sum + c0, width, 0.0);
      for (int64_t r = part * kPart; r < end; r += kRun) {
        std::fill_n(run, width, T(0));
        for (int64_t i = r; i < std::min(end, r + kRun); ++i) {
          const S* const row = y + i * a.y.strides[4] + c0;
          for (int64_t c = 0; c < width; ++c) run[c] += widened(row[c]);
        }
        for (int64_t c = 0; c < width; ++c) sum[c0 + c] += run[c];
      }
    }
  });
  if (context.stopped) return;
  S* const out = static_cast<S*>(a.bias.data);
  for (int64_t c = 0; c < k; ++c) {
    double sum = 0;
    for (int64_t part = 0; part < parts; ++part) sum += sums[part * k + c];
    out[c] = narrowed<S>(static_cast<T>(sum));
  }
}

}  // namespace

void bias_gradient(Context& context, const ConvolutionArgs& args) {
  as_stored(args.y.dtype, [&](auto s) { compute_bias<decltype(s)>(context, args); });
}

}  // namespace libdl::kernels::cpu
