// SPDX-License-Identifier: Apache-2.0

#include "entries/arithmetic.h"
#include "entries/copy.h"
#include "entries/indexing.h"
#include "entries/join.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/primitive/launch.h"
#include "ops/primitive/summed.h"
#include "ops/reduction/reduction.h"

namespace libdl {

// The same tensor with dimension `at` as its last one.
static Tensor with_last(const Tensor& t, int at) {
  Shape shape(t.shape()), strides(t.strides());
  shape.erase(static_cast<size_t>(at));
  strides.erase(static_cast<size_t>(at));
  shape.push_back(t.size(at));
  strides.push_back(t.stride(at));
  return alias(t, shape, strides, t.offset(), t.dtype());
}

static Tensor scanned(kernels::Scan op, const Tensor& x, int at, Dtype dtype) {
  Tensor y = empty(x.shape(), dtype, x.device());
  if (y.numel() == 0) return y;
  if (x.ndim() == 0) {
    copy_bytes(y, x);
    return y;
  }
  const Tensor to = with_last(y, at), from = with_last(x, at);
  launch_scan(x.device(), {static_cast<int32_t>(op), overwrites(to), no_view(), reads(from)});
  return y;
}

static Dtype scan_dtype(const Tensor& x, Dtype dtype, Into into) {
  if (dtype != Dtype::kNone) return dtype;
  return term_dtype(is_inexact(x.dtype()) ? x.dtype() : Dtype::kInt64, into);
}

// -- cumsum -------------------------------------------------------------------------------------

// dx = the cumulative sum of dy from the other end.
static void cumsum_vjp(Backward& b) {
  const int32_t at = b.attr<int32_t>() + b.lead();
  if (b.dy().ndim() == b.lead()) return b.set_grad(0, b.dy());
  const int64_t dims[] = {at};
  b.set_grad(0, flip(cumsum(flip(b.dy(), dims), at), dims));
}
static const Rule kCumsum{.name = "cumsum", .vjp = cumsum_vjp, .takes_batch = true};

Tensor cumsum_impl(const Tensor& input, int32_t dim, Dtype dtype, Into into) {
  const Tensor x = cast(input, scan_dtype(input, dtype, into));
  Call call("cumsum", into, {&x});
  const int32_t at = call.axis("dim", dim, x.ndim());
  Tensor y = call.done(scanned(kernels::Scan::kSum, x, at, x.dtype()), kCumsum, at);
  if (call.forward()) call.jvp(y, [&] { return cumsum(call.tangent(0), at); });
  return y;
}

// -- cumprod ------------------------------------------------------------------------------------

// With r_k = dy_k + x_(k+1) r_(k+1):  dx_k = (x_0 … x_(k-1)) r_k. No division: zeros are allowed.
// The r of what follows a zero may leave the range that the elements have: they are computed in a
// wider one.
static void cumprod_vjp(Backward& b) {
  const int32_t at = b.attr<int32_t>();
  const Dtype own = b.dy().dtype();
  if (b.dy().ndim() == 0 || b.dy().numel() == 0) return b.set_grad(0, b.dy());
  const Dtype wide = is_complex(own)     ? Dtype::kComplex128
                     : size_of(own) == 2 ? Dtype::kFloat32
                                         : Dtype::kFloat64;
  const Tensor dy = cast(b.dy(), wide), x = cast(conj(b.saved(0)), wide);
  const int64_t n = dy.size(at);
  std::vector<Tensor> parts(static_cast<size_t>(n));
  std::vector<Tensor> before(static_cast<size_t>(n));
  for (int64_t k = 1; k < n; ++k) {
    const Tensor last = narrow(x, at, k - 1, 1);
    before[k] = k == 1 ? last : before[k - 1] * last;
  }
  Tensor r = narrow(dy, at, n - 1, 1);
  for (int64_t k = n; k-- > 0;) {
    if (k < n - 1) r = narrow(dy, at, k, 1) + narrow(x, at, k + 1, 1) * r;
    parts[k] = k == 0 ? r : before[k] * r;
  }
  b.set_grad(0, cast(cat(parts, at), own));
}
static const Rule kCumprod{"cumprod", cumprod_vjp};

Tensor cumprod_impl(const Tensor& input, int32_t dim, Dtype dtype, Into into) {
  const Tensor x = cast(input, scan_dtype(input, dtype, into));
  Call call("cumprod", into, {&x});
  const int32_t at = call.axis("dim", dim, x.ndim());
  Tensor y = scanned(kernels::Scan::kProd, x, at, x.dtype());
  // u_k = u_(k-1) x_k + y_(k-1) t_k
  return call.done(std::move(y), kCumprod, at, {saves_input(x, 0)}, [&](const Tensor& z) {
    if (z.ndim() == 0 || z.numel() == 0) return call.tangent(0);
    const Dtype wide = summed_as(z.dtype());  // many roundings, and one
    const Tensor t = cast(call.tangent(0), wide), factor = cast(x, wide), before = cast(z, wide);
    std::vector<Tensor> u{narrow(t, at, 0, 1)};
    for (int64_t k = 1; k < t.size(at); ++k)
      u.push_back(u.back() * narrow(factor, at, k, 1) +
                  narrow(before, at, k - 1, 1) * narrow(t, at, k, 1));
    return cast(cat(u, at), z.dtype());
  });
}

// -- cummax, cummin -----------------------------------------------------------------------------

namespace {
struct ExtremumAttr {
  Shape shape;  // of input
  int32_t at;
};
}  // namespace

// Each gradient belongs to the element that was the extremum there.
static void running_extremum_vjp(Backward& b) {
  const auto& a = b.attr<ExtremumAttr>();
  const Tensor dx = zeros(a.shape, b.dy().dtype(), b.dy().device());
  b.set_grad(0, scatter_add(dx, a.at, b.saved(0), b.dy()));
}
static const Rule kCummax{"cummax", running_extremum_vjp}, kCummin{"cummin", running_extremum_vjp};

static std::tuple<Tensor, Tensor> running_extremum(const Rule& rule, kernels::Scan kind,
                                                   const Tensor& input, int32_t dim,
                                                   Into values_into, Into indices_into) {
  Call call(rule.name, values_into, {&input});
  if (input.is_complex())
    call.bad(LIBDL_ERROR_UNSUPPORTED, "input", std::string("is ") + name_of(input.dtype()),
             "a real dtype: complex numbers have no order");
  const int32_t at = call.axis("dim", dim, input.ndim());
  Tensor y = empty(input.shape(), input.dtype(), input.device());
  Tensor positions = input.ndim() == 0 ? zeros(input.shape(), Dtype::kInt64, input.device())
                                       : empty(input.shape(), Dtype::kInt64, input.device());
  if (input.ndim() == 0) {
    copy_bytes(y, input);
  } else if (y.numel() > 0) {
    const Tensor to = with_last(y, at), where = with_last(positions, at),
                 from = with_last(input, at);
    launch_scan(input.device(),
                {static_cast<int32_t>(kind), overwrites(to), overwrites(where), reads(from)});
  }
  // Both destinations are checked before either is written.
  Call second(rule.name, indices_into, std::span<const Tensor* const>());
  if (values_into) call.check_result(y.shape(), y.dtype(), y.device());
  if (indices_into) second.check_index_result(positions.shape(), positions.device());
  if (values_into && indices_into &&
      overlap(values_into.tensor(), indices_into.tensor()) != Overlap::kNone)
    fail_argument(LIBDL_ERROR_OVERLAP, rule.name, "indices_dst", "shares memory with values_dst",
                  "separate memory");
  const Tensor chosen = positions;
  Tensor values =
      call.done(std::move(y), rule, ExtremumAttr{Shape(input.shape()), at}, {saves_value(chosen)});
  if (call.forward()) call.jvp(values, [&] { return gather(call.tangent(0), at, chosen); });
  return {std::move(values), second.done(std::move(positions))};
}

std::tuple<Tensor, Tensor> cummax_impl(const Tensor& input, int32_t dim, Into values_into,
                                       Into indices_into) {
  return running_extremum(kCummax, kernels::Scan::kMax, input, dim, values_into, indices_into);
}
std::tuple<Tensor, Tensor> cummin_impl(const Tensor& input, int32_t dim, Into values_into,
                                       Into indices_into) {
  return running_extremum(kCummin, kernels::Scan::kMin, input, dim, values_into, indices_into);
}

}  // namespace libdl
