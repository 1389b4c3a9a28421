// SPDX-License-Identifier: Apache-2.0

// The CPU's pointwise, program, copy and fill kernels against plain scalar references.
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/tiles/tiles.h"
#include "kernels/cpu/traverse/convert.h"
#include "tests/core/kernel_context.h"
#include "tests/core/planted.h"

namespace libdl::kernels {
namespace {

using Z = std::complex<double>;

// Two threads and single chunks in reverse order: what depends on either fails here.
Context threaded_context() {
  return test::context_with([](Context&, int64_t chunks, test::Body body, void* arg) {
    int64_t half = chunks / 2;
    std::thread other([&] {
      for (int64_t i = half; i-- > 0;) body(arg, i, i + 1);
    });
    for (int64_t i = chunks; i-- > half;) body(arg, i, i + 1);
    other.join();
    return true;
  });
}

// Bytes between canaries, which their end checks: without a sanitizer, too, a kernel that writes
// past an operand is seen.
class Guarded {
 public:
  Guarded() = default;
  Guarded(const Guarded&) = default;
  Guarded(Guarded&&) = default;  // leaves nothing behind
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() {
    for (size_t i = 0; i < all_.size(); i += i + 1 == kRing ? size() + 1 : 1)
      if (all_[i] != kCanary) {
        ADD_FAILURE() << "byte " << static_cast<int64_t>(i - kRing) << " of an operand of "
                      << size() << " bytes was written";
        break;
      }
  }
  void assign(size_t count) {
    all_.assign(count + 2 * kRing, kCanary);
    std::memset(data(), 0, count);
  }
  size_t size() const { return all_.empty() ? 0 : all_.size() - 2 * kRing; }
  char* data() { return all_.data() + kRing; }
  const char* data() const { return all_.data() + kRing; }
  char& operator[](size_t i) { return data()[i]; }
  bool operator==(const Guarded& other) const { return all_ == other.all_; }
  std::vector<char> list() const { return {data(), data() + size()}; }

 private:
  static constexpr size_t kRing = 64;  // the widest vector
  static constexpr char kCanary = 0x5a;
  std::vector<char> all_;
};

// Memory of one operand with a shape and strides over it.
struct Array {
  int32_t dtype;
  std::vector<int64_t> sizes, strides;
  Guarded bytes;
  int64_t offset = 0;  // elements

  Array(int32_t dtype, std::vector<int64_t> sizes) : dtype(dtype), sizes(std::move(sizes)) {
    strides.assign(this->sizes.size(), 1);
    for (int d = static_cast<int>(strides.size()) - 2; d >= 0; --d) {
      strides[d] = strides[d + 1] * this->sizes[d + 1];
    }
    bytes.assign(count() * width());
  }
  // Any strides, over memory that just holds them.
  Array(int32_t dtype, std::vector<int64_t> sizes, std::vector<int64_t> strides)
      : dtype(dtype), sizes(std::move(sizes)), strides(std::move(strides)) {
    int64_t low = 0, high = 0;
    for (size_t d = 0; d < this->sizes.size(); ++d) {
      int64_t reach = (this->sizes[d] - 1) * this->strides[d];
      (reach < 0 ? low : high) += reach;
    }
    offset = -low;
    bytes.assign((high - low + 1) * width());
  }

  int width() const { return dtype_bytes(dtype); }
  int64_t count() const {
    return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
  }
  int64_t place(int64_t i) const {  // element number i in row-major order
    int64_t p = offset;
    for (int d = static_cast<int>(sizes.size()) - 1; d >= 0; --d) {
      p += i % sizes[d] * strides[d];
      i /= sizes[d];
    }
    return p;
  }
  template <class T>
  T get(int64_t i) const {
    T x;
    std::memcpy(&x, bytes.data() + place(i) * width(), sizeof(T));
    return x;
  }
  template <class T>
  void set(int64_t i, T x) {
    ASSERT_EQ(sizeof(T), static_cast<size_t>(width()));
    std::memcpy(bytes.data() + place(i) * width(), &x, sizeof(T));
  }
  View view() {
    return {bytes.data() + offset * width(), sizes.data(), strides.data(),
            static_cast<int32_t>(sizes.size()), dtype};
  }
};

template <class T>
constexpr int32_t dtype_of() {
  if (std::is_same_v<T, bool>) return LIBDL_DTYPE_BOOL;
  if (std::is_same_v<T, uint8_t>) return LIBDL_DTYPE_UINT8;
  if (std::is_same_v<T, uint16_t>) return LIBDL_DTYPE_UINT16;
  if (std::is_same_v<T, uint32_t>) return LIBDL_DTYPE_UINT32;
  if (std::is_same_v<T, uint64_t>) return LIBDL_DTYPE_UINT64;
  if (std::is_same_v<T, int8_t>) return LIBDL_DTYPE_INT8;
  if (std::is_same_v<T, int16_t>) return LIBDL_DTYPE_INT16;
  if (std::is_same_v<T, int32_t>) return LIBDL_DTYPE_INT32;
  if (std::is_same_v<T, int64_t>) return LIBDL_DTYPE_INT64;
  if (std::is_same_v<T, float>) return LIBDL_DTYPE_FLOAT32;
  if (std::is_same_v<T, double>) return LIBDL_DTYPE_FLOAT64;
  if (std::is_same_v<T, std::complex<float>>) return LIBDL_DTYPE_COMPLEX64;
  return LIBDL_DTYPE_COMPLEX128;
}

template <class T>
Array array(std::vector<int64_t> sizes, const std::vector<T>& values) {
  Array a(dtype_of<T>(), std::move(sizes));
  for (size_t i = 0; i < values.size(); ++i) a.set<T>(i, values[i]);
  return a;
}
template <class T>
Array array(const std::vector<T>& values) {
  return array<T>({static_cast<int64_t>(values.size())}, values);
}

void (*pointwise_kernel)(Context&, const PointwiseArgs&) = cpu::pointwise;  // planted ones stand in

void run(Expression e, Class compute, Array& out, std::vector<Array*> in, bool threads = false) {
  PointwiseArgs args = {};
  args.expression = static_cast<int32_t>(e);
  args.compute = static_cast<int32_t>(compute);
  args.inputs = static_cast<int32_t>(in.size());
  args.out = out.view();
  for (size_t k = 0; k < in.size(); ++k) args.in[k] = in[k]->view();
  Context context = threads ? threaded_context() : test::plain_context();
  pointwise_kernel(context, args);
}

template <class R, class T, class... Rest>
std::vector<R> apply(Expression e, Class c, const std::vector<T>& x, const Rest&... more) {
  Array first = array(x);
  std::vector<Array> others = {array(more)...};
  Array out(dtype_of<R>(), {static_cast<int64_t>(x.size())});
  std::vector<Array*> in = {&first};
  for (Array& a : others) in.push_back(&a);
  run(e, c, out, in);
  std::vector<R> y(x.size());
  for (size_t i = 0; i < y.size(); ++i) y[i] = out.get<R>(i);
  return y;
}

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Runs a test's body for every instruction set of the machine.
class Isas : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!cpu::set_isa(static_cast<cpu::Isa>(GetParam()))) GTEST_SKIP() << "not on this machine";
  }
  void TearDown() override { cpu::set_isa(cpu::best_isa()); }
};
INSTANTIATE_TEST_SUITE_P(All, Isas, testing::Range(0, cpu::kIsas), [](const auto& info) {
  return std::string(cpu::isa_name(static_cast<cpu::Isa>(info.param)));
});

