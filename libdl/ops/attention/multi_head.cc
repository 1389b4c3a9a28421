// SPDX-License-Identifier: Apache-2.0

// Attention of several heads between linear layers, all of which other operators compute.
#include <array>
#include <cmath>
#include <limits>

#include "entries/arithmetic.h"
#include "entries/attention.h"
#include "entries/copy.h"
#include "entries/creation.h"
#include "entries/image.h"
#include "entries/indexing.h"
#include "entries/join.h"
#include "entries/linalg.h"
#include "entries/nn.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/core/call.h"
#include "ops/creation/draw.h"
#include "ops/pointwise/arithmetic.h"

namespace libdl {

namespace {

// The arguments that both operators have, with a batch: query [l, n, e].
struct Arguments {
  const char* op;
  Tensor query, key, value;
  int64_t heads;
  const Tensor *in_proj_weight, *in_proj_bias;
  std::array<const Tensor*, 3> separate;  // weights of query, key and value
  const Tensor *bias_k, *bias_v, *static_k, *static_v;
  bool add_zero_attn;
  const Tensor &out_proj_weight, *out_proj_bias;
  Tensor padding;  // undefined: none
  const Tensor* mask;
  double dropout_p;
  bool batched;  // as they were given

  LIBDL_NORETURN void bad(libdl_error_code code, const char* name, const std::string& found,
                          const std::string& wanted LIBDL_SOURCE_LOCATION) const {
    fail_argument(code, op, name, found, wanted LIBDL_SAME_SOURCE_LOCATION);
  }
  LIBDL_NORETURN void bad_shape(const char* name, const Tensor& x,
                                const std::string& wanted LIBDL_SOURCE_LOCATION) const {
    bad(LIBDL_ERROR_SHAPE, name, "has shape " + to_string(x.shape()),
        wanted LIBDL_SAME_SOURCE_LOCATION);
  }
  int64_t features() const { return query.size(2); }
  int64_t batch() const { return query.size(1); }
};

// What attention reads: [n, h, steps, d] each, and the sum of the masks, undefined if there is
// none.
struct Projections {
  Tensor q, k, v, mask;
};

}  // namespace

// -- checks ---------------------------------------------------------------------------------------

static void check_dimensions(const Arguments& a, const Tensor& query, const Tensor& key,
                             const Tensor& value, const Tensor* padding) {
  const int ndim = query.ndim();
  if (ndim != 2 && ndim != 3) a.bad_shape("query", query, "[l, n, e] or [l, e]");
  if (key.ndim() != ndim) a.bad_shape("key", key, ndim == 3 ? "[s, n, e]" : "[s, e]");
  if (value.ndim() != ndim) a.bad_shape("value", value, ndim == 3 ? "[s, n, e]" : "[s, e]");
  if (padding && padding->ndim() != ndim - 1)
    a.bad_shape("key_padding_mask", *padding, ndim == 3 ? "[n, s]" : "[s]");
  if (!is_floating(query.dtype()))
    a.bad(LIBDL_ERROR_DTYPE, "query", std::string("is ") + name_of(query.dtype()),
          "a floating dtype");
}

static void check_sizes(const Arguments& a) {
  if (a.heads < 1 || a.features() % a.heads != 0)
    a.bad(LIBDL_ERROR_VALUE, "num_heads", "is " + std::to_string(a.heads),
          "a divisor of " + std::to_string(a.features()) + ", query's features");
  if (a.key.size(0) != a.value.size(0) || a.key.size(1) != a.value.size(1))
    a.bad_shape("value", a.value, "the steps and the batch of key, " + to_string(a.key.shape()));
  if (!a.static_k && a.key.size(1) != a.batch())
    a.bad_shape("key", a.key, "a batch of " + std::to_string(a.batch()) + ", as query has");
  if (!(a.dropout_p >= 0 && a.dropout_p <= 1))
    a.bad(LIBDL_ERROR_VALUE, "dropout_p", "is " + std::to_string(a.dropout_p), "0 to 1");
}

static void check_projections(const Arguments& a) {
  static constexpr const char* kNames[] = {"q_proj_weight", "k_proj_weight", "v_proj_weight"};
  const Tensor* const inputs[] = {&a.query, &a.key, &a.value};
  const int64_t e = a.features();
  const auto check = [&](const char* name, const Tensor& x, const Shape& expected) {
    if (!same(x.shape(), expected)) a.bad_shape(name, x, to_string(expected));
  };
  if (a.in_proj_bias) check("in_proj_bias", *a.in_proj_bias, Shape{3 * e});
  for (size_t i = 0; i < 3; ++i) {
    const Tensor* const w = a.separate[i];
    if (!w == !a.in_proj_weight)
      a.bad(LIBDL_ERROR_VALUE, kNames[i], w ? "is a tensor" : "is None",
            w ? "None beside in_proj_weight" : "a tensor, for in_proj_weight is None");
    if (w) check(kNames[i], *w, Shape{e, inputs[i]->size(2)});
  }
  if (!a.in_proj_weight) return;
  check("in_proj_weight", *a.in_proj_weight, Shape{3 * e, e});
  for (size_t i = 1; i < 3; ++i)
    if (inputs[i]->size(2) != e)
      a.bad_shape(i == 1 ? "key" : "value", *inputs[i],
                  std::to_string(e) + " features, as in_proj_weight has");
}

static void check_last_layer(const Arguments& a) {
  const Tensor& w = a.out_proj_weight;
  if (w.ndim() != 2 || w.size(1) != a.features())
    a.bad_shape("out_proj_weight", w, to_string(Shape{a.features(), a.features()}));
}

static void check_extras(const Arguments& a) {
  if (!a.bias_k != !a.bias_v)
    a.bad(LIBDL_ERROR_VALUE, a.bias_k ? "bias_v" : "bias_k", "is None",
          "a tensor, for the other one is given");
  const auto check = [&](const char* name, const Tensor* x, const char* wrong) {
    if (x && a.bias_k) a.bad(LIBDL_ERROR_VALUE, name, "is a tensor", wrong);
    const int64_t n = a.batch() * a.heads, d = a.features() / a.heads;
    if (x && (x->ndim() != 3 || x->size(0) != n || x->size(2) != d))
      a.bad_shape(name, *x, "[" + std::to_string(n) + ", s, " + std::to_string(d) + "]");
  };
  check("static_k", a.static_k, "None beside bias_k");
  check("static_v", a.static_v, "None beside bias_v");
  const Shape one{1, 1, a.features()};
  if (a.bias_k && !same(a.bias_k->shape(), one)) a.bad_shape("bias_k", *a.bias_k, to_string(one));
  if (a.bias_v && !same(a.bias_v->shape(), one)) a.bad_shape("bias_v", *a.bias_v, to_string(one));
}

static void check_mask(const Arguments& a) {
  if (!a.mask) return;
  const int64_t l = a.query.size(0), s = a.key.size(0);
  const Shape expected = a.mask->ndim() == 3 ? Shape{a.batch() * a.heads, l, s} : Shape{l, s};
  if (!same(a.mask->shape(), expected)) a.bad_shape("attn_mask", *a.mask, to_string(expected));
}

// -- projections ----------------------------------------------------------------------------------

// Parts of these sizes along a dimension; one by one where interceptors watch, who may answer
// single tensors but no list.
static std::vector<Tensor> parts_of(const Tensor& x, Dims sizes) {
  if (!intercepted()) return split_with_sizes(x, sizes);
  std::vector<Tensor> parts;
  int64_t start = 0;
  for (const int64_t size : sizes) parts.push_back(narrow(x, 0, start, size)), start += size;
  return parts;
}

// [steps, n, count e] as `count` tensors [steps, n, e].
static std::vector<Tensor> unfolded(const Tensor& x, int64_t count, int64_t e) {
  const int64_t sizes[] = {count, e};
  const Tensor rows = unflatten(x, -1, sizes);
  if (!intercepted()) return unbind(rows, -2);
  std::vector<Tensor> parts;
  parts.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) parts.push_back(select(rows, -2, i));
  return parts;
}

