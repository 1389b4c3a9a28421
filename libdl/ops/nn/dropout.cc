// SPDX-License-Identifier: Apache-2.0

#include <cmath>

#include "entries/arithmetic.h"
#include "entries/copy.h"
#include "entries/dropout.h"
#include "entries/nn.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/creation/draw.h"
#include "ops/pointwise/arithmetic.h"
#include "runtime/float_environment.h"
#include "tensor/memory_order.h"

namespace libdl {

// drawn: whether there is something to draw, so that channels must be told from samples.
static void check(const char* op, const Tensor& input, double p, bool by_channel, bool drawn) {
  check_inexact(op, "input", input.dtype());
  check_probability(op, p);
  if (by_channel && drawn && input.ndim() < 2)
    fail_argument(LIBDL_ERROR_SHAPE, op, "input", "has shape " + to_string(input.shape()),
                  "[n, c, ...]");
}

// Where the noise is drawn: for each element, or for each channel of each sample.
static Tensor place_of_noise(const Tensor& input, bool by_channel) {
  const Dtype dtype = real_of(input.dtype());
  if (!by_channel) return empty_as(input, dtype, input.device());
  Shape shape(input.shape());
  for (size_t d = 2; d < shape.size(); ++d) shape[d] = 1;
  return empty(shape, dtype, input.device());
}

static Tensor times(const char* op, const Tensor& input, const Tensor& factor, Into into) {
  return rename_error(op, {{"input", "input"}}, [&] { return mul(input, factor, into); });
}

// -- to zero --------------------------------------------------------------------------------------

// y = x * noise, with noise 0 or 1 / (1 - p): the product's own gradient.
static Tensor dropped(const char* op, const Tensor& input, double p, bool training,
                      Generator* generator, bool by_channel, Into into) {
  check(op, input, p, by_channel, training && p > 0 && p < 1);
  if (!training || p == 0) return times(op, input, number(int64_t{1}), into);
  const DefaultFloatEnvironment environment;
  const Tensor noise = place_of_noise(input, by_channel);
  Refund refund(generator);
  draw_into(noise, {Distribution::kBernoulli, 1 - p, p < 1 ? 1 / (1 - p) : 0}, generator);
  refund.drawn();
  Tensor y = times(op, input, noise, into);
  refund.spent();
  return y;
}

Tensor dropout_impl(const Tensor& input, double p, bool training, Generator* generator, Into into) {
  return dropped("dropout", input, p, training, generator, false, into);
}

Tensor feature_dropout_impl(const Tensor& input, double p, bool training, Generator* generator,
                            Into into) {
  return dropped("feature_dropout", input, p, training, generator, true, into);
}

// -- to the limit of selu -------------------------------------------------------------------------

// Dropped elements become -alpha, selu's limit at -infinity (Klambauer et al. 2017); then mean and
// variance are those of before: y = x noise + shift, with noise 0 or a, and shift
// a alpha (p - 1) where it is 0, a alpha p elsewhere.
static Tensor dropped_to_limit(const char* op, const Tensor& input, double p, bool training,
                               Generator* generator, bool by_channel, Into into) {
  check(op, input, p, by_channel, training && p > 0 && p < 1);
  if (!training || p == 0) return times(op, input, number(int64_t{1}), into);
  if (p == 1) return times(op, input, number(int64_t{0}), into);
  const DefaultFloatEnvironment environment;
  const double alpha = 1.7580993408473766, a = 1 / std::sqrt((alpha * alpha * p + 1) * (1 - p));
  const Tensor noise = place_of_noise(input, by_channel);
  Refund refund(generator);
  draw_into(noise, {Distribution::kBernoulli, 1 - p, a}, generator);
  refund.drawn();
  Tensor shift;
  {
    const ModeGuard off(kModeGrad | kModeForward);
    shift = add(mul(noise, number(alpha)), number(a * alpha * (p - 1)));
  }
  const Named named(op);
  Tensor y = named(rename_error(op, {{"input", "input"}}, [&] {
    return into ? write_result(op, add(mul(input, noise), shift), into, {&input})
                : add(mul(input, noise), shift);
  }));
  refund.spent();
  return y;
}

Tensor alpha_dropout_impl(const Tensor& input, double p, bool training, Generator* generator,
                          Into into) {
  return dropped_to_limit("alpha_dropout", input, p, training, generator, false, into);
}

Tensor feature_alpha_dropout_impl(const Tensor& input, double p, bool training,
                                  Generator* generator, Into into) {
  return dropped_to_limit("feature_alpha_dropout", input, p, training, generator, true, into);
}

}  // namespace libdl
