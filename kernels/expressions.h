// SPDX-License-Identifier: Apache-2.0

// The scalar expressions of pointwise.def, once for every device: V is a scalar (kernels/scalars.h,
// float, double) or a vector of them. Comparisons give a truth (bool, or a mask of lanes), which
// combine with & | ! and choose by select(truth, a, b).
//
// No include guard: the file is included inside the namespace of its user, once for each
// instruction set. The user defines LIBDL_EXPRESSION (how a function is declared) and, before the
// inclusion, number<V>(n), select(truth, a, b), any(truth), is_negative(x) for integers, and the
// elementary functions of its value types as static members of Math<V>.

// clang-format off: it would give each of these short formulas three lines.
namespace expression {

template <class V>
LIBDL_EXPRESSION auto add(V x, V y) { return x + y; }
template <class V>
LIBDL_EXPRESSION auto sub(V x, V y) { return x - y; }
template <class V>
LIBDL_EXPRESSION auto add_scaled(V x, V alpha, V y) { return x + alpha * y; }
template <class V>
LIBDL_EXPRESSION auto mul(V x, V y) {
  if constexpr (is_bool<V>) {
    return x & y;
  } else {
    return x * y;
  }
}
template <class V>
LIBDL_EXPRESSION auto div(V x, V y) { return x / y; }

template <class V>
LIBDL_EXPRESSION V div_trunc(V x, V y) {
  if constexpr (is_integer<V>) {
    return quotient(x, y);
  } else {
    return Math<V>::trunc(x / y);
  }
}

// The exact quotient rounded down. x / y may round up to a whole number, so this starts from the
// exact remainder.
template <class V>
LIBDL_EXPRESSION V div_floor(V x, V y) {
  if constexpr (is_integer<V>) {
    V q = quotient(x, y);
    V r = x - q * y;
    bool lower = r != number<V>(0) && y != number<V>(0) && is_negative(r) != is_negative(y);
    return select(lower, q - number<V>(1), q);
  } else {
    V r = Math<V>::fmod(x, y);
    V q = (x - r) / y;
    q = select((r != V(0)) & ((r < V(0)) ^ (y < V(0))), q - V(1), q);
    V whole = Math<V>::floor(q);
    whole = select(q - whole > V(0.5), whole + V(1), whole);
    whole = select(q == V(0), Math<V>::copysign(V(0), x / y), whole);
    return select(y == V(0), x / y, whole);
  }
}
template <class V>
LIBDL_EXPRESSION V remainder(V x, V y) {
  if constexpr (is_integer<V>) {
    V r = x - quotient(x, y) * y;
    r = select(y == number<V>(0), number<V>(0), r);
    bool other_sign = r != number<V>(0) && is_negative(r) != is_negative(y);
    return select(other_sign, r + y, r);
  } else {
    V r = Math<V>::fmod(x, y);
    return select((r != V(0)) & ((r < V(0)) ^ (y < V(0))), r + y, r);
  }
}
template <class V>
LIBDL_EXPRESSION V fmod(V x, V y) {
  if constexpr (is_integer<V>) {
    return select(y == number<V>(0), number<V>(0), x - quotient(x, y) * y);
  } else {
    return Math<V>::fmod(x, y);
  }
}
template <class V>
LIBDL_EXPRESSION V pow(V x, V y) {
  if constexpr (is_integer<V>) {
    return power(x, y);
  } else {
    return Math<V>::pow(x, y);
  }
}

template <class V>
LIBDL_EXPRESSION V neg(V x) { return -x; }
template <class V>
LIBDL_EXPRESSION V abs(V x) {
  if constexpr (is_integer<V>) {
    return select(is_negative(x), -x, x);
  } else {
    return Math<V>::abs(x);
  }
}
template <class V>
LIBDL_EXPRESSION V sign(V x) {
  if constexpr (is_bool<V>) {
    return x;
  } else {
    V zero = number<V>(0), one = number<V>(1);
    V s = select(x > zero, one, select(x < zero, -one, zero));
    if constexpr (is_integer<V>) {
      return s;
    } else {
      return select(x != x, x, s);
    }
  }
}
template <class V>
LIBDL_EXPRESSION V sgn(V x) {
  double size = Math<V>::abs(x).re;
  return size == 0 ? number<V>(0) : V{x.re / size, x.im / size};
}
template <class V>
LIBDL_EXPRESSION V reciprocal(V x) { return number<V>(1) / x; }
template <class V>
LIBDL_EXPRESSION V square(V x) { return x * x; }
template <class V>
LIBDL_EXPRESSION V sqrt(V x) { return Math<V>::sqrt(x); }
template <class V>
LIBDL_EXPRESSION V rsqrt(V x) { return Math<V>::rsqrt(x); }

#define LIBDL_UNARY(name) \
  template <class V>      \
  LIBDL_EXPRESSION V name(V x) { return Math<V>::name(x); }
LIBDL_UNARY(exp)
LIBDL_UNARY(expm1)
LIBDL_UNARY(log)
LIBDL_UNARY(log1p)
LIBDL_UNARY(log2)
LIBDL_UNARY(log10)
LIBDL_UNARY(exp2)
LIBDL_UNARY(sin)
LIBDL_UNARY(cos)
LIBDL_UNARY(tan)
LIBDL_UNARY(tanh)
LIBDL_UNARY(sigmoid)
LIBDL_UNARY(silu)
LIBDL_UNARY(gelu)
LIBDL_UNARY(erf)
LIBDL_UNARY(floor)
LIBDL_UNARY(ceil)
LIBDL_UNARY(round)
LIBDL_UNARY(trunc)
#undef LIBDL_UNARY

// A NaN fails the comparison and is returned, and so is -0.
template <class V>
LIBDL_EXPRESSION V relu(V x) { return select(x < number<V>(0), number<V>(0), x); }

// The activations' limits at -infinity are 0, but the product would be infinity times zero.
template <class V>
LIBDL_EXPRESSION V times_share(V x, V share) { return select(share == V(0), share, x * share); }

template <class V>
LIBDL_EXPRESSION V gelu_derivative(V x) {
  const V most(40);  // beyond it the density is 0, and infinity times it would be a NaN
  V capped = select(x > most, most, select(x < -most, -most, x));
  return Math<V>::normal_cdf(x) + capped * Math<V>::normal_density(x);
}

// 0.5 (1 + tanh(u)) = sigmoid(2 u), with u = sqrt(2 / pi) (x + 0.044715 x^3).
template <class V>
LIBDL_EXPRESSION V gelu_tanh_share(V x) {
  const double a = 1.5957691216057307117, b = 0.07135481627260025;  // 2 sqrt(2/pi), a * 0.044715
  return Math<V>::sigmoid(x * Math<V>::fma(x * x, V(b), V(a)));
}
template <class V>
LIBDL_EXPRESSION V gelu_tanh(V x) { return times_share(x, gelu_tanh_share(x)); }
template <class V>
LIBDL_EXPRESSION V gelu_tanh_derivative(V x) {
  const double a = 1.5957691216057307117, b3 = 0.21406444881780073;  // 3 a * 0.044715
  V share = gelu_tanh_share(x), other = gelu_tanh_share(-x);
  V bend = share * other;
  V derivative = Math<V>::fma(x * x, V(b3), V(a)) * x;
  return share + select(bend == V(0), bend, derivative * bend);
}

// At 0 the derivative is that from the left, and 0 if that side is flat, as in PyTorch. Of a NaN it is 1.
template <class V>
LIBDL_EXPRESSION V elu(V x, V alpha) {
  const auto below = x < V(0);
  if (!any(below)) return x;  // most that a network sees is above, often for whole vectors
  return select(below, alpha * Math<V>::expm1(x), x);
}
template <class V>
LIBDL_EXPRESSION V elu_derivative(V x, V alpha) {
  return select(x <= V(0), alpha * Math<V>::exp(x), V(1));
}
template <class V>
LIBDL_EXPRESSION V elu_curve(V x, V alpha) {
  return select(x < V(0), alpha * Math<V>::exp(x), V(0));
}
template <class V>
LIBDL_EXPRESSION V leaky_relu(V x, V slope) { return select(x > V(0), x, slope * x); }
template <class V>
LIBDL_EXPRESSION V leaky_relu_derivative(V x, V slope) { return select(x > V(0), V(1), slope); }

template <class V>
LIBDL_EXPRESSION V hardshrink(V x, V lambd) { return select((x >= -lambd) & (x <= lambd), V(0), x); }
template <class V>
LIBDL_EXPRESSION V hardshrink_derivative(V x, V lambd) {
  return select((x > lambd) | (x < -lambd), V(1), V(0));
}

template <class V>
LIBDL_EXPRESSION V softplus(V x, V beta, V threshold) {
  V z = x * beta;
  return select(z > threshold, x, Math<V>::log1p(Math<V>::exp(z)) / beta);
}
template <class V>
LIBDL_EXPRESSION V softplus_derivative(V x, V beta, V threshold) {
  V z = x * beta;
  return select(z > threshold, V(1), Math<V>::sigmoid(z));
}
// log(1 / (1 + e^-x)), using the exponential that is at most 1.
template <class V>
LIBDL_EXPRESSION V logsigmoid(V x) {
  return Math<V>::at_most(x, V(0)) - Math<V>::log1p(Math<V>::exp(-Math<V>::abs(x)));
}

// Of a NaN the derivative is 0, as of clamp.
template <class V>
LIBDL_EXPRESSION V hardtanh_derivative(V x, V low, V high) {
  return select((x > low) & (x < high), V(1), V(0));
}
template <class V>
LIBDL_EXPRESSION V hardsigmoid(V x) {
  return Math<V>::at_most(Math<V>::at_least(x + V(3), V(0)), V(6)) / V(6);
}
template <class V>
LIBDL_EXPRESSION V hardswish(V x) { return times_share(x, hardsigmoid(x)); }

// The constants make mean 0 and variance 1 a fixed point: Klambauer et al. 2017.
template <class V>
LIBDL_EXPRESSION V selu(V x) {
  const V scale(1.0507009873554804934193349852946);
  const V of_below(1.6732632423543772848170429916717 * 1.0507009873554804934193349852946);
  return select(x < V(0), of_below * Math<V>::expm1(x), scale * x);
}
template <class V>
LIBDL_EXPRESSION V celu(V x, V alpha) {
  return select(x < V(0), alpha * Math<V>::expm1(x / alpha), x);
}

// tanh(log(1 + w)) = w (w + 2) / (w (w + 2) + 2) with w = e^x; from 20 on it is 1.
template <class V>
LIBDL_EXPRESSION V mish(V x) {
  const V w = Math<V>::exp(Math<V>::at_most(x, V(20))), n = w * (w + V(2));
  return times_share(x, n / (n + V(2)));
}

template <class V>
LIBDL_EXPRESSION V softshrink(V x, V lambd) {
  return select(x > lambd, x - lambd, select(x < -lambd, x + lambd, select(x != x, x, V(0))));
}
template <class V>
LIBDL_EXPRESSION V glu(V x, V gate) { return x * Math<V>::sigmoid(gate); }
template <class V>
LIBDL_EXPRESSION V prelu(V x, V slope) { return select(x > V(0), x, slope * x); }

// -- losses of an input x and a target t --

template <class V>
LIBDL_EXPRESSION V l1_loss(V x, V t) { return Math<V>::abs(x - t); }
template <class V>
LIBDL_EXPRESSION V smooth_l1_loss(V x, V t, V beta) {
  const V d = Math<V>::abs(x - t);
  return select(d < beta, V(0.5) * d * d / beta, d - V(0.5) * beta);
}
template <class V>
LIBDL_EXPRESSION V huber_loss(V x, V t, V delta) {
  const V d = Math<V>::abs(x - t);
  return select(d <= delta, V(0.5) * d * d, delta * (d - V(0.5) * delta));
}
// A logarithm below -100 counts as -100; that of a negative number is a NaN, which stays. It tells
// of a target out of range, too.
template <class V>
LIBDL_EXPRESSION V binary_cross_entropy(V x, V t) {
  const V least(-100), of_zero = Math<V>::log1p(-x);
  const V of_one = Math<V>::log(select((t >= V(0)) & (t <= V(1)), x, V(-1)));
  return (t - V(1)) * select(of_zero < least, least, of_zero) -
         t * select(of_one < least, least, of_one);
}
template <class V>
LIBDL_EXPRESSION V cross_entropy_of_logits(V x, V t, V positive_weight) {
  return (V(1) - t) * x - (V(1) + (positive_weight - V(1)) * t) * logsigmoid(x);
}
template <class V>
LIBDL_EXPRESSION V kl_div(V x, V t) {
  return select(t == V(0), V(0), t * Math<V>::log(t)) - t * x;
}
template <class V>
LIBDL_EXPRESSION V kl_div_of_logs(V x, V t) { return Math<V>::exp(t) * (t - x); }
template <class V>
LIBDL_EXPRESSION V poisson_nll(V x, V t) { return Math<V>::exp(x) - t * x; }
template <class V>
LIBDL_EXPRESSION V soft_margin(V x, V t) { return -logsigmoid(t * x); }

template <class V>
LIBDL_EXPRESSION V maximum(V x, V y) {
  if constexpr (is_integer<V> || is_bool<V>) {
    return select(x > y, x, y);
  } else {
    return select((x > y) | (x != x), x, y);
  }
}
template <class V>
LIBDL_EXPRESSION V minimum(V x, V y) {
  if constexpr (is_integer<V> || is_bool<V>) {
    return select(x < y, x, y);
  } else {
    return select((x < y) | (x != x), x, y);
  }
}
template <class V>
LIBDL_EXPRESSION V fmax(V x, V y) {
  if constexpr (is_integer<V> || is_bool<V>) {
    return maximum(x, y);
  } else {
    return select((x >= y) | (y != y), x, y);
  }
}
template <class V>
LIBDL_EXPRESSION V fmin(V x, V y) {
  if constexpr (is_integer<V> || is_bool<V>) {
    return minimum(x, y);
  } else {
    return select((x <= y) | (y != y), x, y);
  }
}
template <class V>
LIBDL_EXPRESSION V copysign(V x, V y) { return Math<V>::copysign(x, y); }
template <class V>
LIBDL_EXPRESSION V heaviside(V x, V at_zero) {
  const V above = select(x > number<V>(0), number<V>(1), number<V>(0));
  return select(x == number<V>(0), at_zero, above);
}
template <class V>
LIBDL_EXPRESSION V clamp(V x, V low, V high) {
  if constexpr (is_integer<V> || is_bool<V>) {
    return minimum(maximum(x, low), high);
  } else {  // a NaN in x is returned without a special case
    V y = Math<V>::at_most(Math<V>::at_least(x, low), high);
    return select((low != low) | (high != high), low + high, y);
  }
}
template <class V>
LIBDL_EXPRESSION V hardtanh(V x, V low, V high) { return clamp(x, low, high); }
template <class V>
LIBDL_EXPRESSION V where(V condition, V x, V y) { return select(condition != number<V>(0), x, y); }
// From the nearer end, so that weight 1 gives `end` exactly.
template <class V>
LIBDL_EXPRESSION V lerp(V x, V end, V weight) {
  V way = end - x;
  V from_x = x + weight * way, from_end = end - way * (number<V>(1) - weight);
  if constexpr (is_complex<V>) {
    return Math<V>::abs(weight).re < 0.5 ? from_x : from_end;
  } else {
    return select(Math<V>::abs(weight) < V(0.5), from_x, from_end);
  }
}
template <class V>
LIBDL_EXPRESSION V conj(V x) { return {x.re, -x.im}; }

template <class V>
LIBDL_EXPRESSION auto isnan(V x) { return x != x; }
template <class V>
LIBDL_EXPRESSION auto isinf(V x) { return Math<V>::isinf(x); }
template <class V>
LIBDL_EXPRESSION auto isfinite(V x) { return Math<V>::isfinite(x); }
template <class V>
LIBDL_EXPRESSION auto signbit(V x) {
  if constexpr (is_integer<V>) {
    return is_negative(x);
  } else {
    return Math<V>::copysign(V(1), x) < V(0);
  }
}
template <class V>
LIBDL_EXPRESSION auto eq(V x, V y) { return x == y; }
template <class V>
LIBDL_EXPRESSION auto ne(V x, V y) { return x != y; }
template <class V>
LIBDL_EXPRESSION auto lt(V x, V y) { return x < y; }
template <class V>
LIBDL_EXPRESSION auto le(V x, V y) { return x <= y; }
template <class V>
LIBDL_EXPRESSION auto gt(V x, V y) { return x > y; }
template <class V>
LIBDL_EXPRESSION auto ge(V x, V y) { return x >= y; }

template <class V>
LIBDL_EXPRESSION auto logical_not(V x) { return !bool(x); }
template <class V>
LIBDL_EXPRESSION auto logical_and(V x, V y) { return bool(x) && bool(y); }
template <class V>
LIBDL_EXPRESSION auto logical_or(V x, V y) { return bool(x) || bool(y); }
template <class V>
LIBDL_EXPRESSION auto logical_xor(V x, V y) { return bool(x) != bool(y); }

template <class V>
LIBDL_EXPRESSION V bitwise_not(V x) { return ~x; }
template <class V>
LIBDL_EXPRESSION V bitwise_and(V x, V y) { return x & y; }
template <class V>
LIBDL_EXPRESSION V bitwise_or(V x, V y) { return x | y; }
template <class V>
LIBDL_EXPRESSION V bitwise_xor(V x, V y) { return x ^ y; }
// Shifting by the width of the type or more shifts everything out.
template <class V>
LIBDL_EXPRESSION V bitwise_left_shift(V x, V y) {
  constexpr unsigned width = 8 * sizeof(x.bits());
  return select(y.bits() < width, V::of(x.bits() << (y.bits() & (width - 1))), number<V>(0));
}
template <class V>
LIBDL_EXPRESSION V bitwise_right_shift(V x, V y) {
  constexpr unsigned width = 8 * sizeof(x.bits());
  V shifted = {static_cast<decltype(x.value)>(x.value >> (y.bits() & (width - 1)))};
  V all = select(is_negative(x), -number<V>(1), number<V>(0));
  return select(y.bits() < width, shifted, all);
}

template <class V>
LIBDL_EXPRESSION V threshold_mask(V x, V low, V high) {
  return select((low <= x) & (x <= high), V(1), V(0));
}
template <class V>
LIBDL_EXPRESSION V positive(V x) { return select(x <= V(0), V(0), V(1)); }

}  // namespace expression
// clang-format on