static std::array<Tensor, 3> projected_apart(const Arguments& a,
                                             const std::array<const Tensor*, 3>& weights) {
  const int64_t e = a.features(), sizes[] = {e, e, e};
  std::vector<Tensor> biases;
  if (a.in_proj_bias) biases = parts_of(*a.in_proj_bias, sizes);
  const auto layer = [&](size_t i, const Tensor& x) {
    return linear(x, *weights[i], biases.empty() ? nullptr : &biases[i]);
  };
  return {layer(0, a.query), layer(1, a.key), layer(2, a.value)};
}

// q, k and v, [steps, n, e] each: where operands are the same, of one product.
static std::array<Tensor, 3> projected(const Arguments& a) {
  if (!a.in_proj_weight) return projected_apart(a, a.separate);
  const Tensor& weight = *a.in_proj_weight;
  const int64_t e = a.features(), one_and_two[] = {e, 2 * e}, three[] = {e, e, e};
  if (a.key.is(a.value) && a.query.is(a.key)) {
    const std::vector<Tensor> parts = unfolded(linear(a.query, weight, a.in_proj_bias), 3, e);
    return {parts[0], parts[1], parts[2]};
  }
  if (a.key.is(a.value)) {
    const std::vector<Tensor> weights = parts_of(weight, one_and_two);
    std::vector<Tensor> biases;
    if (a.in_proj_bias) biases = parts_of(*a.in_proj_bias, one_and_two);
    const auto bias = [&](size_t i) { return biases.empty() ? nullptr : &biases[i]; };
    const std::vector<Tensor> parts = unfolded(linear(a.key, weights[1], bias(1)), 2, e);
    return {linear(a.query, weights[0], bias(0)), parts[0], parts[1]};
  }
  const std::vector<Tensor> weights = parts_of(weight, three);
  return projected_apart(a, {&weights[0], &weights[1], &weights[2]});
}

