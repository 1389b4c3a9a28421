// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <numeric>

#include "device/meta.h"
#include "entries/sampling.h"
#include "entries/view.h"
#include "kernels/samplers.h"
#include "ops/core/call.h"
#include "ops/creation/draw.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pointwise/pointwise.h"
#include "ops/primitive/operand.h"
#include "ops/sampling/each.h"
#include "tensor/memory_order.h"

namespace libdl {

using kernels::ElementDraws;

// -- checks ---------------------------------------------------------------------------------------

template <class Good>
static void check_elements(const char* op, const char* name, const double* x, int64_t count,
                           const char* wanted, const Good& good) {
  if (!x) return;
  for (int64_t i = 0; i < count; ++i)
    if (!good(x[i]))
      fail_argument(LIBDL_ERROR_VALUE, op, name, "holds " + std::to_string(x[i]), wanted);
}

// draw(draws, i) for each element of a new tensor of doubles, on the host; each takes a block. What
// is meant for meta is there, and nothing is drawn.
template <class Draw>
static Tensor drawn(Dims shape, Device device, Generator* given, const Draw& draw) {
  if (is_meta(device)) return empty(shape, Dtype::kFloat64, device);
  const Tensor values = empty(shape, Dtype::kFloat64);
  if (values.numel() == 0) return values;
  Generator& generator = generator_or_default(given);
  const uint64_t key = key_of(generator);
  const uint64_t offset = advance(generator, static_cast<uint64_t>(values.numel()));
  double* const to = values.overwrite_plain<double>();
  each_index(values.numel(), [&](int64_t i) {
    ElementDraws draws(key, offset + static_cast<uint64_t>(i));
    to[i] = draw(draws, i);
  });
  return values;
}

static Tensor placed(const Tensor& values, Dtype dtype, Device device) {
  return on_device(plain(values, dtype), device);
}

// What was drawn does not change with the parameters.
static void no_slope(Backward& b) {
  for (int i = 0; i < b.inputs(); ++i)
    if (b.needs(i))
      b.set_grad(i, zeros(b.attr<std::array<Shape, 2>>()[i], b.dy().dtype(), b.dy().device()));
}

// -- new tensors ----------------------------------------------------------------------------------

static const Rule kPoisson{"poisson", no_slope}, kBinomial{"binomial", no_slope};

Tensor poisson_impl(const Tensor& input, Generator* generator) {
  Call call("poisson", {}, {&input});
  check_floating("poisson", {input, "input"});
  Tensor held;
  const double* const mean = elements_of(held, detach(input));
  check_elements("poisson", "input", mean, input.numel(), "means of 0 or more",
                 [](double x) { return x >= 0 && x < 1e300; });
  Refund refund(generator);
  const Tensor values =
      drawn(input.shape(), input.device(), generator,
            [&](ElementDraws& draws, int64_t i) { return kernels::draw_poisson(draws, mean[i]); });
  refund.drawn();
  const Tensor y = placed(values, input.dtype(), input.device());
  Tensor made = call.done(y, kPoisson, std::array<Shape, 2>{Shape(input.shape()), Shape()}, {},
                          [&](const Tensor& z) { return zeros(z.shape(), z.dtype(), z.device()); });
  refund.spent();
  return made;
}

Tensor binomial_impl(const Tensor& count, const Tensor& prob, Generator* generator) {
  const char* const op = "binomial";
  static constexpr const char* kNames[] = {"count", "prob"};
  const Tensor* const operands[] = {&count, &prob};
  check_floating(op, {count, "count"});
  check_floating(op, {prob, "prob"});
  if (prob.dtype() != count.dtype())
    fail_argument(LIBDL_ERROR_DTYPE, op, "prob", std::string("is ") + name_of(prob.dtype()),
                  name_of(count.dtype()));
  const Shape shape = broadcast_shape(op, kNames, operands);
  Call call(op, {}, {&count, &prob});
  Tensor held[2];
  const double* const n = elements_of(held[0], expand(detach(count), shape));
  const double* const p = elements_of(held[1], expand(detach(prob), shape));
  const int64_t total = held[0].defined() ? held[0].numel() : 0;
  check_elements(op, "count", n, total, "finite numbers of 0 or more",
                 [](double x) { return x >= 0 && std::isfinite(x); });
  check_elements(op, "prob", p, total, "probabilities from 0 to 1",
                 [](double x) { return x >= 0 && x <= 1; });
  Refund refund(generator);
  const Device device = result_device(operands);
  const Tensor values = drawn(shape, device, generator, [&](ElementDraws& draws, int64_t i) {
    return kernels::draw_binomial(draws, std::floor(n[i]), p[i]);
  });
  refund.drawn();
  const Tensor y = placed(values, count.dtype(), device);
  Tensor made =
      call.done(y, kBinomial, std::array<Shape, 2>{Shape(count.shape()), Shape(prob.shape())}, {},
                [&](const Tensor& z) { return zeros(z.shape(), z.dtype(), z.device()); });
  refund.spent();
  return made;
}

// -- gamma ----------------------------------------------------------------------------------------

static void no_second_order(Backward&) {
  fail(LIBDL_ERROR_AUTOGRAD, "standard_gamma",
       "its gradient has no derivative, wanted backward without create_graph");
}
static const Rule kGammaSlope{"standard_gamma_slope", no_second_order};

static double slope_of_number(double alpha, double x) {
  return x * kernels::log_gamma_slope(alpha, std::log(x));
}

// dy/dalpha at a fixed quantile. It is no constant, so a derivative of it must be refused.
static Tensor gamma_slope(const Tensor& alpha, const Tensor& y,
                          double (*slope)(double alpha, double y)) {
  Call call("standard_gamma", {}, {&alpha, &y});
  if (is_meta(y.device()))
    return call.done(empty_as(y, y.dtype(), y.device()), kGammaSlope, NoAttr{});
  Tensor held[2];
  const double* const a = elements_of(held[0], detach(alpha));
  const double* const x = elements_of(held[1], detach(y));
  const Tensor values = empty(y.shape(), Dtype::kFloat64);
  if (values.numel() > 0) {
    double* const to = values.overwrite_plain<double>();
    each_index(values.numel(), [&](int64_t i) { to[i] = slope(a[i], x[i]); });
  }
  return call.done(placed(values, y.dtype(), y.device()), kGammaSlope, NoAttr{});
}

template <double (*slope)(double, double)>
static void gamma_vjp(Backward& b) {
  b.set_grad(0, b.dy() * gamma_slope(b.saved(0), b.saved(1), slope));
}
static const Rule kStandardGamma{"standard_gamma", gamma_vjp<slope_of_number>},
    kStandardLogGamma{"standard_log_gamma", gamma_vjp<kernels::log_gamma_slope>};

// The least positive number that is not subnormal: what underflows must remain positive.
static double least_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat16: return 6.103515625e-05;
    case Dtype::kFloat64: return std::numeric_limits<double>::min();
    default: return std::numeric_limits<float>::min();
  }
}
static double lowest_of(Dtype dtype) { return -largest_finite(dtype); }

