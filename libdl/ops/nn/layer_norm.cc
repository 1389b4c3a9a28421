// SPDX-License-Identifier: Apache-2.0

#include "ops/nn/layer_norm.h"

#include <algorithm>
#include <cmath>

#include "entries/arithmetic.h"
#include "entries/copy.h"
#include "entries/nn.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/nn/rescaled.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/primitive/launch.h"

namespace libdl {

namespace {
struct Norm {
  Shape rows;  // [leading…, 1…]: the shape of mean and rstd, broadcasting to the input
  Shape dims;  // the normalised dimensions
  int64_t n, cols;
};

kernels::View flat(const Tensor& x, const int64_t* sizes, const int64_t* strides, int ndim,
                   Access access) {
  return {kernel_data(x, access), sizes, strides, ndim, static_cast<int32_t>(x.dtype())};
}
}  // namespace

namespace {
struct NormalisedRows {
  Tensor z, rstd;  // (x - mean) rstd
};
}  // namespace

static NormalisedRows normalised(const Tensor& x, const Norm& a, const Tensor& eps) {
  const Rooted r = rooted(sub(x, mean(x, Dims(a.dims), true)), Dims(a.dims), item_f64(eps));
  return {r.x * r.rstd, r.scale.defined() ? r.rstd * r.scale : r.rstd};
}

// With z = (x - mean) rstd and g = dy weight:
//   dx = rstd (g - mean(g) - z mean(g z)),  dweight = sum(dy z),  dbias = sum(dy)
static void by_operators(Backward& b, const Norm& a, const Tensor& x, const Tensor& weight,
                         const Tensor& eps) {
  const auto [z, rstd] = normalised(x, a, eps);
  const Tensor& dy = b.dy();
  const Tensor g = weight.defined() ? dy * weight : dy;
  Shape dims(a.dims), lead;
  for (int64_t& d : dims) d += b.lead();
  if (b.needs(0))
    b.set_grad(0, rstd * (g - mean(g, Dims(dims), true) - z * mean(g * z, Dims(dims), true)));
  for (int64_t d = b.lead(); d < dims[0]; ++d) lead.push_back(d);
  const auto over_rows = [&](const Tensor& t) { return lead.empty() ? t : sum(t, Dims(lead)); };
  if (b.inputs() > 1 && b.needs(1)) b.set_grad(1, over_rows(dy * z));
  if (b.inputs() > 2 && b.needs(2)) b.set_grad(2, over_rows(dy));
}

using Gradients = std::tuple<Tensor, Tensor, Tensor>;  // dx, dweight, dbias, where wanted

static Gradients in_one_pass(const Norm& a, const Tensor& arrived, const Tensor& x,
                             const Tensor& weight, const Tensor& mean, const Tensor& rstd,
                             const std::array<bool, 3>& needed) {
  LIBDL_OBSERVED_PART("layer_norm_backward", in_one_pass(a, arrived, x, weight, mean, rstd, needed),
                      arrived, x, &weight, mean, rstd);
  const Tensor dy = plain(arrived, x.dtype()), in = plain(x);
  Shape shape;
  for (const int64_t d : a.dims) shape.push_back(x.size(static_cast<int>(d)));
  const auto allocate = [&](int i, Dims sizes, Dtype dtype) {
    return needed[i] ? empty(sizes, dtype, x.device()) : Tensor();
  };
  const Dtype vectors = weight.defined() ? weight.dtype() : x.dtype();
  const Tensor dx = allocate(0, x.shape(), x.dtype());
  const Tensor dweight = allocate(1, shape, vectors), dbias = allocate(2, shape, vectors);
  const Tensor factor = weight.defined() ? plain(weight) : Tensor();
  const int64_t sizes[] = {a.n, a.cols}, strides[] = {a.cols, 1}, one[] = {1};
  const int64_t cols[] = {a.cols}, rows[] = {a.n};
  const auto whole = [&](const Tensor& t, Access access) {
    return t.defined() ? flat(t, sizes, strides, 2, access) : no_view();
  };
  const auto column = [&](const Tensor& t, Access access) {
    return t.defined() ? flat(t, cols, one, 1, access) : no_view();
  };
  using enum Access;
  launch_layer_norm_backward(
      x.device(), {whole(dx, kOverwrite), column(dweight, kOverwrite), column(dbias, kOverwrite),
                   whole(dy, kRead), whole(in, kRead), flat(mean, rows, one, 1, kRead),
                   flat(rstd, rows, one, 1, kRead), column(factor, kRead)});
  return {dx, dweight, dbias};
}

static void by_kernel(Backward& b, const Norm& a, const Tensor& x, const Tensor& weight) {
  std::array<bool, 3> needed{};
  for (int i = 0; i < b.inputs(); ++i) needed[i] = b.needs(i);
  auto [dx, dweight, dbias] = in_one_pass(a, b.dy(), x, weight, b.saved(2), b.saved(3), needed);
  if (needed[0]) b.set_grad(0, std::move(dx));
  if (needed[1]) b.set_grad(1, std::move(dweight));
  if (needed[2]) b.set_grad(2, std::move(dbias));
}

static void layer_norm_vjp(Backward& b) {
  const Norm& a = b.attr<Norm>();
  const Tensor x = b.saved(0), weight = b.saved(1);
  if (b.differentiated() || b.batch() || a.n * a.cols == 0)
    by_operators(b, a, x, weight, b.saved(4));
  else
    by_kernel(b, a, x, weight);
}
static const Rule kLayerNorm{.name = "layer_norm", .vjp = layer_norm_vjp, .takes_batch = true};

// float32 beside 16 bits, as autocast leaves them.
static bool is_wider(Dtype dtype, const Tensor& x) {
  return dtype == Dtype::kFloat32 && size_of(x.dtype()) == 2 && x.device().is_cpu();
}

void check_normalized(const char* op, const Tensor& input, Dims normalized_shape,
                      const Tensor* weight) {
  const int lead = input.ndim() - static_cast<int>(normalized_shape.size());
  const bool some = !normalized_shape.empty();
  if (some && lead >= 0 && same(input.shape().subspan(lead), normalized_shape)) return;
  const bool sizes =
      some && *std::min_element(normalized_shape.begin(), normalized_shape.end()) >= 0;
  if (sizes && (!weight || same(weight->shape(), normalized_shape)))
    fail_argument(
        LIBDL_ERROR_SHAPE, op, "input", "has shape " + to_string(input.shape()),
        to_string(normalized_shape) + ", which is normalized_shape, as its last dimensions");
  fail_argument(LIBDL_ERROR_SHAPE, op, "normalized_shape", "is " + to_string(normalized_shape),
                "the last dimensions of " + to_string(input.shape()));
}

static Norm check(const Tensor& x, Dims shape, const Tensor* weight, const Tensor* bias) {
  const char* const op = "layer_norm";
  if (!is_floating(x.dtype()))
    fail_argument(LIBDL_ERROR_DTYPE, op, "input", std::string("is ") + name_of(x.dtype()),
                  "a floating dtype");
  check_normalized(op, x, shape, weight);
  const auto fits = [&](const char* name, const Tensor* p) {
    if (!p) return;
    if (!same(p->shape(), shape))
      fail_argument(LIBDL_ERROR_SHAPE, op, name, "has shape " + to_string(p->shape()),
                    to_string(shape));
    if (p->dtype() != x.dtype() && !is_wider(p->dtype(), x))
      fail_argument(LIBDL_ERROR_DTYPE, op, name, std::string("is ") + name_of(p->dtype()),
                    name_of(x.dtype()));
  };
  if (weight && bias && weight->dtype() == bias->dtype() && weight->dtype() != x.dtype() &&
      !is_wider(weight->dtype(), x))
    fail_argument(LIBDL_ERROR_DTYPE, op, "input", std::string("is ") + name_of(x.dtype()),
                  std::string(name_of(weight->dtype())) + ", as arguments 3 and 4");
  fits("weight", weight);
  fits("bias", bias);
  const int lead = x.ndim() - static_cast<int>(shape.size());
  Norm a{{}, {}, 1, 1};
  for (int d = 0; d < x.ndim(); ++d) {
    (d < lead ? a.n : a.cols) *= x.size(d);
    a.rows.push_back(d < lead ? x.size(d) : 1);
    if (d >= lead) a.dims.push_back(d);
  }
  return a;
}

// y = z weight + bias, z as above.
static Tensor normalise(const Tensor& x, const Norm& a, const Tensor& eps, const Tensor* weight,
                        const Tensor* bias) {
  Tensor y = normalised(x, a, eps).z;
  if (weight) y = y * *weight;
  return cast(bias ? y + *bias : y, x.dtype());
}

// The tangent by the product rule over the composed form.
static Tensor layer_norm_jvp(const Call& call, const Tensor& x, const Norm& a, const Tensor& eps,
                             const Tensor* weight) {
  const Tensor& tx = call.tangent(0);
  const auto [z, rstd] = normalised(x, a, eps);
  Tensor t = zeros(x.shape(), x.dtype(), x.device());
  if (tx.defined()) {
    const Tensor u = tx - mean(tx, Dims(a.dims), true);
    const Tensor dz = rstd * (u - z * mean(u * z, Dims(a.dims), true));
    t = t + (weight ? dz * *weight : dz);
  }
  if (weight && call.tangent(1).defined()) t = t + z * call.tangent(1);
  if (call.tangent(2).defined()) t = t + call.tangent(2);
  return t;
}

Tensor layer_norm_impl(const Tensor& input, Dims normalized_shape, const Tensor* weight,
                       const Tensor* bias, double eps) {
  const Norm a = check(input, normalized_shape, weight, bias);
  const Tensor epsilon = number(eps);
  if (input.numel() == 0) return normalise(input, a, epsilon, weight, bias);
  Call call("layer_norm", {}, {&input, weight, bias});
  const Tensor x = plain(input);
  const Tensor factor = weight ? plain(*weight) : Tensor(), shift = bias ? plain(*bias) : Tensor();
  const Dtype wide = input.dtype() == Dtype::kFloat64 ? Dtype::kFloat64 : Dtype::kFloat32;
  const int64_t rows[] = {a.n}, cols[] = {a.cols}, one[] = {1};
  const int64_t sizes[] = {a.n, a.cols}, strides[] = {a.cols, 1};
  const Device device = input.device();
  Tensor y = empty(input.shape(), input.dtype(), device);
  const Tensor mu = empty(rows, wide, device), rstd = empty(rows, wide, device);
  using enum Access;
  launch_layer_norm(input.device(),
                    {flat(y, sizes, strides, 2, kOverwrite), flat(mu, rows, one, 1, kOverwrite),
                     flat(rstd, rows, one, 1, kOverwrite), flat(x, sizes, strides, 2, kRead),
                     weight ? flat(factor, cols, one, 1, kRead) : no_view(),
                     bias ? flat(shift, cols, one, 1, kRead) : no_view(), eps});
  const Tensor none;
  const Tensor& saved_weight = weight ? *weight : none;
  y = call.done(std::move(y), kLayerNorm, a,
                {saves_input(input, 0), saves_input(saved_weight, 1), saves_value(mu),
                 saves_value(rstd), saves_value(epsilon)});
  if (call.forward()) call.jvp(y, [&] { return layer_norm_jvp(call, input, a, epsilon, weight); });
  return y;
}

}  // namespace libdl
