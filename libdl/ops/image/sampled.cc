// SPDX-License-Identifier: Apache-2.0

#include "ops/image/sampled.h"

#include "device/meta.h"
#include "entries/arithmetic.h"
#include "entries/bitwise.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/indexing.h"
#include "entries/join.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "kernels/sampling.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/image/linear_map.h"
#include "ops/pointwise/arithmetic.h"

namespace libdl {

using kernels::Sampling;

namespace {

// Of every coordinate of one dimension: its pixels, and how far it lies behind the first (bicubic:
// the second) of them, with the derivative.
struct Found {
  Tensor pixels, rest, slope;  // [taps, n, places], [n, places], [n, places]
};

template <class T>
void find(const Tensor& coordinates, int64_t size, const Sampling& how, const Found& found) {
  const int64_t count = coordinates.numel();
  const int taps = kernels::taps_of(how.mode);
  const T* const from = coordinates.read_plain<T>();
  int64_t* const pixels = found.pixels.overwrite_plain<int64_t>();
  T* const rest = found.rest.overwrite_plain<T>();
  T* const slope = found.slope.overwrite_plain<T>();
  for (int64_t i = 0; i < count; ++i) {
    const kernels::Line<T> line = kernels::line_at(from[i], size, how);
    for (int t = 0; t < taps; ++t) pixels[t * count + i] = line.pixel[t];
    rest[i] = 0, slope[i] = 0;
    if (how.mode == Sampling::kBilinear) rest[i] = line.weight[1], slope[i] = line.slope[1];
    if (how.mode == Sampling::kBicubic) {
      const auto at = kernels::in_pixels(from[i], size, how.align_corners != 0);
      rest[i] = at.x - std::floor(at.x), slope[i] = at.slope;
    }
  }
}

// On the host, for any device.
Found find(const Tensor& coordinates, int64_t size, const Sampling& how) {
  const ModeGuard off(kModeGrad | kModeForward);
  Shape all(coordinates.shape());
  all.insert(0, kernels::taps_of(how.mode));
  if (const Device there = coordinates.device(); is_meta(there)) {
    const Dims shape = coordinates.shape();
    const Dtype dtype = coordinates.dtype();
    return {empty(all, Dtype::kInt64, there), empty(shape, dtype, there),
            empty(shape, dtype, there)};
  }
  const Tensor at = plain(on_host(detach(coordinates)));
  const Found found{empty(all, Dtype::kInt64), empty(at.shape(), at.dtype()),
                    empty(at.shape(), at.dtype())};
  if (at.dtype() == Dtype::kFloat64) {
    find<double>(at, size, how, found);
  } else {
    find<float>(at, size, how, found);
  }
  const Device device = coordinates.device();
  return {on_device(found.pixels, device), on_device(found.rest, device),
          on_device(found.slope, device)};
}

// Cubic convolution's weights of elements at a distance below 1, or from 1 to 2, and derivatives.
constexpr double kA = -0.75;
Tensor near(const Tensor& x) { return (x * (kA + 2) + -(kA + 3)) * x * x + 1; }
Tensor far(const Tensor& x) { return ((x * kA + -5 * kA) * x + 8 * kA) * x + -4 * kA; }
Tensor near_slope(const Tensor& x) { return (x * (3 * (kA + 2)) + -2 * (kA + 3)) * x; }
Tensor far_slope(const Tensor& x) { return (x * (3 * kA) + -10 * kA) * x + 8 * kA; }

Tensor zero() { return number(0.0); }

}  // namespace

// -- what the grid says ---------------------------------------------------------------------------

Sampled::Sampled(const Tensor& input, const Tensor& grid, const Sampling& how)
    : how_(how),
      dtype_(input.dtype()),
      in_(input.shape()),
      out_(input.shape()),
      grid_(grid.shape()) {
  const Dtype type = computed_as(dtype_);
  int64_t pixels = 1, places = 1;
  for (size_t d = 2; d < in_.size(); ++d) {
    out_[d] = grid_[d - 1];
    pixels *= in_[d], places *= out_[d];
  }
  image_ = reshape(cast(input, type), Shape{in_[0], in_[1], pixels});
  const Tensor all = reshape(cast(grid, type), Shape{in_[0], places, how.dims});
  for (int d = 0; d < how.dims; ++d) lines_.push_back(line_of(select(all, 2, d), d));
}

// Around the present coordinates a place is a linear function of them.
Sampled::Line Sampled::line_of(const Tensor& coordinates, int d) const {
  const int64_t size = in_[in_.size() - 1 - static_cast<size_t>(d)];
  const Found found = find(coordinates, size, how_);
  Line line;
  for (int t = 0; t < kernels::taps_of(how_.mode); ++t) {
    const Tensor pixel = select(found.pixels, 0, t);
    line.inside.push_back(ge(pixel, number(int64_t{0})));
    line.pixel.push_back(where(line.inside.back(), pixel, number(int64_t{0})));
  }
  const Tensor x = found.rest + found.slope * (coordinates - detach(coordinates));
  switch (how_.mode) {
    case Sampling::kNearest:
      line.weight = {x + 1};
      line.slope = {found.slope};
      break;
    case Sampling::kBilinear:
      line.weight = {-x + 1, x};
      line.slope = {-found.slope, found.slope};
      break;
    case Sampling::kBicubic:
      line.weight = {far(x + 1), near(x), near(-x + 1), far(-x + 2)};
      line.slope = {found.slope * far_slope(x + 1), found.slope * near_slope(x),
                    -(found.slope * near_slope(-x + 1)), -(found.slope * far_slope(-x + 2))};
      break;
  }
  return line;
}

// Tap number t: one of each dimension's.
Sampled::Tap Sampled::tap(int t) const {
  const int each = kernels::taps_of(how_.mode);
  std::vector<size_t> of(lines_.size());
  for (size_t& k : of) k = static_cast<size_t>(t % each), t /= each;
  Tap tap;
  int64_t step = 1;
  for (size_t d = 0; d < of.size(); ++d) {
    const Line& line = lines_[d];
    const Tensor pixel = mul(line.pixel[of[d]], number(step));
    tap.pixel = d == 0 ? pixel : tap.pixel + pixel;
    tap.inside = d == 0 ? line.inside[of[d]] : bitwise_and(tap.inside, line.inside[of[d]]);
    tap.weight = d == 0 ? line.weight[of[d]] : tap.weight * line.weight[of[d]];
    step *= in_[in_.size() - 1 - d];
    Tensor slope = line.slope[of[d]];
    for (size_t e = 0; e < of.size(); ++e)
      if (e != d) slope = slope * lines_[e].weight[of[e]];
    tap.slopes.push_back(unsqueeze(slope, 1));
  }
  tap.weight = unsqueeze(tap.weight, 1);
  tap.inside = unsqueeze(tap.inside, 1);
  tap.pixel = unsqueeze(tap.pixel, 1);
  tap.pixel = expand(tap.pixel, Shape{in_[0], in_[1], tap.pixel.size(2)});
  return tap;
}

template <class F>
void Sampled::each_tap(F f) const {
  int taps = 1;
  for (int d = 0; d < how_.dims; ++d) taps *= kernels::taps_of(how_.mode);
  for (int t = 0; t < taps; ++t) f(tap(t));
}

Tensor Sampled::taken(const Tap& tap) const {
  return where(tap.inside, gather(image_, 2, tap.pixel), zero());
}

Tensor Sampled::flat(const Tensor& dy) const {
  return flatten(cast(dy, image_.dtype()), 2, dy.ndim() - 1);
}

// -- sums over the taps ---------------------------------------------------------------------------

static void add_to(Tensor& sum, const Tensor& more) { sum = sum.defined() ? sum + more : more; }

Tensor Sampled::value() const {
  Tensor y;
  each_tap([&](const Tap& tap) { add_to(y, taken(tap) * tap.weight); });
  return cast(reshape(y, out_), dtype_);
}

Tensor Sampled::image_gradient(const Tensor& dy) const {
  const Tensor g = flat(dy);
  Tensor dx = zeros(image_.shape(), image_.dtype(), image_.device());
  each_tap([&](const Tap& tap) {
    dx = scatter_add(dx, 2, tap.pixel, where(tap.inside, g * tap.weight, zero()));
  });
  return cast(reshape(dx, in_), dtype_);
}

Tensor Sampled::grid_gradient(const Tensor& dy) const {
  const Tensor g = flat(dy);
  std::vector<Tensor> sums(lines_.size());
  static constexpr int64_t kChannels[] = {1};
  each_tap([&](const Tap& tap) {
    const Tensor both = sum(g * taken(tap), Dims(kChannels), true);
    for (size_t d = 0; d < sums.size(); ++d) add_to(sums[d], both * tap.slopes[d]);
  });
  for (Tensor& s : sums) s = squeeze(s, Dims(kChannels));
  return cast(reshape(stack(sums, -1), grid_), dtype_);
}

Tensor Sampled::tangent(const Tensor& of_grid) const {
  const Tensor t = unsqueeze(flatten(cast(of_grid, image_.dtype()), 1, of_grid.ndim() - 2), 1);
  Tensor y;
  each_tap([&](const Tap& tap) {
    Tensor moved;
    for (size_t d = 0; d < lines_.size(); ++d)
      add_to(moved, tap.slopes[d] * select(t, 3, static_cast<int64_t>(d)));
    add_to(y, taken(tap) * moved);
  });
  return cast(reshape(y, out_), dtype_);
}

}  // namespace libdl
