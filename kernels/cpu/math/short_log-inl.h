// SPDX-License-Identifier: Apache-2.0

// Logarithms for V = Lanes<double, 24>, to 2^-38: by the table of those of all bits, with fewer
// terms.
#if defined(LIBDL_KERNELS_CPU_MATH_SHORT_LOG_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_MATH_SHORT_LOG_INL_H
#undef LIBDL_KERNELS_CPU_MATH_SHORT_LOG_INL_H
#else
#define LIBDL_KERNELS_CPU_MATH_SHORT_LOG_INL_H
#endif

#include "kernels/cpu/math/log-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu::HWY_NAMESPACE::math {

// Of what is positive, finite and no subnormal double. As in table_log, all but the last term is
// nothing near 1.
template <class V>
HWY_INLINE V short_log_inside(V x) {
  using Table = coefficients::LogTable;
  constexpr double series[] = {-1.0 / 2, 1.0 / 3, -1.0 / 4, 1.0 / 5, -1.0 / 6, 1.0 / 7};
  V k, m = binary_parts(x, k), row[Table::kColumns];
  take<Table>(Rows<V>(hn::ShiftRight<V::kMantissa - 4>(m.bits())), row);
  const V r = near_one(m, row[0]);
  return fma(k, V(Table::kUnit), row[1]) + fma(r * r, polynomial(r, series), r);
}
template <class V>
HWY_INLINE V short_log(V x) {
  return log_limits(x, short_log_inside(x));
}

}  // namespace libdl::kernels::cpu::HWY_NAMESPACE::math
HWY_AFTER_NAMESPACE();

#endif
