// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/sum_rows.h"

#include <libdl/dtype.h>

#include <algorithm>

#include "kernels/cpu/traverse/walk.h"

namespace libdl::kernels::cpu {

namespace {

template <class T>
void sum(Context& context, const SumRowsArgs& a) {
  constexpr int64_t kElements = 1 << 13;  // worth a chunk
  const int64_t each = a.columns * std::max<int64_t>(1, a.starts[a.rows] / a.rows);
  in_chunks(context, a.rows, std::max<int64_t>(1, kElements / each),
            [&](int64_t first, int64_t last) {
              for (int64_t r = first; r < last; ++r) {
                T* const to = static_cast<T*>(a.out) + r * a.columns;
                for (int64_t p = a.starts[r]; p < a.starts[r + 1]; ++p) {
                  const T* const from = static_cast<const T*>(a.in) + a.order[p] * a.columns;
                  if (p == a.starts[r]) {
                    std::copy_n(from, a.columns, to);
                  } else {
                    for (int64_t c = 0; c < a.columns; ++c) to[c] += from[c];
                  }
                }
              }
            });
}

}  // namespace

void sum_rows(Context& context, const SumRowsArgs& a) {
  if (a.dtype == LIBDL_DTYPE_FLOAT64) return sum<double>(context, a);
  sum<float>(context, a);
}

}  // namespace libdl::kernels::cpu
