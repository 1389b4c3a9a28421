// SPDX-License-Identifier: Apache-2.0

#include <cmath>

#include "device/meta.h"
#include "entries/arithmetic.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/distance.h"
#include "entries/indexing.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pointwise/pointwise.h"
#include "ops/primitive/launch.h"
#include "ops/view/view.h"

namespace libdl {

static Tensor norm_of_rows(const Tensor& x, double p, bool keepdim) {
  const int64_t last[] = {-1};
  const Tensor order = number(p);
  return norm(x, &order, Dims(last), keepdim, Dtype::kNone);
}

// The norm of differences between rows, for any p from 0 on. As in PyTorch the distance of rows
// without columns is 0 for infinite p, too, and a NaN is counted as NaN, not as one that differs.
static Tensor of_differences(const Tensor& x, double p) {
  if (x.size(x.ndim() - 1) == 0) return norm_of_rows(x, std::isinf(p) ? 1.0 : p, false);
  Tensor count = norm_of_rows(x, p, false);
  if (p != 0) return count;
  const int64_t last[] = {-1};
  return masked_fill(count, any(isnan(x), Dims(last), false), number(std::nan("")));
}

Tensor pairwise_distance_impl(const Tensor& x1, const Tensor& x2, double p, double eps,
                              bool keepdim) {
  const char* const op = "pairwise_distance";
  static constexpr const char* kNames[] = {"x1", "x2"};
  const Tensor* const operands[] = {&x1, &x2};
  if (broadcast_shape(op, kNames, operands).empty())
    fail_argument(LIBDL_ERROR_SHAPE, op, "x1", "is 0-d", "at least one dimension");
  const Named named(op);
  return named(rename_error(op, {{"input", "x1"}, {"other", "x2"}, {"p", "p"}},
                            [&] { return norm_of_rows((x1 - x2) + eps, p, keepdim); }));
}

// -- of all rows, by a kernel ---------------------------------------------------------------------

namespace {

struct DistanceAttr {
  double p;
  bool pairs;
};

// Whether the kernel serves.
bool is_direct(const Tensor& x, const Tensor& y, double p) {
  const Device device = x.device();
  return (p == 1 || p == 2) && x.size(x.ndim() - 1) > 0 && y.device() == device &&
         has_kernel(device, KernelId::distance) && has_kernel(device, KernelId::distance_backward);
}

Dtype computed_in(Dtype dtype) { return size_of(dtype) < 4 ? Dtype::kFloat32 : dtype; }

// Of x [b, n, d] and y [b, m, d]; in pairs of x and itself.
Tensor measured(const Tensor& x, const Tensor& y, const DistanceAttr& a) {
  const Dtype type = computed_in(x.dtype());
  const int64_t b = x.size(0), n = x.size(1), m = y.size(1);
  const int64_t all[] = {b, n, m}, pairs[] = {b, n > 1 ? n * (n - 1) / 2 : 0};
  const Tensor z = empty(a.pairs ? Dims(pairs) : Dims(all), type, x.device());
  const Tensor from = cast(x, type), to = cast(y, type);
  if (z.numel()) launch_distance(x.device(), {overwrites(z), reads(from), reads(to), a.p, a.pairs});
  return cast(z, x.dtype());
}

Tensor squeeze_first(const Tensor& x) { return own(select(x, 0, 0)); }

// The gradient of `x`, where that of z, its distances from y, is dz.
Tensor at_once(const DistanceAttr& a, const Tensor& dz, const Tensor& z, const Tensor& x,
               const Tensor& y) {
  LIBDL_OBSERVED_PART("cdist_backward", at_once(a, dz, z, x, y), dz, z, x, y);
  const Dtype type = computed_in(x.dtype());
  if (x.numel() == 0 || dz.numel() == 0) return zeros(x.shape(), x.dtype(), x.device());
  const Tensor dx = empty(x.shape(), type, x.device());
  const Tensor given = cast(dz, type), roots = cast(z, type), from = cast(x, type);
  const Tensor to = cast(y, type);
  launch_distance_backward(x.device(), {overwrites(dx), reads(given), reads(roots), reads(from),
                                        reads(to), a.p, a.pairs});
  return cast(dx, x.dtype());
}

// -- its derivatives, by operators ----------------------------------------------------------------

// d z / d (x - y), for differences with the dimension of columns last: sign(x - y), or
// (x - y) / z, 0 where z is.
Tensor slope(const Tensor& difference, const Tensor& z, double p) {
  if (p == 1) return sign(difference);
  const Tensor root = unsqueeze(z, -1), zero = number(0.0), some = ne(root, zero);
  // Divided by 1 where the norm is 0, so that no NaN reaches a second derivative.
  return where(some, div(difference, where(some, root, number(1.0))), zero);
}
Tensor all_differences(const Tensor& x, const Tensor& y) {
  return sub(unsqueeze(x, 2), unsqueeze(y, 1));
}

Tensor by_operators(const DistanceAttr& a, const Tensor& dz, const Tensor& z, const Tensor& x,
                    const Tensor& y) {
  const int64_t others[] = {2};
  return sum(mul(unsqueeze(dz, -1), slope(all_differences(x, y), z, a.p)), Dims(others), false);
}

void distance_vjp(Backward& b) {
  const auto& a = b.attr<DistanceAttr>();
  const auto compute = b.differentiated() ? by_operators : at_once;
  const Tensor x = b.saved(0), y = b.saved(1), z = b.saved(2);
  if (b.needs(0)) b.set_grad(0, compute(a, b.dy(), z, x, y));
  if (b.needs(1)) b.set_grad(1, compute(a, transpose(b.dy(), 1, 2), transpose(z, 1, 2), y, x));
}

// Distances of x [b, n, d] and y [b, m, d].
Tensor distances(const Tensor& x, const Tensor& y, double p) {
  static const Rule kRule{"cdist", distance_vjp};
  const DistanceAttr attr{p, false};
  Call call("cdist", {}, {&x, &y});
  Tensor z = measured(x, y, attr);
  if (call.plain()) return call.done(std::move(z));
  z = call.done(z, kRule, attr, {saves_input(x, 0), saves_input(y, 1), saves_output(z, 0)});
  if (call.forward())
    call.jvp(z, [&] {
      const Tensor &dx = call.tangent(0), &dy = call.tangent(1);
      const Tensor moved = !dy.defined()   ? unsqueeze(dx, 2)
                           : !dx.defined() ? neg(unsqueeze(dy, 1))
                                           : all_differences(dx, dy);
      const int64_t columns[] = {-1};
      return sum(mul(slope(all_differences(x, y), z, p), moved), Dims(columns), false);
    });
  return z;
}

}  // namespace

// -- of two lists of rows -------------------------------------------------------------------------

// Rows of x with these dimensions in front, as one.
static Tensor as_batch(const Tensor& x, Dims front, int64_t count) {
  const int64_t rows = x.size(x.ndim() - 2), columns = x.size(x.ndim() - 1);
  Shape whole(front);
  whole.push_back(rows), whole.push_back(columns);
  return reshape(expand(x, whole), Shape{count, rows, columns});
}

// An alias of the dimensions in front of the rows.
static Tensor front_of(const Tensor& x) {
  const auto n = static_cast<size_t>(x.ndim() - 2);
  return alias(x, x.shape().first(n), x.strides().first(n), x.offset(), x.dtype());
}

static void check_rows(const char* op, const char* name, const Tensor& x) {
  if (!is_floating(x.dtype()))
    fail_argument(LIBDL_ERROR_DTYPE, op, name, std::string("is ") + name_of(x.dtype()),
                  "a floating dtype");
  if (x.ndim() < 2)
    fail_argument(LIBDL_ERROR_SHAPE, op, name, "has shape " + to_string(x.shape()),
                  "[..., rows, columns]");
}

Tensor cdist_impl(const Tensor& x1, const Tensor& x2, double p) {
  const char* const op = "cdist";
  check_rows(op, "x1", x1);
  check_rows(op, "x2", x2);
  const int64_t columns = x1.size(x1.ndim() - 1);
  if (x2.size(x2.ndim() - 1) != columns)
    fail_argument(LIBDL_ERROR_SHAPE, op, "x2", "has shape " + to_string(x2.shape()),
                  std::to_string(columns) + " columns, as x1 has");
  if (!(p >= 0)) fail_argument(LIBDL_ERROR_VALUE, op, "p", "is " + std::to_string(p), "0 or more");
  const Named named(op);
  return named(rename_error(op, {{"input", "x1"}, {"other", "x2"}, {"p", "p"}}, [&] {
    const Dtype type = promote(x1.dtype(), x2.dtype());
    const Tensor x = cast(x1, type), y = cast(x2, type);
    if (!is_direct(x, y, p)) return of_differences(sub(unsqueeze(x, -2), unsqueeze(y, -3)), p);
    const Tensor in_x = front_of(x), in_y = front_of(y);
    const Tensor* const fronts[] = {&in_x, &in_y};
    static constexpr const char* kNames[] = {"x1", "x2"};
    Shape shape = broadcast_shape(op, kNames, fronts);
    int64_t count = 1;
    for (const int64_t size : shape) count *= size;
    const Tensor z = distances(as_batch(x, shape, count), as_batch(y, shape, count), p);
    shape.push_back(z.size(1)), shape.push_back(z.size(2));
    return reshape(z, shape);
  }));
}

// -- of pairs of one list's rows ------------------------------------------------------------------

namespace {

// The numbers of the first and the second row of each pair.
struct Pairs {
  Tensor first, second;

