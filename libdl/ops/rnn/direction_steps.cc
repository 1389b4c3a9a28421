// SPDX-License-Identifier: Apache-2.0

// A direction in steps: a product for the inputs of all steps beforehand, then for each step the
// product of the hidden state, added to it, and one kernel.

#include "entries/arithmetic.h"
#include "entries/copy.h"
#include "ops/copy/copy.h"
#include "ops/linalg/product.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/primitive/launch.h"
#include "ops/rnn/direction.h"

namespace libdl {

namespace {

using enum Access;

// Rows of a matrix as kernels see them.
struct Rows {
  int64_t sizes[2], strides[2];
  kernels::View view;

  Rows(void* data, Dtype dtype, int64_t row_stride, int64_t columns, const StepRows& at)
      : sizes{at.count, columns},
        strides{at.stride * row_stride, 1},
        view{data, sizes, strides, 2, static_cast<int32_t>(dtype)} {
    if (data) view.data = static_cast<char*>(data) + at.first * row_stride * size_of(dtype);
  }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
};

// A matrix whose rows are next to one another, or a part of their columns; none if undefined.
class Matrix {
 public:
  Matrix(const Tensor& x, Access access)
      : data_(x.defined() ? kernel_data(x, access) : nullptr),
        dtype_(x.defined() ? x.dtype() : Dtype::kNone),
        stride_(x.defined() ? x.stride(0) : 0),
        columns_(x.defined() ? x.size(1) : 0) {
    // What is written here is ours alone, so no version tells of it.
    if (x.defined() && access != Access::kRead && x.storage().packed.load())
      drop_packed(x.storage());
  }
  Rows at(const StepRows& rows) const { return {data_, dtype_, stride_, columns_, rows}; }
  // The rows of the first `count` sequences.
  Rows first(int64_t count) const { return at({0, 1, count}); }

 private:
  void* data_;
  Dtype dtype_;
  int64_t stride_, columns_;
};

Tensor matrix_like(const Tensor& x, int64_t rows, int64_t columns, bool needed = true) {
  const int64_t shape[] = {rows, columns};
  return needed ? empty(shape, x.dtype(), x.device()) : Tensor();
}

void copy_rows(Device device, const Rows& out, const Rows& in) {
  launch_copy(device, {out.view, in.view});
}

}  // namespace

// -- forward --------------------------------------------------------------------------------------

// The sums of all steps that do not depend on the hidden state.
static Tensor sums_of_inputs(const RnnDirection& d, const Tensor& x) {
  const RnnWeights& w = d.weights;
  Tensor bias = w.b_ih;
  if (d.cell != RnnCell::kGru && w.b_hh.defined()) bias = bias.defined() ? bias + w.b_hh : w.b_hh;
  return product({&x}, {&w.w_ih, true}, bias.defined() ? &bias : nullptr);
}

RnnKept forward_in_steps(const RnnDirection& d, const Tensor& x, const Tensor& y, const Tensor& h,
                         const Tensor& c, bool keep) {
  const bool lstm = d.cell == RnnCell::kLstm, gru = d.cell == RnnCell::kGru;
  const RnnWeights& w = d.weights;
  const bool projected = w.w_hr.defined();
  const Sequence& s = d.sequence;
  const Device device = x.device();
  const int64_t rows = s.rows(), hidden = d.hidden();
  RnnKept kept{sums_of_inputs(d, x), matrix_like(x, rows, h.size(1), keep),
               matrix_like(x, rows, hidden, keep && lstm),
               matrix_like(x, rows, hidden, keep && gru), matrix_like(x, rows, hidden, projected)};
  if (rows == 0) return kept;
  const Tensor of_state = matrix_like(x, s.batch(), 3 * hidden, gru);
  const Matrix gates(kept.gates, kUpdate), h_before(kept.h_before, kOverwrite);
  const Matrix c_before(kept.c_before, kOverwrite), inner(kept.inner, kOverwrite);
  const Matrix whole(kept.whole, kOverwrite), recurrent(of_state, kOverwrite);
  const Matrix out(y, kUpdate), state(h, kUpdate), cell(c, kUpdate), none({}, kRead);
  const RepeatedProduct times_w_hh({&w.w_hh, true}, s.batch(), s.steps());
  std::optional<RepeatedProduct> times_w_hr;
  if (projected) times_w_hr.emplace(Factor{&w.w_hr, true}, s.batch(), s.steps());
  const Tensor* const bias = gru && w.b_hh.defined() ? &w.b_hh : nullptr;
  for (int64_t i = 0; i < s.steps(); ++i) {
    const StepRows at = s.at(i, d.reversed);
    const Rows before = state.first(at.count), sums = gates.at(at), y_t = out.at(at);
    const Rows of_h = recurrent.first(at.count), whole_t = whole.at(at);
    times_w_hh(gru ? of_h.view : sums.view, before.view, !gru, bias);
    const Rows kept_h = h_before.at(at), kept_c = c_before.at(at), kept_inner = inner.at(at);
    const Rows memory = cell.first(at.count), nothing = none.first(0);
    launch_rnn_step(device, {d.cell, sums.view, of_h.view, projected ? nothing.view : before.view,
                             memory.view, projected ? nothing.view : kept_h.view, kept_c.view,
                             kept_inner.view, projected ? whole_t.view : y_t.view});
    if (!projected) continue;
    if (keep) copy_rows(device, kept_h, before);
    (*times_w_hr)(y_t.view, whole_t.view, false);
    copy_rows(device, before, y_t);
  }
  return kept;
}

// -- backward -------------------------------------------------------------------------------------

using Parts = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>;  // as in RnnGradients

static Tensor rows_of(const Tensor& x, const StepRows& at) {
  const int64_t shape[] = {at.count, x.size(1)}, strides[] = {at.stride * x.stride(0), 1};
  return alias(x, shape, strides, x.offset() + at.first * x.stride(0), x.dtype());
}

// From the gradient of the projected states to that of the states.
namespace {
class ProjectionBackward {
 public:
  ProjectionBackward(const RnnDirection& d, const Tensor& dy, const Tensor& dh)
      : dy_(dy),
        dh_(dh),
        dprojected_(matrix_like(dh, d.sequence.rows(), dh.size(1))),
        whole_(matrix_like(dh, d.sequence.batch(), d.hidden())),
        times_w_hr_({&d.weights.w_hr}, d.sequence.batch(), d.sequence.steps()) {}

