// SPDX-License-Identifier: Apache-2.0

// One thread per element of the state. Formulas: kernels/args/rnn.h and kernels/cpu/rnn/rnn.cc.

#include "kernels/cuda/device.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/plan.h"
#ifdef LIBDL_KERNELS
#include "kernels/cuda/math.h"
#endif

namespace libdl::kernels::cuda {

namespace {

// Rows of a view; data NULL: nowhere.
struct RnnRows {
  void* data;
  int64_t stride;
};

struct RnnStep {
  RnnCell cell;
  bool is_double;
  int64_t numel, size;  // elements of the state, and of a row of it
  RnnRows gates, recurrent, h, c, h_before, c_before, inner, out;
};

struct RnnStepBackward {
  RnnCell cell;
  bool is_double;
  int64_t numel, size;
  RnnRows dgates, drecurrent, dh, dc, dy, gates, h_before, c_before, inner;
};

}  // namespace

#ifdef LIBDL_KERNELS

template <class T>
LIBDL_DEVICE T* rnn_at(const RnnRows& rows, int64_t row, int64_t j) {
  return static_cast<T*>(rows.data) + row * rows.stride + j;
}

template <class T>
LIBDL_DEVICE void rnn_forward(const RnnStep& p, int64_t row, int64_t j) {
  using M = Math<T>;
  T* const gate = rnn_at<T>(p.gates, row, j);
  const int64_t size = p.size;
  T after;
  if (p.cell == RnnCell::kTanh) {
    gate[0] = after = M::tanh(gate[0]);
  } else if (p.cell == RnnCell::kRelu) {
    gate[0] = after = gate[0] < T(0) ? T(0) : gate[0];
  } else if (p.cell == RnnCell::kLstm) {
    const T i = M::sigmoid(gate[0]), f = M::sigmoid(gate[size]);
    const T g = M::tanh(gate[2 * size]), o = M::sigmoid(gate[3 * size]);
    gate[0] = i, gate[size] = f, gate[2 * size] = g, gate[3 * size] = o;
    T* const cell = rnn_at<T>(p.c, row, j);
    const T before = *cell, next = f * before + i * g;
    if (p.c_before.data) *rnn_at<T>(p.c_before, row, j) = before;
    *cell = next;
    after = o * M::tanh(next);
  } else {
    const T* const sum = rnn_at<T>(p.recurrent, row, j);
    const T within = sum[2 * size];
    const T r = M::sigmoid(gate[0] + sum[0]), z = M::sigmoid(gate[size] + sum[size]);
    const T n = M::tanh(gate[2 * size] + r * within);
    gate[0] = r, gate[size] = z, gate[2 * size] = n;
    if (p.inner.data) *rnn_at<T>(p.inner, row, j) = within;
    after = n + z * (*rnn_at<T>(p.h, row, j) - n);
  }
  if (p.h_before.data) *rnn_at<T>(p.h_before, row, j) = *rnn_at<T>(p.h, row, j);
  if (p.h.data) *rnn_at<T>(p.h, row, j) = after;
  *rnn_at<T>(p.out, row, j) = after;
}

template <class T>
LIBDL_DEVICE void rnn_backward(const RnnStepBackward& p, int64_t row, int64_t j) {
  using M = Math<T>;
  const T* const gate = rnn_at<T>(p.gates, row, j);
  T* const to = rnn_at<T>(p.dgates, row, j);
  T* const dh_at = rnn_at<T>(p.dh, row, j);
  const T dh = p.dy.data ? *dh_at + *rnn_at<T>(p.dy, row, j) : *dh_at;
  const int64_t size = p.size;
  const T one(1);
  if (p.cell == RnnCell::kTanh) {
    *to = dh * (one - gate[0] * gate[0]);
  } else if (p.cell == RnnCell::kRelu) {
    *to = gate[0] <= T(0) ? T(0) : dh;
  } else if (p.cell == RnnCell::kLstm) {
    const T i = gate[0], f = gate[size], g = gate[2 * size], o = gate[3 * size];
    const T before = *rnn_at<T>(p.c_before, row, j), top = M::tanh(f * before + i * g);
    T* const dc_at = rnn_at<T>(p.dc, row, j);
    const T dc = *dc_at + dh * o * (one - top * top);
    to[0] = dc * g * i * (one - i);
    to[size] = dc * before * f * (one - f);
    to[2 * size] = dc * i * (one - g * g);
    to[3 * size] = dh * top * o * (one - o);
    *dc_at = dc * f;
  } else {
    const T r = gate[0], z = gate[size], n = gate[2 * size];
    const T before = *rnn_at<T>(p.h_before, row, j), within = *rnn_at<T>(p.inner, row, j);
    const T dn = dh * (one - z) * (one - n * n);
    const T dz = dh * (before - n) * z * (one - z), dr = dn * within * r * (one - r);
    T* const inside = rnn_at<T>(p.drecurrent, row, j);
    to[0] = inside[0] = dr;
    to[size] = inside[size] = dz;
    to[2 * size] = dn;
    inside[2 * size] = dn * r;
    *dh_at = dh * z;
  }
}

LIBDL_KERNEL(rnn_step_elements, RnnStep) {
  for (int64_t i = first_element(); i < p.numel; i += all_threads()) {
    if (p.is_double) {
      rnn_forward<double>(p, i / p.size, i % p.size);
    } else {
      rnn_forward<float>(p, i / p.size, i % p.size);
    }
  }
}
LIBDL_KERNEL(rnn_step_backward_elements, RnnStepBackward) {
  for (int64_t i = first_element(); i < p.numel; i += all_threads()) {
    if (p.is_double) {
      rnn_backward<double>(p, i / p.size, i % p.size);
    } else {
      rnn_backward<float>(p, i / p.size, i % p.size);
    }
  }
}

#endif  // LIBDL_KERNELS

#ifdef LIBDL_PLANS

static RnnRows rows_of(const View& v) { return {v.data, v.data ? v.strides[0] : 0}; }

void rnn_step(Context& context, const RnnStepArgs& a) {
  const RnnStep p{a.cell,
                  a.gates.dtype == LIBDL_DTYPE_FLOAT64,
                  numel(a.out),
                  a.out.sizes[1],
                  rows_of(a.gates),
                  rows_of(a.recurrent),
                  rows_of(a.h),
                  rows_of(a.c),
                  rows_of(a.h_before),
                  rows_of(a.c_before),
                  rows_of(a.inner),
                  rows_of(a.out)};
  if (p.numel) launch(context, "rnn_step_elements", grid_for(context, p.numel), p);
}

void rnn_step_backward(Context& context, const RnnStepBackwardArgs& a) {
  const RnnStepBackward p{a.cell,
                          a.gates.dtype == LIBDL_DTYPE_FLOAT64,
                          numel(a.dh),
                          a.dh.sizes[1],
                          rows_of(a.dgates),
                          rows_of(a.drecurrent),
                          rows_of(a.dh),
                          rows_of(a.dc),
                          rows_of(a.dy),
                          rows_of(a.gates),
                          rows_of(a.h_before),
                          rows_of(a.c_before),
                          rows_of(a.inner)};
  if (p.numel) launch(context, "rnn_step_backward_elements", grid_for(context, p.numel), p);
}

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
