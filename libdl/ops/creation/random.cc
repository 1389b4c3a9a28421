// SPDX-License-Identifier: Apache-2.0

#include <bit>
#include <cmath>
#include <limits>

#include "device/meta.h"
#include "entries/arithmetic.h"
#include "entries/copy.h"
#include "entries/creation.h"
#include "entries/random.h"
#include "kernels/shuffle.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/creation/creation.h"
#include "ops/creation/draw.h"
#include "ops/indexing/indices.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pointwise/pointwise.h"
#include "runtime/float_environment.h"
#include "runtime/log.h"
#include "runtime/thread_pool.h"
#include "tensor/memory_order.h"

namespace libdl {

namespace {

// Words that one element takes; see kernels/philox.h.
int64_t elements_per_block(const Draw& draw, Dtype dtype) {
  switch (draw.distribution) {
    case Distribution::kBernoulli: return 4;
    case Distribution::kRandint: return draw.range == 0 || draw.range > uint64_t{1} << 32 ? 2 : 4;
    default: return size_of(dtype) == 8 ? 2 : 4;
  }
}

// A complex tensor as twice as many real numbers.
Tensor parts_of(const Tensor& x) {
  if (!x.is_complex()) return x;
  Shape sizes(x.shape()), strides(x.strides());
  for (int64_t& stride : strides) stride *= 2;
  sizes.push_back(2);
  strides.push_back(1);
  return alias(x, sizes, strides, 2 * x.offset(), real_of(x.dtype()));
}

}  // namespace

Origin draw_into(const Tensor& y, const Draw& draw, Generator* given) {
  if (y.numel() == 0 || is_meta(y.device())) return {};  // nothing is drawn for no elements
  const Tensor x = parts_of(y);
  const int64_t width = elements_per_block(draw, x.dtype());
  Generator& generator = generator_or_default(given);
  const uint64_t key = key_of(generator);
  const uint64_t offset = advance(generator, static_cast<uint64_t>((x.numel() - 1) / width + 1));
  launch_random(x.device(), {static_cast<int32_t>(draw.distribution), overwrites(x), draw.chance,
                             draw.a, draw.b, draw.low, draw.range, key, offset});
  return {key, offset};
}

// -- checks ---------------------------------------------------------------------------------------

static void check_shape(const char* op, Dims shape) {
  bool good = shape.size() <= kMaxDims;
  for (const int64_t size : shape) good &= size >= 0;
  if (!good)
    fail_argument(LIBDL_ERROR_SHAPE, op, "shape", "is " + to_string(shape),
                  "at most 64 sizes of 0 or more");
}

static Device checked_device(const char* op, std::optional<Device> device, Device fallback) {
  if (!device) return fallback;
  return device_or_default(op, device);
}

void check_inexact(const char* op, const char* name, Dtype dtype) {
  if (!is_inexact(dtype))
    fail_argument(LIBDL_ERROR_DTYPE, op, name, std::string("is ") + name_of(dtype),
                  "a floating or complex dtype");
}

// Whether every integer of a range is a value of the dtype: floats hold them up to 2^digits.
static bool holds(Dtype dtype, int64_t least, int64_t greatest) {
  const auto within = [&]<class T>(T) {
    return std::cmp_greater_equal(least, std::numeric_limits<T>::min()) &&
           std::cmp_less_equal(greatest, std::numeric_limits<T>::max());
  };
  const auto digits = [&](int n) {
    return least >= -(int64_t{1} << n) && greatest <= int64_t{1} << n;
  };
  switch (dtype) {
    case Dtype::kBool: return least >= 0 && greatest <= 1;
    case Dtype::kUint8: return within(uint8_t{});
    case Dtype::kUint16: return within(uint16_t{});
    case Dtype::kUint32: return within(uint32_t{});
    case Dtype::kUint64: return least >= 0;
    case Dtype::kInt8: return within(int8_t{});
    case Dtype::kInt16: return within(int16_t{});
    case Dtype::kInt32: return within(int32_t{});
    case Dtype::kInt64: return true;
    case Dtype::kFloat16: return digits(11);
    case Dtype::kBfloat16: return digits(8);
    case Dtype::kFloat32: return digits(24);
    case Dtype::kFloat64: return digits(53);
    default: return false;
  }
}

// The significant bits of a floating dtype.
static int digits_of(Dtype floating) {
  switch (floating) {
    case Dtype::kFloat16: return 11;
    case Dtype::kBfloat16: return 8;
    case Dtype::kFloat32: return 24;
    default: return 53;
  }
}

// The nearest value of a floating dtype that is not above an integer, or not below it.
static __int128 nearest_held(Dtype floating, int64_t x, bool below) {
  const uint64_t magnitude = x < 0 ? 0 - static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
  const int spare = static_cast<int>(std::bit_width(magnitude)) - digits_of(floating);
  if (spare <= 0) return x;
  const __int128 step = static_cast<__int128>(1) << spare, rest = x & (step - 1);
  return x - rest + (below || rest == 0 ? 0 : step);
}

// Integers that a floating dtype does not hold become neighbours that it holds. The bounds move
// inwards to such, so that no result lies outside.
static bool narrow_to_held(const char* op, Dtype dtype, int64_t& low, int64_t& high) {
  constexpr int64_t kMostFloat16 = 65504;
  if (!is_floating(dtype)) return false;
  if (dtype == Dtype::kFloat16 && (low < -kMostFloat16 || high - 1 > kMostFloat16)) return false;
  const __int128 from = nearest_held(dtype, low, false), to = nearest_held(dtype, high - 1, true);
  if (from > to) return false;
  const std::string message = std::string(op) + ": " + name_of(dtype) +
                              " does not hold all integers from " + std::to_string(low) + " to " +
                              std::to_string(high - 1) + "; those between are rounded";
  warn(message.c_str());
  low = static_cast<int64_t>(from);
  high = static_cast<int64_t>(to) + 1;
  return true;
}

// -- creation -------------------------------------------------------------------------------------

static Tensor drawn(const char* op, const Draw& draw, Dims shape, Dtype dtype, Device device,
                    Generator* generator, Into into) {
  Call call(op, into, std::span<const Tensor* const>());
  const Tensor y = result_place(call, into, shape, dtype, device, {});
  draw_into(y, draw, generator);
  return call.done(y);
}

// The words are those of the elements' places in row-major order, wherever they lie.
static Tensor drawn_as(const char* op, const Draw& draw, const Tensor& input, Dtype dtype,
                       Device device, Generator* generator) {
  Call call(op, {}, std::span<const Tensor* const>());
  const Tensor y = empty_as(input, dtype, device);
  draw_into(y, draw, generator);
  return call.done(y);
}

static Draw standard_normal(Dtype dtype) {
  // The parts of a complex number share its variance.
  return {Distribution::kNormal, 0, is_complex(dtype) ? std::sqrt(0.5) : 1.0};
}

Tensor rand_impl(Dims shape, Generator* generator, Dtype dtype, std::optional<Device> device,
                 Into into) {
  check_shape("rand", shape);
  const Dtype type = dtype == Dtype::kNone ? default_dtype() : dtype;
  check_inexact("rand", "dtype", type);
  checked_numel(shape, type, "rand", "shape");
  return drawn("rand", {Distribution::kUniform}, shape, type,
               device_or_default("rand", device, into), generator, into);
}

Tensor randn_impl(Dims shape, Generator* generator, Dtype dtype, std::optional<Device> device,
                  Into into) {
  check_shape("randn", shape);
  const Dtype type = dtype == Dtype::kNone ? default_dtype() : dtype;
  check_inexact("randn", "dtype", type);
  checked_numel(shape, type, "randn", "shape");
  return drawn("randn", standard_normal(type), shape, type,
               device_or_default("randn", device, into), generator, into);
}

static Draw integers(const char* op, int64_t low, int64_t high, Dtype dtype) {
  if (is_complex(dtype))
    fail_argument(LIBDL_ERROR_DTYPE, op, "dtype", std::string("is ") + name_of(dtype),
                  "an integer or floating dtype");
  if (low >= high)
    fail_argument(LIBDL_ERROR_VALUE, op, "high", "is " + std::to_string(high),
                  "more than low, which is " + std::to_string(low));
  if (!holds(dtype, low, high - 1) && !narrow_to_held(op, dtype, low, high))
    fail_argument(LIBDL_ERROR_VALUE, op, "dtype",
                  std::string("is ") + name_of(dtype) + ", which does not hold all integers from " +
                      std::to_string(low) + " to " + std::to_string(high - 1),
                  "a dtype that does");
  return {Distribution::kRandint, 0, 1, low,
          static_cast<uint64_t>(high) - static_cast<uint64_t>(low)};
}

Tensor randint_impl(std::optional<int64_t> low, int64_t high, Dims shape, Generator* generator,
                    Dtype dtype, std::optional<Device> device, Into into) {
  check_shape("randint", shape);
  const Dtype type = dtype == Dtype::kNone ? Dtype::kInt64 : dtype;
  checked_numel(shape, type, "randint", "shape");
  const Draw draw = integers("randint", low.value_or(0), high, type);
  return drawn("randint", draw, shape, type, device_or_default("randint", device, into), generator,
               into);
}

// n words of the generator, shuffled where they lie: in the host's memory, for each step needs the
// one before it.
template <class Word>
static Tensor shuffled(int64_t n, Dtype dtype, Generator* generator) {
  const int64_t shape[] = {n};
  const Tensor order = empty(shape, dtype);
  const Origin drawn = draw_into(order, {Distribution::kBits}, generator);
  Word* const words = order.update_plain<Word>();
  for (int64_t first = 0, last; first < n; first = last) {
    if (first != 0 && interrupted()) device_detail::raise_interrupted();
    last = std::min(n, first + (int64_t{1} << 20));
    kernels::shuffle(words, first, last, drawn.key, drawn.offset);
  }
  return order;
}

Tensor randperm_impl(int64_t n, Generator* generator, Dtype dtype, std::optional<Device> device,
                     Into into) {
  Call call("randperm", into, std::span<const Tensor* const>());
  if (n < 0) call.bad(LIBDL_ERROR_VALUE, "n", "is " + std::to_string(n), "0 or more");
  const Dtype type = dtype == Dtype::kNone ? Dtype::kInt64 : dtype;
  if (is_complex(type) || type == Dtype::kBool)
    call.bad(LIBDL_ERROR_DTYPE, "dtype", std::string("is ") + name_of(type),
             "an integer or floating dtype");
  if (!holds(type, 0, n - 1))
    call.bad(LIBDL_ERROR_VALUE, "dtype",
             std::string("is ") + name_of(type) + ", which does not hold all integers to " +
                 std::to_string(n - 1),
             "a dtype that does");
  const int64_t shape[] = {n};
  checked_numel(shape, Dtype::kInt64, "randperm", "n");
  const Device place = device_or_default("randperm", device, into);
  if (is_meta(place)) return call.done(empty(shape, type, place));
  Refund refund(generator);
  const bool narrow = n <= std::numeric_limits<int32_t>::max();
  const Tensor order = narrow ? shuffled<uint32_t>(n, Dtype::kInt32, generator)
                              : shuffled<uint64_t>(n, Dtype::kInt64, generator);
  refund.drawn();
  Tensor y = call.done(on_device(plain(order, type), place));
  refund.spent();
  return y;
}

Tensor rand_like_impl(const Tensor& input, Generator* generator, Dtype dtype,
                      std::optional<Device> device) {
  const Dtype type = dtype == Dtype::kNone ? input.dtype() : dtype;
  check_inexact("rand_like", dtype == Dtype::kNone ? "input" : "dtype", type);
  return drawn_as("rand_like", {Distribution::kUniform}, input, type,
                  checked_device("rand_like", device, input.device()), generator);
}

Tensor randn_like_impl(const Tensor& input, Generator* generator, Dtype dtype,
                       std::optional<Device> device) {
  const Dtype type = dtype == Dtype::kNone ? input.dtype() : dtype;
  check_inexact("randn_like", dtype == Dtype::kNone ? "input" : "dtype", type);
  return drawn_as("randn_like", standard_normal(type), input, type,
                  checked_device("randn_like", device, input.device()), generator);
}

Tensor randint_like_impl(const Tensor& input, std::optional<int64_t> low, int64_t high,
                         Generator* generator, Dtype dtype, std::optional<Device> device) {
  const Dtype type = dtype == Dtype::kNone ? input.dtype() : dtype;
  const Draw draw = integers("randint_like", low.value_or(0), high, type);
  return drawn_as("randint_like", draw, input, type,
                  checked_device("randint_like", device, input.device()), generator);
}

// -- in place -------------------------------------------------------------------------------------

// What was there no longer matters, nor does the probability, however it came about.
static void random_vjp(Backward& b) {
  for (int i = 0; i < b.inputs(); ++i)
    if (b.needs(i)) b.set_grad(i, zeros(b.dy().shape(), b.dy().dtype(), b.dy().device()));
}
static const Rule kUniform{"uniform_", random_vjp}, kNormal{"normal_", random_vjp},
    kBernoulliFill{"bernoulli_", random_vjp}, kBernoulli{"bernoulli", random_vjp};

static const Tensor& destination(const char* op, const Into& into) {
  if (!into) fail_argument(LIBDL_ERROR_NULL, op, "dst", "is absent", "a tensor");
  return into.tensor();
}

// shift: added to what was drawn.
static Tensor redrawn(const Rule& rule, const Draw& draw, Generator* generator, Into into,
                      double shift = 0) {
  const Tensor& dst = into.tensor();
  Call call(rule.name, into, {&dst});
  Tensor y = shift == 0 ? alias(dst) : empty(dst.shape(), dst.dtype(), dst.device());
  if (call.forward()) call.ready_jvp(y, [&] { return zeros(y.shape(), y.dtype(), y.device()); });
  call.ready(y, rule, NoAttr{});
  Refund refund(generator);
  draw_into(y, draw, generator);
  refund.drawn();
  if (shift != 0) {
    const Tensor values = alias(y);  // without history
    pointwise(k_add, values, number(shift), Into(values));
  }
  refund.spent();
  return call.finish(std::move(y));
}

Tensor uniform_impl(double low, double high, Generator* generator, Into into) {
  const char* const op = "uniform_";
  check_inexact(op, "dst", destination(op, into).dtype());
  if (!std::isfinite(low))
    fail_argument(LIBDL_ERROR_VALUE, op, "low", "is " + std::to_string(low), "a finite number");
  if (!std::isfinite(high) || high < low)
    fail_argument(LIBDL_ERROR_VALUE, op, "high", "is " + std::to_string(high),
                  "a finite number, not below low");
  return redrawn(kUniform, {Distribution::kUniform, low, high}, generator, into);
}

Tensor normal_impl(double mean, double std, Generator* generator, Into into) {
  const char* const op = "normal_";
  const Dtype dtype = destination(op, into).dtype();
  check_inexact(op, "dst", dtype);
  if (!(std >= 0))
    fail_argument(LIBDL_ERROR_VALUE, op, "std", "is " + std::to_string(std), "0 or more");
  if (!is_complex(dtype))
    return redrawn(kNormal, {Distribution::kNormal, mean, std}, generator, into);
  const DefaultFloatEnvironment environment;
  // The mean is real: it moves the real parts only.
  return redrawn(kNormal, {Distribution::kNormal, 0, std * std::sqrt(0.5)}, generator, into, mean);
}

// -- bernoulli ------------------------------------------------------------------------------------

void check_probability(const char* op, double p) {
  if (!(p >= 0 && p <= 1))
    fail_argument(LIBDL_ERROR_VALUE, op, "p", "is " + std::to_string(p), "0 to 1");
}

static void check_probabilities(const char* op, const char* name, const Tensor& p) {
  if (!is_floating(p.dtype()))
    fail_argument(LIBDL_ERROR_DTYPE, op, name, std::string("is ") + name_of(p.dtype()),
                  "a floating dtype");
  if (is_meta(p.device())) return;
  const Tensor all = plain(on_host(p), Dtype::kFloat64);
  const double* const value = all.read_plain<double>();
  for (int64_t i = 0; i < all.numel(); ++i)
    if (!(value[i] >= 0 && value[i] <= 1))
      fail_argument(LIBDL_ERROR_VALUE, op, name, "holds " + std::to_string(value[i]),
                    "probabilities from 0 to 1");
}

Tensor bernoulli_impl(const Tensor& input, std::optional<double> p, Generator* generator,
                      Into into) {
  const char* const op = "bernoulli";
  if (p)
    check_probability(op, *p);
  else
    check_probabilities(op, "input", input);
  if (input.is_complex())
    fail_argument(LIBDL_ERROR_DTYPE, op, "input", std::string("is ") + name_of(input.dtype()),
                  "a real dtype");
  Call call(op, into, {&input});
  const Tensor chances = input.is_number() ? plain(input) : input;
  Tensor y = result_place(call, into, input.shape(), input.dtype(), input.device(), {&input});
  Draw draw{Distribution::kBernoulli, p.value_or(0)};
  if (!p) draw.chance = reads(chances);
  if (call.forward()) call.ready_jvp(y, [&] { return zeros(y.shape(), y.dtype(), y.device()); });
  call.ready(y, kBernoulli, NoAttr{});
  draw_into(y, draw, generator);
  return call.finish(std::move(y));
}

Tensor bernoulli_fill_impl(const Tensor& p, Generator* generator, Into into) {
  const char* const op = "bernoulli_";
  const Tensor& dst = destination(op, into);
  check_probabilities(op, "p", p);
  if (!p.is_number() && p.device() != dst.device())
    fail_argument(LIBDL_ERROR_DEVICE, op, "p", "is on " + device_name(p.device()),
                  device_name(dst.device()));
  if (dst.is_complex())
    fail_argument(LIBDL_ERROR_DTYPE, op, "dst", std::string("is ") + name_of(dst.dtype()),
                  "a real dtype");
  if (!broadcasts_to(p.shape(), dst.shape()))
    fail_argument(LIBDL_ERROR_SHAPE, op, "p", "has shape " + to_string(p.shape()),
                  "one that broadcasts to " + to_string(dst.shape()));
  // Apart from dst, which is written while p is read.
  const bool apart = !p.is_number() && overlap(dst, p) == Overlap::kNone;
  Tensor own = p;
  if (!apart) {
    own = empty(p.shape(), p.dtype(), dst.device());
    copy_bytes(own, p);
  }
  const Tensor chances = expanded(own, dst.shape());
  Draw draw{Distribution::kBernoulli};
  draw.chance = reads(chances);
  return redrawn(kBernoulliFill, draw, generator, into);
}

}  // namespace libdl
