// SPDX-License-Identifier: Apache-2.0

#include "ops/reduction/reduction.h"

#include <algorithm>
#include <cmath>

#include "entries/arithmetic.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/join.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pointwise/pointwise.h"
#include "ops/primitive/summed.h"
#include "ops/reduction/reduce_plan.h"

namespace libdl {

// -- sum --------------------------------------------------------------------------------------

// dx = dy, spread over what was summed.
static void sum_vjp(Backward& b) {
  const ReducedDims& r = b.attr<ReducedDims>();
  b.set_grad(0, expand(r.kept(b.dy(), b), b.batched(r.shape)));
}
static const Rule kSum{.name = "sum", .vjp = sum_vjp, .takes_batch = true};

Dtype term_dtype(Dtype own, Into into) {
  const Dtype to = into ? into.tensor().dtype() : own;
  if (!is_inexact(to)) return own;
  if (!is_inexact(own)) return Dtype::kFloat64;
  return promote(own, to);
}

// Bool and integers are summed as int64, uint64 too, as PyTorch does.
static Dtype sum_dtype(const Tensor& x, Dtype dtype, Into into) {
  if (dtype != Dtype::kNone) return dtype;
  return term_dtype(is_inexact(x.dtype()) ? x.dtype() : Dtype::kInt64, into);
}

Tensor sum_impl(const Tensor& input, std::optional<Dims> dims, bool keepdim, Dtype dtype,
                Into into) {
  Call call("sum", into, {&input});
  const ReducedDims r(input.shape(), call.axes("dims", dims, input.ndim()));
  const Dtype type = sum_dtype(input, dtype, into);
  const Tensor y = reduce(kernels::Reduction::kSum, input, r, keepdim, type);
  Tensor result = call.done(y, kSum, r);
  if (call.forward())
    call.jvp(result, [&] { return sum(call.tangent(0), dims, keepdim, y.dtype()); });
  return result;
}

Tensor sum_to(const Tensor& x, Dims shape) {
  if (same(x.shape(), shape)) return x;
  const int lead = x.ndim() - static_cast<int>(shape.size());
  Shape dims;
  for (int d = 0; d < x.ndim(); ++d)
    if (d < lead || (shape[d - lead] == 1 && x.size(d) != 1)) dims.push_back(d);
  // What becomes a gradient is no view where it need not be one: it may be written to then.
  if (lead > 0 && static_cast<int>(dims.size()) == lead) return sum(x, dims, false, x.dtype());
  const Tensor y = dims.empty() ? x : sum(x, dims, true, x.dtype());
  return lead > 0 ? reshape(y, shape) : y;
}

Tensor sum_to(const Tensor& x, Dims shape, int lead) {
  if (lead == 0) return sum_to(x, shape);
  const Dims batch = x.shape().first(static_cast<size_t>(lead));
  Shape aligned(batch), result(batch);
  aligned.resize(static_cast<size_t>(x.ndim()) - shape.size(), 1);
  for (const int64_t size : shape) {
    aligned.push_back(size);
    result.push_back(size);
  }
  const Tensor y = sum_to(x, aligned);
  return aligned.size() == result.size() ? y : reshape(y, result);
}

// -- mean -------------------------------------------------------------------------------------

// x / n. It may be gone backward through again and again: of a number of elements nothing is freed.
static Tensor share(const Tensor& x, double n) {
  static const PointwiseOp kShare{.name = "mean",
                                  .expression = Expression::div,
                                  .arguments = {"input", "count"},
                                  .promotion = Promotion::kFloat,
                                  .partials = k_div.partials,
                                  .keeps_numbers = true};
  return pointwise(kShare, x, number(n));
}

// Whether a sum is infinite; on another device than the CPU nobody waits to learn it.
static bool is_infinite_anywhere(const Tensor& sum) {
  if (!sum.device().is_cpu() || !is_inexact(sum.dtype()) || sum.is_number()) return false;
  const ModeGuard off(kModeGrad | kModeForward);
  const Tensor held = sum.is_contiguous() ? sum : plain(detach(sum));
  const auto among = [n = held.numel() * (sum.is_complex() ? 2 : 1)](const auto* x) {
    return std::any_of(x, x + n, [](auto each) { return std::isinf(each); });
  };
  const bool wide = real_of(sum.dtype()) == Dtype::kFloat64;
  return wide ? among(held.read_plain<double>()) : among(held.read_plain<float>());
}

// The 16-bit types are summed as float32, where the sum cannot overflow.
Tensor mean_impl(const Tensor& input, std::optional<Dims> dims, bool keepdim, Dtype dtype,
                 Into into) {
  const Dtype own = dtype == Dtype::kNone ? input.dtype() : dtype;
  if (!is_inexact(own))
    fail_argument(LIBDL_ERROR_DTYPE, "mean", "input", std::string("is ") + name_of(own),
                  "a floating or complex dtype, or dtype=");
  if (dims) Call("mean", {}, {}).axes("dims", dims, input.ndim());  // errors in its own name
  const Named named("mean");
  const Dtype type = dtype == Dtype::kNone ? term_dtype(own, into) : own;
  const Dtype wide = size_of(type) == 2 ? Dtype::kFloat32 : type;
  const Tensor total = rename_error("mean", {{"input", "input"}, {"dims", "dims"}},
                                    [&] { return sum(input, dims, keepdim, wide); });
  const double n =
      static_cast<double>(input.numel()) / static_cast<double>(std::max<int64_t>(total.numel(), 1));
  Tensor y = share(total, n);
  if (is_infinite_anywhere(total)) {  // perhaps of finite elements, whose mean is finite, too
    const double small = 0x1p-64;     // fewer are summed than that many
    const Tensor part = sum(mul(cast(input, wide), number(small)), dims, keepdim, wide);
    y = where(isfinite(total), y, mul(share(part, n), number(1 / small)));
  }
  return write_result("mean", named(wide == type ? y : cast(y, type)), into, {&input});
}

// -- prod -------------------------------------------------------------------------------------

namespace {
struct ProdAttr {
  ReducedDims dims;
  int64_t dim;  // -1: all
};
}  // namespace

// Products of all elements along `at` but one, without a division: right also where there are
// zeros.
static Tensor products_of_others(const Tensor& x, int32_t at) {
  const int64_t n = x.size(at);
  std::vector<Tensor> before(static_cast<size_t>(n)), after(static_cast<size_t>(n));
  const Tensor one = full(narrow(x, at, 0, 1).shape(), number(1.0), x.dtype(), x.device());
  before[0] = one;
  after[n - 1] = one;
  for (int64_t i = 1; i < n; ++i) {
    before[i] = before[i - 1] * narrow(x, at, i - 1, 1);
    after[n - 1 - i] = after[n - i] * narrow(x, at, n - i, 1);
  }
  std::vector<Tensor> both;
  both.reserve(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) both.push_back(before[i] * after[i]);
  return cat(both, at);
}

// Likewise in a few launches, whatever the length.
static Tensor scanned_products_of_others(const Tensor& x, int32_t at) {
  const Tensor one = full(narrow(x, at, 0, 1).shape(), number(1.0), x.dtype(), x.device());
  const auto products_before = [&](const Tensor& of) {
    const Tensor parts[] = {one, narrow(cumprod(of, at), at, 0, of.size(at) - 1)};
    return cat(parts, at);
  };
  const int64_t dims[] = {at};
  return products_before(x) * flip(products_before(flip(x, dims)), dims);
}

// dx = dy prod(others) = dy y / x, where x has no zeros and y is finite. Nobody waits for a device
// to learn that.
static Tensor prod_gradient(const Tensor& dy, const Tensor& x, const Tensor& y, const ProdAttr& a) {
  if (const Dtype wide = summed_as(x.dtype()); wide != x.dtype())  // many roundings, and one
    return cast(prod_gradient(cast(dy, wide), cast(x, wide), cast(y, wide), a), x.dtype());
  const bool on_cpu = x.device().is_cpu();
  const auto divides = [&] {
    const ModeGuard off(kModeGrad | kModeForward);
    return item_bool(all(x)) && item_bool(all(isfinite(y)));
  };
  if (x.numel() == 0 || (on_cpu && divides())) return a.dims.kept(dy) * conj(a.dims.kept(y) / x);
  const auto others = on_cpu ? products_of_others : scanned_products_of_others;
  if (a.dim >= 0) return a.dims.kept(dy) * conj(others(x, static_cast<int32_t>(a.dim)));
  const int64_t flat[] = {-1};
  return dy * conj(reshape(others(reshape(x, flat), 0), x.shape()));
}

static void prod_vjp(Backward& b) {
  const Tensor x = b.saved(0), y = b.saved(1);
  // A number is its own product, whatever it is now.
  b.set_grad(0, x.ndim() ? prod_gradient(b.dy(), x, y, b.attr<ProdAttr>()) : b.dy());
}
static const Rule kProd{"prod", prod_vjp};

Tensor prod_impl(const Tensor& input, std::optional<int64_t> dim, bool keepdim, Dtype dtype,
                 Into into) {
  const Dtype type = sum_dtype(input, dtype, into);
  const Tensor x = cast(input, type);  // recorded, so that the rule sees the computed dtype
  Call call("prod", into, {&x});
  const int64_t one_dim[] = {dim.value_or(0)};
  const auto dims = dim ? std::optional<Dims>(one_dim) : std::nullopt;
  const ProdAttr attr{ReducedDims(x.shape(), call.axes("dim", dims, x.ndim())),
                      dim && x.ndim() ? call.axis("dim", *dim, x.ndim()) : -1};
  Tensor y = reduce(kernels::Reduction::kProd, x, attr.dims, keepdim, type);
  return call.done(y, kProd, attr, {saves_input(x, 0), saves_output(y, 0)}, [&](const Tensor& z) {
    const Tensor derivative =
        prod_gradient(full(z.shape(), number(1.0), type, z.device()), x, z, attr);
    return sum(conj(derivative) * call.tangent(0), Dims(attr.dims.reduced()), keepdim, type);
  });
}

// -- all, any, how many ---------------------------------------------------------------------------

static Tensor truth(const char* op, kernels::Reduction kind, const Tensor& input,
                    std::optional<Dims> dims, bool keepdim, Into into) {
  Call call(op, into, {});
  const ReducedDims r(input.shape(), call.axes("dims", dims, input.ndim()));
  return call.done(reduce(kind, input, r, keepdim, Dtype::kBool));
}
Tensor all_impl(const Tensor& input, std::optional<Dims> dims, bool keepdim, Into into) {
  return truth("all", kernels::Reduction::kAll, input, dims, keepdim, into);
}
Tensor any_impl(const Tensor& input, std::optional<Dims> dims, bool keepdim, Into into) {
  return truth("any", kernels::Reduction::kAny, input, dims, keepdim, into);
}

Tensor count_nonzero_impl(const Tensor& input, std::optional<Dims> dims) {
  Call call("count_nonzero", {}, {});
  const ReducedDims r(input.shape(), call.axes("dims", dims, input.ndim()));
  return call.done(reduce(kernels::Reduction::kCount, input, r, false, Dtype::kInt64));
}

}  // namespace libdl