  void step(const StepRows& at) const {
    const Tensor to = rows_of(dprojected_, at);
    copy_bytes(to, rows_of(dh_, {0, 1, at.count}));
    if (dy_.defined()) add(to, rows_of(dy_, at), nullptr, Into(to));
    times_w_hr_(Matrix(whole_, kOverwrite).first(at.count).view,
                Matrix(to, kRead).first(at.count).view, false);
  }
  const Tensor& dprojected() const { return dprojected_; }
  const Tensor& whole() const { return whole_; }

 private:
  const Tensor &dy_, &dh_;
  const Tensor dprojected_, whole_;
  const RepeatedProduct times_w_hr_;
};
}  // namespace

static Parts steps_back(const RnnDirection& d, const RnnKept& kept, const Tensor& dy,
                        const Tensor& dh, const Tensor& dc) {
  LIBDL_OBSERVED_PART("rnn_backward", steps_back(d, kept, dy, dh, dc), &dy, dh, &dc, kept.gates);
  const bool gru = d.cell == RnnCell::kGru, projected = d.weights.w_hr.defined();
  const Sequence& s = d.sequence;
  const Tensor dsums = matrix_like(dh, s.rows(), kept.gates.size(1));
  const Tensor drecurrent = gru ? matrix_like(dh, s.rows(), kept.gates.size(1)) : dsums;
  if (s.rows() == 0)
    return {dsums, drecurrent, dh, dc, projected ? matrix_like(dh, 0, dh.size(1)) : Tensor()};
  std::optional<ProjectionBackward> projection;
  if (projected) projection.emplace(d, dy, dh);
  const Matrix to(dsums, kUpdate), to_recurrent(gru ? drecurrent : Tensor(), kUpdate);
  const Matrix whole(projected ? projection->whole() : dh, kUpdate);
  const Matrix memory(dc, kUpdate), arrived(projected ? Tensor() : dy, kRead);
  const Matrix gates(kept.gates, kRead), inner(kept.inner, kRead);
  const Matrix h_before(gru ? kept.h_before : Tensor(), kRead), c_before(kept.c_before, kRead);
  const RepeatedProduct times_w_hh({&d.weights.w_hh}, s.batch(), s.steps());
  for (int64_t i = s.steps() - 1; i >= 0; --i) {
    const StepRows at = s.at(i, d.reversed);
    if (projected) projection->step(at);
    const Rows sums = to.at(at), of_h = to_recurrent.at(at), dh_t = whole.first(at.count);
    const Rows dc_t = memory.first(at.count), dy_t = arrived.at(at), gates_t = gates.at(at);
    const Rows h = h_before.at(at), c = c_before.at(at), inner_t = inner.at(at);
    launch_rnn_step_backward(dh.device(), {d.cell, sums.view, of_h.view, dh_t.view, dc_t.view,
                                           dy_t.view, gates_t.view, h.view, c.view, inner_t.view});
    const Matrix state(dh, kUpdate);  // anew, because the projection reads dh itself
    times_w_hh(state.first(at.count).view, gru ? of_h.view : sums.view, gru);
  }
  return {dsums, drecurrent, dh, dc, projected ? projection->dprojected() : Tensor()};
}

RnnGradients backward_in_steps(const RnnDirection& d, const RnnKept& kept, const Tensor& dy,
                               const Tensor& dh, const Tensor& dc) {
  auto [dsums, drecurrent, dh0, dc0, dprojected] = steps_back(d, kept, dy, dh, dc);
  return {std::move(dsums), std::move(drecurrent), std::move(dh0), std::move(dc0),
          std::move(dprojected)};
}

}  // namespace libdl
