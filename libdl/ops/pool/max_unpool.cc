// SPDX-License-Identifier: Apache-2.0

#include "entries/copy.h"
#include "entries/indexing.h"
#include "entries/pooling.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/pool/taken.h"

namespace libdl {

namespace {
struct Unpooled {
  Dims kernel_size;
  std::optional<Dims> stride, padding, output_size;
};
}  // namespace

static void check_indices(const Pooled& a, const Tensor& indices) {
  if (indices.dtype() != Dtype::kInt64)
    a.bad(LIBDL_ERROR_DTYPE, "indices", std::string("is ") + name_of(indices.dtype()), "int64");
  if (!std::ranges::equal(indices.shape(), a.input.shape()))
    a.bad(LIBDL_ERROR_SHAPE, "indices", "has shape " + to_string(indices.shape()),
          to_string(a.input.shape()) + ", as input");
}

// The numbers in output_size that are meant: without those of the batch and channels.
static Dims last_of(const Pooled& a, Dims output_size) {
  const auto dims = static_cast<size_t>(a.dims);
  if (output_size.size() != dims && output_size.size() != dims + 2)
    a.bad(LIBDL_ERROR_VALUE, "output_size",
          "has " + std::to_string(output_size.size()) + " entries",
          std::to_string(dims) + " or " + std::to_string(dims + 2));
  return output_size.last(dims);
}

// The result's sizes behind its channels: those that pooling may have come from.
static Shape sizes_of(const Pooled& a, const Unpooled& g) {
  const Three window = each_dimension(a.op, "kernel_size", g.kernel_size, a.dims, 1, 1);
  const bool steps = g.stride && !g.stride->empty();
  const Three stride = steps ? each_dimension(a.op, "stride", *g.stride, a.dims, 1, 1) : window;
  const Three padding =
      g.padding ? each_dimension(a.op, "padding", *g.padding, a.dims, 0, 0) : Three{0, 0, 0};
  Shape sizes;
  for (int k = 0; k < a.dims; ++k) {
    const auto d = static_cast<size_t>(k + 3 - a.dims);
    const int64_t pooled = a.input.size(a.input.ndim() - a.dims + k);
    const __int128 wide =
        static_cast<__int128>(pooled - 1) * stride[d] + window[d] - 2 * padding[d];
    if (wide > INT64_MAX / 2 || (!g.output_size && wide < 1))
      a.bad(LIBDL_ERROR_SHAPE, "input", "has shape " + to_string(a.input.shape()),
            wide < 1 ? "one whose result has at least 1 element in each dimension"
                     : "one whose result has at most 2^62 in each dimension");
    const auto size = static_cast<int64_t>(wide);
    sizes.push_back(size);
    if (!g.output_size) continue;
    const int64_t asked = last_of(a, *g.output_size)[static_cast<size_t>(k)];
    if (asked < 1 || asked <= size - stride[d] || asked >= size + stride[d])
      a.bad(LIBDL_ERROR_VALUE, "output_size", "is " + to_string(*g.output_size),
            std::to_string(std::max<int64_t>(1, size - stride[d] + 1)) + " to " +
                std::to_string(size + stride[d] - 1) + " in dimension " +
                std::to_string(a.input.ndim() - a.dims + k));
    sizes.back() = asked;
  }
  return sizes;
}

static Tensor unpool(const Pooled& a, const Tensor& indices, const Unpooled& g) {
  check_image(a, MayBeEmpty::kBatchAndChannels);
  check_indices(a, indices);
  const Shape sizes = sizes_of(a, g);
  const auto plane = static_cast<size_t>(a.input.ndim() - a.dims);
  Shape flat(a.input.shape().first(plane)), shape(flat);
  for (const int64_t size : sizes) shape.push_back(size);
  (void)checked_numel(shape, a.input.dtype(), a.op, "output_size");
  flat.push_back(1);
  for (const int64_t size : sizes) flat[plane] *= size;
  const Named named(a.op);
  return rename_error(a.op, {{"input", "input"}, {"index", "indices"}, {"src", "input"}}, [&] {
    const Tensor zero = zeros(flat, a.input.dtype(), a.input.device());
    const Tensor y = scatter(zero, static_cast<int32_t>(plane), in_planes(indices, a.dims),
                             in_planes(a.input, a.dims), {}, Into(zero));
    return named(a.dims == 1 ? y : reshape(y, shape));
  });
}

#define LIBDL_MAX_UNPOOL(name, dims)                                                           \
  Tensor name##_impl(const Tensor& input, const Tensor& indices, Dims kernel_size,             \
                     std::optional<Dims> stride, std::optional<Dims> padding,                  \
                     std::optional<Dims> output_size) {                                        \
    return unpool({#name, dims, input}, indices, {kernel_size, stride, padding, output_size}); \
  }
LIBDL_MAX_UNPOOL(max_unpool1d, 1)
LIBDL_MAX_UNPOOL(max_unpool2d, 2)
LIBDL_MAX_UNPOOL(max_unpool3d, 3)
#undef LIBDL_MAX_UNPOOL

}  // namespace libdl