uint64_t mix(uint64_t x) {  // splitmix64
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

// --- Expressions of real numbers ---------------------------------------------------------------

double floored(double x, double y) {
  double r = std::fmod(x, y);
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}
double floor_div(double x, double y) {
  if (y == 0) return x / y;
  double r = std::fmod(x, y), q = (x - r) / y;
  if (r != 0 && (r < 0) != (y < 0)) q -= 1;
  if (q == 0) return std::copysign(0.0, x / y);
  double whole = std::floor(q);
  return q - whole > 0.5 ? whole + 1 : whole;
}
long double cdf(long double x) { return 0.5L * erfcl(-x * 0.70710678118654752440084436210485L); }
long double density(long double x) {
  return expl(-0.5L * x * x) * 0.39894228040143267793994605993438L;
}
long double logistic(long double x) { return 1 / (1 + expl(-x)); }
long double share(long double x) {
  return logistic(2 * 0.79788456080286535587989211986876L * (x + 0.044715L * x * x * x));
}
long double larger(long double x, long double y) { return x != x || x > y ? x : y; }
long double smaller(long double x, long double y) { return x != x || x < y ? x : y; }

struct Reference {
  Expression expression;
  std::function<long double(long double, long double, long double)> value;
  double ulps;  // kExact: the rounded value
  // Activations in float64 may instead be off by this many halves of epsilon, of x where |x| > 1.
  double slack = 0;
};
constexpr double kExact = 0.501;  // the reference may itself lie just beyond the middle
using L = long double;
#define R1(name, body) {Expression::name, [](L x, L, L) -> L { return body; }, 2.0}
#define A1(name, body) {Expression::name, [](L x, L, L) -> L { return body; }, 2.0, 8.0}
#define E1(name, body) {Expression::name, [](L x, L, L) -> L { return body; }, kExact}
#define R2(name, body) {Expression::name, [](L x, L y, L) -> L { return body; }, 2.0}
#define E2(name, body) {Expression::name, [](L x, L y, L) -> L { return body; }, kExact}
#define E3(name, body) {Expression::name, [](L x, L y, L z) -> L { return body; }, kExact}

const std::vector<Reference>& references() {
  static const std::vector<Reference> list = {
      E2(add, x + y),
      E2(sub, x - y),
      E2(mul, x * y),
      E2(div, x / y),
      {Expression::add_scaled, nullptr, 0},  // rounds twice; see AddScaledRoundsTwice
      {Expression::div_trunc, nullptr, 0},
      E2(div_floor, floor_div(x, y)),
      E2(remainder, floored(x, y)),
      E2(fmod, fmodl(x, y)),
      R2(pow, powl(x, y)),
      E1(neg, -x),
      E1(abs, fabsl(x)),
      E1(sign, x != x ? x : L(x > 0) - L(x < 0)),
      E1(reciprocal, 1 / x),
      E1(square, x * x),
      E1(sqrt, sqrtl(x)),
      R1(rsqrt, 1 / sqrtl(x)),
      R1(exp, expl(x)),
      R1(expm1, expm1l(x)),
      R1(log, logl(x)),
      R1(log1p, log1pl(x)),
      R1(log2, log2l(x)),
      R1(log10, log10l(x)),
      R1(exp2, exp2l(x)),
      R1(sin, sinl(x)),
      R1(cos, cosl(x)),
      R1(tan, tanl(x)),
      R1(tanh, tanhl(x)),
      R1(sigmoid, logistic(x)),
      R1(erf, erfl(x)),
      E1(relu, x != x  ? x
               : x > 0 ? x
                       : 0),
      {Expression::gelu, [](L x, L, L) -> L { return x == -kInf ? 0 : x * cdf(x); }, 6, 8},
      A1(gelu_tanh, x == -kInf ? 0 : x * share(x)),
      {Expression::gelu_derivative,
       [](L x, L, L) -> L { return std::isinf(x) ? L(x > 0) : cdf(x) + x * density(x); }, 2, 8},
      {Expression::gelu_tanh_derivative,
       [](L x, L, L) -> L {
         if (std::isinf(x)) return x > 0;
         L s = share(x), slope = 2 * 0.79788456080286535587989211986876L * (1 + 0.134145L * x * x);
         return s + (s == 0 || s == 1 ? 0 : x * slope * s * share(-x));
       },
       2, 8},
      {Expression::elu, [](L x, L y, L) -> L { return x < 0 ? y * expm1l(x) : x; }, 3},
      {Expression::elu_derivative, nullptr, 0},  // their factor may be subnormal; see SlopesOfUnits
      {Expression::elu_curve, nullptr, 0},
      E2(leaky_relu, x > 0 ? x : x * y),
      E2(leaky_relu_derivative, x > 0 ? 1 : y),
      E2(hardshrink, -y <= x && x <= y ? 0 : x),
      E2(hardshrink_derivative, x > y || x < -y),
      {Expression::softplus, nullptr, 0},
      {Expression::softplus_derivative, nullptr, 0},
      E3(hardtanh, smaller(larger(x, y), z)),
      E3(hardtanh_derivative, x > y && x < z),
      R1(hardsigmoid, x != x ? x : std::min<L>(std::max<L>(x + 3, 0), 6) / 6),
      R1(hardswish,
         x != x || x == -kInf ? (x != x ? x : 0) : x * (std::min<L>(std::max<L>(x + 3, 0), 6) / 6)),
      {Expression::selu,
       [](L x, L, L) -> L {
         return 1.0507009873554804934193349852946L *
                (x < 0 ? 1.6732632423543772848170429916717L * expm1l(x) : x);
       },
       4},
      {Expression::celu, nullptr, 0},  // a rounded quotient in an exponent; see MoreUnits
      {Expression::mish, nullptr, 0},
      E2(softshrink, x > y    ? x - y
                     : x < -y ? x + y
                     : x != x ? x
                              : 0),
      {Expression::glu, nullptr, 0},
      E2(prelu, x > 0 ? x : x * y),
      E2(l1_loss, fabsl(x - y)),
      {Expression::smooth_l1_loss, nullptr, 0},  // they round several times; see Losses
      {Expression::huber_loss, nullptr, 0},
      {Expression::binary_cross_entropy, nullptr, 0},
      {Expression::cross_entropy_of_logits, nullptr, 0},
      {Expression::kl_div, nullptr, 0},
      {Expression::kl_div_of_logs, nullptr, 0},
      {Expression::poisson_nll, nullptr, 0},
      {Expression::soft_margin, nullptr, 0},
      R1(logsigmoid, x < 0 ? x - log1pl(expl(x)) : -log1pl(expl(-x))),
      A1(silu, x == -kInf ? 0 : x * logistic(x)),
      E1(floor, floorl(x)),
      E1(ceil, ceill(x)),
      E1(round, nearbyintl(x)),
      E1(trunc, truncl(x)),
      E2(maximum, larger(x, y)),
      E2(minimum, smaller(x, y)),
      E2(fmax, fmaxl(x, y)),
      E2(fmin, fminl(x, y)),
      E2(copysign, copysignl(x, y)),
      E2(heaviside, x == 0 ? y : x > 0),
      E1(signbit, std::signbit(x)),
      E3(clamp, smaller(larger(x, y), z)),
      E3(where, x != 0 ? y : z),
      E1(isnan, x != x),
      E1(isinf, std::isinf(x)),
      E1(isfinite, std::isfinite(x)),
      E2(eq, x == y),
      E2(ne, x != y),
      E2(lt, x < y),
      E2(le, x <= y),
      E2(gt, x > y),
      E2(ge, x >= y),
      {Expression::lerp, nullptr, 0},  // rounds three times; see LerpEndsExactly
      E3(threshold_mask, y <= x && x <= z),
      E1(positive, !(x <= 0))};
  return list;
}

// Units in the last place of T between y and the true value.
template <class T>
double ulps(T y, long double truth) {
  if (std::isnan(truth)) return std::isnan(y) ? 0 : 1e9;
  T rounded = static_cast<T>(truth);
  if (y == rounded) return 0;
  if (std::isnan(y) || std::isinf(rounded)) {
    return rounded > 0 && y == std::numeric_limits<T>::max() ? 1 : 1e9;
  }
  int exponent;
  std::frexp(rounded, &exponent);
  exponent = std::max(exponent - std::numeric_limits<T>::digits,
                      std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits);
  return static_cast<double>(std::fabs(static_cast<long double>(y) - truth) /
                             ldexpl(1.0L, exponent));
}

template <class T>
std::vector<T> interesting() {
  // clang-format off
  std::vector<T> v = {0, T(-0.0), 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3, -7, 10, 100, -100,
                      T(kInf), T(-kInf), T(kNan), std::numeric_limits<T>::denorm_min(),
                      -std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::min(),
                      std::numeric_limits<T>::max(), std::numeric_limits<T>::lowest(),
                      T(1e-3), T(-1e-3), T(1e-7), T(88.5), T(-88.5), T(709.5), T(-745), T(1e6),
                      T(-1e6), T(1e10), T(0.7), T(-5.5), T(2.302585), T(1e30)};
  // clang-format on
  for (int i = 0; i < 100; ++i) v.push_back(T((int64_t(mix(i) % 20001) - 10000) / 1000.0));
  return v;
}

template <class T>
void check_reals(Class c) {
  const std::vector<T> base = interesting<T>();
  std::vector<T> x, y, z;
  for (size_t i = 0; i < base.size(); ++i) {
    for (size_t j = 0; j < base.size(); j += 1 + i % 3) {
      x.push_back(base[i]);
      y.push_back(base[j]);
      z.push_back(base[(i * 7 + j) % base.size()]);
    }
  }
  std::map<Expression, const Reference*> known;
  for (const Reference& r : references()) known[r.expression] = &r;
  for (int e = 0; e < kExpressions; ++e) {
    if (!expression_exists(e, c)) continue;
    const ExpressionInfo& info = kExpressionInfo[e];
    auto found = known.find(static_cast<Expression>(e));
    ASSERT_NE(found, known.end()) << info.name << " has no reference";
    const Reference& r = *found->second;
    if (!r.value) continue;
    std::vector<std::vector<T>> in = {x, y, z};
    Array a = array(x), b = array(y), d = array(z);
    Array out(info.truth ? LIBDL_DTYPE_BOOL : dtype_of<T>(), {static_cast<int64_t>(x.size())});
    std::vector<Array*> all = {&a, &b, &d};
    all.resize(info.inputs);
    run(static_cast<Expression>(e), c, out, all);
    int wrong = 0;
    for (size_t i = 0; i < x.size() && wrong < 3; ++i) {
      long double truth = r.value(x[i], y[i], z[i]);
      T got = info.truth ? T(out.get<uint8_t>(i)) : out.get<T>(i);
      double error = ulps(got, truth);
      long double slack = std::is_same_v<T, double> ? r.slack * 0x1p-53L : 0;
      if (slack > 0 && fabsl(got - truth) <= slack * std::max(1.0L, fabsl(x[i]))) continue;
      if (error > r.ulps) {
        ++wrong;
        ADD_FAILURE() << info.name << "(" << x[i] << ", " << y[i] << ", " << z[i] << ") = " << got
                      << ", want " << truth << ", error " << error << " ulp";
      }
    }
  }
}
TEST_P(Isas, Float32ExpressionsAreTheReferences) { check_reals<float>(Class::kF32); }
TEST_P(Isas, Float64ExpressionsAreTheReferences) { check_reals<double>(Class::kF64); }

TEST_P(Isas, AddScaledRoundsTwice) {
  double x = 1, alpha = 1 + 0x1p-30, y = -(1 - 0x1p-30);
  auto r = apply<double>(Expression::add_scaled, Class::kF64, std::vector{x}, std::vector{alpha},
                         std::vector{y});
  volatile double product = alpha * y;
  EXPECT_EQ(r[0], x + product);
}
TEST_P(Isas, LerpEndsExactly) {
  const std::vector<double> x(5, 0.1), end(5, 0.7), weight = {0, 0.25, 0.5, 1, 2};
  const auto r = apply<double>(Expression::lerp, Class::kF64, x, end, weight);
  const volatile double way = 0.7 - 0.1, quarter = 0.25 * way, half = way * 0.5, back = way * -1;
  EXPECT_EQ(r, (std::vector{0.1, 0.1 + quarter, 0.7 - half, 0.7, 0.7 - back}));
}
template <class T>
void check_units(Class c) {
  std::vector<T> x, alpha, beta, threshold;
  for (int i = 0; i < 400; ++i) {
    x.push_back(T((i - 200) * 0.25));
    alpha.push_back(T(i % 7 - 2) / 2);
    beta.push_back(T(i % 5 + 1) / 2);
    threshold.push_back(T(i % 3 * 20));
  }
  for (const T special : {T(kNan), T(kInf), T(-kInf), T(0), T(-0.0)}) {
    x.push_back(special);
    alpha.push_back(2);
    beta.push_back(1);
    threshold.push_back(20);
  }
  const auto near = [](T got, L wanted) { EXPECT_LE(ulps(got, wanted), 3) << wanted; };
  const auto slope = apply<T>(Expression::elu_derivative, c, x, alpha);
  const auto curve = apply<T>(Expression::elu_curve, c, x, alpha);
  const auto soft = apply<T>(Expression::softplus, c, x, beta, threshold);
  const auto share = apply<T>(Expression::softplus_derivative, c, x, beta, threshold);
  for (size_t i = 0; i < x.size(); ++i) {
    const L z = L(x[i]) * beta[i];
    near(slope[i], x[i] <= 0 ? alpha[i] * expl(x[i]) : L(1));
    near(curve[i], x[i] < 0 ? alpha[i] * expl(x[i]) : L(0));
    near(soft[i], z > threshold[i] ? L(x[i]) : log1pl(expl(z)) / beta[i]);
    near(share[i], z > threshold[i] ? L(1) : logistic(z));
  }
}
TEST_P(Isas, SlopesOfUnits) {
  check_units<float>(Class::kF32);
  check_units<double>(Class::kF64);
}
template <class T>
void check_more_units(Class c) {
  std::vector<T> x, alpha;
  for (int i = 0; i < 400; ++i) {
    x.push_back(T((i - 200) * 0.25));
    alpha.push_back(T(i % 5 + 1) / 2);
  }
  for (const T special : {T(kNan), T(kInf), T(-kInf), T(0), T(-0.0)}) {
    x.push_back(special);
    alpha.push_back(2);
  }
  const auto near = [](T got, L wanted) { EXPECT_LE(ulps(got, wanted), 6) << wanted; };
  const auto celu = apply<T>(Expression::celu, c, x, alpha);
  const auto mish = apply<T>(Expression::mish, c, x);
  const auto glu = apply<T>(Expression::glu, c, alpha, x);
  for (size_t i = 0; i < x.size(); ++i) {
    const L v = x[i];
    near(celu[i], v < 0 ? alpha[i] * expm1l(v / alpha[i]) : v);
    near(mish[i], v == -kInf ? 0 : v * tanhl(log1pl(expl(v))));
    near(glu[i], alpha[i] * logistic(v));
  }
}
TEST_P(Isas, MoreUnits) {
  check_more_units<float>(Class::kF32);
  check_more_units<double>(Class::kF64);
}

// Terms may cancel, so errors are counted in units of the largest one.
template <class T>
void check_losses(Class c) {
  std::vector<T> x, p, t, width;
  for (int i = 0; i < 500; ++i) {
    x.push_back(T(int64_t(mix(i) % 801) - 400) / 50);
    p.push_back(T(mix(i + 1000) % 999 + 1) / 1000);
    t.push_back(T(mix(i + 2000) % 1001) / 1000);
    width.push_back(T(i % 4 + 1) / 2);
  }
  const auto check = [&](Expression e, const std::vector<T>& in, auto&& truth) {
    const auto got = kExpressionInfo[static_cast<int>(e)].inputs == 3 ? apply<T>(e, c, in, t, width)
                                                                      : apply<T>(e, c, in, t);
    for (size_t i = 0; i < in.size(); ++i) {
      const L wanted = truth(L(in[i]), L(t[i]), L(width[i]));
      const L unit = std::numeric_limits<T>::epsilon() * std::max<L>(1, fabsl(wanted));
      EXPECT_LE(fabsl(got[i] - wanted), 12 * unit) << int(e) << " " << in[i] << " " << t[i];
    }
  };
  check(Expression::smooth_l1_loss, x, [](L x, L t, L beta) -> L {
    const L d = fabsl(x - t);
    return d < beta ? d * d / 2 / beta : d - beta / 2;
  });
  check(Expression::huber_loss, x, [](L x, L t, L delta) -> L {
    const L d = fabsl(x - t);
    return d <= delta ? d * d / 2 : delta * (d - delta / 2);
  });
  check(Expression::binary_cross_entropy, p,
        [](L x, L t, L) -> L { return -t * logl(x) - (1 - t) * log1pl(-x); });
  check(Expression::cross_entropy_of_logits, x, [](L x, L t, L w) -> L {
    const L log_p = x < 0 ? x - log1pl(expl(x)) : -log1pl(expl(-x));
    return (1 - t) * x - (1 + (w - 1) * t) * log_p;
  });
  check(Expression::kl_div, x, [](L x, L t, L) -> L { return (t == 0 ? 0 : t * logl(t)) - t * x; });
  check(Expression::kl_div_of_logs, x, [](L x, L t, L) -> L { return expl(t) * (t - x); });
  check(Expression::poisson_nll, t, [](L x, L t, L) -> L { return expl(x) - t * x; });
  check(Expression::soft_margin, x, [](L x, L t, L) -> L { return log1pl(expl(-x * t)); });
}
TEST_P(Isas, Losses) {
  check_losses<float>(Class::kF32);
  check_losses<double>(Class::kF64);
}
TEST_P(Isas, CrossEntropyCutsLogarithmsAndKeepsWhatIsNoProbability) {
  const std::vector<double> x = {0, 1, 0, 1, -0.5, 1.5, kNan}, t = {0, 1, 1, 0.25, 0, 1, 0};
  const auto y = apply<double>(Expression::binary_cross_entropy, Class::kF64, x, t);
  EXPECT_EQ(std::vector(y.begin(), y.begin() + 4), (std::vector<double>{0, 0, 100, 75}));
  for (size_t i = 4; i < y.size(); ++i) EXPECT_TRUE(std::isnan(y[i])) << x[i];
}
TEST_P(Isas, DivTruncRoundsToZero) {
  auto r = apply<double>(Expression::div_trunc, Class::kF64, std::vector{7.0, -7.0, 7.5},
                         std::vector{2.0, 2.0, -2.5});
  EXPECT_EQ(r, (std::vector{3.0, -3.0, -3.0}));
}
TEST_P(Isas, ZerosKeepTheirSigns) {
  std::vector<double> zeros = {0.0, -0.0};
  for (Expression e :
       {Expression::sin, Expression::tan, Expression::tanh, Expression::expm1, Expression::log1p,
        Expression::erf, Expression::sqrt, Expression::round, Expression::ceil, Expression::floor,
        Expression::trunc, Expression::gelu, Expression::silu}) {
    auto r = apply<double>(e, Class::kF64, zeros);
    EXPECT_EQ(std::signbit(r[0]), false) << kExpressionInfo[static_cast<int>(e)].name;
    EXPECT_EQ(std::signbit(r[1]), true) << kExpressionInfo[static_cast<int>(e)].name;
    auto f = apply<float>(e, Class::kF32, std::vector<float>{0.0f, -0.0f});
    EXPECT_EQ(std::signbit(f[0]), false) << kExpressionInfo[static_cast<int>(e)].name;
    EXPECT_EQ(std::signbit(f[1]), true) << kExpressionInfo[static_cast<int>(e)].name;
  }
  // What rounds to zero keeps its sign, too.
  for (Expression e : {Expression::round, Expression::ceil, Expression::trunc}) {
    EXPECT_TRUE(std::signbit(apply<double>(e, Class::kF64, std::vector<double>{-0.25})[0]));
    EXPECT_TRUE(std::signbit(apply<float>(e, Class::kF32, std::vector<float>{-0.25f})[0]));
  }
}

// --- Integers ----------------------------------------------------------------------------------

using I = int64_t;
using U = uint64_t;
constexpr I kMinI = std::numeric_limits<I>::min(), kMaxI = std::numeric_limits<I>::max();

TEST_P(Isas, IntegerDivisionFollowsTheSigns) {
  std::vector<I> x = {7, -7, 7, -7, 6, kMinI, 5, kMinI, 0}, y = {2, 2, -2, -2, 3, -1, 0, 2, -3};
  auto floor = apply<I>(Expression::div_floor, Class::kI64, x, y);
  auto trunc = apply<I>(Expression::div_trunc, Class::kI64, x, y);
  auto rem = apply<I>(Expression::remainder, Class::kI64, x, y);
  auto mod = apply<I>(Expression::fmod, Class::kI64, x, y);
  EXPECT_EQ(floor, (std::vector<I>{3, -4, -4, 3, 2, kMinI, 0, kMinI / 2, 0}));
  EXPECT_EQ(trunc, (std::vector<I>{3, -3, -3, 3, 2, kMinI, 0, kMinI / 2, 0}));
  EXPECT_EQ(rem, (std::vector<I>{1, 1, -1, -1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(mod, (std::vector<I>{1, -1, 1, -1, 0, 0, 0, 0, 0}));
}
TEST_P(Isas, IntegersWrap) {
  std::vector<I> x = {kMaxI, kMinI, kMaxI, 3}, y = {1, -1, 2, -4};
  EXPECT_EQ(apply<I>(Expression::add, Class::kI64, x, y),
            (std::vector<I>{kMinI, kMaxI, kMinI + 1, -1}));
  EXPECT_EQ(apply<I>(Expression::mul, Class::kI64, x, y), (std::vector<I>{kMaxI, kMinI, -2, -12}));
  EXPECT_EQ(apply<I>(Expression::neg, Class::kI64, x), (std::vector<I>{-kMaxI, kMinI, -kMaxI, -3}));
  EXPECT_EQ(apply<I>(Expression::abs, Class::kI64, std::vector<I>{-5, kMinI}),
            (std::vector<I>{5, kMinI}));
}
TEST_P(Isas, IntegerPowers) {
  std::vector<I> x = {2, -3, 1, -1, -1, 5, 0, 0, 3}, y = {10, 3, -4, -3, -4, -1, 0, -1, 50};
  I big = static_cast<I>(3);
  for (int i = 1; i < 50; ++i) big = static_cast<I>(static_cast<U>(big) * 3);
  EXPECT_EQ(apply<I>(Expression::pow, Class::kI64, x, y),
            (std::vector<I>{1024, -27, 1, -1, 1, 0, 1, 0, big}));
  EXPECT_EQ(apply<U>(Expression::pow, Class::kU64, std::vector<U>{2, ~U{0}}, std::vector<U>{63, 2}),
            (std::vector<U>{U{1} << 63, 1}));
}
// Against the C library: limits, signs of odd powers and NaN are equal, the rest within an ulp; a
// power of whole numbers that a double holds is that number.
TEST_P(Isas, PowersOfDoublesHaveTheirLimits) {
  constexpr double inf = HUGE_VAL, max = std::numeric_limits<double>::max();
  const double some[] = {0,
                         1,
                         2,
                         0.5,
                         3,
                         2.5,
                         10,
                         1023,
                         1075,
                         inf,
                         std::nan(""),
                         1e300,
                         1e-300,
                         max,
                         5e-324,
                         0x1p52 + 1,
                         0x1p53 + 2,
                         0x1.fffffffffffffp-1,
                         0x1.0000000000001p0};
  std::vector<double> x, y;
  for (double a : some) {
    for (double b : some) {
      x.insert(x.end(), {a, -a, a, -a});
      y.insert(y.end(), {b, b, -b, -b});
    }
  }
  const std::vector<double> r = apply<double>(Expression::pow, Class::kF64, x, y);
  for (size_t i = 0; i < x.size(); ++i) {
    const double wanted = std::pow(x[i], y[i]);
    const bool near = r[i] == wanted || std::nextafter(wanted, r[i]) == r[i];
    EXPECT_TRUE(std::isnan(wanted) ? std::isnan(r[i])
                                   : near && std::signbit(r[i]) == std::signbit(wanted))
        << x[i] << "^" << y[i] << " is " << r[i];
  }
  x.clear(), y.clear();
  for (double a = 1; a < 200; ++a)
    for (double b = 0; std::pow(a, b) < 0x1p53 && b < 60; ++b) x.push_back(a), y.push_back(b);
  std::vector<double> whole(x.size(), 1);
  for (size_t i = 0; i < x.size(); ++i)
    for (double b = 0; b < y[i]; ++b) whole[i] *= x[i];
  EXPECT_EQ(apply<double>(Expression::pow, Class::kF64, x, y), whole);
}
TEST_P(Isas, ShiftsHaveNoUndefinedDistance) {
  std::vector<I> x = {1, 1, 1, -8, -8, -8, 8, -8}, y = {3, 64, -1, 1, 64, 70, 64, -1};
  EXPECT_EQ(apply<I>(Expression::bitwise_left_shift, Class::kI64, x, y),
            (std::vector<I>{8, 0, 0, -16, 0, 0, 0, 0}));
  EXPECT_EQ(apply<I>(Expression::bitwise_right_shift, Class::kI64, x, y),
            (std::vector<I>{0, 0, 0, -4, -1, -1, 0, -1}));
  EXPECT_EQ(apply<U>(Expression::bitwise_right_shift, Class::kU64, std::vector<U>{~U{0}, 8},
                     std::vector<U>{63, 64}),
            (std::vector<U>{1, 0}));
}
TEST_P(Isas, UnsignedComparesAsUnsigned) {
  std::vector<U> x = {~U{0}, 1, 5}, y = {1, ~U{0}, 5};
  EXPECT_EQ(apply<bool>(Expression::lt, Class::kU64, x, y),
            (std::vector<bool>{false, true, false}));
  EXPECT_EQ(apply<U>(Expression::maximum, Class::kU64, x, y), (std::vector<U>{~U{0}, ~U{0}, 5}));
  EXPECT_EQ(apply<U>(Expression::fmin, Class::kU64, x, y), (std::vector<U>{1, 1, 5}));
  EXPECT_EQ(apply<bool>(Expression::signbit, Class::kU64, x),
            (std::vector<bool>{false, false, false}));
  EXPECT_EQ(apply<bool>(Expression::signbit, Class::kI64, std::vector<I>{-1, 0, 1}),
            (std::vector<bool>{true, false, false}));
  EXPECT_EQ(apply<U>(Expression::div_floor, Class::kU64, x, y), (std::vector<U>{~U{0}, 0, 1}));
  EXPECT_EQ(apply<U>(Expression::sign, Class::kU64, std::vector<U>{0, ~U{0}}),
            (std::vector<U>{0, 1}));
}
TEST_P(Isas, Booleans) {
  std::vector<bool> x = {false, false, true, true}, y = {false, true, false, true};
  auto got = [&](Expression e) { return apply<bool>(e, Class::kBool, x, y); };
  EXPECT_EQ(got(Expression::logical_and), (std::vector<bool>{false, false, false, true}));
  EXPECT_EQ(got(Expression::logical_or), (std::vector<bool>{false, true, true, true}));
  EXPECT_EQ(got(Expression::logical_xor), (std::vector<bool>{false, true, true, false}));
  EXPECT_EQ(got(Expression::mul), got(Expression::logical_and));
  EXPECT_EQ(got(Expression::maximum), got(Expression::logical_or));
  EXPECT_EQ(got(Expression::minimum), got(Expression::logical_and));
  EXPECT_EQ(got(Expression::fmax), got(Expression::logical_or));
  EXPECT_EQ(got(Expression::fmin), got(Expression::logical_and));
  EXPECT_EQ(got(Expression::heaviside), got(Expression::logical_or));
  EXPECT_EQ(got(Expression::lt), (std::vector<bool>{false, true, false, false}));
  EXPECT_EQ(apply<bool>(Expression::bitwise_not, Class::kBool, x),
            (std::vector<bool>{true, true, false, false}));
  EXPECT_EQ(apply<bool>(Expression::logical_not, Class::kBool, x),
            (std::vector<bool>{true, true, false, false}));
}
// Every integer expression and length agrees with itself one element at a time.
TEST_P(Isas, BlocksAgreeWithSingleElements) {
  for (int c = 0; c < kClasses; ++c) {
    for (int e = 0; e < kExpressions; ++e) {
      const Class compute = static_cast<Class>(c);
      if (!expression_exists(e, compute)) continue;
      const int32_t dtype = cpu::class_dtype(compute);
      const int32_t out_dtype = kExpressionInfo[e].truth ? LIBDL_DTYPE_BOOL : dtype;
      const int64_t n = 67;
      std::vector<Array> in;
      for (int k = 0; k < kExpressionInfo[e].inputs; ++k) {
        in.emplace_back(dtype, std::vector<int64_t>{n});
        for (int64_t i = 0; i < n; ++i) {
          uint64_t r = mix(i * 3 + k) % 41;
          if (compute == Class::kBool) in[k].set<uint8_t>(i, r & 1);
          if (compute == Class::kI64 || compute == Class::kU64)
            in[k].set<int64_t>(i, int64_t(r) - 9);
          if (compute == Class::kF32) in[k].set<float>(i, (float(r) - 9) / 4);
          if (compute == Class::kF64) in[k].set<double>(i, (double(r) - 9) / 4);
          if (compute == Class::kC128) in[k].set<Z>(i, Z((double(r) - 9) / 4, double(r % 5)));
        }
      }
      Array whole(out_dtype, {n});
      std::vector<Array*> all;
      for (Array& a : in) all.push_back(&a);
      run(static_cast<Expression>(e), compute, whole, all);
      for (int64_t i = 0; i < n; ++i) {
        std::vector<Array> one;
        for (Array& a : in) {
          one.emplace_back(dtype, std::vector<int64_t>{1});
          std::memcpy(one.back().bytes.data(), a.bytes.data() + i * a.width(), a.width());
        }
        std::vector<Array*> parts;
        for (Array& a : one) parts.push_back(&a);
        Array single(out_dtype, {1});
        run(static_cast<Expression>(e), compute, single, parts);
        ASSERT_EQ(
            std::memcmp(single.bytes.data(), whole.bytes.data() + i * whole.width(), whole.width()),
            0)
            << kExpressionInfo[e].name << " class " << c << " element " << i;
      }
    }
  }
}

// --- Complex -----------------------------------------------------------------------------------

TEST(Complex, ExpressionsAreTheReferences) {
  struct Case {
    Expression expression;
    std::function<Z(Z, Z, Z)> value;
  };
  const std::vector<Case> cases = {
      {Expression::add, [](Z x, Z y, Z) { return x + y; }},
      {Expression::sub, [](Z x, Z y, Z) { return x - y; }},
      {Expression::add_scaled, [](Z x, Z a, Z y) { return x + a * y; }},
      {Expression::mul, [](Z x, Z y, Z) { return x * y; }},
      {Expression::div, [](Z x, Z y, Z) { return x / y; }},
      {Expression::pow, [](Z x, Z y, Z) { return std::pow(x, y); }},
      {Expression::neg, [](Z x, Z, Z) { return -x; }},
      {Expression::abs, [](Z x, Z, Z) { return Z(std::abs(x), 0); }},
      {Expression::sgn, [](Z x, Z, Z) { return x / std::abs(x); }},
      {Expression::reciprocal, [](Z x, Z, Z) { return 1.0 / x; }},
      {Expression::square, [](Z x, Z, Z) { return x * x; }},
      {Expression::sqrt, [](Z x, Z, Z) { return std::sqrt(x); }},
      {Expression::rsqrt, [](Z x, Z, Z) { return 1.0 / std::sqrt(x); }},
      {Expression::exp, [](Z x, Z, Z) { return std::exp(x); }},
      {Expression::exp2, [](Z x, Z, Z) { return std::exp(x * std::log(2.0)); }},
      {Expression::expm1, [](Z x, Z, Z) { return std::exp(x) - 1.0; }},
      {Expression::log, [](Z x, Z, Z) { return std::log(x); }},
      {Expression::log1p, [](Z x, Z, Z) { return std::log(1.0 + x); }},
      {Expression::log2, [](Z x, Z, Z) { return std::log(x) / std::log(2.0); }},
      {Expression::log10, [](Z x, Z, Z) { return std::log10(x); }},
      {Expression::sin, [](Z x, Z, Z) { return std::sin(x); }},
      {Expression::cos, [](Z x, Z, Z) { return std::cos(x); }},
      {Expression::tan, [](Z x, Z, Z) { return std::tan(x); }},
      {Expression::tanh, [](Z x, Z, Z) { return std::tanh(x); }},
      {Expression::sigmoid, [](Z x, Z, Z) { return 1.0 / (1.0 + std::exp(-x)); }},
      {Expression::silu, [](Z x, Z, Z) { return x / (1.0 + std::exp(-x)); }},
      {Expression::lerp, [](Z x, Z y, Z w) { return x + w * (y - x); }},
      {Expression::where, [](Z x, Z y, Z z) { return x != 0.0 ? y : z; }},
      {Expression::conj, [](Z x, Z, Z) { return std::conj(x); }},
      {Expression::isnan, [](Z, Z, Z) { return Z(0); }},
      {Expression::isinf, [](Z, Z, Z) { return Z(0); }},
      {Expression::isfinite, [](Z, Z, Z) { return Z(1); }},
      {Expression::eq, [](Z x, Z y, Z) { return Z(x == y); }},
      {Expression::ne, [](Z x, Z y, Z) { return Z(x != y); }}};
  int expected = 0;
  for (int e = 0; e < kExpressions; ++e) expected += expression_exists(e, Class::kC128);
  ASSERT_EQ(static_cast<int>(cases.size()), expected);
  std::vector<Z> x, y, z;
  for (int i = 0; i < 40; ++i) {
    x.push_back(Z(i % 7 - 3.25, i % 5 - 1.5));
    y.push_back(i % 4 == 0 ? x[i] : Z(i % 3 + 0.5, 2.0 - i % 6));
    z.push_back(Z(i, -i));
  }
  for (const Case& c : cases) {
    const ExpressionInfo& info = kExpressionInfo[static_cast<int>(c.expression)];
    Array a = array(x), b = array(y), d = array(z);
    Array out(info.truth ? LIBDL_DTYPE_BOOL : LIBDL_DTYPE_COMPLEX128, {40});
    std::vector<Array*> in = {&a, &b, &d};
    in.resize(info.inputs);
    run(c.expression, Class::kC128, out, in);
    for (int i = 0; i < 40; ++i) {
      Z want = c.value(x[i], y[i], z[i]);
      Z got = info.truth ? Z(out.get<uint8_t>(i)) : out.get<Z>(i);
      EXPECT_LE(std::abs(got - want), 1e-14 * std::abs(want)) << info.name << x[i] << y[i];
    }
  }
}
TEST(Complex, SpecialValues) {
  std::vector<Z> x = {Z(kNan, 0), Z(0, kInf), Z(0, 0)};
  EXPECT_EQ(apply<bool>(Expression::isnan, Class::kC128, x),
            (std::vector<bool>{true, false, false}));
  EXPECT_EQ(apply<bool>(Expression::isinf, Class::kC128, x),
            (std::vector<bool>{false, true, false}));
  auto s = apply<Z>(Expression::sgn, Class::kC128, std::vector<Z>{Z(0, 0), Z(0, 2)});
  EXPECT_EQ(s[0], Z(0, 0));
  EXPECT_EQ(s[1], Z(0, 1));
}
TEST(Complex, LogarithmsHaveTheirCutsOnTheNegativeAxis) {
  const double pi = std::numbers::pi;
  const auto at = [](Expression e, Z z) { return apply<Z>(e, Class::kC128, std::vector<Z>{z})[0]; };
  for (double side : {1.0, -1.0}) {
    const double zero = std::copysign(0.0, side);
    EXPECT_EQ(at(Expression::log1p, Z(-2, zero)), Z(0, side * pi));
    EXPECT_DOUBLE_EQ(at(Expression::log2, Z(-8, zero)).imag(), side * pi / std::log(2.0));
    EXPECT_DOUBLE_EQ(at(Expression::log10, Z(-8, zero)).imag(), side * pi / std::log(10.0));
    EXPECT_EQ(at(Expression::log1p, Z(-1, zero)).real(), -kInf);
    EXPECT_EQ(at(Expression::log2, Z(-0.0, zero)).real(), -kInf);
    // Beside the cut, the zero keeps its sign.
    for (Expression e : {Expression::log1p, Expression::log2, Expression::log10, Expression::exp2,
                         Expression::expm1, Expression::tan}) {
      EXPECT_EQ(std::signbit(at(e, Z(0.5, zero)).imag()), side < 0);
    }
  }
  EXPECT_EQ(at(Expression::log2, Z(0, 8)).real(), 3);
  EXPECT_EQ(at(Expression::log10, Z(-1000, 0)).real(), 3);
}
TEST(Complex, PowersSurviveAFactorThatOverflowsAlone) {
  const auto at = [](Expression e, Z z) { return apply<Z>(e, Class::kC128, std::vector<Z>{z})[0]; };
  const Z y = at(Expression::exp2, Z(1024.25, 1));  // 2^1024.25 cos(ln 2) = 0.915 times 2^1024
  EXPECT_NEAR(y.real() / std::pow(2, 1000), std::exp2(24.25) * std::cos(std::log(2.0)), 1e-7);
  EXPECT_EQ(at(Expression::exp2, Z(-kInf, kInf)), Z(0, 0));
  EXPECT_EQ(at(Expression::expm1, Z(-kInf, kInf)), Z(-1, 0));
  EXPECT_EQ(at(Expression::expm1, Z(kInf, 0)), Z(kInf, 0));
  EXPECT_EQ(at(Expression::tan, Z(1, 400)).imag(), 1);
}

// --- Strides, dtypes, threads ------------------------------------------------------------------

// add over float32 in every layout below equals plain loops.
void check_layouts() {
  struct Layout {
    std::vector<int64_t> sizes, out, x, y;
  };
  const std::vector<Layout> layouts = {
      {{}, {}, {}, {}},
      {{5}, {1}, {0}, {1}},
      {{0}, {1}, {1}, {1}},
      {{1300}, {2}, {-1}, {3}},
      {{70, 300}, {300, 1}, {1, 70}, {0, 1}},  // transposed, broadcast row
      {{70, 300}, {1, 70}, {300, 1}, {1, 0}},  // output transposed, broadcast column
      {{300, 7}, {7, 1}, {9, 1}, {0, 0}},
      {{3, 4, 5, 6}, {120, 30, 6, 1}, {1, 3, 12, 60}, {0, 6, 0, 1}},
      {{40, 1, 90}, {180, 5, 2}, {0, 7, 0}, {-90, 1, -1}},
      {{2, 200, 300}, {60000, 300, 1}, {300, 600, 1}, {0, 1, 0}},  // rows, and a number for each
      {{3, 5, 7, 40}, {1400, 280, 40, 1}, {40, 120, 600, 1}, {0, 40, 0, 1}},  // rows, some again
      {{6, 5, 700}, {3500, 700, 1}, {0, 1, 0}, {700, 4200, 1}},  // the first input is the number
      {{90, 16}, {16, 1}, {20, 1}, {3, 0}},
      {{70, 700}, {1400, 2}, {700, 1}, {1, 0}},  // rows that are written with gaps
  };
  for (size_t l = 0; l < layouts.size(); ++l) {
    for (bool threads : {false, true}) {
      const Layout& layout = layouts[l];
      Array x(LIBDL_DTYPE_FLOAT32, layout.sizes, layout.x),
          y(LIBDL_DTYPE_FLOAT32, layout.sizes, layout.y);
      Array out(LIBDL_DTYPE_FLOAT32, layout.sizes, layout.out);
      for (int64_t i = 0; i < x.count(); ++i) x.set<float>(i, float(mix(x.place(i)) % 1000));
      for (int64_t i = 0; i < x.count(); ++i) y.set<float>(i, float(mix(y.place(i) + 77) % 999));
      run(Expression::sub, Class::kF32, out, {&x, &y}, threads);
      for (int64_t i = 0; i < x.count(); ++i) {
        ASSERT_EQ(out.get<float>(i), x.get<float>(i) - y.get<float>(i))
            << "layout " << l << " at " << i;
      }
      Array less(LIBDL_DTYPE_BOOL, layout.sizes, layout.out);
      run(Expression::lt, Class::kF32, less, {&x, &y}, threads);
      for (int64_t i = 0; i < x.count(); ++i) {
        ASSERT_EQ(less.get<bool>(i), x.get<float>(i) < y.get<float>(i))
            << "layout " << l << " at " << i;
      }
    }
  }
}
TEST_P(Isas, StridesAndBroadcasts) { check_layouts(); }

// A row and a number for each, a column and a row: the bits of operands that lie in order.
TEST_P(Isas, RowsOfComplexNumbersTimesAColumn) {
  const std::vector<int64_t> size = {70, 300}, dense = {300, 1}, column = {1, 0}, row = {0, 1};
  for (const auto& [at_x, at_y] : {std::pair{dense, column}, {column, row}, {row, column}}) {
    Array x(LIBDL_DTYPE_COMPLEX64, size, at_x), y(LIBDL_DTYPE_COMPLEX64, size, at_y);
    Array plain_x(LIBDL_DTYPE_COMPLEX64, size), plain_y(LIBDL_DTYPE_COMPLEX64, size);
    using Number = std::complex<float>;
    const auto part = [](uint64_t n) { return float(int64_t(mix(n) % 2001) - 1000) / 7; };
    for (int64_t i = 0; i < x.count(); ++i) {
      const auto px = uint64_t(x.place(i)) * 2, py = uint64_t(y.place(i)) * 2 + 99;
      x.set<Number>(i, {part(px), part(px + 1)});
      y.set<Number>(i, {part(py), part(py + 1)});
      plain_x.set<Number>(i, x.get<Number>(i));
      plain_y.set<Number>(i, y.get<Number>(i));
    }
    for (Expression e : {Expression::add, Expression::sub, Expression::mul, Expression::div}) {
      Array out(LIBDL_DTYPE_COMPLEX64, size), wanted = out;
      run(e, Class::kC128, out, {&x, &y});
      run(e, Class::kC128, wanted, {&plain_x, &plain_y});
      EXPECT_TRUE(out.bytes == wanted.bytes) << kExpressionInfo[static_cast<int>(e)].name;
    }
  }
}

void check_gaps() {
  Array out(LIBDL_DTYPE_FLOAT32, {50, 20}, {64, 2});
  std::memset(out.bytes.data(), 0x55, out.bytes.size());
  Array x(LIBDL_DTYPE_FLOAT32, {50, 20});
  run(Expression::exp, Class::kF32, out, {&x});
  std::vector<char> expected(out.bytes.size(), 0x55);
  const float one = 1;
  for (int64_t i = 0; i < 1000; ++i) std::memcpy(expected.data() + out.place(i) * 4, &one, 4);
  EXPECT_EQ(out.bytes.list(), expected);
}
TEST_P(Isas, StridedOutputLeavesTheGapsAlone) { check_gaps(); }
TEST_P(Isas, InPlace) {
  Array x(LIBDL_DTYPE_FLOAT32, {100, 700}, {1, 100});
  for (int64_t i = 0; i < x.count(); ++i) x.set<float>(i, float(i % 1000));
  run(Expression::add, Class::kF32, x, {&x, &x}, true);
  for (int64_t i = 0; i < x.count(); ++i) ASSERT_EQ(x.get<float>(i), 2.0f * float(i % 1000));
  Array h(LIBDL_DTYPE_INT32, {70000});
  for (int64_t i = 0; i < h.count(); ++i) h.set<int32_t>(i, int32_t(i));
  run(Expression::square, Class::kI64, h, {&h}, true);
  for (int64_t i = 0; i < h.count(); ++i)
    ASSERT_EQ(h.get<int32_t>(i), int32_t(uint32_t(i) * uint32_t(i)));
}
TEST_P(Isas, ThreadsChangeNoBit) {
  Array x(LIBDL_DTYPE_FLOAT32, {100003}), one(LIBDL_DTYPE_FLOAT32, {100003}), two = one;
  for (int64_t i = 0; i < x.count(); ++i)
    x.set<float>(i, float(int64_t(mix(i) % 2001) - 1000) / 100);
  for (Expression e : {Expression::exp, Expression::tanh, Expression::gelu, Expression::sin}) {
    run(e, Class::kF32, one, {&x}, false);
    run(e, Class::kF32, two, {&x}, true);
    EXPECT_TRUE(one.bytes == two.bytes);
  }
}
TEST_P(Isas, MixedDtypesAreConverted) {
  Array x = array(std::vector<int8_t>{-3, 5, 100}), y = array(std::vector<float>{0.5f, 2, -1});
  Array out(LIBDL_DTYPE_FLOAT64, {3});
  run(Expression::mul, Class::kF64, out, {&x, &y});
  EXPECT_EQ(out.get<double>(0), -1.5);
  EXPECT_EQ(out.get<double>(1), 10);
  EXPECT_EQ(out.get<double>(2), -100);
  Array truth(LIBDL_DTYPE_FLOAT32, {3});
  run(Expression::lt, Class::kF64, truth, {&x, &y});
  EXPECT_EQ(truth.get<float>(0), 1);
  EXPECT_EQ(truth.get<float>(1), 0);
}
TEST(IsaEquality, Avx2AndAvx512GiveTheSameBits) {
  if (cpu::best_isa() < cpu::Isa::kAvx512) GTEST_SKIP() << "no AVX-512 here";
  const int64_t n = 20011;
  for (Class c : {Class::kF32, Class::kF64}) {
    const int32_t dtype = cpu::class_dtype(c);
    for (int e = 0; e < kExpressions; ++e) {
      if (!expression_exists(e, c)) continue;
      std::vector<Array> in;
      for (int k = 0; k < kExpressionInfo[e].inputs; ++k) {
        in.emplace_back(dtype, std::vector<int64_t>{n});
        for (int64_t i = 0; i < n; ++i) {
          uint64_t r = mix(i * 4 + k);
          // A third arbitrary bits, the rest moderate numbers.
          double moderate = (double(r >> 40) / 0x1p23 - 1) * (i % 3 == 1 ? 5 : 90);
          if (c == Class::kF32) {
            uint32_t bits = uint32_t(r);
            i % 3 == 0 ? in[k].set<uint32_t>(i, bits) : in[k].set<float>(i, float(moderate));
          } else {
            i % 3 == 0 ? in[k].set<uint64_t>(i, r) : in[k].set<double>(i, moderate);
          }
        }
      }
      std::vector<Array*> all;
      for (Array& a : in) all.push_back(&a);
      const int32_t out_dtype = kExpressionInfo[e].truth ? LIBDL_DTYPE_BOOL : dtype;
      Array wide(out_dtype, {n}), narrow(out_dtype, {n});
      cpu::set_isa(cpu::Isa::kAvx512);
      run(static_cast<Expression>(e), c, wide, all);
      cpu::set_isa(cpu::Isa::kAvx2);
      run(static_cast<Expression>(e), c, narrow, all);
      cpu::set_isa(cpu::best_isa());
      // Which NaN comes out is the compiler's choice of operand order, on either.
      int different = 0;
      for (int64_t i = 0; i < n; ++i) {
        if (kExpressionInfo[e].truth) {
          different += wide.get<uint8_t>(i) != narrow.get<uint8_t>(i);
        } else if (c == Class::kF32) {
          different += wide.get<uint32_t>(i) != narrow.get<uint32_t>(i) &&
                       !(std::isnan(wide.get<float>(i)) && std::isnan(narrow.get<float>(i)));
        } else {
          different += wide.get<uint64_t>(i) != narrow.get<uint64_t>(i) &&
                       !(std::isnan(wide.get<double>(i)) && std::isnan(narrow.get<double>(i)));
        }
      }
      EXPECT_EQ(different, 0) << kExpressionInfo[e].name;
    }
  }
}

// --- Planted errors ----------------------------------------------------------------------------

// How many expectations of the check fail with another kernel in the real one's place.
int failures_with(void (*kernel)(Context&, const PointwiseArgs&), void (*check)()) {
  pointwise_kernel = kernel;
  const int failures = planted::failures_of(check);
  pointwise_kernel = cpu::pointwise;
  return failures;
}
char* place(const View& v, int64_t i) {  // of a contiguous one
  return static_cast<char*>(v.data) + i * dtype_bytes(v.dtype);
}
int64_t count_of(const View& v) {
  return std::accumulate(v.sizes, v.sizes + v.ndim, int64_t{1}, std::multiplies<>());
}
void one_past_the_end(Context& context, const PointwiseArgs& args) {
  cpu::pointwise(context, args);
  *place(args.out, count_of(args.out)) += 1;
}
void one_before_the_start(Context& context, const PointwiseArgs& args) {
  cpu::pointwise(context, args);
  *place(args.out, -1) += 1;
}
void an_input_is_written(Context& context, const PointwiseArgs& args) {
  cpu::pointwise(context, args);
  *place(args.in[0], count_of(args.in[0])) += 1;
}
void last_one_wrong(Context& context, const PointwiseArgs& args) {
  cpu::pointwise(context, args);
  const int64_t count = count_of(args.out);
  if (args.out.dtype != LIBDL_DTYPE_FLOAT32 || count == 0) return;
  int64_t at = 0;
  for (int32_t d = 0; d < args.out.ndim; ++d) at += (args.out.sizes[d] - 1) * args.out.strides[d];
  float* const last = reinterpret_cast<float*>(place(args.out, 0)) + at;
  *last = *last * 1.001f + 1e-3f;
}
void gap_written(Context& context, const PointwiseArgs& args) {
  cpu::pointwise(context, args);
  *(reinterpret_cast<float*>(place(args.out, 0)) + 1) = 0;
}

TEST(PlantedKernels, AnElementPastEitherEndIsSeen) {
  const auto check = [] {
    apply<float>(Expression::exp, Class::kF32, std::vector<float>(100, 1.f));
  };
  EXPECT_EQ(failures_with(cpu::pointwise, check), 0);
  EXPECT_EQ(failures_with(one_past_the_end, check), 1);
  EXPECT_EQ(failures_with(one_before_the_start, check), 1);
  EXPECT_EQ(failures_with(an_input_is_written, check), 1);
}
TEST(PlantedKernels, OneValueWrongByAThousandthIsSeen) {
  const auto reals = [] { check_reals<float>(Class::kF32); };
  EXPECT_EQ(failures_with(cpu::pointwise, reals), 0);
  EXPECT_GT(failures_with(last_one_wrong, reals), 0);
  EXPECT_EQ(failures_with(cpu::pointwise, check_layouts), 0);
  EXPECT_GT(failures_with(last_one_wrong, check_layouts), 0);
}
TEST(PlantedKernels, AWrittenGapIsSeen) {
  EXPECT_EQ(failures_with(cpu::pointwise, check_gaps), 0);
  EXPECT_EQ(failures_with(gap_written, check_gaps), 1);
}

// --- Copies ------------------------------------------------------------------------------------

void copy(Array& out, Array& in, bool threads = false) {
  CopyArgs args = {out.view(), in.view()};
  Context context = threads ? threaded_context() : test::plain_context();
  cpu::copy(context, args);
}
template <class To, class From>
std::vector<To> converted(const std::vector<From>& x) {
  Array in = array(x), out(dtype_of<To>(), in.sizes);
  copy(out, in);
  std::vector<To> y(x.size());
  for (size_t i = 0; i < x.size(); ++i) y[i] = out.get<To>(i);
  return y;
}

TEST_P(Isas, FloatToIntegerSaturates) {
  std::vector<double> x = {1.9, -1.9, kNan, kInf, -kInf, 1e19, -1e19, 300, -300, 4294967295.0};
  EXPECT_EQ(converted<int8_t>(x),
            (std::vector<int8_t>{1, -1, 0, 127, -128, 127, -128, 127, -128, 127}));
  EXPECT_EQ(converted<uint8_t>(x), (std::vector<uint8_t>{1, 0, 0, 255, 0, 255, 0, 255, 0, 255}));
  EXPECT_EQ(converted<int64_t>(x),
            (std::vector<int64_t>{1, -1, 0, kMaxI, kMinI, kMaxI, kMinI, 300, -300, 4294967295}));
  EXPECT_EQ(converted<uint64_t>(x),
            (std::vector<U>{1, 0, 0, ~U{0}, 0, U(1e19), 0, 300, 0, 4294967295}));
  EXPECT_EQ(converted<uint32_t>(x), (std::vector<uint32_t>{1, 0, 0, ~0u, 0, ~0u, 0, 300, 0, ~0u}));
  EXPECT_EQ(converted<int32_t>(std::vector<float>{3e9f, -3e9f, 5.5f}),
            (std::vector<int32_t>{2147483647, -2147483647 - 1, 5}));
  EXPECT_EQ(converted<bool>(x), (std::vector<bool>(10, true)));
}
TEST_P(Isas, IntegersNarrowByWrapping) {
  EXPECT_EQ(converted<int8_t>(std::vector<int64_t>{128, 255, 256, -129}),
            (std::vector<int8_t>{-128, -1, 0, 127}));
  EXPECT_EQ(converted<uint16_t>(std::vector<int32_t>{-1, 65536}),
            (std::vector<uint16_t>{65535, 0}));
  EXPECT_EQ(converted<uint64_t>(std::vector<int8_t>{-1}), (std::vector<U>{~U{0}}));
  EXPECT_EQ(converted<bool>(std::vector<int32_t>{0, 256, -1}),
            (std::vector<bool>{false, true, true}));
}
TEST_P(Isas, ComplexConversions) {
  EXPECT_EQ(converted<float>(std::vector<Z>{Z(1.5, 7)}), (std::vector<float>{1.5f}));
  EXPECT_EQ(converted<Z>(std::vector<float>{2}), (std::vector<Z>{Z(2, 0)}));
  EXPECT_EQ(converted<bool>(std::vector<Z>{Z(0, 1), Z(0, 0)}), (std::vector<bool>{true, false}));
  EXPECT_EQ(converted<std::complex<float>>(std::vector<Z>{Z(3, -4)}),
            (std::vector<std::complex<float>>{{3, -4}}));
}

double half_value(uint16_t h) {
  int e = h >> 10 & 31, m = h & 1023;
  double v = e == 0    ? std::ldexp(m, -24)
             : e == 31 ? (m != 0 ? kNan : kInf)
                       : std::ldexp(1024 + m, e - 25);
  return h & 0x8000 ? -v : v;
}
double bfloat_value(uint16_t b) {
  uint32_t bits = uint32_t(b) << 16;
  float f;
  std::memcpy(&f, &bits, 4);
  return f;
}
// Converting every 16-bit number to float, and to double, and back keeps it.
TEST_P(Isas, SixteenBitFloatsSurviveTheRoundTrip) {
  for (int32_t dtype : {LIBDL_DTYPE_FLOAT16, LIBDL_DTYPE_BFLOAT16}) {
    for (int32_t through : {LIBDL_DTYPE_FLOAT32, LIBDL_DTYPE_FLOAT64}) {
      Array in(dtype, {65536}), middle(through, {65536}), back(dtype, {65536});
      for (int i = 0; i < 65536; ++i) in.set<uint16_t>(i, uint16_t(i));
      copy(middle, in);
      copy(back, middle);
      for (int i = 0; i < 65536; ++i) {
        double want = dtype == LIBDL_DTYPE_FLOAT16 ? half_value(i) : bfloat_value(i);
        double got = through == LIBDL_DTYPE_FLOAT32 ? middle.get<float>(i) : middle.get<double>(i);
        if (std::isnan(want)) {
          ASSERT_TRUE(std::isnan(got)) << i;
          int quiet = dtype == LIBDL_DTYPE_FLOAT16 ? 0x200 : 0x40;
          ASSERT_EQ(back.get<uint16_t>(i), i | quiet) << i;
        } else {
          ASSERT_EQ(got, want) << i;
          ASSERT_EQ(back.get<uint16_t>(i), i) << i;
        }
      }
    }
  }
}
// Halfway cases and their neighbours, from float and from double, round to the even neighbour.
TEST_P(Isas, SixteenBitFloatsRoundToEven) {
  for (int32_t dtype : {LIBDL_DTYPE_FLOAT16, LIBDL_DTYPE_BFLOAT16}) {
    const bool half = dtype == LIBDL_DTYPE_FLOAT16;
    const int last = half ? 0x7BFF : 0x7F7F;
    std::vector<double> x;
    std::vector<uint16_t> want;
    for (int i = 0; i < last; i += 1 + i / 3000) {
      double low = half ? half_value(i) : bfloat_value(i),
             high = half ? half_value(i + 1) : bfloat_value(i + 1);
      double middle = low + (high - low) / 2;
      x.insert(x.end(), {middle, std::nextafter(middle, 0.0), std::nextafter(middle, kInf)});
      want.insert(want.end(), {uint16_t(i + (i & 1)), uint16_t(i), uint16_t(i + 1)});
    }
    Array in = array(x), out(dtype, in.sizes);
    copy(out, in);
    for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(out.get<uint16_t>(i), want[i]) << x[i];
    std::vector<float> f;
    std::vector<uint16_t> expected;
    for (size_t i = 0; i < x.size(); i += 3) {
      float m = static_cast<float>(x[i]);
      if (m != x[i]) continue;
      f.insert(f.end(), {m, std::nextafter(m, 0.0f), std::nextafter(m, float(kInf)), -m});
      expected.insert(expected.end(),
                      {want[i], want[i + 1], want[i + 2], uint16_t(want[i] | 0x8000)});
    }
    f.insert(f.end(), {float(kInf), half ? 65520.0f : 3.4e38f, half ? 65519.0f : 3.38e38f});
    const uint16_t infinity = half ? 0x7C00 : 0x7F80;
    expected.insert(expected.end(),
                    {infinity, infinity, half ? uint16_t(0x7BFF) : uint16_t(0x7F7E)});
    if (!half) expected.back() = 0x7F7E, f.back() = 3.37e38f;
    Array fin = array(f), fout(dtype, fin.sizes);
    copy(fout, fin);
    for (size_t i = 0; i < f.size(); ++i) ASSERT_EQ(fout.get<uint16_t>(i), expected[i]) << f[i];
  }
}
// Among subnormals, infinities and NaNs, too, whole blocks give the bits of single elements.
TEST_P(Isas, BlocksOfDoublesRoundOnce) {
  for (int32_t dtype : {LIBDL_DTYPE_FLOAT16, LIBDL_DTYPE_BFLOAT16}) {
    for (const double scale : {1.0, 0x1p-20, 0x1p-126, 0x1p-140, 0x1p126, 0x1p1000}) {
      std::vector<double> x;
      for (uint64_t i = 0; i < 1000; ++i) {
        const double bits = static_cast<double>(static_cast<int64_t>(mix(i))) * 0x1p-63;
        x.push_back(scale * bits * (i % 7 == 0 ? 0 : 1));
      }
      if (scale == 1.0) x[100] = kInf, x[200] = -kInf, x[300] = std::nan(""), x[400] = -x[300];
      Array in = array(x), out(dtype, in.sizes);
      copy(out, in);
      for (size_t i = 0; i < x.size(); ++i) {
        Array one = array(std::vector<double>{x[i]}), want(dtype, one.sizes);
        copy(want, one);
        ASSERT_EQ(out.get<uint16_t>(i), want.get<uint16_t>(0)) << x[i] << " at " << i;
      }
    }
  }
}
TEST_P(Isas, TruthsBecomeOnes) {
  for (int32_t dtype : {LIBDL_DTYPE_UINT8, LIBDL_DTYPE_INT16, LIBDL_DTYPE_INT32, LIBDL_DTYPE_INT64,
                        LIBDL_DTYPE_FLOAT16, LIBDL_DTYPE_BFLOAT16, LIBDL_DTYPE_FLOAT32,
                        LIBDL_DTYPE_FLOAT64, LIBDL_DTYPE_COMPLEX64}) {
    Array x(LIBDL_DTYPE_BOOL, {1003}), y(dtype, {1003}), back(LIBDL_DTYPE_FLOAT64, {1003});
    constexpr uint8_t kBytes[] = {0, 1, 255};
    for (int64_t i = 0; i < 1003; ++i) x.set<uint8_t>(i, kBytes[mix(i) % 3]);
    copy(y, x);
    copy(back, y);
    for (int64_t i = 0; i < 1003; ++i) {
      ASSERT_EQ(back.get<double>(i), x.get<uint8_t>(i) != 0) << "dtype " << dtype << " at " << i;
    }
  }
}
TEST_P(Isas, CopiesOfEveryElementSizeAndLayout) {
  for (int32_t dtype : {LIBDL_DTYPE_UINT8, LIBDL_DTYPE_INT16, LIBDL_DTYPE_FLOAT32,
                        LIBDL_DTYPE_FLOAT64, LIBDL_DTYPE_COMPLEX128}) {
    struct Layout {
      std::vector<int64_t> sizes, out, in;
    };
    const std::vector<Layout> layouts = {
        {{}, {}, {}},
        {{100000}, {1}, {1}},
        {{333, 257}, {257, 1}, {1, 333}},
        {{333, 257}, {1, 333}, {257, 1}},
        {{257, 70}, {70, 1}, {1, 300}},
        {{3, 130, 67}, {8710, 67, 1}, {8710, 1, 130}},
        {{64, 64}, {1, 64}, {-64, -1}},
        {{65, 33, 5}, {165, 5, 1}, {1, 65, 2145}},
        {{2, 3, 4, 5, 6}, {360, 120, 30, 6, 1}, {1, 2, 6, 24, 120}},
        {{50, 40}, {80, 2}, {0, 1}},
        {{20, 333}, {333, 1}, {666, 2}},
        {{20, 333}, {333, 1}, {333, -1}},
        {{20, 333}, {333, 1}, {999, 3}}};
    for (size_t l = 0; l < layouts.size(); ++l) {
      Array in(dtype, layouts[l].sizes, layouts[l].in),
          out(dtype, layouts[l].sizes, layouts[l].out);
      for (size_t i = 0; i < in.bytes.size(); ++i) in.bytes[i] = char(mix(i));
      copy(out, in, l % 2 == 0);
      for (int64_t i = 0; i < in.count(); ++i) {
        ASSERT_EQ(std::memcmp(out.bytes.data() + out.place(i) * out.width(),
                              in.bytes.data() + in.place(i) * in.width(), in.width()),
                  0)
            << "dtype " << dtype << " layout " << l << " at " << i;
      }
    }
  }
}
TEST_P(Isas, ConversionsAlongStrides) {
  Array in(LIBDL_DTYPE_INT16, {300, 211}, {1, 300}), out(LIBDL_DTYPE_FLOAT32, {300, 211}, {422, 2});
  for (int64_t i = 0; i < in.count(); ++i) in.set<int16_t>(i, int16_t(mix(i)));
  copy(out, in, true);
  for (int64_t i = 0; i < in.count(); ++i) ASSERT_EQ(out.get<float>(i), float(in.get<int16_t>(i)));
}

// Operands that lie across the output go through blocks and are transposed there: the same bits as
// from dense copies.
TEST_P(Isas, OperandsThatLieAcrossGiveTheBitsOfDenseOnes) {
  const auto filled = [](int32_t dtype, const std::vector<int64_t>& sizes, uint64_t seed) {
    Array numbers(LIBDL_DTYPE_INT16, sizes), x(dtype, sizes);
    for (int64_t i = 0; i < x.count(); ++i) {
      numbers.set<int16_t>(i, int16_t(mix(i + seed) % 200) - 100);
    }
    copy(x, numbers);
    return x;
  };
  struct Types {
    Class compute;
    int32_t out, x, y, z;
  };
  constexpr int32_t k8 = LIBDL_DTYPE_INT8, k16 = LIBDL_DTYPE_FLOAT16, k32 = LIBDL_DTYPE_FLOAT32,
                    k64 = LIBDL_DTYPE_FLOAT64, k128 = LIBDL_DTYPE_COMPLEX128;
  for (const Types& t : {Types{Class::kF32, k32, k32, k32, k32},
                         {Class::kF32, k16, k16, k16, k16},
                         {Class::kF32, k32, k16, k32, k8},
                         {Class::kF64, k64, k64, k64, k64},
                         {Class::kF64, k32, k64, k8, k64},
                         {Class::kI64, k8, k8, k8, k8},
                         {Class::kC128, k128, k128, k128, k64}}) {
    for (const auto& sizes :
         std::vector<std::vector<int64_t>>{{16, 64}, {33, 100}, {100, 41}, {70, 300}, {17, 1000}}) {
      Array dense[3] = {filled(t.x, sizes, 1), filled(t.y, sizes, 2), filled(t.z, sizes, 3)};
      Array want(t.out, sizes);
      run(Expression::add_scaled, t.compute, want, {&dense[0], &dense[1], &dense[2]});
      for (int across = 1; across < 8; ++across) {  // a bit for each input
        std::vector<Array> in;
        in.reserve(3);
        for (int k = 0; k < 3; ++k) {
          if ((across >> k & 1) == 0) {
            in.push_back(dense[k]);
          } else {
            in.emplace_back(dense[k].dtype, sizes, std::vector<int64_t>{1, sizes[0]});
            copy(in.back(), dense[k]);
          }
        }
        Array out(t.out, sizes);
        run(Expression::add_scaled, t.compute, out, {&in[0], &in[1], &in[2]}, true);
        EXPECT_TRUE(out.bytes == want.bytes)
            << "class " << int(t.compute) << " rows " << sizes[0] << " across " << across;
      }
    }
  }
}

TEST_P(Isas, FillWritesOneValue) {
  Array out(LIBDL_DTYPE_COMPLEX64, {300, 40}, {1, 301});
  std::complex<float> value(1.5f, -2);
  FillArgs args = {out.view(), &value};
  Context context = threaded_context();
  cpu::fill(context, args);
  for (int64_t i = 0; i < out.count(); ++i) ASSERT_EQ(out.get<std::complex<float>>(i), value);
  std::complex<float> gap;
  std::memcpy(&gap, out.bytes.data() + 300 * 8, 8);
  EXPECT_EQ(gap, std::complex<float>(0));
}

// --- Programs ----------------------------------------------------------------------------------

int32_t number(Expression e) { return static_cast<int32_t>(e); }

// (x * y + 0.5) tanh'ed, times whether x > y.
TEST_P(Isas, ProgramsRunTheirInstructions) {
  const Instruction code[] = {{number(Expression::mul), {0, 1}},
                              {number(Expression::add), {3, 2}},
                              {number(Expression::tanh), {4}},
                              {number(Expression::gt), {0, 1}},
                              {number(Expression::mul), {5, 6}}};
  for (bool strided : {false, true}) {
    Array x(LIBDL_DTYPE_FLOAT32, {211, 401}, {strided ? 1 : 401, strided ? 211 : 1});
    Array y(LIBDL_DTYPE_INT8, {211, 401}, {0, 1}), out(LIBDL_DTYPE_FLOAT64, {211, 401});
    for (int64_t i = 0; i < x.count(); ++i) x.set<float>(i, float(mix(i) % 1000) / 100 - 5);
    for (int64_t i = 0; i < 401; ++i) y.set<int8_t>(i, int8_t(i % 9 - 4));
    ProgramArgs args = {};
    args.compute = static_cast<int32_t>(Class::kF64);
    args.inputs = 2;
    args.constants = 1;
    args.length = 5;
    args.out = out.view();
    args.in[0] = x.view();
    args.in[1] = y.view();
    args.constant[0] = 0.5;
    args.code = code;
    Context context = threaded_context();
    cpu::program(context, args);
    for (int64_t i = 0; i < x.count(); ++i) {
      double a = x.get<float>(i), b = y.get<int8_t>(i);
      double want = std::tanh(a * b + 0.5) * (a > b);
      ASSERT_NEAR(out.get<double>(i), want, 1e-14) << i;
    }
  }
}
TEST_P(Isas, ProgramsMayEndInATruthAndBeLong) {
  std::vector<Instruction> code = {{number(Expression::add), {0, 1}}};
  for (int k = 1; k < kMaxInstructions - 1; ++k)
    code.push_back({number(Expression::add), {k + 1, 1}});
  code.push_back({number(Expression::eq), {kMaxInstructions, 0}});
  Array x = array(std::vector<int64_t>{-127, 0, 5}), out(LIBDL_DTYPE_BOOL, {3});
  code.back().in[1] = 1;  // x + 127 == 1
  ProgramArgs args = {};
  args.compute = static_cast<int32_t>(Class::kI64);
  args.inputs = 1;
  args.constants = 1;
  args.length = kMaxInstructions;
  args.out = out.view();
  args.in[0] = x.view();
  args.constant[0] = 1;
  args.code = code.data();
  Context context = test::plain_context();
  cpu::program(context, args);
  EXPECT_EQ(out.get<uint8_t>(0), 0);
  Array y = array(std::vector<int64_t>{-126, 1, -126});
  args.in[0] = y.view();
  cpu::program(context, args);
  EXPECT_EQ(out.get<uint8_t>(0), 1);
  EXPECT_EQ(out.get<uint8_t>(1), 0);
  EXPECT_EQ(out.get<uint8_t>(2), 1);
}

// Drawn programs: pairs, registers that are shared, truths in between, operands of any strides.
struct Drawn {
  std::vector<Instruction> code;
  std::vector<double> constants;
  int inputs;
};
Drawn drawn_program(uint64_t seed, Class compute) {
  using enum Expression;
  static constexpr Expression kAny[] = {add, sub, mul, add, sub, mul, maximum, where, lt};
  static constexpr Expression kFloats[] = {exp, tanh, sigmoid, relu, gelu, silu, div};
  uint64_t state = seed;
  const auto below = [&](int n) {
    return static_cast<int>(mix(++state) % static_cast<uint64_t>(n));
  };
  Drawn p;
  p.inputs = 1 + below(8);
  for (int k = below(4); k > 0; --k) p.constants.push_back(below(7) * 0.25 - 0.75);
  const int first = p.inputs + static_cast<int>(p.constants.size());
  const int length = 1 + below(seed % 7 == 0 ? kMaxInstructions : 12);
  for (int k = 0; k < length; ++k) {
    const bool floats = compute == Class::kF32 || compute == Class::kF64;
    Expression e = floats && below(2) ? kFloats[below(7)] : kAny[below(9)];
    if (compute == Class::kC128 && (e == maximum || e == lt)) e = sub;
    Instruction step{static_cast<int32_t>(e), {}};
    for (int j = 0; j < kExpressionInfo[step.expression].inputs; ++j)
      step.in[j] = k > 0 && below(2) ? first + k - 1 : below(first + k);
    p.code.push_back(step);
  }
  return p;
}

// NaNs have no sign or digits that anybody promised.
template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0 || (a != a && b != b);
}

template <class T>
void compare_with_steps(const Drawn& p, Class compute, bool flat, bool in_place) {
  const std::vector<int64_t> sizes =
      flat ? std::vector<int64_t>{41003} : std::vector<int64_t>{37, 53};
  std::vector<Array> in, made;
  ProgramArgs args = {};
  for (int k = 0; k < p.inputs; ++k) {
    if (flat)
      in.emplace_back(dtype_of<T>(), sizes);
    else if (k % 3 == 0)
      in.emplace_back(dtype_of<T>(), sizes, std::vector<int64_t>{1, 37});
    else
      in.emplace_back(dtype_of<T>(), sizes,
                      std::vector<int64_t>{k % 3 == 1 ? 53 : 0, k == 4 ? 0 : 1});
    for (int64_t i = 0; i < in[k].count(); ++i)
      in[k].set<T>(
          i, T(static_cast<int>(mix(static_cast<uint64_t>(i % 9973 + k * 10007)) % 401) - 200) /
                 T(std::is_integral_v<T> ? 1 : 64));
  }
  const auto step_dtype = dtype_of<T>();
  const auto operand = [&](int r) -> View {
    return r < p.inputs ? in[r].view() : made[r - p.inputs].view();
  };
  for (const double c : p.constants) {
    made.emplace_back(step_dtype, sizes);
    for (int64_t i = 0; i < made.back().count(); ++i) made.back().set<T>(i, static_cast<T>(c));
  }
  Context context = flat ? threaded_context() : test::plain_context();
  for (const Instruction& step : p.code) {
    made.emplace_back(step_dtype, sizes);
    PointwiseArgs one = {};
    one.expression = step.expression;
    one.compute = static_cast<int32_t>(compute);
    one.inputs = kExpressionInfo[step.expression].inputs;
    one.out = made.back().view();
    for (int j = 0; j < one.inputs; ++j) one.in[j] = operand(step.in[j]);
    cpu::pointwise(context, one);
  }
  Array out(step_dtype, sizes);
  args.compute = static_cast<int32_t>(compute);
  args.inputs = p.inputs;
  args.constants = static_cast<int32_t>(p.constants.size());
  std::copy(p.constants.begin(), p.constants.end(), args.constant);
  args.length = static_cast<int32_t>(p.code.size());
  args.code = p.code.data();
  for (int k = 0; k < p.inputs; ++k) args.in[k] = in[k].view();
  args.out = in_place ? in[0].view() : out.view();
  cpu::program(context, args);
  const Array& found = in_place ? in[0] : out;
  for (int64_t i = 0; i < out.count(); ++i)
    ASSERT_TRUE(same_bits(found.get<T>(i), made.back().get<T>(i)))
        << "element " << i << " of " << p.code.size() << " instructions: " << found.get<T>(i)
        << ", step by step " << made.back().get<T>(i);
}

TEST_P(Isas, ProgramsHaveTheBitsOfTheirSteps) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const bool flat = seed % 2, in_place = seed % 3 == 0;
    compare_with_steps<float>(drawn_program(seed, Class::kF32), Class::kF32, flat, in_place);
    if (seed % 4 == 0)
      compare_with_steps<double>(drawn_program(seed, Class::kF64), Class::kF64, !flat, in_place);
    if (seed % 8 == 0)
      compare_with_steps<int64_t>(drawn_program(seed, Class::kI64), Class::kI64, flat, in_place);
    if (seed % 16 == 0)
      compare_with_steps<Z>(drawn_program(seed, Class::kC128), Class::kC128, flat, in_place);
    if (HasFatalFailure()) return;
  }
}

// Every pair of expressions of which one may feed the other, on either side.
TEST_P(Isas, PairsHaveTheBitsOfTheirSteps) {
  using enum Expression;
  static constexpr Expression kTwo[] = {add, sub, mul},
                              kOne[] = {exp, tanh, sigmoid, relu, gelu, silu};
  const auto check = [](std::vector<Instruction> code) {
    compare_with_steps<float>({code, {}, 3}, Class::kF32, false, false);
    compare_with_steps<double>({std::move(code), {}, 3}, Class::kF64, true, false);
  };
  for (const Expression a : kTwo)
    for (const Expression b : kTwo)
      for (const bool right : {false, true})
        check({{number(a), {0, 1}}, {number(b), {right ? 2 : 3, right ? 3 : 2}}});
  for (const Expression a : kOne)
    for (const Expression b : kTwo)
      for (const bool right : {false, true}) {
        check({{number(a), {0}}, {number(b), {right ? 2 : 3, right ? 3 : 2}}});
        check({{number(b), {0, 1}}, {number(a), {3}}});
        if (HasFatalFailure()) return;
      }
}

// --- The choice of instruction set -------------------------------------------------------------

TEST(Isa, NamesAndLimits) {
  EXPECT_STREQ(cpu::isa_name(cpu::Isa::kAvx512), "avx512");
  EXPECT_TRUE(cpu::set_isa(cpu::Isa::kBaseline));
  EXPECT_EQ(cpu::isa(), cpu::Isa::kBaseline);
  EXPECT_TRUE(cpu::set_isa(cpu::best_isa()));
  EXPECT_EQ(cpu::isa(), cpu::best_isa());
}
TEST(Tiles, EveryDeclaredCombinationExists) {
  for (int c = 0; c < kClasses; ++c) {
    for (int e = 0; e < kExpressions; ++e) {
      bool there = cpu::tile_table(static_cast<Class>(c))[e] != nullptr;
      EXPECT_EQ(there, expression_exists(e, static_cast<Class>(c))) << kExpressionInfo[e].name;
    }
  }
}

}  // namespace
}  // namespace libdl::kernels
