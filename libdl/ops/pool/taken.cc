// SPDX-License-Identifier: Apache-2.0

#include "ops/pool/taken.h"

#include "entries/copy.h"
#include "entries/indexing.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"

namespace libdl {

namespace {
struct TakenAttr {
  Shape shape;  // of the image
  int dims;
  kernels::PoolWindows windows;
  bool by_windows;
  Order order;
};
}  // namespace

Tensor in_planes(const Tensor& x, int dims) {
  return dims == 1 ? x : flatten(x, x.ndim() - dims, x.ndim() - 1);
}

// -- the gradient ---------------------------------------------------------------------------------

// dx is 0 but for the elements that were taken, as often as they were.
static Tensor by_operators(const TakenAttr& a, const Tensor& dy, const Tensor& indices) {
  const size_t plane = a.shape.size() - static_cast<size_t>(a.dims);
  Shape flat(Dims(a.shape).first(plane));
  flat.push_back(1);
  for (size_t d = plane; d < a.shape.size(); ++d) flat[plane] *= a.shape[d];
  const Tensor zero = zeros(flat, dy.dtype(), dy.device());
  const Tensor where = in_planes(indices, a.dims);
  const Tensor dx =
      scatter_add(zero, static_cast<int32_t>(plane), where, in_planes(dy, a.dims), Into(zero));
  return a.dims == 1 ? dx : reshape(dx, a.shape);
}

static Tensor at_once(const TakenAttr& a, const Tensor& arrived, const Tensor& indices) {
  LIBDL_OBSERVED_PART("max_pool_backward", at_once(a, arrived, indices), arrived, indices);
  const bool unbatched = arrived.ndim() == a.dims + 1;
  const Tensor batch = with_batch(arrived, a.dims);
  // Where the channels of x are innermost, those of all others are, too.
  const auto order =
      a.order == Order::kRowMajor ? Innermost::Order::kAny : Innermost::Order::kInnermost;
  const Innermost dy(batch, order), where(with_batch(indices, a.dims), order);
  const Innermost dx =
      new_image(pooled_shape(batch, a.dims, a.windows.in), arrived.dtype(), arrived.device(),
                a.order == Order::kRowMajor ? a.order : Order::kForm);
  launch_max_pool_backward(arrived.device(), {dx.view(), dy.view(), where.view(), a.windows});
  return unbatched ? without_batch(dx.tensor()) : dx.tensor();
}

static void taken_vjp(Backward& b) {
  const auto& a = b.attr<TakenAttr>();
  const bool apart = b.differentiated() || !a.by_windows || b.dy().numel() == 0;
  b.set_grad(0, (apart ? by_operators : at_once)(a, b.dy(), b.saved(0)));
}

// -- the results ----------------------------------------------------------------------------------

static Tensor with_history(Call& call, const Pooled& a, const Taken& y) {
  if (call.plain()) return call.done(y.values);
  static const Rule kRule{"max_pool2d", taken_vjp};
  Tensor values =
      call.done(y.values, renamed(kRule, a.op),
                TakenAttr{Shape(a.input.shape()), a.dims, y.windows, y.by_windows, y.order},
                {saves_value(y.indices)});
  if (call.forward())
    call.jvp(values, [&] {
      const Tensor& t = call.tangent(0);
      const Tensor at =
          gather(in_planes(t, a.dims), t.ndim() - a.dims, in_planes(y.indices, a.dims));
      return a.dims == 1 ? at : reshape(at, values.shape());
    });
  return values;
}

Tensor recorded(Call& call, const Pooled& a, Taken y) {
  if (!a.batched()) {
    y.values = without_batch(y.values);
    if (y.indices.defined()) y.indices = without_batch(y.indices);
  }
  return with_history(call, a, y);
}

std::tuple<Tensor, Tensor> recorded_with_indices(Call& call, const Pooled& a, Taken y) {
  if (!a.batched()) y.values = without_batch(y.values), y.indices = without_batch(y.indices);
  Tensor values = with_history(call, a, y);
  Call second(call.op(), {}, {});
  return {std::move(values), second.done(std::move(y.indices))};
}

}  // namespace libdl
