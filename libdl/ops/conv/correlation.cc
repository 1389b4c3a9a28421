// SPDX-License-Identifier: Apache-2.0

#include "ops/conv/correlation.h"

#include "device/provider.h"
#include "entries/arithmetic.h"
#include "entries/copy.h"
#include "entries/linalg.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "kernels/cpu/conv/few_channels/few_channels_pay.h"
#include "ops/copy/copy.h"
#include "ops/linalg/product.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/primitive/innermost.h"
#include "ops/view/view.h"

namespace libdl {

namespace {

// -- by the kernel --------------------------------------------------------------------------------

kernels::View bias_view(const Tensor* bias, Access access) {
  if (!bias) return no_view();
  return view_of(*bias, access);
}

// Whether each output pixel is computed of one input pixel, its own.
bool is_pixelwise(const Correlation& c) {
  for (size_t d = 2; d < c.w.size(); ++d) {
    const size_t k = d + 3 - c.w.size();
    if (c.w[d] != 1 || c.stride[k] != 1 || c.before[k] != 0 || c.x[d] != c.y[d]) return false;
  }
  return c.groups == 1;
}

// Whether the kernel reads x as it lies as fast as with its channels innermost.
bool reads_as_it_lies(const Correlation& c, const Tensor& x, Role wanted) {
  return wanted == Role::kOutput && x.device().is_cpu() && x.is_contiguous() &&
         kernels::cpu::few_channels_pay(c.w[1], c.w[0]) && is_pixelwise(c);
}

Tensor by_kernel(const Correlation& c, Played a, Played b, const Tensor* bias, Tensor* bias_grad) {
  const Role wanted = third(a.role, b.role);
  const auto order = [&](const Played& p) {
    const bool any = p.role == Role::kWeight ||
                     (p.role == Role::kInput && reads_as_it_lies(c, p.tensor, wanted));
    return any ? Innermost::Order::kAny : Innermost::Order::kInnermost;
  };
  const Innermost first(a.tensor, order(a)), second(b.tensor, order(b));
  const Innermost result(c.shape(wanted), a.tensor.dtype(), a.tensor.device());
  const Tensor shift = bias ? plain(*bias) : Tensor();
  if (bias_grad) *bias_grad = empty(Shape{c.y[1]}, a.tensor.dtype());
  kernels::ConvolutionArgs args{};
  args.wanted = static_cast<kernels::ConvolutionArgs::Wanted>(wanted);
  const auto played = [&](Role role) {
    return role == a.role ? first.view() : role == b.role ? second.view() : result.view();
  };
  args.x = played(Role::kInput), args.w = played(Role::kWeight), args.y = played(Role::kOutput);
  args.bias = bias_grad ? bias_view(bias_grad, Access::kOverwrite)
                        : bias_view(bias ? &shift : nullptr, Access::kRead);
  args.groups = c.groups;
  for (size_t d = 0; d < 3; ++d) {
    args.stride[d] = c.stride[d], args.before[d] = c.before[d], args.dilation[d] = c.dilation[d];
  }
  register_own_providers();
  launch_convolution(a.tensor.device(), args);
  return result.tensor();
}

// -- by one product -------------------------------------------------------------------------------

// Whether the window is the whole image, which one pixel of the output sees.
bool sees_all(const Correlation& c) {
  for (size_t d = 2; d < c.w.size(); ++d) {
    const size_t k = d + 3 - c.w.size();
    if (c.y[d] != 1 || c.x[d] != c.w[d] || c.before[k] != 0) return false;
    if (c.w[d] > 1 && c.dilation[k] != 1) return false;
  }
  return c.groups == 1;
}

// The image or the weights of such a one, as matrices [n, c t], [n, k] and [k, c t].
Tensor by_one_product(const Correlation& c, Played a, Played b) {
  const auto matrix = [&](Role role) {
    const Tensor& x = role == a.role ? a.tensor : b.tensor;
    return reshape(x, Shape{x.size(0), x.numel() / x.size(0)});
  };
  const Tensor y = matrix(Role::kOutput);
  if (third(a.role, b.role) == Role::kWeight) {
    const Tensor x = matrix(Role::kInput);
    return view(product({&y, true}, {&x}), c.w);
  }
  // A single row is summed in another order, which an image must not have for being alone.
  const Tensor w = matrix(Role::kWeight);
  const Tensor rows = y.size(0) == 1 ? expand(y, Shape{2, y.size(1)}) : y;
  const Tensor x = product({&rows}, {&w});
  return view(y.size(0) == 1 ? own(narrow(x, 0, 0, 1)) : x, c.x);
}

// -- by other operators ---------------------------------------------------------------------------

// x with zeros around it, so that every window lies inside.
struct Padded {
  Shape shape, offset;
  Padded(const Correlation& c) : shape(c.x), offset(c.x.size(), 0) {
    for (size_t d = 2; d < shape.size(); ++d) {
      const size_t k = d + 3 - shape.size();
      const int64_t reach = (c.y[d] - 1) * c.stride[k] + (c.w[d] - 1) * c.dilation[k] + 1;
      offset[d] = c.before[k];
      shape[d] = std::max(shape[d] + c.before[k], reach);
    }
  }
  Tensor inner(const Tensor& padded, Dims x) const {
    Tensor part = padded;
    for (int d = 2; d < padded.ndim(); ++d)
      part = narrow(part, d, offset[static_cast<size_t>(d)], x[static_cast<size_t>(d)]);
    return part;
  }
};

// The elements of a padded image under one tap: [n, c, o...].
Tensor under(const Correlation& c, const Tensor& padded, Dims tap) {
  Tensor part = padded;
  for (int d = 2; d < padded.ndim(); ++d) {
    const auto k = static_cast<size_t>(d + 3 - padded.ndim()), at = static_cast<size_t>(d);
    const int64_t first = tap[at - 2] * c.dilation[k];
    part = slice(part, d, first, first + (c.y[at] - 1) * c.stride[k] + 1, c.stride[k]);
  }
  return part;
}

// Calls f(tap, number) for every tap of the window.
template <class F>
void each_tap(const Correlation& c, F f) {
  Shape tap(c.w.size() - 2, 0);
  int64_t count = 1;
  for (size_t d = 2; d < c.w.size(); ++d) count *= c.w[d];
  for (int64_t n = 0; n < count; ++n) {
    int64_t rest = n;
    for (size_t d = tap.size(); d-- > 0; rest /= c.w[d + 2]) tap[d] = rest % c.w[d + 2];
    f(Dims(tap), n);
  }
}

// Patches as matrices: [n groups, c / groups taps, o].
struct Matrices {
  int64_t n, groups, c, k, taps = 1, pixels = 1;
  Matrices(const Correlation& a) : n(a.x[0]), groups(a.groups), c(a.w[1]), k(a.w[0] / a.groups) {
    for (size_t d = 2; d < a.w.size(); ++d) taps *= a.w[d], pixels *= a.y[d];
  }
};

// Of a [n, channels, pixels]: with the output's dimensions.
Tensor as_image(const Correlation& c, const Tensor& x) {
  Shape shape(c.y);
  shape[1] = x.size(1);
  return view(x, shape);
}

Tensor patches_of(const Correlation& c, const Matrices& m, const Tensor& x) {
  const Padded around(c);
  const Tensor padded = zeros(around.shape, x.dtype(), x.device());
  copy_bytes(around.inner(padded, c.x), x);
  const Tensor all = empty(Shape{m.n, m.groups * m.c, m.taps, m.pixels}, x.dtype(), x.device());
  each_tap(c, [&](Dims tap, int64_t t) {
    copy_bytes(as_image(c, select(all, 2, t)), under(c, padded, tap));
  });
  return view(all, Shape{m.n * m.groups, m.c * m.taps, m.pixels});
}

// The weights of all groups for all images: [n groups, k / groups, c taps].
Tensor weights_of(const Matrices& m, const Tensor& w) {
  const Tensor one = reshape(w, Shape{1, m.groups, m.k, m.c * m.taps});
  return reshape(expand(one, Shape{m.n, m.groups, m.k, m.c * m.taps}),
                 Shape{m.n * m.groups, m.k, m.c * m.taps});
}

Tensor by_products(const Correlation& c, Played a, Played b) {
  const Matrices m(c);
  const Role wanted = third(a.role, b.role);
  const auto played = [&](Role role) -> const Tensor& {
    return role == a.role ? a.tensor : b.tensor;
  };
  const auto outputs = [&] {
    return reshape(played(Role::kOutput), Shape{m.n * m.groups, m.k, m.pixels});
  };
  if (wanted == Role::kOutput)
    return reshape(
        bmm(weights_of(m, played(Role::kWeight)), patches_of(c, m, played(Role::kInput))), c.y);
  if (wanted == Role::kWeight) {
    const Tensor each = bmm(outputs(), transpose(patches_of(c, m, played(Role::kInput)), 1, 2));
    static constexpr int64_t kImages[] = {0};
    return reshape(sum(reshape(each, Shape{m.n, m.groups * m.k, m.c * m.taps}), Dims(kImages),
                       false, each.dtype()),
                   c.w);
  }
  const Tensor patches =
      reshape(bmm(transpose(weights_of(m, played(Role::kWeight)), 1, 2), outputs()),
              Shape{m.n, m.groups * m.c, m.taps, m.pixels});
  const Padded around(c);
  const Tensor padded = zeros(around.shape, patches.dtype(), patches.device());
  each_tap(c, [&](Dims tap, int64_t t) {
    const Tensor part = under(c, padded, tap);
    add(part, as_image(c, select(patches, 2, t)), nullptr, Into(part));
  });
  return contiguous(around.inner(padded, c.x));
}

}  // namespace

Tensor sum_of_pixels(const Tensor& y) {
  Shape dims;
  for (int d = 0; d < y.ndim(); ++d)
    if (d != 1) dims.push_back(d);
  return sum(y, Dims(dims), false, y.dtype());
}

Tensor correlate(const Correlation& c, Played a, Played b, const Tensor* bias, Tensor* bias_grad) {
  const Tensor& x = a.tensor;
  const Role wanted = third(a.role, b.role);
  const bool cpu = x.device().is_cpu();
  // Elsewhere dense ones are left to the library of products.
  const bool some = x.numel() != 0 && b.tensor.numel() != 0;
  const bool one = some && cpu && is_floating(x.dtype()) && wanted != Role::kOutput && sees_all(c);
  const bool direct = is_floating(x.dtype()) && (cpu || c.groups > 1) && !one;
  // What the kernel does besides.
  const Tensor* const added = direct && some && wanted == Role::kOutput ? bias : nullptr;
  Tensor* const summed = direct && some && cpu ? bias_grad : nullptr;
  if (bias && !added && cpu && is_floating(x.dtype()) && size_of(x.dtype()) == 2) {  // round once
    const auto in_float32 = [](const Tensor& t) { return cast(t, Dtype::kFloat32); };
    const Tensor first = in_float32(x), second = in_float32(b.tensor), shift = in_float32(*bias);
    return cast(correlate(c, {first, a.role}, {second, b.role}, &shift), x.dtype());
  }
  if (bias_grad && !summed) *bias_grad = sum_of_pixels(a.role == Role::kOutput ? x : b.tensor);
  Tensor y;
  if (!some) {
    y = zeros(c.shape(wanted), x.dtype(), x.device());
  } else if (one) {
    y = by_one_product(c, a, b);
  } else if (direct) {
    y = by_kernel(c, a, b, added, summed);
  } else {
    y = by_products(c, a, b);
  }
  if (bias && !added) y = add(y, along_channels(*bias, y.shape()));
  return y;
}

}  // namespace libdl
