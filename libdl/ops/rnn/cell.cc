// SPDX-License-Identifier: Apache-2.0

// A single step, of one layer.

#include "entries/rnn.h"
#include "ops/core/call.h"
#include "ops/rnn/layer.h"

namespace libdl {

namespace {
struct CellCall {
  const Rule& rule;
  RnnCell cell;
  const Tensor& input;
  TensorSpan hx;  // h, or h and c
  const Tensor &w_ih, &w_hh;
  const Tensor *b_ih, *b_hh;

  LIBDL_NORETURN [[gnu::cold]] void bad(libdl_error_code code, const char* name,
                                        const std::string& found,
                                        const std::string& wanted LIBDL_SOURCE_LOCATION) const {
    fail_argument(code, rule.name, name, found, wanted LIBDL_SAME_SOURCE_LOCATION);
  }
};
}  // namespace

static void check_one(const CellCall& c, const char* name, const Tensor& x, Dims expected,
                      const char* where = "") {
  if (!same(x.shape(), expected))
    c.bad(LIBDL_ERROR_SHAPE, name, "has shape " + to_string(x.shape()) + where,
          to_string(expected));
  if (x.dtype() != c.input.dtype())
    c.bad(LIBDL_ERROR_DTYPE, name, std::string("is ") + name_of(x.dtype()) + where,
          std::string(name_of(c.input.dtype())) + ", as argument (input)");
}

static void check(const CellCall& c) {
  const Tensor& x = c.input;
  if (!is_floating(x.dtype()))
    c.bad(LIBDL_ERROR_DTYPE, "input", std::string("is ") + name_of(x.dtype()), "a floating dtype");
  if (x.ndim() != 1 && x.ndim() != 2)
    c.bad(LIBDL_ERROR_SHAPE, "input", "has shape " + to_string(x.shape()),
          "[batch, features] or [features]");
  const int64_t gates = gates_of(c.cell), features = x.size(x.ndim() - 1);
  if (c.w_ih.ndim() != 2 || c.w_ih.size(0) < gates || c.w_ih.size(0) % gates)
    c.bad(LIBDL_ERROR_SHAPE, "w_ih", "has shape " + to_string(c.w_ih.shape()),
          "[" + std::to_string(gates) + " hidden, " + std::to_string(features) + "]");
  if (c.w_ih.dtype() == c.w_hh.dtype() && c.w_ih.dtype() != x.dtype())
    c.bad(LIBDL_ERROR_DTYPE, "input", std::string("is ") + name_of(x.dtype()),
          std::string(name_of(c.w_ih.dtype())) + ", as argument (w_ih)");
  if (c.w_ih.size(1) != features)
    c.bad(LIBDL_ERROR_SHAPE, "input", "has " + std::to_string(features) + " features",
          std::to_string(c.w_ih.size(1)) + ", for w_ih has shape " + to_string(c.w_ih.shape()));
  const int64_t sums = c.w_ih.size(0), hidden = sums / gates;
  const Shape state = x.ndim() == 2 ? Shape{x.size(0), hidden} : Shape{hidden};
  const bool two = c.hx.size() == 2;
  check_one(c, "hx", c.hx[0], state, two ? " at position 0" : "");
  if (two) check_one(c, "hx", c.hx[1], state, " at position 1");
  check_one(c, "w_ih", c.w_ih, Shape{sums, features});
  check_one(c, "w_hh", c.w_hh, Shape{sums, hidden});
  if (c.b_ih) check_one(c, "b_ih", *c.b_ih, Shape{sums});
  if (c.b_hh) check_one(c, "b_hh", *c.b_hh, Shape{sums});
}

static RnnStates step(const CellCall& c) {
  check(c);
  const RnnWeights w[] = {
      {c.w_ih, c.w_hh, c.b_ih ? *c.b_ih : Tensor(), c.b_hh ? *c.b_hh : Tensor(), Tensor()}};
  const int64_t batch = c.input.ndim() == 2 ? c.input.size(0) : 1;
  const RnnLayer layer{&c.rule, c.cell, Sequence::steps_outermost(1, batch)};
  return rnn_layer(layer, {c.input, c.hx[0], c.hx.size() == 2 ? c.hx[1] : Tensor()}, w);
}

std::tuple<Tensor, Tensor> lstm_cell_impl(const Tensor& input, TensorSpan hx, const Tensor& w_ih,
                                          const Tensor& w_hh, const Tensor* b_ih,
                                          const Tensor* b_hh) {
  static const Rule kRule{"lstm_cell", rnn_layer_vjp};
  const CellCall c{kRule, RnnCell::kLstm, input, hx, w_ih, w_hh, b_ih, b_hh};
  if (hx.size() != 2)
    c.bad(LIBDL_ERROR_VALUE, "hx", "has " + std::to_string(hx.size()) + " tensors",
          "two: the hidden and the cell state");
  RnnStates out = step(c);
  return {std::move(out.y), std::move(out.c)};
}

#define LIBDL_CELL(name, cell)                                                     \
  Tensor name##_impl(const Tensor& input, const Tensor& hx, const Tensor& w_ih,    \
                     const Tensor& w_hh, const Tensor* b_ih, const Tensor* b_hh) { \
    static const Rule kRule{#name, rnn_layer_vjp};                                 \
    return step({kRule, cell, input, {&hx, 1}, w_ih, w_hh, b_ih, b_hh}).y;         \
  }
LIBDL_CELL(gru_cell, RnnCell::kGru)
LIBDL_CELL(rnn_tanh_cell, RnnCell::kTanh)
LIBDL_CELL(rnn_relu_cell, RnnCell::kRelu)
#undef LIBDL_CELL

}  // namespace libdl
