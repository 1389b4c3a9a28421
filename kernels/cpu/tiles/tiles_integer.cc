// SPDX-License-Identifier: Apache-2.0

// The bool, int64 and uint64 classes of the pointwise expressions.
#include <limits>

#include "kernels/cpu/simd/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/tiles/tiles_integer.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/tiles/tiles_scalar-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
// Division by vectors of doubles. Below 2^53 integers are doubles, and the rounded quotient does
// not reach a whole number that the true one does not: from that it is at least 1 / y away.
struct Division {
  using D = hn::ScalableTag<int64_t>;
  using V = hn::Vec<D>;
  static constexpr int64_t kN = hn::MaxLanes(D());
  V x, y, quotient, rest;
  hn::Mask<D> lower;  // where the quotient rounded down is one less

  // False where a lane is too large or divides by zero.
  HWY_INLINE bool of(const int64_t* a, const int64_t* b) {
    const D d;
    const hn::RebindToFloat<D> f;
    x = hn::LoadU(d, a);
    y = hn::LoadU(d, b);
    const V zero = hn::Zero(d), most = hn::Set(d, (int64_t{1} << 53) - 1);
    const auto large = hn::Or(hn::Gt(hn::Max(x, y), most), hn::Lt(hn::Min(x, y), hn::Neg(most)));
    if (HWY_UNLIKELY(!hn::AllFalse(d, hn::Or(large, hn::Eq(y, zero))))) return false;
    quotient = hn::ConvertTo(d, hn::Div(hn::ConvertTo(f, x), hn::ConvertTo(f, y)));
    rest = hn::Sub(x, hn::Mul(quotient, y));
    const auto signs = hn::Lt(hn::Xor(rest, y), zero);
    lower = hn::AndNot(hn::Eq(rest, zero), signs);
    return true;
  }
};
struct div_trunc_vector {
  static HWY_INLINE Division::V of(const Division& q) { return q.quotient; }
};
struct div_floor_vector {
  static HWY_INLINE Division::V of(const Division& q) {
    const Division::D d;
    return hn::Sub(q.quotient, hn::IfThenElse(q.lower, hn::Set(d, 1), hn::Zero(d)));
  }
};
struct fmod_vector {
  static HWY_INLINE Division::V of(const Division& q) { return q.rest; }
};
struct remainder_vector {
  static HWY_INLINE Division::V of(const Division& q) {
    const Division::D d;
    return hn::Add(q.rest, hn::IfThenElse(q.lower, q.y, hn::Zero(d)));
  }
};

template <class Op, class Vector>
void division_tile(const void* const* in, void* out, int64_t n) {
  const auto* a = static_cast<const int64_t*>(in[0]);
  const auto* b = static_cast<const int64_t*>(in[1]);
  auto* y = static_cast<int64_t*>(out);
  constexpr int64_t kN = Division::kN;
  Division division;
  int64_t i = 0;
  for (; i + kN <= n; i += kN) {
    if (HWY_LIKELY(division.of(a + i, b + i))) {
      hn::StoreU(Vector::of(division), Division::D(), y + i);
    } else {
      const void* here[] = {a + i, b + i};
      scalar_tile<Op, Int64, 2>(here, y + i, kN);
    }
  }
  const void* rest[] = {a + i, b + i};
  scalar_tile<Op, Int64, 2>(rest, y + i, n - i);
}
#define LIBDL_DIVISION(name) \
  if constexpr (e == Expression::name) return &division_tile<name##_op, name##_vector>;
#else
#define LIBDL_DIVISION(name)
#endif

template <Expression e, class Op, int kInputs, bool kExists>
constexpr TileFn i64_entry() {
  LIBDL_DIVISION(div_trunc)
  LIBDL_DIVISION(div_floor)
  LIBDL_DIVISION(remainder)
  LIBDL_DIVISION(fmod)
  return entry<Op, Int64, kInputs, kExists>();
}
#undef LIBDL_DIVISION

}  // namespace

extern const TileFn bool_table[kExpressions];
const TileFn bool_table[kExpressions] = {
#define POINTWISE(name, inputs, classes, result) \
  entry<name##_op, Bool, inputs, has_letter(classes, 'B')>(),
#include "kernels/pointwise.def"
#undef POINTWISE
};
extern const TileFn i64_table[kExpressions];
const TileFn i64_table[kExpressions] = {
#define POINTWISE(name, inputs, classes, result) \
  i64_entry<Expression::name, name##_op, inputs, has_letter(classes, 'I')>(),
#include "kernels/pointwise.def"
#undef POINTWISE
};
extern const TileFn i64_counted_table[kExpressions];
const TileFn i64_counted_table[kExpressions] = {
#define POINTWISE(name, inputs, classes, result) \
  entry<counted<name##_op>, Int64, inputs, name##_op::kTruth && has_letter(classes, 'I')>(),
#include "kernels/pointwise.def"
#undef POINTWISE
};
extern const TileFn u64_table[kExpressions];
const TileFn u64_table[kExpressions] = {
#define POINTWISE(name, inputs, classes, result) \
  entry<name##_op, Uint64, inputs, has_letter(classes, 'U')>(),
#include "kernels/pointwise.def"
#undef POINTWISE
};

}  // namespace libdl::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {
const TileTable bool_tiles[kIsas] = LIBDL_FOR_EACH_ISA(bool_table);
const TileTable i64_tiles[kIsas] = LIBDL_FOR_EACH_ISA(i64_table);
const TileTable i64_counted_tiles[kIsas] = LIBDL_FOR_EACH_ISA(i64_counted_table);
const TileTable u64_tiles[kIsas] = LIBDL_FOR_EACH_ISA(u64_table);
}  // namespace libdl::kernels::cpu
#endif
