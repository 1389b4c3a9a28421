// SPDX-License-Identifier: Apache-2.0

#include "entries/arithmetic.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/creation.h"
#include "entries/indexing.h"
#include "entries/join.h"
#include "entries/nn.h"
#include "entries/pooling.h"
#include "entries/rounding.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pool/taken.h"

namespace libdl {

namespace {
struct Fractional {
  Three in, out, window;  // the last `dims` of each
};
}  // namespace

// -- what is asked for ----------------------------------------------------------------------------

static Fractional sizes_of(const Pooled& a, Dims kernel_size, Dims output_size) {
  Fractional f{{1, 1, 1}, {}, {}};
  f.window = each_dimension(a.op, "kernel_size", kernel_size, a.dims, 1, 1);
  f.out = each_dimension(a.op, "output_size", output_size, a.dims, 1, 0);
  for (int k = 0; k < a.dims; ++k) {
    const auto d = static_cast<size_t>(k + 3 - a.dims);
    f.in[d] = a.input.size(a.input.ndim() - a.dims + k);
    if (f.window[d] > f.in[d])
      a.bad(LIBDL_ERROR_VALUE, "kernel_size", "is " + to_string(kernel_size),
            "at most the input's size, " + std::to_string(f.in[d]));
    if (f.out[d] > f.in[d] - f.window[d] + 1)
      a.bad(LIBDL_ERROR_VALUE, "output_size", "is " + to_string(output_size),
            "at most size - kernel_size + 1, which is " +
                std::to_string(f.in[d] - f.window[d] + 1) + " in dimension " +
                std::to_string(a.input.ndim() - a.dims + k));
  }
  return f;
}

static void check_samples(const Pooled& a, const Tensor& samples) {
  if (samples.dtype() != a.input.dtype())
    a.bad(LIBDL_ERROR_DTYPE, "random_samples", std::string("is ") + name_of(samples.dtype()),
          name_of(a.input.dtype()));
  const int channels = a.input.ndim() - a.dims - 1;
  const int64_t wanted[] = {a.batched() ? a.input.size(0) : 1, a.input.size(channels), a.dims};
  if (!std::ranges::equal(samples.shape(), wanted))
    a.bad(LIBDL_ERROR_SHAPE, "random_samples", "has shape " + to_string(samples.shape()),
          to_string(wanted));
}

// -- where windows begin --------------------------------------------------------------------------

// [n, c, o] from samples [n, c, 1].
static Tensor beginnings(const Tensor& sample, int64_t in, int64_t out, int64_t window) {
  const int64_t room = in - window;
  const Dtype type = sample.dtype();
  const Device device = sample.device();
  const Shape one{sample.size(0), sample.size(1), 1};
  Tensor last = full(one, number(room), Dtype::kInt64, device);
  if (out == 1) return last;
  const auto many = static_cast<double>(out - 1);
  // In the dtype's own arithmetic, as PyTorch divides.
  const double step =
      type == Dtype::kFloat64
          ? static_cast<double>(room) / many
          : static_cast<double>(static_cast<float>(room) / static_cast<float>(many));
  const Tensor zero = number(int64_t{0}), most = number(room);
  const Tensor o = arange(nullptr, number(out - 1), nullptr, type, device);
  const Tensor begins = cast(floor((sample + o) * step), Dtype::kInt64);
  const Tensor first = cast(floor(sample * step), Dtype::kInt64);
  const Tensor all[] = {clamp(begins - first, &zero, &most), last};
  return cat(all, 2);
}

// The positions of all windows' elements: [n, c, k..., o...] in the given order of sizes, the same
// element of all windows side by side.
static Tensor positions(const Fractional& f, int dims, const Tensor& samples) {
  const Dtype type = size_of(samples.dtype()) < 4 ? Dtype::kFloat32 : samples.dtype();
  const Tensor wide = cast(samples, type);
  const int64_t n = samples.size(0), c = samples.size(1);
  Tensor all;
  for (int k = 0; k < dims; ++k) {
    const auto d = static_cast<size_t>(k + 3 - dims);
    // In two dimensions the first sample belongs to the last one.
    const Tensor sample = narrow(wide, 2, dims == 2 ? 1 - k : k, 1);
    const Tensor first = unsqueeze(beginnings(sample, f.in[d], f.out[d], f.window[d]), 2);
    const Tensor steps =
        arange(nullptr, number(f.window[d]), nullptr, Dtype::kInt64, samples.device());
    const Tensor along = first + unsqueeze(steps, 1);
    Shape shape(static_cast<size_t>(dims) * 2 + 2, 1);
    shape[0] = n, shape[1] = c;
    const auto at = static_cast<size_t>(k) + 2;
    shape[at] = f.window[d];
    shape[at + static_cast<size_t>(dims)] = f.out[d];
    const Tensor here = reshape(along, shape);
    all = all.defined() ? mul(all, number(f.in[d])) + here : here;
  }
  return all;
}

// -- the call -------------------------------------------------------------------------------------

static std::tuple<Tensor, Tensor> fractional(Call& call, const Pooled& a, Dims kernel_size,
                                             Dims output_size, const Tensor& samples) {
  check_floating(a);
  check_image(a, MayBeEmpty::kFirst);
  const Fractional f = sizes_of(a, kernel_size, output_size);
  check_samples(a, samples);
  const Tensor x = with_batch(a.input, a.dims);
  const int64_t n = x.size(0), c = x.size(1);
  const int64_t windows = f.out[0] * f.out[1] * f.out[2];
  const int64_t elements = f.window[0] * f.window[1] * f.window[2];
  Shape shape{n, c};
  for (int d = 3 - a.dims; d < 3; ++d) shape.push_back(f.out[static_cast<size_t>(d)]);
  Taken y;
  if (x.numel() == 0 || windows == 0) {
    y.values = empty(shape, x.dtype(), x.device());
    y.indices = empty(shape, Dtype::kInt64, x.device());
    return recorded_with_indices(call, a, std::move(y));
  }
  // A column for each window, of which max_pool2d takes one element.
  const Tensor where = reshape(positions(f, a.dims, samples), Shape{n, c, elements * windows});
  const Tensor plane = in_planes(x, a.dims);
  const Tensor columns = reshape(gather(plane, 2, where), Shape{n, c, elements, windows});
  const int64_t column[] = {elements, 1};
  const auto [values, found] = max_pool2d_with_indices(columns, column);
  y.values = reshape(values, shape);
  y.indices = reshape(gather(where, 2, reshape(found, Shape{n, c, windows})), shape);
  return recorded_with_indices(call, a, std::move(y));
}

#define LIBDL_FRACTIONAL(name, dims)                                                              \
  std::tuple<Tensor, Tensor> name##_impl(const Tensor& input, Dims kernel_size, Dims output_size, \
                                         const Tensor& random_samples) {                          \
    Call call(#name, {}, {&input});                                                               \
    return fractional(call, {#name, dims, input}, kernel_size, output_size, random_samples);      \
  }
LIBDL_FRACTIONAL(fractional_max_pool2d, 2)
LIBDL_FRACTIONAL(fractional_max_pool3d, 3)
#undef LIBDL_FRACTIONAL

}  // namespace libdl
