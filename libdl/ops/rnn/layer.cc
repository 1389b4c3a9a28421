// SPDX-License-Identifier: Apache-2.0

#include "ops/rnn/layer.h"

#include <algorithm>

#include "entries/copy.h"
#include "entries/join.h"
#include "entries/linalg.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/linalg/product.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/rnn/direction.h"

namespace libdl {

namespace {

// A node's inputs and first saved values: x, h, c, and these of each direction.
constexpr int kWeights = 5, kBefore = 3;

RnnWeights converted(const RnnWeights& w, Dtype dtype, Dtype of_bias,
                     Tensor (*convert)(const Tensor&, Dtype)) {
  const auto to = [&](const Tensor& x, Dtype as) {
    return x.defined() ? convert(x, as) : Tensor();
  };
  return {to(w.w_ih, dtype), to(w.w_hh, dtype), to(w.b_ih, of_bias), to(w.b_hh, of_bias),
          to(w.w_hr, dtype)};
}

// Leading dimensions as one.
Tensor as_matrix(const Tensor& x) {
  int64_t shape[] = {1, x.size(x.ndim() - 1)};
  for (int d = 0; d + 1 < x.ndim(); ++d) shape[0] *= x.size(d);
  return reshape(x, shape);
}
Shape with_columns(Dims shape, int64_t columns) {
  Shape sizes(shape);
  sizes[sizes.size() - 1] = columns;
  return sizes;
}
// Rows [i, i + 1) of n equal parts of a matrix.
Tensor part_of(const Tensor& x, int64_t i, int64_t n) {
  if (!x.defined() || n == 1) return x;
  const int64_t rows = x.size(0) / n;
  return narrow(x, 0, i * rows, rows);
}
Tensor columns_of(const Tensor& x, int64_t i, int64_t n) {
  if (!x.defined() || n == 1) return x;
  const int64_t columns = x.size(1) / n;
  return narrow(x, 1, i * columns, columns);
}

int64_t output_size(const RnnWeights& w) { return w.w_hh.size(1); }

// The dtype that the steps' products read weights in: their own of 16 bits, where products widen it
// as they read, for a copy in float32 costs more than it saves.
Dtype read_in(const RnnLayer& layer, const Tensor& x, const RnnWeights& w) {
  const Sequence& s = layer.sequence;
  const Dtype own = w.w_ih.dtype(), computed = computed_in(own);
  if (s.steps() == 0) return computed;
  const int64_t rows = s.at(s.steps() - 1, false).count;  // the fewest of any step
  const int64_t columns = std::min(w.w_hh.size(0), output_size(w));
  return product_widens(x.device(), rows, columns, w.w_ih.size(1)) ? own : computed;
}

}  // namespace

// -- the gradient ---------------------------------------------------------------------------------

namespace {

// The rule's arguments: everything as matrices, in the dtype of computation.
class LayerBackward {
 public:
  explicit LayerBackward(Backward& b)
      : b_(b),
        layer_(b.attr<RnnLayer>()),
        directions_((b.inputs() - kBefore) / kWeights),
        input_(b.saved(0)),
        dtype_(computed_in(input_.dtype())),
        x_(as_matrix(in(input_))),
        dy_(arrived(0)) {}

  void run() {
    std::vector<Tensor> dh, dc;
    Tensor dx;
    for (int i = 0; i < directions_; ++i) {
      const RnnWeights w = weights(i);
      const RnnDirection d{layer_.cell, layer_.sequence, i == 1, w};
      const RnnGradients g = of_direction(d, i);
      const int place = kBefore + i * kWeights;
      if (b_.needs(0)) {
        const Tensor part = of_inputs(g.dsums, w.w_ih);
        dx = dx.defined() ? dx + part : part;
      }
      if (b_.needs(place)) b_.set_grad(place, matmul(t(g.dsums), x_));
      if (b_.needs(place + 1)) b_.set_grad(place + 1, matmul(t(g.drecurrent), kept_.h_before));
      set_bias_grads(place + 2, g);
      if (b_.needs(place + 4)) b_.set_grad(place + 4, matmul(t(g.dprojected), kept_.whole));
      dh.push_back(g.dh);
      if (g.dc.defined()) dc.push_back(g.dc);
    }
    if (b_.needs(0)) b_.set_grad(0, reshape(dx, input_.shape()));
    const auto whole = [](std::vector<Tensor>& parts) {
      return parts.size() == 1 ? parts[0] : cat(parts, 0);
    };
    if (b_.needs(1)) b_.set_grad(1, reshape(whole(dh), b_.saved(1).shape()));
    if (b_.needs(2)) b_.set_grad(2, reshape(whole(dc), b_.saved(2).shape()));
  }

