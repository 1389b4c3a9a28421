// SPDX-License-Identifier: Apache-2.0

#include "entries/arithmetic.h"
#include "entries/copy.h"
#include "entries/creation.h"
#include "entries/image.h"
#include "entries/linalg.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/image/linear_map.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/view/view.h"

namespace libdl {

static constexpr const char* kAffineGridName = "affine_grid";

// The pixels' places in a dimension of this size, from -1 to 1.
static Tensor positions(int64_t size, bool align_corners, Dtype dtype, Device device) {
  if (size == 1) return zeros(Shape{1}, dtype, device);
  Tensor ends = linspace(number(-1.0), number(1.0), size, dtype, device);
  if (align_corners) return ends;
  const auto n = static_cast<double>(size);
  return mul(ends, number((n - 1) / n));
}

// [pixels, dims + 1]: each pixel's place, x first, and 1.
static Tensor positions_of_all(Dims sizes, bool align_corners, Dtype dtype, Device device) {
  const size_t dims = sizes.size();
  Shape shape(sizes);
  shape.push_back(static_cast<int64_t>(dims) + 1);
  const Tensor all = full(shape, number(1.0), dtype, device);
  for (size_t d = 0; d < dims; ++d) {
    Shape along(dims, 1);
    along[d] = sizes[d];
    const auto last = static_cast<int32_t>(dims);
    const Tensor to = select(all, last, static_cast<int64_t>(dims - 1 - d));
    copy_bytes(to, expand(view(positions(sizes[d], align_corners, dtype, device), along), sizes));
  }
  return flatten(all, 0, static_cast<int32_t>(dims) - 1);
}

Tensor affine_grid_impl(const Tensor& theta, Dims size, bool align_corners) {
  if (!is_floating(theta.dtype()))
    fail_argument(LIBDL_ERROR_DTYPE, kAffineGridName, "theta",
                  std::string("is ") + name_of(theta.dtype()), "a floating dtype");
  if (size.size() != 4 && size.size() != 5)
    fail_argument(LIBDL_ERROR_VALUE, kAffineGridName, "size",
                  "has " + std::to_string(size.size()) + " entries", "4 or 5");
  for (const int64_t n : size)
    if (n < 1)
      fail_argument(LIBDL_ERROR_VALUE, kAffineGridName, "size", "is " + to_string(size),
                    "1 or more each");
  const auto dims = static_cast<int64_t>(size.size()) - 2;
  const Dims sizes = size.subspan(2);
  Shape result{size[0]};
  for (const int64_t n : sizes) result.push_back(n);
  result.push_back(dims + 1);
  checked_numel(result, theta.dtype(), kAffineGridName, "size");
  result.back() = dims;
  const Shape expected{size[0], dims, dims + 1};
  if (!same(theta.shape(), expected))
    fail_argument(LIBDL_ERROR_SHAPE, kAffineGridName, "theta",
                  "has shape " + to_string(theta.shape()), to_string(expected));
  const ModeGuard as_they_are(kModeAutocast);
  const Named named(kAffineGridName);
  const Tensor map = cast(theta, computed_as(theta.dtype()));
  Tensor base;
  {
    const ModeGuard off(kModeGrad | kModeForward);
    base = positions_of_all(sizes, align_corners, map.dtype(), map.device());
  }
  const Tensor grid = view(matmul(base, transpose(map, 1, 2)), result);
  return named(own(cast(grid, theta.dtype())));
}

}  // namespace libdl
