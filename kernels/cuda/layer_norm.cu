// SPDX-License-Identifier: Apache-2.0

// Layer normalisation of rows and its derivative. The sums over rows, for weight and bias, follow
// the CPU's order: 16 rows in the compute type, these in double within a block of rows, then block
// after block.

#include <algorithm>

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

struct LayerNorm {
  Team team;
  int64_t n, rows;
  void* out;
  const void *in, *weight, *bias;
  void *mean, *rstd;
  int32_t stats_dtype;
  int64_t out_step, in_step, weight_step, bias_step;
  double eps;
  Geometry<4> kept;  // out, in, mean, rstd
};

struct LayerNormBackward {
  Team team;
  int64_t n, rows, block;
  void *dx, *dweight, *dbias;
  const void *dy, *in, *weight, *mean, *rstd;
  double* sums;  // [blocks of rows, dweight and dbias, n]
  int32_t stats_dtype;
  int64_t dx_step, dy_step, in_step, weight_step, dweight_step, dbias_step;
  Geometry<5> kept;  // dy, in, mean, rstd, dx
};

constexpr int kColumns = 32;  // per thread block that sums over rows
constexpr int kRowGroups = 8;
constexpr int kGroupRows = 16;

}  // namespace

#ifdef LIBDL_KERNELS

template <class T, class E>
LIBDL_DEVICE void normalise_rows(const LayerNorm& p) {
  const RowWalk walk(p.team, p.rows, p.n);
  int64_t offset[4];
  offsets_of(p.kept, walk.there ? walk.row : 0, offset);
  const E* const in = static_cast<const E*>(p.in) + offset[1];
  E* const out = static_cast<E*>(p.out) + offset[0];
  const E* const weight = static_cast<const E*>(p.weight);
  const E* const bias = static_cast<const E*>(p.bias);
  const bool once = walk.holds_all();
  T x[kHeld];
  const auto fetch = [&](int64_t first) {
    const auto from = walk.held(in, p.in_step, p.team, first);
    walk.each(p.team, first, [&](int k) { x[k] = value_of<T>(from[k]); });
  };

  // The mean.
  T total = T(0);
  for (int64_t first = 0; first < p.n; first += walk.reach) {
    fetch(first);
    T sum = T(0);
    walk.each(p.team, first, [&](int k) { sum = sum + x[k]; });
    total = total + sum;
  }
  const T mean = over_team<Sum>(total, p.team, walk.at) / static_cast<T>(p.n);

  // The sum of squared distances from it.
  total = T(0);
  for (int64_t first = 0; first < p.n; first += walk.reach) {
    if (!once) fetch(first);
    T sum = T(0);
    walk.each(p.team, first, [&](int k) { sum = sum + (x[k] - mean) * (x[k] - mean); });
    total = total + sum;
  }
  const T squares = over_team<Sum>(total, p.team, walk.at);
  const T rstd = T(1) / Math<T>::sqrt(squares / static_cast<T>(p.n) + static_cast<T>(p.eps));

  // Write the result.
  for (int64_t first = 0; first < p.n; first += walk.reach) {
    if (!once) fetch(first);
    const auto to = walk.held(out, p.out_step, p.team, first);
    const auto weights = walk.held(weight, p.weight_step, p.team, first);
    const auto biases = walk.held(bias, p.bias_step, p.team, first);
    walk.each(p.team, first, [&](int k) {
      T y = (x[k] - mean) * rstd;
      if (weight) y = y * value_of<T>(weights[k]);
      if (bias) y = y + value_of<T>(biases[k]);
      to[k] = element_of<E>(y);
    });
  }
  if (!walk.there || !walk.at.leads()) return;
  if (p.mean) store(p.mean, offset[2], p.stats_dtype, mean);
  if (p.rstd) store(p.rstd, offset[3], p.stats_dtype, rstd);
}

