// SPDX-License-Identifier: Apache-2.0

// Losses of class indices. A team of threads takes the logarithms of a row's softmax, and its
// leader the row's loss; a block adds up the losses of its rows, and a second kernel those of the
// blocks. Backward is one kernel.

#include <algorithm>
#include <cstdlib>

#include "kernels/cuda/device.h"
#include "kernels/cuda/indexed.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/merged.h"
#include "kernels/cuda/plan.h"
#include "kernels/cuda/rows.h"
#include "kernels/cuda/warp.h"

#ifdef LIBDL_KERNELS
#include "kernels/cuda/math.h"
#endif

namespace libdl::kernels::cuda {

namespace {

struct Labels {
  const void *target, *weight;  // weight NULL: all 1
  int32_t dtype;                // of the target
  int64_t weight_step, ignore_index, classes;
  double smoothing;
};

// Of rows; in double, so that a mean of millions of them has a float's precision.
struct Totals {
  double loss, factor;
};

struct ClassLoss {
  Team team;
  Labels labels;
  int64_t rows, first;  // in this part; the number of its first one
  int64_t tiles;        // that a block takes, one after the other
  const void* in;
  void *log_p, *losses;  // NULL: not wanted
  int64_t in_step, log_p_step;
  Totals* totals;  // one a block; NULL: not wanted
  DeviceError* device_error;
  const char* op;
  Geometry<4> kept;  // in, log_p, target, losses
};

struct LossOfAll {
  const Totals* totals;
  int64_t count;
  void *loss, *divisor;  // divisor NULL: the sum is wanted, else the mean
  int32_t loss_dtype, divisor_dtype;
};

struct ClassLossBackward {
  Team team;
  Labels labels;
  int64_t rows;
  void* dx;
  const void *log_p, *dy, *divisor;  // log_p, divisor: may be NULL
  int64_t dx_step, log_p_step;
  Geometry<4> kept;  // dx, log_p, target, dy
};

}  // namespace

#ifdef LIBDL_KERNELS

template <class T, class E>
LIBDL_DEVICE T weight_of(const Labels& l, int64_t i) {
  return l.weight ? value_of<T>(static_cast<const E*>(l.weight)[i * l.weight_step]) : T(1);
}

// The value and what it is when it is kept as an E.
template <class T, class E>
LIBDL_DEVICE T rounded(T x) {
  return value_of<T>(element_of<E>(x));
}

LIBDL_DEVICE Totals operator+(Totals a, Totals b) { return {a.loss + b.loss, a.factor + b.factor}; }

// For the block's first thread.
LIBDL_DEVICE Totals over_block(Totals x) {
  return joined_over_block(x, [](Totals a, Totals b) { return a + b; });
}

// y = x - top - log(sum of exp(x - top)).
template <class T>
struct Shift {
  T top, log_of_sum;
  template <class E>
  LIBDL_DEVICE T of(T x) const {
    return rounded<T, E>(x - top - log_of_sum);
  }
};

// Writes a row's logarithms. `even` becomes the sum of w y, if that is wanted.
template <class T, class E>
LIBDL_DEVICE Shift<T> write_logarithms(const ClassLoss& p, const RowWalk& walk, const E* in, E* out,
                                       T& even) {
  const int64_t n = p.labels.classes;
  const bool once = walk.holds_all();
  T x[kHeld];
  const auto fetch = [&](int64_t first) {
    const auto from = walk.held(in, p.in_step, p.team, first);
    walk.each(p.team, first, [&](int k) { x[k] = value_of<T>(from[k]); });
  };
  T top = Max::identity<T>();
  for (int64_t first = 0; first < n; first += walk.reach) {
    fetch(first);
    walk.each(p.team, first, [&](int k) { top = Max::of(top, x[k]); });
  }
  top = over_team<Max>(top, p.team, walk.at);
  T total = T(0);
  for (int64_t first = 0; first < n; first += walk.reach) {
    if (!once) fetch(first);
    T sum = T(0);
    walk.each(p.team, first, [&](int k) { sum = sum + Math<T>::exp(x[k] - top); });
    total = total + sum;
  }
  const Shift<T> shift{top, Math<T>::log(over_team<Sum>(total, p.team, walk.at))};
  const bool smooth = p.labels.smoothing > 0;
  T sum = T(0);
  for (int64_t first = 0; first < n; first += walk.reach) {
    if (!once) fetch(first);
    const auto to = walk.held(out, p.log_p_step, p.team, first);
    walk.each(p.team, first, [&](int k) {
      const T y = shift.template of<E>(x[k]);
      to[k] = element_of<E>(y);
      if (smooth) sum = sum + weight_of<T, E>(p.labels, walk.index_of(p.team, first, k)) * y;
    });
  }
  if (smooth) even = over_team<Sum>(sum, p.team, walk.at);
  return shift;
}

template <class T, class E>
LIBDL_DEVICE void class_loss_rows(const ClassLoss& p) {
  const Labels& l = p.labels;
  Totals totals{0, 0};
  for (int64_t tile = 0; tile < p.tiles; ++tile) {
    const RowWalk walk(p.team, p.rows, l.classes, blockIdx.x * p.tiles + tile);
    int64_t offset[4];
    offsets_of(p.kept, walk.there ? walk.row : 0, offset);
    const E* const in = static_cast<const E*>(p.in) + offset[0];
    T even = T(0);
    Shift<T> shift{T(0), T(0)};
    if (p.log_p)
      shift = write_logarithms<T, E>(p, walk, in, static_cast<E*>(p.log_p) + offset[1], even);
    if (!walk.there || !walk.at.leads()) continue;
    const int64_t t = load_called<Int64>(l.target, offset[2], l.dtype).value;
    T loss = T(0), factor = T(0);
    if (t >= 0 && t < l.classes && t != l.ignore_index) {
      const T x = value_of<T>(in[t * p.in_step]);
      factor = weight_of<T, E>(l, t);
      loss = -(p.log_p ? shift.template of<E>(x) : x) * factor;
      if (l.smoothing > 0)
        loss = loss * static_cast<T>(1 - l.smoothing) -
               even * static_cast<T>(l.smoothing / static_cast<double>(l.classes));
    } else if (t != l.ignore_index) {
      report_device_error(p.device_error, p.op, nullptr, p.first + walk.row, t, l.classes);
    }
    if (p.losses) static_cast<E*>(p.losses)[offset[3]] = element_of<E>(loss);
    totals = totals + Totals{static_cast<double>(loss), static_cast<double>(factor)};
  }
  if (!p.totals) return;
  totals = over_block(totals);
  if (threadIdx.x == 0) p.totals[blockIdx.x] = totals;
}

LIBDL_BLOCK_KERNEL(class_loss_total, LossOfAll) {
  Totals totals{0, 0};
  for (int64_t i = threadIdx.x; i < p.count; i += blockDim.x) totals = totals + p.totals[i];
  totals = over_block(totals);
  if (threadIdx.x != 0) return;
  if (p.divisor) store_called(p.divisor, 0, p.divisor_dtype, totals.factor);
  store_called(p.loss, 0, p.loss_dtype, p.divisor ? totals.loss / totals.factor : totals.loss);
}

// dx = d w - exp(y) sum, where d is the same for all classes and `sum` the sum of what precedes it;
// both have `picked` more for the target's class.
template <class T, class E>
LIBDL_DEVICE void class_loss_rows_backward(const ClassLossBackward& p) {
  const Labels& l = p.labels;
  const RowWalk walk(p.team, p.rows, l.classes);
  int64_t offset[4];
  offsets_of(p.kept, walk.there ? walk.row : 0, offset);
  E* const dx = static_cast<E*>(p.dx) + offset[0];
  const E* const log_p = static_cast<const E*>(p.log_p) + offset[1];
  const bool smooth = l.smoothing > 0;
  T of_weights = static_cast<T>(l.classes);
  if (smooth && l.weight) {
    T sum = T(0);
    for (int64_t first = 0; first < l.classes; first += walk.reach)
      walk.each(p.team, first,
                [&](int k) { sum = sum + weight_of<T, E>(l, walk.index_of(p.team, first, k)); });
    of_weights = over_team<Sum>(sum, p.team, walk.at);
  }
  if (!walk.there) return;
  const int64_t t = load_called<Int64>(l.target, offset[2], l.dtype).value;
  T d = T(0), picked = T(0);
  if (t >= 0 && t < l.classes && t != l.ignore_index) {
    T dy = value_of<T>(static_cast<const E*>(p.dy)[offset[3]]);
    if (p.divisor) dy = dy / *static_cast<const T*>(p.divisor);
    picked = -(dy * static_cast<T>(1 - l.smoothing) * weight_of<T, E>(l, t));
    if (smooth) d = -(dy * static_cast<T>(l.smoothing / static_cast<double>(l.classes)));
  }
  const T sum = d * of_weights + picked;
  T y[kHeld];
  for (int64_t first = 0; first < l.classes; first += walk.reach) {
    if (p.log_p) {
      const auto from = walk.held(log_p, p.log_p_step, p.team, first);
      walk.each(p.team, first, [&](int k) { y[k] = value_of<T>(from[k]); });
    }
    const auto to = walk.held(dx, p.dx_step, p.team, first);
    walk.each(p.team, first, [&](int k) {
      const int64_t i = walk.index_of(p.team, first, k);
      T x = smooth ? d * weight_of<T, E>(l, i) : T(0);
      if (p.log_p) x = x - Math<T>::exp(y[k]) * sum;
      if (i == t) x = x + picked;
      to[k] = element_of<E>(x);
    });
  }
}

#define CLASS_LOSS(suffix, T, E)                                                  \
  LIBDL_TEAM_KERNEL(class_loss_##suffix, ClassLoss) { class_loss_rows<T, E>(p); } \
  LIBDL_TEAM_KERNEL(class_loss_backward_##suffix, ClassLossBackward) {            \
    class_loss_rows_backward<T, E>(p);                                            \
  }
CLASS_LOSS(f16, float, Half)
CLASS_LOSS(bf16, float, Bfloat)
CLASS_LOSS(f32, float, float)
CLASS_LOSS(f64, double, double)

#endif  // LIBDL_KERNELS

#ifdef LIBDL_PLANS

namespace {

constexpr int64_t kMostTotals = 4096;  // what one block adds up quickly

Labels labels_of(const ClassTargets& t, const View& in) {
  Labels l{};
  l.weight = t.weight.data;
  l.weight_step = t.weight.data ? t.weight.strides[0] : 0;
  l.dtype = t.target.dtype;
  l.ignore_index = t.ignore_index;
  l.smoothing = t.smoothing;
  l.classes = in.sizes[in.ndim - 1];
  return l;
}

bool are_floating(Context& context, const View& of) {
  if (of.dtype >= LIBDL_DTYPE_FLOAT16 && of.dtype <= LIBDL_DTYPE_FLOAT64) return true;
  refuse(context, "class_loss: operands of no floating dtype");
  return false;
}

// The rows of views, of which the first has classes as well: their dimensions merged, and whether
// neighbouring rows are closer together than the classes of one.
struct ManyRows {
  Merged<4> rows;
  View merged[4];
  const View* shown[4];
  int64_t side, parts = 1;

  explicit ManyRows(const View* const (&views)[4]) : rows(views, 0, views[0]->ndim - 1) {
    const View& of = *views[0];
    for (int k = 0; k < 4; ++k) {
      merged[k] = rows.view(k, *views[k]);
      shown[k] = merged[k].data ? &merged[k] : nullptr;
    }
    const bool columns = std::abs(rows.inner_stride(0)) < std::abs(of.strides[of.ndim - 1]);
    side = columns ? rows.inner_size() : 1;
    for (int d = 0; d < rows.ndim - kLaunchDims; ++d) parts *= rows.sizes[d];
  }
};

int64_t tiles_of(const Team& t, int64_t rows) {
  return ceil_div(rows, int64_t{t.width} * t.others);
}

void queue_totals(Context& context, const ClassLossArgs& a, const Totals* totals, int64_t count) {
  const LossOfAll p{totals, count, a.loss.data, a.divisor.data, a.loss.dtype, a.divisor.dtype};
  launch(context, "class_loss_total", {1, kThreads, 1}, p);
}

}  // namespace

void class_loss(Context& context, const ClassLossArgs& a) {
  static constexpr const char* kNames[] = {"class_loss_f16", "class_loss_bf16", "class_loss_f32",
                                           "class_loss_f64"};
  if (!are_floating(context, a.in)) return;
  const View* const views[4] = {&a.in, &a.log_p, &a.targets.target, &a.losses};
  const ManyRows many(views);
  const int64_t rows = many.rows.count();
  ClassLoss p{};
  p.labels = labels_of(a.targets, a.in);
  p.in_step = a.in.strides[a.in.ndim - 1];
  if (a.log_p.data) p.log_p_step = a.log_p.strides[a.log_p.ndim - 1];
  p.device_error = device_error(context);
  p.op = a.op;
  p.rows = rows / many.parts;
  // Nothing but the target's value is read of logarithms that are given.
  p.team = team_for_rows(a.log_p.data ? p.labels.classes : 1, p.rows, many.side);
  const int64_t tiles = tiles_of(p.team, p.rows);
  p.tiles = std::max<int64_t>(1, ceil_div(tiles * many.parts, kMostTotals));
  const int64_t blocks = ceil_div(tiles, p.tiles), all = rows == 0 ? 0 : blocks * many.parts;
  const Scratch scratch(context, a.loss.data ? all * int64_t{sizeof(Totals)} : 0);
  auto* const totals = static_cast<Totals*>(scratch.data());
  if (scratch.failed()) return;
  p.totals = totals;
  if (rows > 0)
    each_part(many.shown, 4, p.kept, [&](void* const* data) {
      p.in = data[0];
      p.log_p = data[1];
      p.labels.target = data[2];
      p.losses = data[3];
      launch(context, kNames[a.in.dtype - LIBDL_DTYPE_FLOAT16], {blocks, p.team.threads(), 1}, p);
      p.first += p.rows;
      if (p.totals) p.totals += blocks;
    });
  if (a.loss.data) queue_totals(context, a, totals, all);
}

void class_loss_backward(Context& context, const ClassLossBackwardArgs& a) {
  static constexpr const char* kNames[] = {"class_loss_backward_f16", "class_loss_backward_bf16",
                                           "class_loss_backward_f32", "class_loss_backward_f64"};
  if (!are_floating(context, a.dx) || numel(a.dx) == 0) return;
  const View* const views[4] = {&a.dx, &a.log_p, &a.targets.target, &a.dy};
  const ManyRows many(views);
  ClassLossBackward p{};
  p.labels = labels_of(a.targets, a.dx);
  p.divisor = a.divisor.data;
  p.dx_step = a.dx.strides[a.dx.ndim - 1];
  if (a.log_p.data) p.log_p_step = a.log_p.strides[a.log_p.ndim - 1];
  p.rows = many.rows.count() / many.parts;
  p.team = team_for_rows(p.labels.classes, p.rows, many.side);
  each_part(many.shown, 4, p.kept, [&](void* const* data) {
    p.dx = data[0];
    p.log_p = data[1];
    p.labels.target = data[2];
    p.dy = data[3];
    launch(context, kNames[a.dx.dtype - LIBDL_DTYPE_FLOAT16], grid_for_rows(p.team, p.rows), p);
  });
}

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
