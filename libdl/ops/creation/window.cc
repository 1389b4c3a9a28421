// SPDX-License-Identifier: Apache-2.0

// Windows for spectra: computed in float64 whatever the dtype, then rounded once.
#include <algorithm>
#include <numbers>

#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/creation.h"
#include "entries/exponential.h"
#include "entries/sequence.h"
#include "entries/special.h"
#include "ops/core/call.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pointwise/pointwise.h"

namespace libdl {

namespace {
struct Window {
  const char* op;
  int64_t length;
  bool periodic;
  Dtype dtype;
  std::optional<Device> device;
};
}  // namespace

static Dtype checked_dtype(const Window& w) {
  if (w.length < 0)
    fail_argument(LIBDL_ERROR_VALUE, w.op, "window_length", "is " + std::to_string(w.length),
                  "0 or more");
  const Dtype dtype = w.dtype == Dtype::kNone ? default_dtype() : w.dtype;
  if (!is_floating(dtype))
    fail_argument(LIBDL_ERROR_DTYPE, w.op, "dtype", std::string("is ") + name_of(dtype),
                  "a floating dtype");
  return dtype;
}

// shape(n / N) for each place n, as the window's dtype.
template <class F>
static Tensor window(const Window& w, F&& shape) {
  const Dtype dtype = checked_dtype(w);
  const Shape size{w.length};
  checked_numel(size, Dtype::kFloat64, w.op, "window_length");
  if (w.length == 1) return ones(size, dtype, w.device);
  const Tensor n = arange(nullptr, number(w.length), nullptr, Dtype::kFloat64, w.device);
  const int64_t last = w.periodic ? w.length : w.length - 1;
  const Tensor position = div(n, number(static_cast<double>(std::max<int64_t>(last, 1))));
  return to(shape(position), dtype, std::nullopt);
}

// mean + weights[0] cos(2 pi n / N) + weights[1] cos(4 pi n / N) + ...
static Tensor cosines(const Window& w, double mean, std::initializer_list<double> weights) {
  return window(w, [&](const Tensor& position) {
    Tensor sum = number(mean);
    double angle = 0;
    for (const double weight : weights) {
      angle += 2 * std::numbers::pi;
      sum = cos(position * number(angle)) * number(weight) + sum;
    }
    return sum;
  });
}

Tensor hann_window_impl(int64_t window_length, bool periodic, Dtype dtype,
                        std::optional<Device> device) {
  return cosines({"hann_window", window_length, periodic, dtype, device}, 0.5, {-0.5});
}

Tensor hamming_window_impl(int64_t window_length, bool periodic, double alpha, double beta,
                           Dtype dtype, std::optional<Device> device) {
  return cosines({"hamming_window", window_length, periodic, dtype, device}, alpha, {-beta});
}

Tensor blackman_window_impl(int64_t window_length, bool periodic, Dtype dtype,
                            std::optional<Device> device) {
  return cosines({"blackman_window", window_length, periodic, dtype, device}, 0.42, {-0.5, 0.08});
}

Tensor bartlett_window_impl(int64_t window_length, bool periodic, Dtype dtype,
                            std::optional<Device> device) {
  return window({"bartlett_window", window_length, periodic, dtype, device},
                [](const Tensor& position) {
                  return sub(number(1.0), abs(position * number(2.0) + number(-1.0)));
                });
}

Tensor kaiser_window_impl(int64_t window_length, bool periodic, double beta, Dtype dtype,
                          std::optional<Device> device) {
  return window({"kaiser_window", window_length, periodic, dtype, device},
                [&](const Tensor& position) {
                  const Tensor across = square(position * number(2.0) + number(-1.0));
                  const Tensor zero = number(0.0);
                  const Tensor inside = clamp(sub(number(1.0), across), &zero, nullptr);
                  const Tensor whole = full({}, number(beta), Dtype::kFloat64, position.device());
                  return div(i0(sqrt(inside) * number(beta)), i0(whole));
                });
}

}  // namespace libdl
