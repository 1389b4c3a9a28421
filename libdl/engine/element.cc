// SPDX-License-Identifier: Apache-2.0

#include "engine/element.h"

#include "entries/copy.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/primitive/observe.h"

namespace libdl {
namespace {

// Where element i lies, counted row by row.
int64_t place_of(const Tensor& x, int64_t i) {
  int64_t place = 0;
  for (int d = x.ndim() - 1; d >= 0; --d) {
    place += i % x.size(d) * x.stride(d);
    i /= x.size(d);
  }
  return place;
}

}  // namespace

std::span<const Complex> axes_of(Dtype dtype) {
  static constexpr Complex kAxes[] = {{1, 0}, {0, 1}};
  return {kAxes, is_complex(dtype) ? size_t{2} : size_t{1}};
}

Column elements(const Tensor& x) {
  const ModeGuard unrecorded(kModeGrad | kModeForward);
  const Tensor values = plain(x, Dtype::kComplex128);
  const Complex* const first = values.read_plain<Complex>();
  return Column(first, first + values.numel());
}

Tensor moved(const Tensor& x, int64_t i, Complex step) {
  LIBDL_OBSERVED_PART("gradcheck", moved(x, i, step), x);
  const ModeGuard unrecorded(kModeGrad | kModeInference | kModeForward);
  const Extent reach =
      x.numel() ? extent(x.shape(), x.strides(), "libdl_gradcheck") : Extent{0, -1};
  const int64_t cells[] = {reach.high - reach.low + 1};
  Tensor copy = alias(zeros(cells, x.dtype()), x.shape(), x.strides(), -reach.low, x.dtype());
  copy_bytes(copy, x);
  if (step != Complex(0)) {
    if (x.is_complex())
      copy.update_plain<Complex>()[place_of(copy, i)] += step;
    else
      copy.update_plain<double>()[place_of(copy, i)] += step.real();
  }
  set_requires_grad(copy, true);
  return copy;
}

Tensor unit(const Tensor& like, int64_t i, Complex value) {
  Tensor made = zeros(like.shape(), Dtype::kComplex128);
  made.update_plain<Complex>()[i] = value;
  return plain(like.is_complex() ? made : real(made), like.dtype());
}

}  // namespace libdl