namespace {
struct GammaNumbers {
  const char* op;
  double (*draw)(ElementDraws& draws, double alpha);
  double (*slope)(double alpha, double y);
  double (*least)(Dtype dtype);
};
}  // namespace

static Tensor gamma_numbers(const GammaNumbers& how, const Rule& rule, const Tensor& input,
                            Generator* generator) {
  Call call(how.op, {}, {&input});
  check_floating(how.op, {input, "input"});
  Tensor held;
  const double* const alpha = elements_of(held, detach(input));
  check_elements(how.op, "input", alpha, input.numel(), "finite numbers of 0 or more",
                 [](double x) { return x >= 0 && std::isfinite(x); });
  Refund refund(generator);
  const double least = how.least(input.dtype());
  const Tensor values = drawn(
      input.shape(), input.device(), generator,
      [&](ElementDraws& draws, int64_t i) { return std::max(least, how.draw(draws, alpha[i])); });
  refund.drawn();
  const Tensor y = placed(values, input.dtype(), input.device());
  Tensor made = call.done(
      y, rule, NoAttr{}, {saves_input(input, 0), saves_output(y, 0)},
      [&](const Tensor& z) { return call.tangent(0) * gamma_slope(input, z, how.slope); });
  refund.spent();
  return made;
}

Tensor standard_gamma_impl(const Tensor& input, Generator* generator) {
  static constexpr GammaNumbers kHow{"standard_gamma", kernels::draw_gamma, slope_of_number,
                                     least_of};
  return gamma_numbers(kHow, kStandardGamma, input, generator);
}