// dx = rstd (g - mean(g) - z mean(g z)) with g = dy weight.
template <class T, class E>
LIBDL_DEVICE void input_gradient(const LayerNormBackward& p) {
  const RowWalk walk(p.team, p.rows, p.n);
  int64_t offset[5];
  offsets_of(p.kept, walk.there ? walk.row : 0, offset);
  const E* const dy = static_cast<const E*>(p.dy) + offset[0];
  const E* const in = static_cast<const E*>(p.in) + offset[1];
  const E* const weight = static_cast<const E*>(p.weight);
  E* const dx = static_cast<E*>(p.dx) + offset[4];
  const T mean = load<T>(p.mean, offset[2], p.stats_dtype);
  const T rstd = load<T>(p.rstd, offset[3], p.stats_dtype);
  const bool once = walk.holds_all();
  T g[kHeld], z[kHeld];
  const auto fetch = [&](int64_t first) {
    const auto from = walk.held(in, p.in_step, p.team, first);
    const auto gradient = walk.held(dy, p.dy_step, p.team, first);
    const auto weights = walk.held(weight, p.weight_step, p.team, first);
    walk.each(p.team, first, [&](int k) {
      g[k] = value_of<T>(gradient[k]);
      if (weight) g[k] = g[k] * value_of<T>(weights[k]);
      z[k] = (value_of<T>(from[k]) - mean) * rstd;
    });
  };

  // The means of g and g z.
  T all_g = T(0), all_gz = T(0);
  for (int64_t first = 0; first < p.n; first += walk.reach) {
    fetch(first);
    T sum_g = T(0), sum_gz = T(0);
    walk.each(p.team, first, [&](int k) {
      sum_g = sum_g + g[k];
      sum_gz = sum_gz + g[k] * z[k];
    });
    all_g = all_g + sum_g;
    all_gz = all_gz + sum_gz;
  }
  const T mean_g = over_team<Sum>(all_g, p.team, walk.at) / static_cast<T>(p.n);
  const T mean_gz = over_team<Sum>(all_gz, p.team, walk.at) / static_cast<T>(p.n);

  // Write dx.
  for (int64_t first = 0; first < p.n; first += walk.reach) {
    if (!once) fetch(first);
    const auto to = walk.held(dx, p.dx_step, p.team, first);
    walk.each(p.team, first,
              [&](int k) { to[k] = element_of<E>(((g[k] - mean_g) - z[k] * mean_gz) * rstd); });
  }
}

// A block of rows for kColumns columns: every thread sums 16 rows of one column; the first thread
// of a column adds these sums in the rows' order.
template <class T, class E>
LIBDL_DEVICE void sum_rows(const LayerNormBackward& p) {
  __shared__ T weight_sums[kRowGroups][kColumns], bias_sums[kRowGroups][kColumns];
  const int x = static_cast<int>(threadIdx.x) % kColumns;
  const int y = static_cast<int>(threadIdx.x) / kColumns;
  const int64_t tiles = (p.n + kColumns - 1) / kColumns;
  const int64_t column = blockIdx.x % tiles * kColumns + x, part = blockIdx.x / tiles;
  const int64_t first = part * p.block;
  const int64_t last = first + p.block < p.rows ? first + p.block : p.rows;
  const bool there = column < p.n;
  double dweight = 0, dbias = 0;
  for (int64_t group = first; group < last; group += kRowGroups * kGroupRows) {
    // Each thread sums its rows.
    T w = T(0), s = T(0);
    const int64_t from = group + y * kGroupRows;
    LIBDL_ROLLED
    for (int64_t r = from; there && r < from + kGroupRows && r < last; ++r) {
      int64_t offset[5];
      offsets_of(p.kept, r, offset);
      const T mean = load_called<T>(p.mean, offset[2], p.stats_dtype);
      const T rstd = load_called<T>(p.rstd, offset[3], p.stats_dtype);
      const T g = value_of<T>(static_cast<const E*>(p.dy)[offset[0] + column * p.dy_step]);
      const T v = value_of<T>(static_cast<const E*>(p.in)[offset[1] + column * p.in_step]);
      w = w + (v - mean) * rstd * g;
      s = s + g;
    }
    weight_sums[y][x] = w;
    bias_sums[y][x] = s;
    __syncthreads();
    // The first thread of each column adds these sums in the rows' order.
    if (y == 0) {
      for (int k = 0; k < kRowGroups && group + k * kGroupRows < last; ++k) {
        dweight += static_cast<double>(weight_sums[k][x]);
        dbias += static_cast<double>(bias_sums[k][x]);
      }
    }
    __syncthreads();
  }
  if (y != 0 || !there) return;
  p.sums[part * 2 * p.n + column] = dweight;
  p.sums[(part * 2 + 1) * p.n + column] = dbias;
}

