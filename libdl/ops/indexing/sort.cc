// SPDX-License-Identifier: Apache-2.0

#include "entries/copy.h"
#include "entries/indexing.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/indexing/indices.h"
#include "ops/primitive/launch.h"

namespace libdl {

namespace {
struct SortAttr {
  Shape shape;  // of input
  int32_t dim;
};
struct Ordered {
  Tensor values, indices;
};
}  // namespace

// The values went where the indices say: their gradient goes back there.
static void sort_vjp(Backward& b) {
  const auto& a = b.attr<SortAttr>();
  const Tensor dx = zeros(a.shape, b.dy().dtype(), b.dy().device());
  b.set_grad(0, scatter(dx, a.dim, b.saved(0), b.dy(), {}, Into(dx)));
}
static const Rule kSort{"sort", sort_vjp}, kTopk{"topk", sort_vjp};

static void check_real(const Call& call, const Tensor& input) {
  if (input.is_complex())
    call.bad(LIBDL_ERROR_DTYPE, "input", std::string("is ") + name_of(input.dtype()),
             "a real dtype: complex numbers have no order");
}

// k < 0: all. The results are contiguous with `axis` where it was.
static Ordered order(const Tensor& input, int axis, int64_t k, bool descending) {
  const Tensor x = moved(at_least_1d(input), axis, std::max(input.ndim(), 1) - 1);
  const int last = x.ndim() - 1;
  Shape shape(x.shape());
  if (k >= 0) shape[last] = k;
  Ordered out{empty(shape, x.dtype(), x.device()), empty(shape, Dtype::kInt64, x.device())};
  if (out.values.numel() > 0) {
    launch_sort(x.device(),
                {overwrites(out.values), overwrites(out.indices), reads(x), k, descending});
  }
  for (Tensor* y : {&out.values, &out.indices})
    *y = input.ndim() ? plain(moved(*y, last, axis)) : alias(*y, {}, {}, 0, y->dtype());
  return out;
}

// Two destinations, both checked before either is written.
static std::tuple<Tensor, Tensor> finish(Call& call, const Rule& rule, const Tensor& input,
                                         int axis, Ordered y, Into values_into, Into indices_into) {
  Call second(call.op(), indices_into, std::span<const Tensor* const>());
  if (values_into) call.check_result(y.values.shape(), y.values.dtype(), y.values.device());
  if (indices_into) second.check_index_result(y.indices.shape(), y.indices.device());
  if (values_into && indices_into &&
      overlap(values_into.tensor(), indices_into.tensor()) != Overlap::kNone)
    fail_argument(LIBDL_ERROR_OVERLAP, call.op(), "indices_dst", "shares memory with values_dst",
                  "separate memory");
  const Tensor where = y.indices;
  Tensor values = call.done(std::move(y.values), rule, SortAttr{Shape(input.shape()), axis},
                            {saves_value(where)});
  if (call.forward()) call.jvp(values, [&] { return gather(call.tangent(0), axis, where); });
  return {std::move(values), second.done(std::move(y.indices))};
}

std::tuple<Tensor, Tensor> sort_impl(const Tensor& input, int32_t dim, bool descending,
                                     bool /*stable*/, Into values_into, Into indices_into) {
  Call call("sort", values_into, {&input});
  check_real(call, input);
  const int axis = call.axis("dim", dim, input.ndim());
  return finish(call, kSort, input, axis, order(input, axis, -1, descending), values_into,
                indices_into);
}

Tensor argsort_impl(const Tensor& input, int32_t dim, bool descending, bool /*stable*/) {
  Call call("argsort", {}, {&input});
  check_real(call, input);
  const int axis = call.axis("dim", dim, input.ndim());
  return order(input, axis, -1, descending).indices;
}

std::tuple<Tensor, Tensor> topk_impl(const Tensor& input, int64_t k, int32_t dim, bool largest,
                                     bool /*sorted*/, Into values_into, Into indices_into) {
  Call call("topk", values_into, {&input});
  check_real(call, input);
  const int axis = call.axis("dim", dim, input.ndim());
  const int64_t size = input.ndim() ? input.size(axis) : 1;
  if (k < 0 || k > size || (input.ndim() == 0 && k != 1))
    call.bad(LIBDL_ERROR_VALUE, "k", "is " + std::to_string(k),
             input.ndim() == 0 ? "1, for input is 0-d" : "0 to " + std::to_string(size));
  return finish(call, kTopk, input, axis, order(input, axis, k, largest), values_into,
                indices_into);
}

// The last of the k smallest.
std::tuple<Tensor, Tensor> kthvalue_impl(const Tensor& input, int64_t k, int32_t dim,
                                         bool keepdim) {
  int axis;
  {
    const Call call("kthvalue", {}, {&input});
    check_real(call, input);
    axis = call.axis("dim", dim, input.ndim());
    const int64_t size = input.ndim() ? input.size(axis) : 1;
    if (k < 1 || k > size)
      call.bad(LIBDL_ERROR_VALUE, "k", "is " + std::to_string(k), "1 to " + std::to_string(size));
  }
  auto [values, indices] = topk(input, k, axis, false, true);
  if (input.ndim() == 0) return {values, indices};
  const auto last = [&](const Tensor& x) {
    return keepdim ? narrow(x, axis, k - 1, 1) : select(x, axis, k - 1);
  };
  return {clone(last(values)), clone(last(indices))};
}

}  // namespace libdl
