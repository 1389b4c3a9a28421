// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/pointwise/tile_pairs.h"

#include "kernels/cpu/simd/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/pointwise/tile_pairs.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/tiles/tiles_float-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu::HWY_NAMESPACE {

// A difference with the first one's result on the right.
struct rsub_op {
  template <class V>
  static HWY_INLINE V of(V x, V y) {
    return y - x;
  }
};

template <class First, class Second>
struct both {
  static constexpr bool kTruth = false;
  template <class V>
  static HWY_INLINE V of(V a, V b, V c) {
    return Second::of(First::of(a, b), c);
  }
};

// Of two vectors in flight the activation of the second takes another unit; see Lanes.
template <bool kSecond, class Activation, class V>
HWY_INLINE V activated(V x) {
  if constexpr (kSecond) {
    return V(Activation::of(typename V::Second(x.raw)).raw);
  } else {
    return Activation::of(x);
  }
}
template <class Activation, class Second>
struct activation_first {
  template <bool kSecond, class V>
  static HWY_INLINE V of(V a, V b) {
    return Second::of(activated<kSecond, Activation>(a), b);
  }
};
template <class First, class Activation>
struct activation_last {
  template <bool kSecond, class V>
  static HWY_INLINE V of(V a, V b) {
    return activated<kSecond, Activation>(First::of(a, b));
  }
};

template <class Op>
void two_at_once(const void* const* in, void* out, int64_t count) {
  using V = Lanes<float>;
  using M = Memory<V, float>;
  const float *a = static_cast<const float*>(in[0]), *b = static_cast<const float*>(in[1]);
  float* to = static_cast<float*>(out);
  const size_t step = hn::Lanes(typename V::Tag()), n = static_cast<size_t>(count);
  size_t i = 0;
  for (; i + 2 * step <= n; i += 2 * step) {
    const V y = Op::template of<false>(M::load(a + i), M::load(b + i));
    const V z = Op::template of<true>(M::load(a + i + step), M::load(b + i + step));
    M::store(y, to + i);
    M::store(z, to + i + step);
  }
  for (; i + step <= n; i += step)
    M::store(Op::template of<false>(M::load(a + i), M::load(b + i)), to + i);
  const size_t rest = n - i;
  if (rest != 0)
    M::store(Op::template of<false>(M::load(a + i, rest), M::load(b + i, rest)), to + i, rest);
}

template <class T, class First>
TileFn after(Expression second, int place) {
  using V = Lanes<T>;
  switch (second) {
    case Expression::add: return &tile<both<First, add_op>, V, T, 3>;
    case Expression::mul: return &tile<both<First, mul_op>, V, T, 3>;
    case Expression::sub:
      if (place != 0) return &tile<both<First, rsub_op>, V, T, 3>;
      return &tile<both<First, sub_op>, V, T, 3>;
    default: return nullptr;
  }
}
template <class T>
TileFn arithmetic_pair(Expression first, Expression second, int place) {
  switch (first) {
    case Expression::add: return after<T, add_op>(second, place);
    case Expression::mul: return after<T, mul_op>(second, place);
    case Expression::sub: return after<T, sub_op>(second, place);
    default: return nullptr;
  }
}

template <class Activation>
TileFn activation_pair(Expression first, Expression second) {
  if (second == Expression::add) return &two_at_once<activation_first<Activation, add_op>>;
  if (second == Expression::mul) return &two_at_once<activation_first<Activation, mul_op>>;
  if (first == Expression::add) return &two_at_once<activation_last<add_op, Activation>>;
  if (first == Expression::mul) return &two_at_once<activation_last<mul_op, Activation>>;
  return nullptr;
}

TileFn f64_pair(Expression first, Expression second, int place) {
  return arithmetic_pair<double>(first, second, place);
}
TileFn f32_pair(Expression first, Expression second, int place) {
  if (const TileFn fn = arithmetic_pair<float>(first, second, place)) return fn;
  for (const Expression e : {first, second}) switch (e) {
#define LIBDL_ACTIVATION(name) \
  case Expression::name: return activation_pair<name##_op>(first, second);
      LIBDL_ACTIVATION(exp)
      LIBDL_ACTIVATION(tanh)
      LIBDL_ACTIVATION(sigmoid)
      LIBDL_ACTIVATION(relu)
      LIBDL_ACTIVATION(gelu)
      LIBDL_ACTIVATION(silu)
#undef LIBDL_ACTIVATION
      default: break;
    }
  return nullptr;
}

}  // namespace libdl::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

TileFn pair_tile(Class c, Expression first, Expression second, int place) {
  using Find = TileFn (*)(Expression, Expression, int);
  static constexpr Find f32[] = LIBDL_FOR_EACH_ISA(f32_pair), f64[] = LIBDL_FOR_EACH_ISA(f64_pair);
  const int i = static_cast<int>(isa());
  if (c == Class::kF32) return f32[i](first, second, place);
  if (c == Class::kF64) return f64[i](first, second, place);
  return nullptr;
}

}  // namespace libdl::kernels::cpu
#endif