#define LAYER_NORM(suffix, T, E)                                                               \
  LIBDL_TEAM_KERNEL(layer_norm_##suffix, LayerNorm) { normalise_rows<T, E>(p); }               \
  LIBDL_TEAM_KERNEL(layer_norm_input_##suffix, LayerNormBackward) { input_gradient<T, E>(p); } \
  LIBDL_TEAM_KERNEL(layer_norm_rows_##suffix, LayerNormBackward) { sum_rows<T, E>(p); }
LAYER_NORM(f16, float, Half)
LAYER_NORM(bf16, float, Bfloat)
LAYER_NORM(f32, float, float)
LAYER_NORM(f64, double, double)

template <class E>
LIBDL_DEVICE void finish_columns(const LayerNormBackward& p) {
  const int64_t blocks = (p.rows + p.block - 1) / p.block;
  for (int64_t i = first_element(); i < p.n; i += all_threads()) {
    double dweight = 0, dbias = 0;
    for (int64_t b = 0; b < blocks; ++b) {
      dweight += p.sums[b * 2 * p.n + i];
      dbias += p.sums[(b * 2 + 1) * p.n + i];
    }
    if (p.dweight) static_cast<E*>(p.dweight)[i * p.dweight_step] = element_of<E>(dweight);
    if (p.dbias) static_cast<E*>(p.dbias)[i * p.dbias_step] = element_of<E>(dbias);
  }
}
LIBDL_KERNEL(layer_norm_columns_f16, LayerNormBackward) { finish_columns<Half>(p); }
LIBDL_KERNEL(layer_norm_columns_bf16, LayerNormBackward) { finish_columns<Bfloat>(p); }
LIBDL_KERNEL(layer_norm_columns_f32, LayerNormBackward) { finish_columns<float>(p); }
LIBDL_KERNEL(layer_norm_columns_f64, LayerNormBackward) { finish_columns<double>(p); }

#endif  // LIBDL_KERNELS

#ifdef LIBDL_PLANS

namespace {

// Whether all views with data have this floating dtype.
bool all_of(int32_t dtype, std::initializer_list<const View*> views) {
  for (const View* v : views)
    if (v->data && v->dtype != dtype) return false;
  return dtype >= LIBDL_DTYPE_FLOAT16 && dtype <= LIBDL_DTYPE_FLOAT64;
}
constexpr const char* kDtypes = "layer_norm: operands of different dtypes, or of no floating one";

int64_t step_of(const View& v) { return v.data ? v.strides[v.ndim - 1] : 0; }

// The rows of the views with data; false if they have more dimensions than a launch can hold.
template <int kViews>
bool set_rows(const View* const (&views)[kViews], int32_t kept, Geometry<kViews>& g) {
  const Merged<kViews> rows(views, 0, kept);
  if (rows.ndim > kLaunchDims) return false;
  g.ndim = rows.ndim;
  g.numel = rows.count();
  for (int d = 0; d < rows.ndim; ++d) {
    g.sizes[d] = rows.sizes[d];
    for (int k = 0; k < kViews; ++k) g.strides[k][d] = rows.strides[k][d];
  }
  return true;
}
constexpr const char* kDeep = "layer_norm: rows of more dimensions than a launch holds";

}  // namespace

void layer_norm(Context& context, const LayerNormArgs& a) {
  static constexpr const char* kNames[] = {"layer_norm_f16", "layer_norm_bf16", "layer_norm_f32",
                                           "layer_norm_f64"};
  if (!all_of(a.in.dtype, {&a.out, &a.weight, &a.bias})) return refuse(context, kDtypes);
  LayerNorm p{};
  const View* const views[4] = {&a.out, &a.in, &a.mean, &a.rstd};
  if (!set_rows(views, a.in.ndim - 1, p.kept)) return refuse(context, kDeep);
  p.n = a.in.sizes[a.in.ndim - 1];
  p.rows = p.kept.numel;
  if (p.rows == 0) return;
  p.team = team_for_rows(p.n, p.rows);
  p.out = a.out.data;
  p.in = a.in.data;
  p.weight = a.weight.data;
  p.bias = a.bias.data;
  p.mean = a.mean.data;
  p.rstd = a.rstd.data;
  p.stats_dtype = a.mean.data ? a.mean.dtype : a.rstd.dtype;
  p.out_step = step_of(a.out);
  p.in_step = step_of(a.in);
  p.weight_step = step_of(a.weight);
  p.bias_step = step_of(a.bias);
  p.eps = a.eps;
  launch(context, kNames[a.in.dtype - LIBDL_DTYPE_FLOAT16], grid_for_rows(p.team, p.rows), p);
}

void layer_norm_backward(Context& context, const LayerNormBackwardArgs& a) {
  static constexpr const char* kInput[] = {"layer_norm_input_f16", "layer_norm_input_bf16",
                                           "layer_norm_input_f32", "layer_norm_input_f64"};
  static constexpr const char* kRows[] = {"layer_norm_rows_f16", "layer_norm_rows_bf16",
                                          "layer_norm_rows_f32", "layer_norm_rows_f64"};
  static constexpr const char* kFinish[] = {"layer_norm_columns_f16", "layer_norm_columns_bf16",
                                            "layer_norm_columns_f32", "layer_norm_columns_f64"};
  if (!all_of(a.dy.dtype, {&a.in, &a.dx, &a.weight, &a.dweight, &a.dbias}))
    return refuse(context, kDtypes);
  LayerNormBackward p{};
  const View* const views[5] = {&a.dy, &a.in, &a.mean, &a.rstd, &a.dx};
  if (!set_rows(views, a.dy.ndim - 1, p.kept)) return refuse(context, kDeep);
  p.n = a.dy.sizes[a.dy.ndim - 1];
  p.rows = p.kept.numel;
  if (p.n == 0) return;
  p.block = layer_norm_backward_block(p.rows);
  p.team = team_for_rows(p.n, std::max<int64_t>(1, p.rows));
  p.dx = a.dx.data;
  p.dweight = a.dweight.data;
  p.dbias = a.dbias.data;
  p.dy = a.dy.data;
  p.in = a.in.data;
  p.weight = a.weight.data;
  p.mean = a.mean.data;
  p.rstd = a.rstd.data;
  p.stats_dtype = a.mean.dtype;
  p.dx_step = step_of(a.dx);
  p.dy_step = step_of(a.dy);
  p.in_step = step_of(a.in);
  p.weight_step = step_of(a.weight);
  p.dweight_step = step_of(a.dweight);
  p.dbias_step = step_of(a.dbias);
  const int kind = a.dy.dtype - LIBDL_DTYPE_FLOAT16;
  const int64_t blocks = ceil_div(p.rows, p.block);
  const bool summed = p.dweight || p.dbias;
  const Scratch sums(context, summed ? blocks * 2 * p.n * int64_t{sizeof(double)} : 0);
  p.sums = static_cast<double*>(sums.data());
  if (summed) {  // first, because dx may be dy
    launch(context, kRows[kind], {ceil_div(p.n, kColumns) * blocks, kColumns * kRowGroups, 1}, p);
    launch(context, kFinish[kind], grid_for(context, p.n), p);
  }
  if (p.dx && p.rows > 0) launch(context, kInput[kind], grid_for_rows(p.team, p.rows), p);
}

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