// -- heads ----------------------------------------------------------------------------------------

// [steps, n, e] as [n, h, steps, d].
static Tensor in_heads(const Arguments& a, const Tensor& x) {
  const int64_t sizes[] = {a.heads, a.features() / a.heads}, order[] = {1, 2, 0, 3};
  return permute(unflatten(x, 2, sizes), order);
}

// [n h, ...] as [n, h, ...].
static Tensor apart(const Arguments& a, const Tensor& x) {
  const int64_t sizes[] = {a.batch(), a.heads};
  return unflatten(x, 0, sizes);
}

static Tensor with_bias(const Arguments& a, const Tensor& x, const Tensor& bias) {
  const int64_t shape[] = {1, x.size(1), a.features()};
  const Tensor both[] = {x, expand(bias, shape)};
  return cat(both);
}

// One more step of zeros.
static Tensor with_zeros(const Tensor& x) {
  const int64_t shape[] = {x.size(0), x.size(1), 1, x.size(3)};
  const Tensor both[] = {x, zeros(shape, x.dtype(), x.device())};
  return cat(both, 2);
}

// -- masks ----------------------------------------------------------------------------------------

// What is added to the scores: of bools -inf where they are true.
static Tensor as_numbers(const Arguments& a, const char* name, const Tensor& mask) {
  if (is_floating(mask.dtype())) return mask;
  if (mask.dtype() != Dtype::kBool)
    a.bad(LIBDL_ERROR_DTYPE, name, std::string("is ") + name_of(mask.dtype()),
          "bool or a floating dtype");
  const Tensor none = zeros(mask.shape(), a.query.dtype(), mask.device());
  return masked_fill(none, mask, number(-std::numeric_limits<double>::infinity()));
}

