// SPDX-License-Identifier: Apache-2.0

#include "entries/image.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/image/linear_map.h"
#include "ops/image/sampled.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/primitive/launch.h"

namespace libdl {

namespace {

using kernels::Sampling;

constexpr const char* kGridSampleName = "grid_sample";

using Gradients = std::tuple<Tensor, Tensor>;  // where wanted

// Images as the kernel sees them: a depth of 1 where there is none.
Tensor volumes(const Tensor& x, int at) { return x.ndim() == 5 ? x : unsqueeze(x, at); }

// -- by the kernel --------------------------------------------------------------------------------

Tensor sample(const Tensor& input, const Tensor& grid, const Sampling& how) {
  const Dtype type = computed_as(input.dtype());
  const Tensor x = volumes(cast(input, type), 2), positions = volumes(cast(grid, type), 1);
  Shape shape(input.shape());
  for (int d = 2; d < input.ndim(); ++d) shape[static_cast<size_t>(d)] = grid.size(d - 1);
  const Tensor y = empty(shape, type, x.device());
  const Tensor out = volumes(y, 2);
  if (y.numel()) launch_grid_sample(x.device(), {overwrites(out), reads(x), reads(positions), how});
  return cast(y, input.dtype());
}

Gradients at_once(const Sampling& how, const Tensor& dy, const Tensor& input, const Tensor& grid,
                  std::array<bool, 2> needed) {
  LIBDL_OBSERVED_PART("grid_sample_backward", at_once(how, dy, input, grid, needed), dy, input,
                      grid);
  const Dtype type = computed_as(input.dtype());
  const Tensor x = volumes(cast(input, type), 2), positions = volumes(cast(grid, type), 1);
  const Tensor g = volumes(cast(dy, type), 2);
  const Tensor dx = needed[0] ? empty(input.shape(), type, x.device()) : Tensor();
  const Tensor dgrid = needed[1] ? empty(grid.shape(), type, x.device()) : Tensor();
  kernels::GridSampleBackwardArgs args{reads(g),  reads(x),  reads(positions),
                                       no_view(), no_view(), how};
  const Tensor dx5 = needed[0] ? volumes(dx, 2) : Tensor();
  const Tensor dgrid5 = needed[1] ? volumes(dgrid, 1) : Tensor();
  if (needed[0]) args.din = overwrites(dx5);
  if (needed[1]) args.dgrid = overwrites(dgrid5);
  launch_grid_sample_backward(x.device(), args);
  return {needed[0] ? cast(dx, input.dtype()) : Tensor(),
          needed[1] ? cast(dgrid, grid.dtype()) : Tensor()};
}

// -- the gradient ---------------------------------------------------------------------------------

Gradients by_operators(const Sampling& how, const Tensor& dy, const Tensor& input,
                       const Tensor& grid, std::array<bool, 2> needed) {
  const Sampled sampled(input, grid, how);
  return {needed[0] ? sampled.image_gradient(dy) : Tensor(),
          needed[1] ? sampled.grid_gradient(dy) : Tensor()};
}

void grid_sample_vjp(Backward& b) {
  const std::array<bool, 2> needed{b.needs(0), b.needs(1)};
  const auto compute = b.differentiated() ? by_operators : at_once;
  auto [dx, dgrid] = compute(b.attr<Sampling>(), b.dy(), b.saved(0), b.saved(1), needed);
  if (needed[0]) b.set_grad(0, std::move(dx));
  if (needed[1]) b.set_grad(1, std::move(dgrid));
}

Tensor tangent_of(const Call& call, const Tensor& input, const Tensor& grid, const Sampling& how) {
  Tensor t;
  if (call.tangent(0).defined()) t = Sampled(call.tangent(0), grid, how).value();
  if (call.tangent(1).defined()) {
    const Tensor more = Sampled(input, grid, how).tangent(call.tangent(1));
    t = t.defined() ? t + more : more;
  }
  return t;
}

// -- what is asked for ----------------------------------------------------------------------------

Sampling::Mode mode_of(std::string_view mode) {
  if (mode == "bilinear") return Sampling::kBilinear;
  if (mode == "nearest") return Sampling::kNearest;
  if (mode == "bicubic") return Sampling::kBicubic;
  fail_argument(LIBDL_ERROR_VALUE, kGridSampleName, "mode", "is '" + std::string(mode) + "'",
                "'bilinear', 'nearest' or 'bicubic'");
}

Sampling::Padding padding_of(std::string_view mode) {
  if (mode == "zeros") return Sampling::kZeros;
  if (mode == "border") return Sampling::kBorder;
  if (mode == "reflection") return Sampling::kReflection;
  fail_argument(LIBDL_ERROR_VALUE, kGridSampleName, "padding_mode",
                "is '" + std::string(mode) + "'", "'zeros', 'border' or 'reflection'");
}

void check_shapes(const Tensor& input, const Tensor& grid) {
  const int n = input.ndim();
  bool good = n == 4 || n == 5;
  for (int d = 2; good && d < n; ++d) good = input.size(d) > 0;
  if (!good)
    fail_argument(LIBDL_ERROR_SHAPE, kGridSampleName, "input",
                  "has shape " + to_string(input.shape()),
                  "[n, c, h, w] or [n, c, d, h, w], of which only n and c may be 0");
  if (grid.ndim() != n || grid.size(0) != input.size(0) || grid.size(n - 1) != n - 2)
    fail_argument(LIBDL_ERROR_SHAPE, kGridSampleName, "grid",
                  "has shape " + to_string(grid.shape()),
                  "[" + std::to_string(input.size(0)) + (n == 4 ? ", h, w, 2]" : ", d, h, w, 3]"));
}

}  // namespace

Tensor grid_sample_impl(const Tensor& input, const Tensor& grid, std::string_view mode,
                        std::string_view padding_mode, bool align_corners) {
  Call call(kGridSampleName, {}, {&input, &grid});
  const Sampling::Mode kind = mode_of(mode);
  const Sampling::Padding padding = padding_of(padding_mode);
  if (!is_floating(input.dtype()))
    call.bad(LIBDL_ERROR_DTYPE, "input", std::string("is ") + name_of(input.dtype()),
             "a floating dtype");
  if (grid.dtype() != input.dtype())
    call.bad(LIBDL_ERROR_DTYPE, "grid", std::string("is ") + name_of(grid.dtype()),
             name_of(input.dtype()));
  check_shapes(input, grid);
  const Sampling how{kind, padding, input.ndim() - 2, align_corners ? 1 : 0};
  static const Rule kRule{kGridSampleName, grid_sample_vjp};
  Tensor y = sample(input, grid, how);
  if (call.is_unrecorded()) return call.done(std::move(y));
  y = call.done(std::move(y), kRule, how, {saves_input(input, 0), saves_input(grid, 1)});
  if (call.forward()) call.jvp(y, [&] { return tangent_of(call, input, grid, how); });
  return y;
}

}  // namespace libdl