  Pairs(int64_t n, Device device) {
    const int64_t count[] = {n > 1 ? n * (n - 1) / 2 : 0};
    const Device made = is_meta(device) ? device : Device{};
    first = empty(count, Dtype::kInt64, made), second = empty(count, Dtype::kInt64, made);
    if (count[0] > 0 && !is_meta(device)) {
      int64_t *a = first.overwrite_plain<int64_t>(), *b = second.overwrite_plain<int64_t>();
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = i + 1; j < n; ++j) *a++ = i, *b++ = j;
    }
    first = on_device(first, device), second = on_device(second, device);
  }
  Tensor differences(const Tensor& x) const {
    return index_select(x, 0, first) - index_select(x, 0, second);
  }
};

Tensor pairs_by_operators(const Tensor& dz, const Tensor& z, const Tensor& x, double p) {
  const Pairs pairs(x.size(0), x.device());
  const Tensor parts = mul(unsqueeze(dz, -1), slope(pairs.differences(x), z, p));
  const Tensor none = zeros(x.shape(), x.dtype(), x.device());
  return index_add(index_add(none, 0, pairs.first, parts), 0, pairs.second, neg(parts));
}

void pairs_vjp(Backward& b) {
  const auto& a = b.attr<DistanceAttr>();
  const Tensor x = b.saved(0), z = b.saved(1);
  if (b.differentiated()) return b.set_grad(0, pairs_by_operators(b.dy(), z, x, a.p));
  const Tensor rows = unsqueeze(x, 0);
  b.set_grad(0, squeeze_first(at_once(a, unsqueeze(b.dy(), 0), unsqueeze(z, 0), rows, rows)));
}

Tensor distances_in_pairs(const Tensor& x, double p) {
  static const Rule kRule{"pdist", pairs_vjp};
  const DistanceAttr attr{p, true};
  Call call("pdist", {}, {&x});
  const Tensor rows = unsqueeze(x, 0);
  Tensor z = squeeze_first(measured(rows, rows, attr));
  if (call.plain()) return call.done(std::move(z));
  z = call.done(z, kRule, attr, {saves_input(x, 0), saves_output(z, 0)});
  if (call.forward())
    call.jvp(z, [&] {
      const Pairs pairs(x.size(0), x.device());
      const int64_t columns[] = {-1};
      const Tensor moved = pairs.differences(call.tangent(0));
      return sum(mul(slope(pairs.differences(x), z, p), moved), Dims(columns), false);
    });
  return z;
}

}  // namespace

Tensor pdist_impl(const Tensor& input, double p) {
  const char* const op = "pdist";
  if (!is_floating(input.dtype()))
    fail_argument(LIBDL_ERROR_DTYPE, op, "input", std::string("is ") + name_of(input.dtype()),
                  "a floating dtype");
  if (input.ndim() != 2)
    fail_argument(LIBDL_ERROR_SHAPE, op, "input", "has shape " + to_string(input.shape()),
                  "[n, d]");
  if (!(p >= 0)) fail_argument(LIBDL_ERROR_VALUE, op, "p", "is " + std::to_string(p), "0 or more");
  if (is_direct(input, input, p)) return distances_in_pairs(input, p);
  const Named named(op);
  return named(rename_error(op, {{"input", "input"}, {"p", "p"}}, [&] {
    const Pairs pairs(input.size(0), input.device());
    return of_differences(pairs.differences(input), p);
  }));
}

}  // namespace libdl
