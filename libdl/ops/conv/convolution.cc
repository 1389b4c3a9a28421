// SPDX-License-Identifier: Apache-2.0

#include "entries/convolution.h"
#include "entries/arithmetic.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/conv/correlation.h"
#include "ops/core/call.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/primitive/each_dimension.h"
#include "ops/view/view.h"

namespace libdl {

// -- gradients ------------------------------------------------------------------------------------

namespace {
// What is computed of two tensors: one of the three functions of correlation.h.
struct Convolved {
  Correlation c;
  Role first, second;  // of the inputs
  bool bias;

  Role computed() const { return third(first, second); }
};
using Gradients = std::tuple<Tensor, Tensor, Tensor>;  // where wanted
}  // namespace

static Tensor convolve(const Convolved& a, const Tensor& first, const Tensor& second,
                       const Tensor* bias);

// Recorded in its turn, and shown: it is in no operator's call.
static Tensor gradient_of(const Convolved& a, const Tensor& other, const Tensor& dy) {
  LIBDL_OBSERVED_PART("convolution_backward", gradient_of(a, other, dy), other, dy);
  return convolve(a, other, dy, nullptr);
}

// Each of the three functions is linear in its inputs, and the gradient of an input is the function
// that computes it from the other one and dy.
static Gradients by_operators(const Convolved& a, const Tensor& dy, const Tensor& first,
                              const Tensor& second, const std::array<bool, 3>& needed) {
  Gradients g;
  const Role role = a.computed();
  if (needed[0]) std::get<0>(g) = gradient_of({a.c, a.second, role, false}, conj(second), dy);
  if (needed[1]) std::get<1>(g) = gradient_of({a.c, a.first, role, false}, conj(first), dy);
  if (needed[2]) std::get<2>(g) = sum_of_pixels(dy);
  return g;
}

static Gradients at_once(const Convolved& a, const Tensor& dy, const Tensor& first,
                         const Tensor& second, const std::array<bool, 3>& needed) {
  LIBDL_OBSERVED_PART("convolution_backward", at_once(a, dy, first, second, needed), dy, &first,
                      &second);
  Gradients g;
  const Role role = a.computed();
  // The weight's gradient takes the bias's with it.
  Tensor* const bias = needed[2] && needed[1] && role == Role::kOutput ? &std::get<2>(g) : nullptr;
  if (needed[0]) std::get<0>(g) = correlate(a.c, {conj(second), a.second}, {dy, role});
  if (needed[1]) std::get<1>(g) = correlate(a.c, {conj(first), a.first}, {dy, role}, nullptr, bias);
  if (needed[2] && !bias) std::get<2>(g) = sum_of_pixels(dy);
  return g;
}

// -- gradients for a batch of them ----------------------------------------------------------------
// A batch goes into the dimension that dy and the wanted gradient share and the other input lacks:
// the samples of x and y, the channels of x and w, or those of w and y. What does not depend on the
// batch is then neither repeated nor read twice.

// Of a tensor in its role: where the dimension is, and whether groups stand before it.
static int folded_dimension(Role role, Role other) {
  if (other == Role::kWeight) return 0;
  return role == Role::kWeight && other == Role::kInput ? 0 : 1;
}
static int64_t groups_before(const Correlation& c, Role role, Role other) {
  if (other == Role::kWeight) return 1;
  return role == Role::kWeight && other == Role::kOutput ? 1 : c.groups;
}

// [batch, .., groups * n, ..] as [.., groups * batch * n, ..].
static Tensor folded_in(const Tensor& t, int at, int64_t groups) {
  Shape apart(t.shape()), joined(t.shape());
  apart[at + 1] /= groups;
  apart.insert(static_cast<size_t>(at) + 1, groups);
  joined.erase(0);
  joined[at] *= t.size(0);
  const int64_t from[] = {0}, to[] = {at + 1};
  return reshape(movedim(reshape(t, apart), from, to), joined);
}
static Tensor in_front(const Tensor& t, int at, int64_t groups, int64_t batch) {
  Shape apart(t.shape()), joined(t.shape());
  apart[at] /= groups * batch;
  apart.insert(static_cast<size_t>(at), batch);
  apart.insert(static_cast<size_t>(at), groups);
  joined[at] /= batch;
  joined.insert(0, batch);
  const int64_t from[] = {at + 1}, to[] = {0};
  return reshape(movedim(reshape(t, apart), from, to), joined);
}

static Tensor gradients_of_batch(const Convolved& a, Role role, Role other_role,
                                 const Tensor& other, const Tensor& dy) {
  const Role computed = a.computed();
  Convolved all{a.c, other_role, computed, false};
  const int64_t batch = dy.size(0);
  Shape* const shapes[] = {&all.c.x, &all.c.w, &all.c.y};
  for (const Role each : {role, computed})
    (*shapes[static_cast<int>(each)])[folded_dimension(each, other_role)] *= batch;
  const Tensor together = folded_in(dy, folded_dimension(computed, other_role),
                                    groups_before(a.c, computed, other_role));
  return in_front(gradient_of(all, conj(other), together), folded_dimension(role, other_role),
                  groups_before(a.c, role, other_role), batch);
}

static Gradients of_batch(const Convolved& a, const Tensor& dy, const Tensor& first,
                          const Tensor& second, const std::array<bool, 3>& needed) {
  Gradients g;
  if (needed[0]) std::get<0>(g) = gradients_of_batch(a, a.first, a.second, second, dy);
  if (needed[1]) std::get<1>(g) = gradients_of_batch(a, a.second, a.first, first, dy);
  if (!needed[2]) return g;
  Shape pixels;
  for (int d = 1; d < dy.ndim(); ++d)
    if (d != 2) pixels.push_back(d);
  std::get<2>(g) = sum(dy, Dims(pixels));
  return g;
}

static void convolution_vjp(Backward& b) {
  const Convolved& a = b.attr<Convolved>();
  std::array<bool, 3> needed{};
  for (int i = 0; i < b.inputs(); ++i) needed[static_cast<size_t>(i)] = b.needs(i);
  const Tensor first = needed[1] ? b.saved(0) : Tensor();
  const Tensor second = needed[0] ? b.saved(1) : Tensor();
  const auto compute = b.batch() ? of_batch : b.differentiated() ? by_operators : at_once;
  auto [df, ds, db] = compute(a, b.dy(), first, second, needed);
  if (needed[0]) b.set_grad(0, std::move(df));
  if (needed[1]) b.set_grad(1, std::move(ds));
  if (needed[2]) b.set_grad(2, std::move(db));
}

// -- the call -------------------------------------------------------------------------------------

static const Rule& rule_of(const Convolved& a) {
  static const Rule kRule{.name = "convolution", .vjp = convolution_vjp, .takes_batch = true};
  return renamed(kRule, a.c.op);
}

static Tensor tangent_of(const Call& call, const Convolved& a, const Tensor& first,
                         const Tensor& second) {
  Tensor t;
  const auto plus = [&t](const Tensor& more) { t = t.defined() ? t + more : more; };
  if (call.tangent(0).defined()) plus(convolve(a, call.tangent(0), second, nullptr));
  if (call.tangent(1).defined()) plus(convolve(a, first, call.tangent(1), nullptr));
  if (a.bias && call.tangent(2).defined()) {
    const Shape& shape = a.c.shape(a.computed());
    const Tensor shift = along_channels(call.tangent(2), shape);
    plus(t.defined() ? shift : own(expand(shift, shape)));
  }
  return t;
}

static Tensor convolve(const Convolved& args, const Tensor& first, const Tensor& second,
                       const Tensor* bias) {
  Convolved a = args;
  a.bias = bias;
  Call call(a.c.op, {}, {&first, &second, bias});
  Tensor y = correlate(a.c, {first, a.first}, {second, a.second}, bias);
  if (call.is_unrecorded()) return call.done(std::move(y));
  // A value is saved for the other's gradient only.
  const Tensor none;
  const Tensor& saved_first = has_history(second) ? first : none;
  const Tensor& saved_second = has_history(first) ? second : none;
  y = call.done(std::move(y), rule_of(a), a,
                {saves_input(saved_first, 0), saves_input(saved_second, 1)});
  if (call.forward()) call.jvp(y, [&] { return tangent_of(call, a, first, second); });
  return y;
}

// -- what is asked for ----------------------------------------------------------------------------

namespace {
struct ConvolutionCall {
  const char* op;
  int nd;  // dimensions of the window
  const Tensor& input;
  const Tensor& weight;
  const Tensor* bias;
  bool transposed;