// Both masks in one, with a column of zeros for each appended key.
static Tensor masks(const Arguments& a, int64_t appended, const Tensor& k) {
  const int64_t more[] = {0, appended};
  const auto widened = [&](const Tensor& x) { return appended ? pad(x, more, "constant") : x; };
  Tensor mask;
  if (a.mask) {
    mask = as_numbers(a, "attn_mask", *a.mask);
    const int64_t shape[] = {1, 1, a.query.size(0), a.key.size(0)};
    mask = widened(mask.ndim() == 2 ? view(mask, shape) : apart(a, mask));
  }
  if (a.padding.defined()) {
    const Tensor padding = widened(as_numbers(a, "key_padding_mask", a.padding));
    const int64_t n = a.batch(), s = k.size(2), shape[] = {n, 1, 1, s};
    if (padding.size(0) != n || padding.size(1) != s)
      a.bad_shape("key_padding_mask", a.padding,
                  "[" + std::to_string(n) + ", " + std::to_string(s - appended) + "]");
    const Tensor by_key = view(padding, shape);
    mask = mask.defined() ? mask + by_key : by_key;
  }
  return mask.defined() ? to(mask, k.dtype(), std::nullopt) : mask;
}

static Projections operands_of(const Arguments& a) {
  check_sizes(a);
  check_projections(a);
  check_last_layer(a);
  check_extras(a);
  check_mask(a);
  auto [q, k, v] = projected(a);
  if (a.bias_k) k = with_bias(a, k, *a.bias_k), v = with_bias(a, v, *a.bias_v);
  Projections x{in_heads(a, q),
                a.static_k ? apart(a, *a.static_k) : in_heads(a, k),
                a.static_v ? apart(a, *a.static_v) : in_heads(a, v),
                {}};
  if (a.add_zero_attn) x.k = with_zeros(x.k), x.v = with_zeros(x.v);
  if (x.k.size(2) != x.v.size(2))
    a.bad(LIBDL_ERROR_SHAPE, a.static_v ? "static_v" : "static_k",
          "has other steps than what it belongs to", "as many values as keys");
  x.mask = masks(a, (a.bias_k != nullptr) + a.add_zero_attn, x.k);
  if (x.mask.defined() && x.mask.size(3) != x.k.size(2))
    a.bad_shape("attn_mask", *a.mask, std::to_string(x.k.size(2)) + " keys");
  return x;
}

// -- the operators --------------------------------------------------------------------------------

static Arguments checked_arguments(
    const char* op, const Tensor& query, const Tensor& key, const Tensor& value, int64_t heads,
    const Tensor* in_proj_weight, const Tensor* in_proj_bias, std::array<const Tensor*, 3> separate,
    const Tensor* bias_k, const Tensor* bias_v, const Tensor* static_k, const Tensor* static_v,
    bool add_zero_attn, const Tensor& out_proj_weight, const Tensor* out_proj_bias,
    const Tensor* key_padding_mask, const Tensor* attn_mask, double dropout_p) {
  Arguments a{op,
              query,
              key,
              value,
              heads,
              in_proj_weight,
              in_proj_bias,
              separate,
              bias_k,
              bias_v,
              static_k,
              static_v,
              add_zero_attn,
              out_proj_weight,
              out_proj_bias,
              key_padding_mask ? *key_padding_mask : Tensor(),
              attn_mask,
              dropout_p,
              query.ndim() == 3};
  check_dimensions(a, query, key, value, key_padding_mask);
  if (a.batched) return a;
  a.query = unsqueeze(query, 1), a.key = unsqueeze(key, 1), a.value = unsqueeze(value, 1);
  if (key_padding_mask) a.padding = unsqueeze(*key_padding_mask, 0);
  return a;
}

