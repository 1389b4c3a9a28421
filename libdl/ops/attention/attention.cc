// SPDX-License-Identifier: Apache-2.0

#include <cmath>

#include "entries/attention.h"
#include "entries/copy.h"
#include "entries/nn.h"
#include "entries/view.h"
#include "ops/attention/one_pass.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/creation/draw.h"
#include "ops/linalg/linalg.h"
#include "ops/view/view.h"

namespace libdl {

static constexpr const char* kAttentionName = "scaled_dot_product_attention";

// -- checks ---------------------------------------------------------------------------------------

static void bad_shape(const char* name, const Tensor& x,
                      const std::string& wanted LIBDL_SOURCE_LOCATION) {
  fail_argument(LIBDL_ERROR_SHAPE, kAttentionName, name, "has shape " + to_string(x.shape()),
                wanted LIBDL_SAME_SOURCE_LOCATION);
}

static void bad_dtype(const char* name, const Tensor& x,
                      const std::string& wanted LIBDL_SOURCE_LOCATION) {
  fail_argument(LIBDL_ERROR_DTYPE, kAttentionName, name, std::string("is ") + name_of(x.dtype()),
                wanted LIBDL_SAME_SOURCE_LOCATION);
}

namespace {
struct Operands {
  const Tensor &query, &key, &value;
  const Tensor* mask;
};
}  // namespace

static void check_dtypes(const Operands& x) {
  const Dtype dtype = x.query.dtype();
  if (!is_floating(dtype)) bad_dtype("query", x.query, "a floating dtype");
  if (x.key.dtype() != dtype) bad_dtype("key", x.key, name_of(dtype));
  if (x.value.dtype() != dtype) bad_dtype("value", x.value, name_of(dtype));
  if (!x.mask) return;
  const Dtype mask = x.mask->dtype();
  if (mask != Dtype::kBool && mask != Dtype::kFloat32 && mask != dtype)
    bad_dtype("attn_mask", *x.mask, std::string("bool or ") + name_of(dtype));
}

static void check_heads(const Operands& x) {
  const auto heads = [](const Tensor& t) { return t.size(t.ndim() - 3); };
  const auto fits = [&](const char* name, const Tensor& t) {
    if (heads(t) == 0 || heads(x.query) % heads(t) != 0)
      bad_shape(name, t, "a divisor of query's " + std::to_string(heads(x.query)) + " heads");
  };
  fits("key", x.key);
  fits("value", x.value);
}

static void check_sizes(const Operands& x, bool grouped) {
  const int least = grouped ? 3 : 2;
  const char* const wanted[] = {"[..., l, e]", "[..., s, e]", "[..., s, v]"};
  const char* const in_heads[] = {"[..., heads, l, e]", "[..., heads, s, e]", "[..., heads, s, v]"};
  const Tensor* const all[] = {&x.query, &x.key, &x.value};
  const char* const names[] = {"query", "key", "value"};
  for (int i = 0; i < 3; ++i)
    if (all[i]->ndim() < least) bad_shape(names[i], *all[i], (grouped ? in_heads : wanted)[i]);
  const auto last = [](const Tensor& t) { return t.size(t.ndim() - 1); };
  const auto rows = [](const Tensor& t) { return t.size(t.ndim() - 2); };
  if (last(x.key) != last(x.query))
    bad_shape("key", x.key, "[..., s, " + std::to_string(last(x.query)) + "], as query has");
  if (rows(x.value) != rows(x.key))
    bad_shape("value", x.value, "[..., " + std::to_string(rows(x.key)) + ", v], as key has");
}

static void check_leading(const Operands& x, bool grouped) {
  const int inner = grouped ? 3 : 2;
  const auto leading = [&](const Tensor& t) { return t.shape().first(t.ndim() - inner); };
  Shape lead(leading(x.query));
  const auto join = [&](const char* name, const Tensor& t LIBDL_SOURCE_LOCATION) {
    const std::optional<Shape> joint = broadcast_batch(lead, leading(t));
    if (!joint)
      bad_shape(name, t,
                "leading dimensions that broadcast with those before" LIBDL_SAME_SOURCE_LOCATION);
    lead = *joint;
  };
  join("key", x.key);
  join("value", x.value);
  if (!x.mask) return;
  if (grouped) lead.push_back(x.query.size(x.query.ndim() - 3));
  lead.push_back(x.query.size(x.query.ndim() - 2));
  lead.push_back(x.key.size(x.key.ndim() - 2));
  if (!broadcasts_to(x.mask->shape(), lead))
    bad_shape("attn_mask", *x.mask, "what broadcasts to " + to_string(lead));
}

static void check(const Operands& x, double dropout_p, bool is_causal, bool grouped) {
  check_dtypes(x);
  check_sizes(x, grouped);
  if (grouped) check_heads(x);
  check_leading(x, grouped);
  if (!(dropout_p >= 0 && dropout_p <= 1))
    fail_argument(LIBDL_ERROR_VALUE, kAttentionName, "dropout_p", "is " + std::to_string(dropout_p),
                  "0 to 1");
  if (is_causal && x.mask)
    fail_argument(LIBDL_ERROR_VALUE, kAttentionName, "is_causal", "is true",
                  "false with an attn_mask");
}

// -- heads ----------------------------------------------------------------------------------------

// Each head of x `times` times, one after the other.
static Tensor repeat_heads(const Tensor& x, int64_t times) {
  const int heads = x.ndim() - 3;
  Shape shape(x.shape());
  shape.insert(heads + 1, times);
  const Tensor repeated = expand(unsqueeze(x, heads + 1), shape);
  return flatten(repeated, heads, heads + 1);
}

static Tensor in_groups(const Tensor& x, int64_t heads) {
  const int64_t sizes[] = {heads, x.size(x.ndim() - 3) / heads};
  return unflatten(x, -3, Dims(sizes));
}

// A mask that broadcasts to [..., heads, l, s] as one that does to [..., heads / g, g, l, s].
static Tensor mask_in_groups(const Tensor& mask, int64_t heads) {
  if (mask.ndim() < 3) return mask;
  return mask.size(mask.ndim() - 3) == 1 ? unsqueeze(mask, -3) : in_groups(mask, heads);
}

// -- the operator ---------------------------------------------------------------------------------

namespace {
struct Noise {  // of dropout
  Generator* generator;
  std::optional<DrawRollback> refund;
};
}  // namespace

static Tensor attend(const Attention& a, const Operands& x, Noise& noise) {
  const Dtype dtype = x.query.dtype();
  const Dtype wide = dtype == Dtype::kFloat64 ? dtype : Dtype::kFloat32;
  const Tensor query = cast(x.query, wide), key = cast(x.key, wide), value = cast(x.value, wide);
  if (goes_in_one_pass(a, query, key, value, x.mask))
    return cast(attention_in_one_pass(a, query, key, value, x.mask), dtype);
  const Tensor y = composed_attention(a, query, key, value, bias_of(x.mask, wide), noise.generator);
  if (noise.refund) noise.refund->drawn();
  return cast(y, dtype);
}

// Query's heads in groups, so that those of key and value broadcast.
static Tensor attend_in_groups(const Attention& a, const Operands& x, Noise& noise) {
  const auto heads = [](const Tensor& t) { return t.size(t.ndim() - 3); };
  const int64_t all = heads(x.query);
  if (heads(x.key) != heads(x.value)) {
    const Tensor key = repeat_heads(x.key, all / heads(x.key));
    const Tensor value = repeat_heads(x.value, all / heads(x.value));
    return attend(a, {x.query, key, value, x.mask}, noise);
  }
  const Tensor mask = x.mask ? mask_in_groups(*x.mask, heads(x.key)) : Tensor();
  const Tensor y = attend(a,
                          {in_groups(x.query, heads(x.key)), unsqueeze(x.key, -3),
                           unsqueeze(x.value, -3), x.mask ? &mask : nullptr},
                          noise);
  return own(flatten(y, -4, -3));
}

Tensor scaled_dot_product_attention_impl(const Tensor& query, const Tensor& key,
                                         const Tensor& value, const Tensor* attn_mask,
                                         double dropout_p, bool is_causal,
                                         std::optional<double> scale, bool enable_gqa,
                                         Generator* generator) {
  const Operands x{query, key, value, attn_mask};
  check(x, dropout_p, is_causal, enable_gqa);
  const auto width = static_cast<double>(query.size(query.ndim() - 1));
  const Attention a{scale ? *scale : 1 / std::sqrt(std::max(width, 1.0)), is_causal, dropout_p};
  Noise noise{generator, {}};
  if (dropout_p > 0) noise.refund.emplace(generator);
  const Named named(kAttentionName);
  Tensor y = named(enable_gqa ? attend_in_groups(a, x, noise) : attend(a, x, noise));
  if (noise.refund) noise.refund->spent();
  return y;
}

}  // namespace libdl