Tensor standard_log_gamma_impl(const Tensor& input, Generator* generator) {
  static constexpr GammaNumbers kHow{"standard_log_gamma", kernels::draw_log_gamma,
                                     kernels::log_gamma_slope, lowest_of};
  return gamma_numbers(kHow, kStandardLogGamma, input, generator);
}

// -- multinomial ----------------------------------------------------------------------------------

// Each sample by itself: where u times the sum falls among the partial sums.
static void with_replacement(const double* weight, int64_t n, int64_t samples, uint64_t key,
                             uint64_t offset, int64_t* to) {
  std::vector<double> sums(static_cast<size_t>(n));
  std::partial_sum(weight, weight + n, sums.begin());
  for (int64_t i = 0; i < samples; ++i) {
    const double u = ElementDraws(key, offset + static_cast<uint64_t>(i)).unit() * sums.back();
    int64_t at = std::upper_bound(sums.begin(), sums.end(), u) - sums.begin();
    at = std::min(at, n - 1);
    while (weight[at] == 0) --at;  // u was rounded up to the sum
    to[i] = at;
  }
}

// The first to arrive, where an index arrives after an exponential time with its weight as rate.
static void without_replacement(const double* weight, int64_t n, int64_t samples, uint64_t key,
                                uint64_t offset, int64_t* to) {
  std::vector<std::pair<double, int64_t>> arrivals;
  for (int64_t j = 0; j < n; ++j) {
    ElementDraws draws(key, offset + static_cast<uint64_t>(j));
    if (weight[j] > 0) arrivals.emplace_back(kernels::draw_exponential(draws, weight[j]), j);
  }
  std::partial_sort(arrivals.begin(), arrivals.begin() + samples, arrivals.end());
  for (int64_t i = 0; i < samples; ++i) to[i] = arrivals[static_cast<size_t>(i)].second;
}

static void check_weights(const char* op, const double* row, int64_t n, int64_t needed) {
  check_elements(op, "input", row, n, "finite weights of 0 or more",
                 [](double x) { return x >= 0 && std::isfinite(x); });
  const int64_t positive = std::count_if(row, row + n, [](double x) { return x > 0; });
  if (positive == 0)
    fail_argument(LIBDL_ERROR_VALUE, op, "input", "has a row of zeros", "a positive sum");
  if (positive < needed)
    fail_argument(
        LIBDL_ERROR_VALUE, op, "num_samples", "is " + std::to_string(needed),
        "at most the number of positive weights, " + std::to_string(positive) + ", or replacement");
}

Tensor multinomial_impl(const Tensor& input, int64_t num_samples, bool replacement,
                        Generator* generator) {
  const char* const op = "multinomial";
  Call call(op, {}, std::span<const Tensor* const>());
  check_floating(op, {input, "input"});
  if (input.ndim() < 1 || input.ndim() > 2 || input.size(input.ndim() - 1) == 0)
    call.bad(LIBDL_ERROR_SHAPE, "input", "has shape " + to_string(input.shape()),
             "[n] or [m, n] with n above 0");
  if (num_samples < 1)
    call.bad(LIBDL_ERROR_VALUE, "num_samples", "is " + std::to_string(num_samples), "1 or more");
  const int64_t n = input.size(input.ndim() - 1), rows = input.numel() / n;
  if (!replacement && num_samples > n)
    call.bad(LIBDL_ERROR_VALUE, "num_samples", "is " + std::to_string(num_samples),
             "at most " + std::to_string(n) + ", or replacement");
  Tensor held;
  const double* const weight = elements_of(held, detach(input));
  for (int64_t r = 0; weight && r < rows; ++r)
    check_weights(op, weight + r * n, n, replacement ? 1 : num_samples);
  Shape shape(input.shape());
  shape.back() = num_samples;
  checked_numel(shape, Dtype::kInt64, op, "num_samples");
  if (!weight) return call.done(empty(shape, Dtype::kInt64, input.device()));
  const Tensor y = empty(shape, Dtype::kInt64);
  if (y.numel() == 0) return call.done(on_device(y, input.device()));
  const int64_t blocks = replacement ? num_samples : n;
  Refund refund(generator);
  Generator& source = generator_or_default(generator);
  const uint64_t key = key_of(source);
  const uint64_t offset = advance(source, static_cast<uint64_t>(rows * blocks));
  refund.drawn();
  int64_t* const to = y.overwrite_plain<int64_t>();
  for (int64_t r = 0; r < rows; ++r)
    (replacement ? with_replacement : without_replacement)(
        weight + r * n, n, num_samples, key, offset + static_cast<uint64_t>(r * blocks),
        to + r * num_samples);
  Tensor made = call.done(on_device(y, input.device()));
  refund.spent();
  return made;
}