 private:
  Tensor in(const Tensor& x) const { return cast(x, dtype_); }
  Tensor saved(int i) const {
    const Tensor x = b_.saved(i);
    return x.defined() ? in(x) : x;
  }
  Tensor arrived(int k) const { return b_.dy(k).defined() ? as_matrix(in(b_.dy(k))) : Tensor(); }
  void set_bias_grads(int place, const RnnGradients& g) {
    Tensor rows;
    if (b_.needs(place)) b_.set_grad(place, rows = sum_of_rows(g.dsums));
    if (!b_.needs(place + 1)) return;
    const bool equal = rows.defined() && g.drecurrent.is(g.dsums);
    b_.set_grad(place + 1, equal ? clone(rows) : sum_of_rows(g.drecurrent));
  }
  static Tensor sum_of_rows(const Tensor& x) {
    static constexpr int64_t kRows[] = {0};
    return sum(x, Dims(kRows));
  }
  // Biases are read where the forward pass is made again.
  RnnWeights weights(int i) const {
    const int place = kBefore + i * kWeights;
    RnnWeights w{b_.saved(place), b_.saved(place + 1), {}, {}, b_.saved(place + 4)};
    if (!b_.differentiated()) return converted(w, read_in(layer_, x_, w), dtype_, cast);
    w.b_ih = b_.saved(place + 2), w.b_hh = b_.saved(place + 3);
    return converted(w, dtype_, dtype_, cast);
  }
  // The weights have 16 bits only where this is not differentiated itself.
  Tensor of_inputs(const Tensor& dsums, const Tensor& w_ih) const {
    return dsums.dtype() == w_ih.dtype() ? matmul(dsums, w_ih) : product({&dsums}, {&w_ih});
  }

  RnnGradients of_direction(const RnnDirection& d, int i) {
    const int64_t batch = layer_.sequence.batch();
    const Tensor dy = columns_of(dy_, i, directions_);
    const bool lstm = layer_.cell == RnnCell::kLstm;
    const auto state = [&](int k, int64_t columns) {  // its gradient
      const int64_t shape[] = {batch, columns};
      const Tensor arrived_here = part_of(arrived(k), i, directions_);
      return arrived_here.defined() ? arrived_here : zeros(shape, dtype_, x_.device());
    };
    const Tensor dh = state(1, output_size(d.weights));
    const Tensor dc = lstm ? state(2, d.hidden()) : Tensor();
    if (b_.differentiated()) {
      kept_ = forward_by_operators(d, x_, part_of(as_matrix(saved(1)), i, directions_),
                                   lstm ? part_of(as_matrix(saved(2)), i, directions_) : Tensor())
                  .kept;
      return backward_by_operators(d, kept_, dy, dh, dc);
    }
    const int first = kBefore + directions_ * kWeights + i * 5;
    kept_ = {b_.saved(first), b_.saved(first + 1), b_.saved(first + 2), b_.saved(first + 3),
             b_.saved(first + 4)};
    const auto own_copy = [&](const Tensor& x) { return x.defined() ? row_major_clone(x) : x; };
    const Tensor columns_apart = dy.defined() && dy.stride(1) != 1 ? plain(dy) : dy;
    return backward_in_steps(d, kept_, columns_apart, own_copy(dh), own_copy(dc));
  }