  // The wanted shapes, in errors.
  std::string image() const {
    static constexpr const char* kImages[] = {"[n, c, l] or [c, l]", "[n, c, h, w] or [c, h, w]",
                                              "[n, c, d, h, w] or [c, d, h, w]"};
    return kImages[nd - 1];
  }
  LIBDL_NORETURN void bad(libdl_error_code code, const char* name, const std::string& found,
                          const std::string& wanted LIBDL_SOURCE_LOCATION) const {
    fail_argument(code, op, name, found, wanted LIBDL_SAME_SOURCE_LOCATION);
  }
};
}  // namespace

// The numbers that the argument has, one for each spatial dimension, or `otherwise` for each if
// the argument is missing or empty.
static Three numbers(const ConvolutionCall& a, const char* name, std::optional<Dims> values,
                     int64_t otherwise, int64_t least) {
  if (!values || values->empty()) return {otherwise, otherwise, otherwise};
  return each_dimension(a.op, name, *values, a.nd, otherwise, least);
}

static void check_dtypes(const ConvolutionCall& a) {
  const Dtype dtype = a.input.dtype();
  if (dtype == Dtype::kBool) a.bad(LIBDL_ERROR_DTYPE, "input", "is bool", "a numeric dtype");
  if (a.weight.dtype() != dtype)
    a.bad(LIBDL_ERROR_DTYPE, "input", std::string("is ") + name_of(dtype),
          std::string(name_of(a.weight.dtype())) + ", as argument (weight)");
  if (a.bias && a.bias->dtype() != dtype)
    a.bad(LIBDL_ERROR_DTYPE, "bias", std::string("is ") + name_of(a.bias->dtype()), name_of(dtype));
}

static void check_channels(const ConvolutionCall& a, int64_t groups) {
  if (groups < 1) a.bad(LIBDL_ERROR_VALUE, "groups", "is " + std::to_string(groups), "1 or more");
  const int n = a.input.ndim();
  if (n != a.nd + 1 && n != a.nd + 2)
    a.bad(LIBDL_ERROR_SHAPE, "input", "has shape " + to_string(a.input.shape()), a.image());
  const int64_t channels = a.input.size(n - a.nd - 1);
  const Dims w = a.weight.shape();
  if (a.weight.ndim() != a.nd + 2)
    a.bad(LIBDL_ERROR_SHAPE, "weight", "has shape " + to_string(w),
          std::to_string(a.nd + 2) + " dimensions");
  if (groups > w[0] && w[0] > 0)
    a.bad(LIBDL_ERROR_VALUE, "groups", "is " + std::to_string(groups),
          "at most " + std::to_string(w[0]) + ", for weight has shape " + to_string(w));
  if (w[0] < 1 || w[0] % groups != 0)
    a.bad(LIBDL_ERROR_SHAPE, "weight", "has shape " + to_string(w),
          "a multiple of groups, " + std::to_string(groups) + ", as its first size");
  const bool fits = a.transposed ? channels == w[0] : channels == w[1] * groups;
  if (!fits)
    a.bad(LIBDL_ERROR_SHAPE, "input", "has " + std::to_string(channels) + " channels",
          std::to_string(a.transposed ? w[0] : w[1] * groups) + ", for weight has shape " +
              to_string(w) + (groups > 1 ? " and groups is " + std::to_string(groups) : ""));
  for (int d = 2; d < a.nd + 2; ++d)
    if (w[static_cast<size_t>(d)] < 1)
      a.bad(LIBDL_ERROR_SHAPE, "weight", "has shape " + to_string(w), "a window of 1 or more");
  const int64_t out_channels = a.transposed ? w[1] * groups : w[0];
  if (a.bias && (a.bias->ndim() != 1 || a.bias->size(0) != out_channels))
    a.bad(LIBDL_ERROR_SHAPE, "bias", "has shape " + to_string(a.bias->shape()),
          "[" + std::to_string(out_channels) + "]");
}

// Before and after each dimension; one number, or one a dimension, stands for both.
static std::array<Three, 2> padding_of(const ConvolutionCall& a, std::optional<Dims> values) {
  const auto nd = static_cast<size_t>(a.nd);
  if (a.transposed || !values || values->size() != 2 * nd) {
    const Three both = numbers(a, "padding", values, 0, 0);
    return {both, both};
  }
  Shape before, after;
  for (size_t d = 0; d < nd; ++d)
    before.push_back((*values)[2 * d]), after.push_back((*values)[2 * d + 1]);
  return {numbers(a, "padding", Dims(before), 0, 0), numbers(a, "padding", Dims(after), 0, 0)};
}

// The sizes of the image behind its batch and channels, as the last of three; the others are 1.
static Three image_sizes(const ConvolutionCall& a) {
  Three sizes{1, 1, 1};
  for (int d = 0; d < a.nd; ++d) {
    const int64_t size = a.input.size(a.input.ndim() - a.nd + d);
    if (size < 1)
      a.bad(LIBDL_ERROR_SHAPE, "input", "has shape " + to_string(a.input.shape()),
            a.image() + ", of which only n and c may be 0");
    sizes[static_cast<size_t>(d + 3 - a.nd)] = size;
  }
  return sizes;
}
static Three window_sizes(const ConvolutionCall& a) {
  Three sizes{1, 1, 1};
  for (int d = 0; d < a.nd; ++d) sizes[static_cast<size_t>(d + 3 - a.nd)] = a.weight.size(d + 2);
  return sizes;
}

static Shape image_shape(const ConvolutionCall& a, int64_t channels, const Three& sizes) {
  Shape shape{a.input.ndim() == a.nd + 1 ? 1 : a.input.size(0), channels};
  for (int d = 3 - a.nd; d < 3; ++d) shape.push_back(sizes[static_cast<size_t>(d)]);
  return shape;
}

// Computes with a batch, which the result has if the input has.
static Tensor run(const ConvolutionCall& a, const Correlation& c) {
  const Convolved how{c, a.transposed ? Role::kOutput : Role::kInput, Role::kWeight, false};
  if (a.input.ndim() == a.nd + 2) return convolve(how, a.input, a.weight, a.bias);
  const Named named(a.op);
  const Tensor y = convolve(how, unsqueeze(a.input, 0), a.weight, a.bias);
  return named(own(select(y, 0, 0)));
}

// -- convolution ----------------------------------------------------------------------------------

// o = (i + before + after - dilation (t - 1) - 1) / stride + 1
static Tensor conv(const ConvolutionCall& a, std::optional<Dims> stride,
                   std::optional<Dims> padding, std::optional<Dims> dilation, int64_t groups) {
  check_channels(a, groups);
  check_dtypes(a);
  Correlation c{.op = a.op, .groups = groups};
  c.stride = numbers(a, "stride", stride, 1, 1);
  const auto [before, after] = padding_of(a, padding);
  c.before = before;
  c.dilation = numbers(a, "dilation", dilation, 1, 1);
  const Three image = image_sizes(a), window = window_sizes(a);
  Three out;
  for (size_t d = 0; d < 3; ++d) {
    const int64_t padded = image[d] + before[d] + after[d],
                  reach = c.dilation[d] * (window[d] - 1) + 1;
    if (reach > padded)
      a.bad(LIBDL_ERROR_SHAPE, "input", "has shape " + to_string(a.input.shape()),
            "room for a window that reaches over " + std::to_string(reach) + " in dimension " +
                std::to_string(a.input.ndim() - 3 + static_cast<int>(d)));
    out[d] = (padded - reach) / c.stride[d] + 1;
  }
  c.x = image_shape(a, a.weight.size(1) * groups, image);
  c.w = Shape(a.weight.shape());
  c.y = image_shape(a, a.weight.size(0), out);
  return run(a, c);
}

#define LIBDL_CONV(name, nd)                                                                 \
  Tensor name##_impl(const Tensor& input, const Tensor& weight, const Tensor* bias,          \
                     std::optional<Dims> stride, std::optional<Dims> padding,                \
                     std::optional<Dims> dilation, int64_t groups) {                         \
    return conv({#name, nd, input, weight, bias, false}, stride, padding, dilation, groups); \
  }
LIBDL_CONV(conv1d, 1)
LIBDL_CONV(conv2d, 2)
LIBDL_CONV(conv3d, 3)
#undef LIBDL_CONV

// -- transposed -----------------------------------------------------------------------------------

// i = (o - 1) stride - 2 padding + dilation (t - 1) + output_padding + 1: of the sizes of which a
// convolution makes o, output_padding chooses one.
static Tensor conv_transpose(const ConvolutionCall& a, std::optional<Dims> stride,
                             std::optional<Dims> padding, std::optional<Dims> output_padding,
                             int64_t groups, std::optional<Dims> dilation) {
  check_channels(a, groups);
  check_dtypes(a);
  Correlation c{.op = a.op, .groups = groups};
  c.stride = numbers(a, "stride", stride, 1, 1);
  c.before = padding_of(a, padding)[0];
  const Three more = numbers(a, "output_padding", output_padding, 0, 0);
  c.dilation = numbers(a, "dilation", dilation, 1, 1);
  const Three image = image_sizes(a), window = window_sizes(a);
  Three out;
  for (size_t d = 0; d < 3; ++d) {
    const int64_t most = std::max(c.stride[d], c.dilation[d]);
    if (more[d] >= most)
      a.bad(LIBDL_ERROR_VALUE, "output_padding", "is " + std::to_string(more[d]),
            "less than stride or dilation, of which the larger is " + std::to_string(most));
    const __int128 size = static_cast<__int128>(image[d] - 1) * c.stride[d] - 2 * c.before[d] +
                          static_cast<__int128>(c.dilation[d]) * (window[d] - 1) + more[d] + 1;
    if (size < 1 || size > INT64_MAX)
      a.bad(LIBDL_ERROR_SHAPE, "input", "has shape " + to_string(a.input.shape()),
            size < 1 ? "one that makes an output of at least 1 in each dimension"
                     : "one that makes an output of at most 2^63 - 1");
    out[d] = static_cast<int64_t>(size);
  }
  c.x = image_shape(a, a.weight.size(1) * groups, out);
  c.w = Shape(a.weight.shape());
  c.y = image_shape(a, a.weight.size(0), image);
  return run(a, c);
}

#define LIBDL_CONV_TRANSPOSE(name, nd)                                                             \
  Tensor name##_impl(const Tensor& input, const Tensor& weight, const Tensor* bias,                \
                     std::optional<Dims> stride, std::optional<Dims> padding,                      \
                     std::optional<Dims> output_padding, int64_t groups,                           \
                     std::optional<Dims> dilation) {                                               \
    return conv_transpose({#name, nd, input, weight, bias, true}, stride, padding, output_padding, \
                          groups, dilation);                                                       \
  }
LIBDL_CONV_TRANSPOSE(conv_transpose1d, 1)
LIBDL_CONV_TRANSPOSE(conv_transpose2d, 2)
LIBDL_CONV_TRANSPOSE(conv_transpose3d, 3)
#undef LIBDL_CONV_TRANSPOSE

}  // namespace libdl