// -- in place -------------------------------------------------------------------------------------

static void forgets(Backward& b) {
  b.set_grad(0, zeros(b.dy().shape(), b.dy().dtype(), b.dy().device()));
}
static const Rule kExponential{"exponential_", forgets}, kGeometric{"geometric_", forgets},
    kCauchy{"cauchy_", forgets}, kLogNormal{"log_normal_", forgets};

template <class Draw>
static Tensor redrawn(const Rule& rule, Generator* generator, Into into, const Draw& draw) {
  if (!into) fail_argument(LIBDL_ERROR_NULL, rule.name, "dst", "is absent", "a tensor");
  const Tensor& dst = into.tensor();
  const bool whole = &rule == &kGeometric;
  const Dtype dtype = dst.dtype();
  if (whole ? is_complex(dtype) || dtype == Dtype::kBool : !is_floating(dtype))
    fail_argument(LIBDL_ERROR_DTYPE, rule.name, "dst", std::string("is ") + name_of(dtype),
                  whole ? "an integer or floating dtype" : "a floating dtype");
  Call call(rule.name, into, {&dst});
  Refund refund(generator);
  const Tensor values = drawn(dst.shape(), dst.device(), generator,
                              [&](ElementDraws& draws, int64_t) { return draw(draws); });
  refund.drawn();
  Tensor made = call.done(placed(values, dtype, dst.device()), rule, NoAttr{}, {},
                          [&](const Tensor& z) { return zeros(z.shape(), z.dtype(), z.device()); });
  refund.spent();
  return made;
}

static void check_positive(const char* op, const char* name, double x) {
  if (!(x > 0)) fail_argument(LIBDL_ERROR_VALUE, op, name, "is " + std::to_string(x), "above 0");
}

Tensor exponential_impl(double lambd, Generator* generator, Into into) {
  check_positive("exponential_", "lambd", lambd);
  return redrawn(kExponential, generator, into,
                 [=](ElementDraws& d) { return kernels::draw_exponential(d, lambd); });
}

Tensor geometric_impl(double p, Generator* generator, Into into) {
  if (!(p > 0 && p < 1))
    fail_argument(LIBDL_ERROR_VALUE, "geometric_", "p", "is " + std::to_string(p),
                  "above 0 and below 1");
  return redrawn(kGeometric, generator, into,
                 [=](ElementDraws& d) { return kernels::draw_geometric(d, p); });
}

Tensor cauchy_impl(double median, double sigma, Generator* generator, Into into) {
  check_positive("cauchy_", "sigma", sigma);
  return redrawn(kCauchy, generator, into, [=](ElementDraws& d) {
    return median + sigma * std::tan(std::numbers::pi * (d.unit() - 0.5));
  });
}

Tensor log_normal_impl(double mean, double std, Generator* generator, Into into) {
  check_positive("log_normal_", "std", std);
  return redrawn(kLogNormal, generator, into,
                 [=](ElementDraws& d) { return ::exp(mean + std * d.normal()); });
}

}  // namespace libdl
