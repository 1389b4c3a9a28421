// SPDX-License-Identifier: Apache-2.0

// Networks of several layers.

#include "ops/rnn/rnn.h"

#include <algorithm>

#include "entries/copy.h"
#include "entries/join.h"
#include "entries/nn.h"
#include "entries/rnn.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/creation/draw.h"
#include "ops/rnn/layer.h"
#include "ops/view/view.h"

namespace libdl {

namespace {

// A call, with the numbers of its arguments as errors count them.
struct Network {
  const Rule& rule;
  RnnCell cell;
  TensorSpan params;
  bool has_biases;
  int64_t num_layers;
  double dropout;
  bool train, bidirectional;
  const char* input;  // the name of the argument

  const char* op() const { return rule.name; }
  int64_t directions() const { return bidirectional ? 2 : 1; }
  LIBDL_NORETURN [[gnu::cold]] void bad(libdl_error_code code, const char* name,
                                        const std::string& found,
                                        const std::string& wanted LIBDL_SOURCE_LOCATION) const {
    fail_argument(code, op(), name, found, wanted LIBDL_SAME_SOURCE_LOCATION);
  }
};

struct Sizes {
  int64_t features, hidden, output;  // output: hidden, or projected
  bool projected;
  int64_t params_each;  // of a direction
};

}  // namespace

// -- checks ---------------------------------------------------------------------------------------

static void check_options(const Network& n) {
  if (n.num_layers < 1)
    n.bad(LIBDL_ERROR_VALUE, "num_layers", "is " + std::to_string(n.num_layers), "1 or more");
  const auto most = std::max<int64_t>(1, static_cast<int64_t>(n.params.size()));
  if (n.num_layers > most)
    n.bad(LIBDL_ERROR_VALUE, "num_layers", "is " + std::to_string(n.num_layers),
          "no more than the tensors in params, " + std::to_string(n.params.size()));
  if (!(n.dropout >= 0 && n.dropout <= 1))
    n.bad(LIBDL_ERROR_VALUE, "dropout", "is " + std::to_string(n.dropout), "0 to 1");
}

static bool has_projections(const Network& n, int64_t plain, int64_t directions) {
  const auto given = static_cast<int64_t>(n.params.size());
  if (given == n.num_layers * directions * plain) return false;
  if (n.cell == RnnCell::kLstm && given == n.num_layers * directions * (plain + 1)) return true;
  const std::string each =
      std::to_string(plain) + (n.cell == RnnCell::kLstm ? ", or with projections one more," : "");
  n.bad(LIBDL_ERROR_VALUE, "params", "has " + std::to_string(given) + " tensors",
        each + " for each layer and direction");
}

static void check_param(const Network& n, size_t place, Dims wanted, Dtype dtype) {
  const Tensor& p = n.params[place];
  const std::string at = " at position " + std::to_string(place);
  if (!same(p.shape(), wanted))
    n.bad(LIBDL_ERROR_SHAPE, "params", "has shape " + to_string(p.shape()) + at, to_string(wanted));
  if (p.dtype() != dtype)
    n.bad(LIBDL_ERROR_DTYPE, "params", std::string("has ") + name_of(p.dtype()) + at,
          std::string(name_of(dtype)) + ", as of argument (" + n.input + ")");
}

// The sizes as the first layer's weights have them, with which all others must agree.
static Sizes check_params(const Network& n, const Tensor& x) {
  Sizes s{};
  const int64_t gates = gates_of(n.cell), plain = n.has_biases ? 4 : 2;
  s.projected = has_projections(n, plain, n.directions());
  s.params_each = plain + (s.projected ? 1 : 0);
  s.features = x.size(x.ndim() - 1);
  const Tensor& first = n.params[0];
  if (first.ndim() != 2 || first.size(0) < gates || first.size(0) % gates)
    n.bad(LIBDL_ERROR_SHAPE, "params", "has shape " + to_string(first.shape()) + " at position 0",
          "[" + std::to_string(gates) + " hidden, " + std::to_string(s.features) + "]");
  s.output = s.hidden = first.size(0) / gates;
  if (s.projected) {
    const Tensor& w = n.params[static_cast<size_t>(plain)];
    if (w.ndim() != 2 || w.size(0) < 1)
      n.bad(LIBDL_ERROR_SHAPE, "params",
            "has shape " + to_string(w.shape()) + " at position " + std::to_string(plain),
            "[projected, " + std::to_string(s.hidden) + "]");
    s.output = w.size(0);
  }
  size_t place = 0;
  for (int64_t layer = 0; layer < n.num_layers; ++layer) {
    const int64_t features = layer == 0 ? s.features : s.output * n.directions();
    for (int64_t direction = 0; direction < n.directions(); ++direction) {
      check_param(n, place++, Shape{gates * s.hidden, features}, x.dtype());
      check_param(n, place++, Shape{gates * s.hidden, s.output}, x.dtype());
      for (int bias = 0; n.has_biases && bias < 2; ++bias)
        check_param(n, place++, Shape{gates * s.hidden}, x.dtype());
      if (s.projected) check_param(n, place++, Shape{s.output, s.hidden}, x.dtype());
    }
  }
  return s;
}

static void check_input(const Network& n, const Tensor& x) {
  if (!is_floating(x.dtype()))
    n.bad(LIBDL_ERROR_DTYPE, n.input, std::string("is ") + name_of(x.dtype()), "a floating dtype");
}

static void check_state(const Network& n, const Tensor& state, Dims wanted, Dtype dtype,
                        const std::string& which) {
  if (!same(state.shape(), wanted))
    n.bad(LIBDL_ERROR_SHAPE, "hx", "has shape " + to_string(state.shape()) + which,
          to_string(wanted));
  if (state.dtype() != dtype)
    n.bad(LIBDL_ERROR_DTYPE, "hx", std::string("is ") + name_of(state.dtype()) + which,
          std::string(name_of(dtype)) + ", as argument (" + n.input + ")");
}

// hx: h, or h and c. batch: absent without one.
static void check_states(const Network& n, TensorSpan hx, const Sizes& s,
                         std::optional<int64_t> batch, Dtype dtype) {
  const auto shape = [&](int64_t size) {
    const int64_t states = n.num_layers * n.directions();
    return batch ? Shape{states, *batch, size} : Shape{states, size};
  };
  check_state(n, hx[0], shape(s.output), dtype, hx.size() > 1 ? " at position 0" : "");
  if (hx.size() > 1) check_state(n, hx[1], shape(s.hidden), dtype, " at position 1");
}

// -- layers ---------------------------------------------------------------------------------------

static RnnWeights weights_at(const Network& n, const Sizes& s, int64_t place) {
  const Tensor* const p = &n.params[static_cast<size_t>(place * s.params_each)];
  RnnWeights w{p[0], p[1], {}, {}, {}};
  if (n.has_biases) w.b_ih = p[2], w.b_hh = p[3];
  if (s.projected) w.w_hr = p[s.params_each - 1];
  return w;
}

static RnnStates run_layers(const Network& n, const Sizes& s, const Sequence& sequence,
                            RnnStates in) {
  const int64_t directions = n.directions();
  const RnnLayer layer{&n.rule, n.cell, sequence};
  const Dtype dtype = in.y.dtype();
  if (n.num_layers > 1) in.y = cast(in.y, computed_in(dtype));  // not rounded between layers
  std::vector<Tensor> hs, cs;
  std::optional<Refund> dropped;
  if (n.train && n.dropout > 0) dropped.emplace(nullptr);
  for (int64_t i = 0; i < n.num_layers; ++i) {
    std::vector<RnnWeights> weights;
    weights.reserve(static_cast<size_t>(directions));
    for (int64_t d = 0; d < directions; ++d)
      weights.push_back(weights_at(n, s, i * directions + d));
    const auto own = [&](const Tensor& state) {
      const bool all = !state.defined() || n.num_layers == 1;
      return all ? state : narrow(state, 0, i * directions, directions);
    };
    RnnStates out = rnn_layer(layer, {in.y, own(in.h), own(in.c)}, weights);
    hs.push_back(std::move(out.h));
    if (out.c.defined()) cs.push_back(std::move(out.c));
    in.y = std::move(out.y);
    if (!dropped || i + 1 == n.num_layers) continue;
    in.y = dropout(in.y, n.dropout, true, nullptr);
    dropped->drawn();
  }
  const auto all = [](std::vector<Tensor>& states) {
    return states.empty() ? Tensor() : states.size() == 1 ? states[0] : cat(states, 0);
  };
  RnnStates last{cast(in.y, dtype), all(hs), all(cs)};
  if (dropped) dropped->spent();
  return last;
}

static RnnStates over_sequences(const Network& n, const Tensor& input, TensorSpan hx,
                                bool batch_first) {
  check_input(n, input);
  if (input.ndim() != 2 && input.ndim() != 3)
    n.bad(LIBDL_ERROR_SHAPE, "input", "has shape " + to_string(input.shape()),
          batch_first ? "[batch, steps, features] or [steps, features]"
                      : "[steps, batch, features] or [steps, features]");
  const bool batched = input.ndim() == 3;
  const int along = batched && batch_first ? 1 : 0;
  const int64_t steps = input.size(along), batch = batched ? input.size(1 - along) : 1;
  if (steps == 0)
    n.bad(LIBDL_ERROR_SHAPE, "input", "has shape " + to_string(input.shape()), "at least one step");
  check_options(n);
  const Sizes s = check_params(n, input);
  check_states(n, hx, s, batched ? std::optional(batch) : std::nullopt, input.dtype());
  const Sequence sequence = batched && batch_first ? Sequence::batch_outermost(batch, steps)
                                                   : Sequence::steps_outermost(steps, batch);
  return run_layers(n, s, sequence, {input, hx[0], hx.size() > 1 ? hx[1] : Tensor()});
}

static RnnStates over_packed(const Network& n, const Tensor& data, Dims batch_sizes,
                             TensorSpan hx) {
  check_input(n, data);
  if (data.ndim() != 2)
    n.bad(LIBDL_ERROR_SHAPE, "data", "has shape " + to_string(data.shape()), "[rows, features]");
  if (batch_sizes.empty())
    n.bad(LIBDL_ERROR_VALUE, "batch_sizes", "is empty", "a number for each step");
  int64_t rest = data.size(0), before = rest;
  if (static_cast<int64_t>(batch_sizes.size()) > rest)  // before they are read
    n.bad(LIBDL_ERROR_VALUE, "batch_sizes",
          "has " + std::to_string(batch_sizes.size()) + " entries",
          "at most " + std::to_string(rest) + ", the rows of data");
  for (const int64_t size : batch_sizes) {
    if (size < 1 || size > before)
      n.bad(LIBDL_ERROR_VALUE, "batch_sizes", "is " + to_string(batch_sizes),
            "numbers above 0, none larger than the one before or than the rows of data");
    rest -= size, before = size;
    if (rest < 0) break;
  }
  if (rest != 0)
    n.bad(LIBDL_ERROR_VALUE, "batch_sizes", "is " + to_string(batch_sizes),
          "numbers whose sum is " + std::to_string(data.size(0)) + ", the rows of data");
  check_options(n);
  const Sizes s = check_params(n, data);
  check_states(n, hx, s, batch_sizes[0], data.dtype());
  return run_layers(n, s, Sequence::packed(batch_sizes),
                    {data, hx[0], hx.size() > 1 ? hx[1] : Tensor()});
}

// -- operators ------------------------------------------------------------------------------------

static void check_two_states(const Network& n, TensorSpan hx) {
  if (hx.size() != 2)
    n.bad(LIBDL_ERROR_VALUE, "hx", "has " + std::to_string(hx.size()) + " tensors",
          "two: the hidden and the cell state");
}

LstmResult lstm_impl(const Tensor& input, TensorSpan hx, TensorSpan params, bool has_biases,
                     int64_t num_layers, double dropout, bool train, bool bidirectional,
                     bool batch_first) {
  static const Rule kRule{"lstm", rnn_layer_vjp};
  const Network n{kRule,   RnnCell::kLstm, params,        has_biases, num_layers,
                  dropout, train,          bidirectional, "input"};
  check_two_states(n, hx);
  const RnnStates out = over_sequences(n, input, hx, batch_first);
  return {out.y, out.h, out.c};
}

LstmResult lstm_packed_impl(const Tensor& data, Dims batch_sizes, TensorSpan hx, TensorSpan params,
                            bool has_biases, int64_t num_layers, double dropout, bool train,
                            bool bidirectional) {
  static const Rule kRule{"lstm_packed", rnn_layer_vjp};
  const Network n{kRule,   RnnCell::kLstm, params,        has_biases, num_layers,
                  dropout, train,          bidirectional, "data"};
  check_two_states(n, hx);
  const RnnStates out = over_packed(n, data, batch_sizes, hx);
  return {out.y, out.h, out.c};
}

// The networks without a cell state.
#define LIBDL_RNN(name, cell)                                                                      \
  RnnResult name##_impl(const Tensor& input, const Tensor& hx, TensorSpan params, bool has_biases, \
                        int64_t num_layers, double dropout, bool train, bool bidirectional,        \
                        bool batch_first) {                                                        \
    static const Rule kRule{#name, rnn_layer_vjp};                                                 \
    const Network n{kRule,   cell,  params,        has_biases, num_layers,                         \
                    dropout, train, bidirectional, "input"};                                       \
    const RnnStates out = over_sequences(n, input, {&hx, 1}, batch_first);                         \
    return {out.y, out.h};                                                                         \
  }                                                                                                \
  RnnResult name##_packed_impl(const Tensor& data, Dims batch_sizes, const Tensor& hx,             \
                               TensorSpan params, bool has_biases, int64_t num_layers,             \
                               double dropout, bool train, bool bidirectional) {                   \
    static const Rule kRule{#name "_packed", rnn_layer_vjp};                                       \
    const Network n{kRule,   cell,  params,        has_biases, num_layers,                         \
                    dropout, train, bidirectional, "data"};                                        \
    const RnnStates out = over_packed(n, data, batch_sizes, {&hx, 1});                             \
    return {out.y, out.h};                                                                         \
  }
LIBDL_RNN(gru, RnnCell::kGru)
LIBDL_RNN(rnn_tanh, RnnCell::kTanh)
LIBDL_RNN(rnn_relu, RnnCell::kRelu)
#undef LIBDL_RNN

}  // namespace libdl
