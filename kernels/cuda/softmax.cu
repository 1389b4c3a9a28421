// SPDX-License-Identifier: Apache-2.0

// Softmax and its logarithm along the last dimension, and their derivatives, with a team of threads
// per row.

#include <algorithm>
#include <cstdlib>

#include "kernels/cuda/device.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/merged.h"
#include "kernels/cuda/plan.h"
#include "kernels/cuda/rows.h"

#ifdef LIBDL_KERNELS
#include "kernels/cuda/math.h"
#endif

namespace libdl::kernels::cuda {

namespace {

struct Softmax {
  Team team;
  bool log;
  int64_t n, rows;
  void* out;
  const void* in[2];
  int64_t out_step, in_step[2];
  Geometry<3> kept;
};

}  // namespace

#ifdef LIBDL_KERNELS

template <class T, class E>
LIBDL_DEVICE void softmax_rows(const Softmax& p) {
  const RowWalk walk(p.team, p.rows, p.n);
  int64_t offset[3];
  offsets_of(p.kept, walk.there ? walk.row : 0, offset);
  const E* const in = static_cast<const E*>(p.in[0]) + offset[1];
  E* const out = static_cast<E*>(p.out) + offset[0];
  const bool once = walk.holds_all();
  T x[kHeld];
  const auto fetch = [&](int64_t first) {
    const auto from = walk.held(in, p.in_step[0], p.team, first);
    walk.each(p.team, first, [&](int k) { x[k] = value_of<T>(from[k]); });
  };

  // The largest value.
  T top = Max::identity<T>();
  for (int64_t first = 0; first < p.n; first += walk.reach) {
    fetch(first);
    walk.each(p.team, first, [&](int k) { top = Max::of(top, x[k]); });
  }
  top = over_team<Max>(top, p.team, walk.at);

  // The sum of the exponentials, which are kept if the row fits in registers.
  T total = T(0);
  for (int64_t first = 0; first < p.n; first += walk.reach) {
    if (!once) fetch(first);
    T sum = T(0);
    walk.each(p.team, first, [&](int k) {
      const T e = Math<T>::exp(x[k] - top);
      sum = sum + e;
      if (!p.log) x[k] = e;
    });
    total = total + sum;
  }
  total = over_team<Sum>(total, p.team, walk.at);

  // Write the result.
  const T scale = p.log ? Math<T>::log(total) : T(1) / total;
  for (int64_t first = 0; first < p.n; first += walk.reach) {
    if (!once) fetch(first);
    const auto to = walk.held(out, p.out_step, p.team, first);
    walk.each(p.team, first, [&](int k) {
      T y = x[k];
      if (p.log) {
        y = y - top - scale;
      } else {
        y = (once ? y : Math<T>::exp(y - top)) * scale;
      }
      to[k] = element_of<E>(y);
    });
  }
}

template <class T, class E>
LIBDL_DEVICE void softmax_rows_backward(const Softmax& p) {
  const RowWalk walk(p.team, p.rows, p.n);
  int64_t offset[3];
  offsets_of(p.kept, walk.there ? walk.row : 0, offset);
  const E* const dy = static_cast<const E*>(p.in[0]) + offset[1];
  const E* const y = static_cast<const E*>(p.in[1]) + offset[2];
  E* const dx = static_cast<E*>(p.out) + offset[0];
  const bool once = walk.holds_all();
  T g[kHeld], v[kHeld];
  const auto fetch = [&](int64_t first) {
    const auto gradient = walk.held(dy, p.in_step[0], p.team, first);
    const auto result = walk.held(y, p.in_step[1], p.team, first);
    walk.each(p.team, first, [&](int k) {
      g[k] = value_of<T>(gradient[k]);
      v[k] = value_of<T>(result[k]);
    });
  };

  // The sum of dy y (or of dy, for log_softmax).
  T total = T(0);
  for (int64_t first = 0; first < p.n; first += walk.reach) {
    fetch(first);
    T sum = T(0);
    walk.each(p.team, first, [&](int k) { sum = sum + (p.log ? g[k] : g[k] * v[k]); });
    total = total + sum;
  }
  total = over_team<Sum>(total, p.team, walk.at);

  // Write dx.
  for (int64_t first = 0; first < p.n; first += walk.reach) {
    if (!once) fetch(first);
    const auto to = walk.held(dx, p.out_step, p.team, first);
    walk.each(p.team, first, [&](int k) {
      const T d = p.log ? g[k] - Math<T>::exp(v[k]) * total : v[k] * (g[k] - total);
      to[k] = element_of<E>(d);
    });
  }
}

#define SOFTMAX(suffix, T, E)                                             \
  LIBDL_TEAM_KERNEL(softmax_##suffix, Softmax) { softmax_rows<T, E>(p); } \
  LIBDL_TEAM_KERNEL(softmax_backward_##suffix, Softmax) { softmax_rows_backward<T, E>(p); }
SOFTMAX(f16, float, Half)
SOFTMAX(bf16, float, Bfloat)
SOFTMAX(f32, float, float)
SOFTMAX(f64, double, double)

#endif  // LIBDL_KERNELS

#ifdef LIBDL_PLANS

namespace {

void queue(Context& context, const char* const (&names)[4], const View& out,
           std::initializer_list<const View*> in, bool log) {
  const int32_t kept = out.ndim - 1;
  const View* views[3] = {&out, &out, &out};
  std::copy(in.begin(), in.end(), views + 1);
  for (const View* v : views)
    if (v->dtype != out.dtype || v->dtype < LIBDL_DTYPE_FLOAT16 || v->dtype > LIBDL_DTYPE_FLOAT64)
      return refuse(context, "softmax: operands of different dtypes, or of no floating one");
  Softmax p{};
  p.log = log;
  p.n = out.sizes[kept];
  p.out_step = out.strides[kept];
  p.in_step[0] = views[1]->strides[kept];
  p.in_step[1] = views[2]->strides[kept];
  const Merged<3> rows(views, 0, kept);
  const View merged[3] = {rows.view(0, out), rows.view(1, *views[1]), rows.view(2, *views[2])};
  const View* const shown[3] = {&merged[0], &merged[1], &merged[2]};
  const bool columns = std::abs(rows.inner_stride(1)) < std::abs(p.in_step[0]);
  if (p.n == 0 || rows.count() == 0) return;
  each_part(shown, 3, p.kept, [&](void* const* data) {
    p.out = data[0];
    p.in[0] = data[1];
    p.in[1] = data[2];
    p.rows = p.kept.numel;
    p.team = team_for_rows(p.n, p.rows, columns ? rows.inner_size() : 1);
    launch(context, names[out.dtype - LIBDL_DTYPE_FLOAT16], grid_for_rows(p.team, p.rows), p);
  });
}

}  // namespace

void softmax(Context& context, const SoftmaxArgs& a) {
  static constexpr const char* kNames[] = {"softmax_f16", "softmax_bf16", "softmax_f32",
                                           "softmax_f64"};
  queue(context, kNames, a.out, {&a.in}, a.log);
}

void softmax_backward(Context& context, const SoftmaxBackwardArgs& a) {
  static constexpr const char* kNames[] = {"softmax_backward_f16", "softmax_backward_bf16",
                                           "softmax_backward_f32", "softmax_backward_f64"};
  queue(context, kNames, a.dx, {&a.dy, &a.y}, a.log);
}

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
