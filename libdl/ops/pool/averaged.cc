// SPDX-License-Identifier: Apache-2.0

#include "ops/pool/averaged.h"

#include <algorithm>

#include "ops/copy/copy.h"
#include "ops/core/call.h"

namespace libdl {

static Tensor spread(const Tensor& dy, const Averaged& a);

// -- the means ------------------------------------------------------------------------------------

static Tensor means(const Tensor& x, Averaged& a) {
  const Tensor batch = with_batch(x, a.dims);
  const Shape shape = pooled_shape(batch, a.dims, a.windows.out);
  Tensor y;
  if (batch.numel() == 0 || std::ranges::count(a.windows.out, 0)) {
    y = empty(shape, x.dtype(), x.device());
  } else {
    const Innermost in(batch, Innermost::Order::kAny);
    a.order = order_of(in);
    const Innermost out = new_image(shape, x.dtype(), x.device(), a.order);
    launch_avg_pool(x.device(), {out.view(), in.view(), a.windows, a.divisor, a.count_include_pad});
    y = out.tensor();
  }
  return x.ndim() == a.dims + 1 ? without_batch(y) : y;
}

static void averaged_vjp(Backward& b) { b.set_grad(0, spread(b.dy(), b.attr<Averaged>())); }
static const Rule kAveraged{"avg_pool2d", averaged_vjp};

Tensor averaged(const Tensor& image, const Averaged& given) {
  Averaged a = given;
  Call call(a.op, {}, {&image});
  Tensor y = means(image, a);
  if (call.plain()) return call.done(std::move(y));
  y = call.done(std::move(y), renamed(kAveraged, a.op), a);
  if (call.forward()) call.jvp(y, [&] { return averaged(call.tangent(0), a); });
  return y;
}

// -- the transpose --------------------------------------------------------------------------------

static Tensor spread_over(const Tensor& arrived, const Averaged& a) {
  const Tensor batch = with_batch(arrived, a.dims);
  const Shape shape = pooled_shape(batch, a.dims, a.windows.in);
  Tensor x;
  if (batch.numel() == 0) {
    x = zeros(shape, arrived.dtype(), arrived.device());
  } else {
    const bool row_major = a.order == Order::kRowMajor;
    const Innermost dy(batch, row_major ? Innermost::Order::kAny : Innermost::Order::kInnermost);
    const Innermost dx =
        new_image(shape, arrived.dtype(), arrived.device(), row_major ? a.order : Order::kForm);
    launch_avg_pool_backward(arrived.device(),
                             {dx.view(), dy.view(), a.windows, a.divisor, a.count_include_pad});
    x = dx.tensor();
  }
  return arrived.ndim() == a.dims + 1 ? without_batch(x) : x;
}

static Tensor averaged_again(const Tensor& x, const Averaged& a) {
  LIBDL_OBSERVED_PART("avg_pool", averaged_again(x, a), x);
  return averaged(x, a);
}
static void spread_vjp(Backward& b) { b.set_grad(0, averaged_again(b.dy(), b.attr<Averaged>())); }
static const Rule kSpread{"avg_pool2d", spread_vjp};

static Tensor spread(const Tensor& dy, const Averaged& a) {
  LIBDL_OBSERVED_PART("avg_pool_backward", spread(dy, a), dy);
  Call call(a.op, {}, {&dy});
  Tensor x = spread_over(dy, a);
  if (call.plain()) return call.done(std::move(x));
  x = call.done(std::move(x), renamed(kSpread, a.op), a);
  if (call.forward()) call.jvp(x, [&] { return spread(call.tangent(0), a); });
  return x;
}

}  // namespace libdl
