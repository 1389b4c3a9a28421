// SPDX-License-Identifier: Apache-2.0

// The fixed order in which n values are combined, the same as on the CPU
// (kernels/cpu/traverse/order-inl.h): value r belongs to lane r % L; a lane combines 8 values in
// sequence, then 8 such groups in sequence; the lanes of that block of 64 L values are merged by
// halves, and the blocks pairwise. So the bits depend neither on strides nor on how a reduction is
// distributed over the device, and sums equal the CPU's.
//
// A lane is a thread. The threads of a block are numbered x + W (l + G (b + S y)): W neighbouring
// outputs, G lanes, S blocks of values, and y for further outputs; all of them powers of two.
#pragma once

#include <cmath>
#include <limits>

#include "kernels/cuda/device.h"
#include "kernels/cuda/warp.h"

namespace libdl::kernels::cuda {

constexpr int kSteps = 8;       // values a lane takes in sequence
constexpr int kGroups = 8;      // groups a block takes in sequence
constexpr int kMostTeam = 512;  // threads of a block that combine values

// The number of lanes for values of this size.
constexpr int lanes_of(size_t bytes) { return bytes == 1 ? 16 : static_cast<int>(64 / bytes); }

// How the threads of a block share the work.
struct Team {
  int32_t width, lanes, blocks, others;  // W, G, S and the number of y
  int32_t threads() const { return width * lanes * blocks * others; }
};

#ifdef LIBDL_KERNELS

// A kernel of up to kMostTeam threads per block: the bound makes their registers fit.
#ifdef LIBDL_EMULATED
#define LIBDL_TEAM_KERNEL(name, Params) LIBDL_EMULATED_KERNEL(name, Params, true, kMostTeam)
#else
#define LIBDL_TEAM_KERNEL(name, Params) \
  extern "C" __global__ void __launch_bounds__(kMostTeam) name(const __grid_constant__ Params p)
#endif

// An extremum and its position.
template <class V>
struct Located {
  V value;
  int64_t index;
};
template <class T>
struct ValueOf {
  using Type = T;
};
template <class V>
struct ValueOf<Located<V>> {
  using Type = V;
};
template <class T>
constexpr int kLanes = lanes_of(sizeof(typename ValueOf<T>::Type));
template <class T>
constexpr int64_t kBlock = int64_t{kLanes<T>} * kSteps * kGroups;

// -- what combines two values -------------------------------------------------------------------

struct Sum {
  template <class T>
  static LIBDL_DEVICE T identity() {
    return number<T>(0);
  }
  template <class T>
  static LIBDL_DEVICE T of(T a, T x) {
    return a + x;
  }
};

struct Prod {
  template <class T>
  static LIBDL_DEVICE T identity() {
    return number<T>(1);
  }
  template <class T>
  static LIBDL_DEVICE T of(T a, T x) {
    if constexpr (is_complex<T>) return of_complex(a, x);
    return a * x;
  }
  // As in C's annex G and on the CPU: an infinite factor makes the product infinite.
  static LIBDL_OUTLINED Complex of_complex(Complex a, Complex x) {
    const Complex y = a * x;
    if (y.re == y.re || y.im == y.im) return y;
    const auto infinite = [](double v) { return ::fabs(v) == double(INFINITY); };
    const auto unit = [&](Complex z) {
      return Complex{::copysign(infinite(z.re) ? 1.0 : 0.0, z.re),
                     ::copysign(infinite(z.im) ? 1.0 : 0.0, z.im)};
    };
    const auto without_nan = [](Complex z) {
      return Complex{z.re == z.re ? z.re : ::copysign(0.0, z.re),
                     z.im == z.im ? z.im : ::copysign(0.0, z.im)};
    };
    const bool a_infinite = infinite(a.re) || infinite(a.im);
    const bool x_infinite = infinite(x.re) || infinite(x.im);
    const bool overflows = infinite(a.re * x.re) || infinite(a.im * x.im) ||
                           infinite(a.re * x.im) || infinite(a.im * x.re);
    if (!a_infinite && !x_infinite && !overflows) return y;
    a = without_nan(a_infinite ? unit(a) : a);
    x = without_nan(x_infinite ? unit(x) : x);
    const Complex direction = a * x;
    return {INFINITY * direction.re, INFINITY * direction.im};
  }
};

// A NaN wins over numbers, and the first NaN is kept.
template <bool kMax>
struct Extreme {
  template <class T>
  static LIBDL_DEVICE T identity() {
    if constexpr (is_bool<T>) {
      return {uint8_t(!kMax)};
    } else if constexpr (is_integer<T>) {
      using Limits = std::numeric_limits<decltype(T::value)>;
      return {kMax ? Limits::lowest() : Limits::max()};
    } else {
      return kMax ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
    }
  }
  template <class T>
  static LIBDL_DEVICE T of(T a, T x) {
    const bool better = kMax ? x > a : x < a;
    return better || (x != x && a == a) ? x : a;
  }
};
using Max = Extreme<true>;
using Min = Extreme<false>;

// The first of equal extrema, and the first NaN.
template <bool kMax>
struct First {
  template <class T>
  static LIBDL_DEVICE T identity() {
    return {Extreme<kMax>::template identity<decltype(T::value)>(),
            std::numeric_limits<int64_t>::max()};
  }
  template <class T>
  static LIBDL_DEVICE T of(T a, T x) {
    const bool a_nan = a.value != a.value, x_nan = x.value != x.value;
    const bool better = kMax ? x.value > a.value : x.value < a.value;
    const bool as_good = x.value == a.value || (a_nan && x_nan);
    const bool wins = as_good ? x.index < a.index : x_nan || (better && !a_nan);
    return wins ? x : a;
  }
};

// -- one block of values ------------------------------------------------------------------------

// A lane's result for its values in the block that starts at r0. make(r) is value r; kAtOnce: cheap
// enough to load a group's values together.
template <class C, class T, bool kAtOnce, class Make>
LIBDL_DEVICE T lane_of_block(const Make& make, int64_t r0, int64_t n, int lane) {
  constexpr int64_t kL = kLanes<T>;
  T total = C::template identity<T>();
  int64_t r = r0 + lane;
  LIBDL_ROLLED
  for (int group = 0; group < kGroups && r - lane < n; ++group, r += kSteps * kL) {
    T sum = C::template identity<T>();
    if constexpr (kAtOnce) {
      T x[kSteps];
      LIBDL_UNROLL
      for (int s = 0; s < kSteps; ++s)
        if (r + s * kL < n) x[s] = make(r + s * kL);
      LIBDL_UNROLL
      for (int s = 0; s < kSteps; ++s)
        if (r + s * kL < n) sum = C::of(sum, x[s]);
    } else {
      LIBDL_ROLLED
      for (int s = 0; s < kSteps; ++s)
        if (r + s * kL < n) sum = C::of(sum, make(r + s * kL));
    }
    total = C::of(total, sum);
  }
  return total;
}

// Combines the thread's x with that of the thread `distance` further on, by a shuffle within a
// warp. `takes` is whether the result is wanted; all threads of the block must call it.
template <class C, class T>
LIBDL_DEVICE T join(T x, int distance, bool takes) {
  if (distance < kWarp) {
    const T other = shuffle_down(x, distance);
    return takes ? C::of(x, other) : x;
  }
  __shared__ T held[kMostTeam];
  held[threadIdx.x] = x;
  __syncthreads();
  if (takes) x = C::of(x, held[threadIdx.x + distance]);
  __syncthreads();
  return x;
}

// A thread's position in its block.
struct Standing {
  int x, lane, block, other;
  LIBDL_DEVICE explicit Standing(const Team& t) {
    int i = static_cast<int>(threadIdx.x);
    x = i % t.width;
    i /= t.width;
    lane = i % t.lanes;
    i /= t.lanes;
    block = i % t.blocks;
    other = i / t.blocks;
  }
  LIBDL_DEVICE bool leads() const { return lane == 0 && block == 0; }
};

// Combines the lanes, then the blocks, of the team; its leaders get the result. A missing lane or
// block must hold the identity. Inlined: a call would put the team and the position into memory.
template <class C, class T>
LIBDL_DEVICE T join_team(T x, const Team& t, const Standing& at) {
  LIBDL_ROLLED
  for (int half = t.lanes / 2; half > 0; half /= 2) x = join<C>(x, t.width * half, at.lane < half);
  LIBDL_ROLLED
  for (int step = 1; step < t.blocks; step *= 2)
    x = join<C>(x, t.width * t.lanes * step, at.lane == 0 && at.block % (2 * step) == 0);
  return x;
}

// Results of blocks, merged pairwise as they arrive: level k holds 2^k of them.
template <class C, class T>
struct Tree {
  T node[40];
  int64_t count = 0;