  Backward& b_;
  const RnnLayer& layer_;
  const int directions_;
  const Tensor input_;
  const Dtype dtype_;
  const Tensor x_, dy_;
  RnnKept kept_;  // of the direction at hand
};

}  // namespace

void rnn_layer_vjp(Backward& b) { LayerBackward(b).run(); }

// -- forward --------------------------------------------------------------------------------------

// In forward mode each operator has its own tangent.
static RnnStates by_operators(const RnnLayer& layer, const RnnStates& in,
                              std::span<const RnnWeights> weights) {
  const Named named(layer.rule->name);
  const Dtype dtype = computed_in(in.y.dtype());
  const auto directions = static_cast<int64_t>(weights.size());
  const Tensor x = as_matrix(cast(in.y, dtype)), h = as_matrix(cast(in.h, dtype));
  const Tensor c = in.c.defined() ? as_matrix(cast(in.c, dtype)) : Tensor();
  std::vector<Tensor> ys, hs, cs;
  for (int64_t i = 0; i < directions; ++i) {
    const RnnWeights w = converted(weights[static_cast<size_t>(i)], dtype, dtype, cast);
    const RnnDirection d{layer.cell, layer.sequence, i == 1, w};
    const RnnStates last =
        forward_by_operators(d, x, part_of(h, i, directions), part_of(c, i, directions)).last;
    ys.push_back(last.y);
    hs.push_back(last.h);
    if (last.c.defined()) cs.push_back(last.c);
  }
  const auto done = [&](const Tensor& y, Dims shape, Dtype as) {
    return named(cast(reshape(y, shape), as));
  };
  const int64_t size = output_size(weights[0]) * directions;
  return {done(cat(ys, 1), with_columns(in.y.shape(), size), in.y.dtype()),
          done(cat(hs, 0), in.h.shape(), in.h.dtype()),
          c.defined() ? done(cat(cs, 0), in.c.shape(), in.c.dtype()) : Tensor()};
}

static bool has_tangents(const RnnStates& in, std::span<const RnnWeights> weights) {
  if (!visible_level()) return false;
  const auto has = [](const Tensor& x) { return x.defined() && has_tangent(x); };
  bool any = has(in.y) || has(in.h) || has(in.c);
  for (const RnnWeights& w : weights)
    any |= has(w.w_ih) || has(w.w_hh) || has(w.b_ih) || has(w.b_hh) || has(w.w_hr);
  return any;
}

namespace {
struct Computed {
  RnnStates out;
  std::vector<RnnKept> kept;
};
}  // namespace

static Computed in_steps(const RnnLayer& layer, const RnnStates& in,
                         std::span<const RnnWeights> weights, bool keep) {
  const Dtype dtype = computed_in(in.y.dtype());
  const auto directions = static_cast<int64_t>(weights.size());
  const int64_t size = output_size(weights[0]);
  const Tensor x = as_matrix(plain(in.y, dtype));
  // Working copies, which end as the last states.
  const auto state = [&](const Tensor& s) {
    return s.defined() ? row_major_clone(cast(s, dtype)) : s;
  };
  Computed all{{empty(with_columns(in.y.shape(), directions * size), dtype, x.device()),
                state(in.h), state(in.c)},
               {}};
  const Tensor y = as_matrix(all.out.y), h = as_matrix(all.out.h);
  const Tensor c = all.out.c.defined() ? as_matrix(all.out.c) : Tensor();
  for (int64_t i = 0; i < directions; ++i) {
    const RnnWeights& given = weights[static_cast<size_t>(i)];
    const RnnWeights w = converted(given, read_in(layer, x, given), dtype, plain);
    const RnnDirection d{layer.cell, layer.sequence, i == 1, w};
    all.kept.push_back(forward_in_steps(d, x, columns_of(y, i, directions),
                                        part_of(h, i, directions), part_of(c, i, directions),
                                        keep));
  }
  return all;
}

RnnStates rnn_layer(const RnnLayer& layer, const RnnStates& in,
                    std::span<const RnnWeights> weights) {
  if (has_tangents(in, weights)) return by_operators(layer, in, weights);
  std::vector<const Tensor*> inputs = {&in.y, &in.h, &in.c};
  for (const RnnWeights& w : weights)
    inputs.insert(inputs.end(), {&w.w_ih, &w.w_hh, &w.b_ih, &w.b_hh, &w.w_hr});
  Call call(layer.rule->name, {}, std::span<const Tensor* const>(inputs));
  Computed all = in_steps(layer, in, weights, call.recording());
  Tensor outputs[] = {cast(all.out.y, in.y.dtype()), cast(all.out.h, in.h.dtype()),
                      in.c.defined() ? cast(all.out.c, in.c.dtype()) : Tensor()};
  std::vector<Save> saves;
  for (size_t i = 0; call.recording() && i < inputs.size(); ++i)
    saves.push_back(saves_input(*inputs[i], static_cast<int>(i)));
  for (const RnnKept& k : all.kept)
    for (const Tensor* x : {&k.gates, &k.h_before, &k.c_before, &k.inner, &k.whole})
      saves.push_back(saves_value(*x));
  call.done(std::span<Tensor>(outputs, in.c.defined() ? 3 : 2), *layer.rule, layer,
            std::span<const Save>(saves));
  return {std::move(outputs[0]), std::move(outputs[1]), std::move(outputs[2])};
}

}  // namespace libdl