// The heads of y, [n, h, l, d], beside each other, and the last layer.
static Tensor joined(const Arguments& a, const Tensor& y) {
  const int64_t order[] = {2, 0, 1, 3}, batch[] = {1};
  const Tensor rows = flatten(permute(y, order), 2);
  const Tensor result = rename_error(a.op, {{"bias", "out_proj_bias"}}, [&] {
    return linear(rows, a.out_proj_weight, a.out_proj_bias);
  });
  return a.batched ? result : squeeze(result, Dims(batch));
}

Tensor multi_head_attention_impl(const Tensor& query, const Tensor& key, const Tensor& value,
                                 int64_t num_heads, const Tensor* in_proj_weight,
                                 const Tensor* in_proj_bias, const Tensor* q_proj_weight,
                                 const Tensor* k_proj_weight, const Tensor* v_proj_weight,
                                 const Tensor* bias_k, const Tensor* bias_v, const Tensor* static_k,
                                 const Tensor* static_v, bool add_zero_attn,
                                 const Tensor& out_proj_weight, const Tensor* out_proj_bias,
                                 const Tensor* key_padding_mask, const Tensor* attn_mask,
                                 double dropout_p, bool is_causal, Generator* generator) {
  const Arguments a = checked_arguments(
      "multi_head_attention", query, key, value, num_heads, in_proj_weight, in_proj_bias,
      {q_proj_weight, k_proj_weight, v_proj_weight}, bias_k, bias_v, static_k, static_v,
      add_zero_attn, out_proj_weight, out_proj_bias, key_padding_mask, attn_mask, dropout_p);
  const Projections x = operands_of(a);
  DrawRollback refund(generator);
  const Tensor mixed =
      scaled_dot_product_attention(x.q, x.k, x.v, x.mask.defined() ? &x.mask : nullptr, dropout_p,
                                   is_causal, {}, false, generator);
  refund.drawn();
  Tensor y = joined(a, mixed);
  refund.spent();
  return y;
}

std::tuple<Tensor, Tensor> multi_head_attention_with_weights_impl(
    const Tensor& query, const Tensor& key, const Tensor& value, int64_t num_heads,
    const Tensor* in_proj_weight, const Tensor* in_proj_bias, const Tensor* q_proj_weight,
    const Tensor* k_proj_weight, const Tensor* v_proj_weight, const Tensor* bias_k,
    const Tensor* bias_v, const Tensor* static_k, const Tensor* static_v, bool add_zero_attn,
    const Tensor& out_proj_weight, const Tensor* out_proj_bias, const Tensor* key_padding_mask,
    const Tensor* attn_mask, double dropout_p, bool average_attn_weights, Generator* generator) {
  const Arguments a =
      checked_arguments("multi_head_attention_with_weights", query, key, value, num_heads,
                        in_proj_weight, in_proj_bias, {q_proj_weight, k_proj_weight, v_proj_weight},
                        bias_k, bias_v, static_k, static_v, add_zero_attn, out_proj_weight,
                        out_proj_bias, key_padding_mask, attn_mask, dropout_p);
  const Projections x = operands_of(a);
  const double scale = std::sqrt(1 / static_cast<double>(x.q.size(3)));
  const Tensor scores = matmul(x.q * scale, transpose(x.k, 2, 3));
  Tensor weights = softmax(x.mask.defined() ? scores + x.mask : scores, -1);
  DrawRollback refund(generator);
  if (dropout_p > 0) weights = dropout(weights, dropout_p, true, generator);
  refund.drawn();
  Tensor y = joined(a, matmul(weights, x.v));
  const int64_t heads[] = {1}, batch[] = {0};
  if (average_attn_weights) weights = mean(weights, Dims(heads));
  if (!a.batched) weights = squeeze(weights, Dims(batch));
  refund.spent();
  return {std::move(y), std::move(weights)};
}

}  // namespace libdl