  LIBDL_OUTLINED void push(T x) {
    int level = 0;
    for (int64_t c = count++; c & 1; c >>= 1) x = C::of(node[level++], x);
    node[level] = x;
  }
  // The latest and smallest first.
  LIBDL_OUTLINED T result() const {
    T x = C::template identity<T>();
    bool any = false;
    for (int level = 0; count >> level; ++level) {
      if (!(count >> level & 1)) continue;
      x = any ? C::of(node[level], x) : node[level];
      any = true;
    }
    return x;
  }
};

// Combines the blocks [first, last) of one output, S at a time; the leaders get the result.
template <class C, class T, bool kAtOnce, class Make>
LIBDL_DEVICE T combine(const Make& make, int64_t first, int64_t last, int64_t n, const Team& t,
                       const Standing& at) {
  Tree<C, T> tree;
  LIBDL_ROLLED
  for (;;) {
    T x = lane_of_block<C, T, kAtOnce>(make, (first + at.block) * kBlock<T>, n, at.lane);
    x = join_team<C>(x, t, at);
    first += t.blocks;
    if (first >= last && tree.count == 0) return x;
    tree.push(x);
    if (first >= last) return tree.result();
  }
}

// Gives a leader's value to its whole team. All threads of the block must call it.
template <class T>
LIBDL_DEVICE T from_leader(T x, const Team& t, const Standing& at) {
  const int team = t.lanes * t.blocks;
  if (t.width == 1 && team <= kWarp)
    return shuffle_from(x, static_cast<int>(threadIdx.x) % kWarp / team * team);
  __shared__ T held[kMostTeam];
  const int place = at.x + t.width * at.other;
  if (at.leads()) held[place] = x;
  __syncthreads();
  x = held[place];
  __syncthreads();
  return x;
}

#endif  // LIBDL_KERNELS

}  // namespace libdl::kernels::cuda
