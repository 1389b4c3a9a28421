// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/kernels.h"

#include <algorithm>

namespace libdl::kernels::cpu {
namespace {

// Equal neighbours would wait for each other's sum: they are counted in tables of their own, which
// the nearest cache holds.
constexpr int64_t kTables = 4, kMostTogether = 1 << 10;

// Clears kTables tables of k and counts in them; a is their sum then.
void count_in_tables(int64_t* a, int64_t* others, int64_t k, const int64_t* x, int64_t n) {
  std::fill_n(a, k, 0);
  std::fill_n(others, (kTables - 1) * k, 0);
  int64_t *const b = others, *const c = b + k, *const d = c + k;
  int64_t i = 0;
  for (; i + kTables <= n; i += kTables) {
    ++a[x[i]];
    ++b[x[i + 1]];
    ++c[x[i + 2]];
    ++d[x[i + 3]];
  }
  for (; i < n; ++i) ++a[x[i]];
  for (int64_t j = 0; j < k; ++j) a[j] += b[j] + c[j] + d[j];
}

}  // namespace

void bincount(Context& context, const BincountArgs& args) {
  auto* const table = static_cast<int64_t*>(args.counts.data);
  const auto* const x = static_cast<const int64_t*>(args.in.data);
  const int64_t k = numel(args.counts), n = numel(args.in);
  if (k <= kMostTogether && n >= 8 * k) {
    const Scratch others(context, (kTables - 1) * k * static_cast<int64_t>(sizeof(int64_t)));
    if (!others.failed()) count_in_tables(table, static_cast<int64_t*>(others.data()), k, x, n);
    return;
  }
  std::fill_n(table, k, 0);
  for (int64_t i = 0; i < n; ++i) ++table[x[i]];
}

}  // namespace libdl::kernels::cpu
