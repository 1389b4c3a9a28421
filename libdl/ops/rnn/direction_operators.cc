// SPDX-License-Identifier: Apache-2.0

// A direction by operators, for what is differentiated again or in forward mode.

#include <libdl/op.h>

#include "entries/activation.h"
#include "entries/arithmetic.h"
#include "entries/comparison.h"
#include "entries/join.h"
#include "entries/linalg.h"
#include "entries/nn.h"
#include "entries/view.h"
#include "ops/core/call.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/rnn/direction.h"

namespace libdl {

static Tensor one_minus(const Tensor& x) { return sub(number(int64_t{1}), x); }
static Tensor slope_of_sigmoid(const Tensor& y) { return y * one_minus(y); }
static Tensor slope_of_tanh(const Tensor& y) { return one_minus(square(y)); }

static const Tensor* or_null(const Tensor& x) { return x.defined() ? &x : nullptr; }
static std::vector<Tensor> gates_in(RnnCell cell, const Tensor& x) {
  return chunk(x, gates_of(cell), 1);
}
static Tensor side_by_side(std::vector<Tensor> parts) { return cat(parts, 1); }

// -- forward --------------------------------------------------------------------------------------

namespace {
struct Stepped {
  Tensor gates, inner, c, whole;  // c, whole: after the step
};
}  // namespace

// x: the sums W x + b; v: the sums V h + b'.
static Stepped stepped(RnnCell cell, const Tensor& x, const Tensor& v, const Tensor& h,
                       const Tensor& c) {
  if (cell == RnnCell::kTanh || cell == RnnCell::kRelu) {
    const Tensor y = cell == RnnCell::kTanh ? tanh(x + v) : relu(x + v);
    return {y, {}, {}, y};
  }
  if (cell == RnnCell::kGru) {
    const std::vector<Tensor> a = gates_in(cell, x), b = gates_in(cell, v);
    const Tensor r = sigmoid(a[0] + b[0]), z = sigmoid(a[1] + b[1]), n = tanh(a[2] + r * b[2]);
    return {side_by_side({r, z, n}), b[2], {}, n + z * (h - n)};
  }
  const std::vector<Tensor> sums = gates_in(cell, x + v);
  const Tensor i = sigmoid(sums[0]), f = sigmoid(sums[1]), g = tanh(sums[2]), o = sigmoid(sums[3]);
  const Tensor after = f * c + i * g;
  return {side_by_side({i, f, g, o}), {}, after, o * tanh(after)};
}

// The first rows of x become y.
static Tensor replaced(const Tensor& x, const Tensor& y) {
  const int64_t rows = y.size(0), rest = x.size(0) - rows;
  if (rest == 0) return y;
  return cat(std::vector<Tensor>{y, narrow(x, 0, rows, rest)}, 0);
}
static Tensor first_rows(const Tensor& x, int64_t rows) {
  return x.size(0) == rows ? x : narrow(x, 0, 0, rows);
}

RnnUnrolled forward_by_operators(const RnnDirection& d, const Tensor& x, Tensor h, Tensor c) {
  const RnnWeights& w = d.weights;
  const Sequence& s = d.sequence;
  const Tensor sums = linear(x, w.w_ih, or_null(w.b_ih));
  std::vector<Tensor> y, gates, h_before, c_before, inner, whole;
  for (int64_t i = 0; i < s.steps(); ++i) {
    const int64_t rows = s.at(i, d.reversed).count;
    const Tensor before = first_rows(h, rows);
    const Tensor memory = c.defined() ? first_rows(c, rows) : Tensor();
    Stepped step = stepped(d.cell, s.part(sums, i, d.reversed),
                           linear(before, w.w_hh, or_null(w.b_hh)), before, memory);
    y.push_back(w.w_hr.defined() ? linear(step.whole, w.w_hr, nullptr) : step.whole);
    gates.push_back(step.gates);
    h_before.push_back(before);
    h = replaced(h, y.back());
    if (w.w_hr.defined()) whole.push_back(step.whole);
    if (step.inner.defined()) inner.push_back(step.inner);
    if (!c.defined()) continue;
    c_before.push_back(memory);
    c = replaced(c, step.c);
  }
  const auto all = [&](std::vector<Tensor>& parts) {
    return parts.empty() ? Tensor() : s.joined(std::move(parts), d.reversed);
  };
  return {{all(y), h, c}, {all(gates), all(h_before), all(c_before), all(inner), all(whole)}};
}

// -- backward -------------------------------------------------------------------------------------

namespace {
struct SteppedBack {
  Tensor dsums, drecurrent, dh, dc;  // dh: without the product's share; undefined: none
};
}  // namespace

// Formulas: kernels/cpu/rnn/rnn.cc.
static SteppedBack stepped_back(RnnCell cell, const std::vector<Tensor>& gates, const Tensor& h,
                                const Tensor& c, const Tensor& inner, const Tensor& dh,
                                const Tensor& dc_after) {
  if (cell == RnnCell::kTanh) {
    const Tensor dsums = dh * slope_of_tanh(gates[0]);
    return {dsums, dsums, {}, {}};
  }
  if (cell == RnnCell::kRelu) {
    const Tensor dsums = where(le(gates[0], number(int64_t{0})), number(int64_t{0}), dh);
    return {dsums, dsums, {}, {}};
  }
  if (cell == RnnCell::kGru) {
    const Tensor &r = gates[0], &z = gates[1], &n = gates[2];
    const Tensor dn = dh * one_minus(z) * slope_of_tanh(n);
    const Tensor dz = dh * (h - n) * slope_of_sigmoid(z), dr = dn * inner * slope_of_sigmoid(r);
    return {side_by_side({dr, dz, dn}), side_by_side({dr, dz, dn * r}), dh * z, {}};
  }
  const Tensor &i = gates[0], &f = gates[1], &g = gates[2], &o = gates[3];
  const Tensor top = tanh(f * c + i * g), dc = dc_after + dh * o * slope_of_tanh(top);
  const Tensor dsums = side_by_side({dc * g * slope_of_sigmoid(i), dc * c * slope_of_sigmoid(f),
                                     dc * i * slope_of_tanh(g), dh * top * slope_of_sigmoid(o)});
  return {dsums, dsums, {}, dc * f};
}

RnnGradients backward_by_operators(const RnnDirection& d, const RnnKept& kept, const Tensor& dy,
                                   Tensor dh, Tensor dc) {
  const RnnWeights& w = d.weights;
  const Sequence& s = d.sequence;
  std::vector<Tensor> sums, recurrent, projected;
  for (int64_t i = s.steps() - 1; i >= 0; --i) {
    const int64_t rows = s.at(i, d.reversed).count;
    const auto part = [&](const Tensor& x) {
      return x.defined() ? s.part(x, i, d.reversed) : Tensor();
    };
    Tensor arrived = first_rows(dh, rows);
    if (dy.defined()) arrived = arrived + part(dy);
    if (w.w_hr.defined()) {
      projected.push_back(arrived);
      arrived = matmul(arrived, w.w_hr);
    }
    const SteppedBack step = stepped_back(
        d.cell, gates_in(d.cell, part(kept.gates)), part(kept.h_before), part(kept.c_before),
        part(kept.inner), arrived, dc.defined() ? first_rows(dc, rows) : Tensor());
    sums.push_back(step.dsums);
    recurrent.push_back(step.drecurrent);
    const Tensor through = matmul(step.drecurrent, w.w_hh);
    dh = replaced(dh, step.dh.defined() ? step.dh + through : through);
    if (dc.defined()) dc = replaced(dc, step.dc);
  }
  const auto all = [&](std::vector<Tensor>& parts) {  // the last step comes first
    return parts.empty() ? Tensor() : s.joined(std::move(parts), !d.reversed);
  };
  return {all(sums), all(recurrent), dh, dc, all(projected)};
}

}  // namespace libdl
