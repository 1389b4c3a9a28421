// SPDX-License-Identifier: Apache-2.0

#include "ops/attention/one_pass.h"

#include <algorithm>
#include <optional>

#include "entries/copy.h"
#include "entries/linalg.h"
#include "entries/nn.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pointwise/pointwise.h"
#include "ops/primitive/launch.h"
#include "tensor/memory_order.h"

namespace libdl {

using kernels::AttentionArgs;
using kernels::AttentionBackwardArgs;

// -- how the kernel sees tensors ------------------------------------------------------------------

namespace {

// The leading dimensions of a call, to which those of its tensors broadcast. If neither key nor
// value has the last of them, its queries are a group that shares theirs.
struct Leading {
  Shape sizes;
  bool grouped = false;

  Leading(const Tensor& query, const Tensor& key, const Tensor& value) {
    const Tensor* const all[] = {&query, &key, &value};
    int n = 0;
    for (const Tensor* x : all) n = std::max(n, x->ndim() - 2);
    for (int d = n; d > 0; --d) {
      int64_t size = 1;
      for (const Tensor* x : all)
        if (size_at(*x, d) != 1) size = size_at(*x, d);
      sizes.push_back(size);
    }
    grouped = n > 0 && size_at(key, 1) == 1 && size_at(value, 1) == 1;
  }

  // With a group for the queries; without one for the keys.
  Shape of_queries() const {
    Shape all = sizes;
    if (!grouped) all.push_back(1);
    return all;
  }
  Shape of_keys() const {
    Shape all = sizes;
    if (grouped) all.pop_back();
    return all;
  }

 private:
  // Of the leading dimension that is the d-th from their end.
  static int64_t size_at(const Tensor& x, int d) {
    return d + 2 <= x.ndim() ? x.size(x.ndim() - 2 - d) : 1;
  }
};

// A tensor's matrices, one for each index of the leading dimensions; `dropped` of its own, of size
// 1, are not among them, `added` of size 1 are.
struct MatrixView {
  Shape sizes, strides;
  kernels::View view;

  MatrixView(const Tensor& x, const Shape& leading, int dropped, int added, Access access) {
    const int own = std::max(0, x.ndim() - 2 - dropped), n = static_cast<int>(leading.size());
    for (int d = 0; d < n; ++d) {
      const int at = d - (n - added - own);
      const bool there = at >= 0 && at < own && x.size(at) != 1;
      sizes.push_back(leading[d]);
      strides.push_back(there ? x.stride(at) : 0);
    }
    for (int d = x.ndim() - 2; d < x.ndim(); ++d) {
      sizes.push_back(d < 0 ? 1 : x.size(d));
      strides.push_back(d < 0 || x.size(d) == 1 ? 0 : x.stride(d));
    }
    view = {kernel_data(x, access), sizes.data(), strides.data(),
            static_cast<int32_t>(sizes.size()), static_cast<int32_t>(x.dtype())};
  }
  MatrixView(const MatrixView&) = delete;
  MatrixView& operator=(const MatrixView&) = delete;
};

}  // namespace

// x, or a copy whose rows are contiguous.
static Tensor with_rows(const Tensor& x) {
  const int last = x.ndim() - 1;
  return x.size(last) == 1 || x.stride(last) == 1 ? x : plain(x);
}

// New, the leading dimensions with rows of this size, in the order that x's have in memory: layouts
// with the heads innermost pass through. The elements of rows stay together.
static Tensor empty_beside(const Tensor& x, Shape shape, int64_t rows, int64_t columns) {
  shape.push_back(rows);
  shape.push_back(columns);
  Tensor y = empty(shape, x.dtype(), x.device());
  if (x.ndim() != y.ndim() || x.is_contiguous()) return y;
  const int n = y.ndim() - 1;
  SmallVector<int, 8> order;
  for (int d = 0; d < n; ++d) order.push_back(d);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return x.stride(a) == x.stride(b) ? a < b : x.stride(a) > x.stride(b);
  });
  Shape strides = shape;
  strides[n] = 1;
  int64_t next = columns;
  for (int i = n - 1; i >= 0; --i) {
    strides[order[i]] = next;
    next *= shape[order[i]];
  }
  restride(y, strides);
  return y;
}

namespace {

// The operands of one call, as the kernel takes them.
struct HeadOperands {
  Tensor query, key, value, mask;
  Leading leading;

  HeadOperands(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& m)
      : query(with_rows(q)), key(with_rows(k)), value(with_rows(v)), mask(m), leading(q, k, v) {}

  MatrixView of_queries(const Tensor& x, Access access) const {
    return {x, leading.of_queries(), 0, leading.grouped ? 0 : 1, access};
  }
  MatrixView of_keys(const Tensor& x, Access access) const {
    return {x, leading.of_keys(), leading.grouped ? 1 : 0, 0, access};
  }
  int64_t rows() const { return query.size(query.ndim() - 2); }
  int64_t columns() const { return value.size(value.ndim() - 1); }
};

// The views of the operands, and the arguments that refer to them.
struct Launch {
  MatrixView y, query, key, value;
  std::optional<MatrixView> mask;
  AttentionArgs args;

  Launch(const Attention& a, const HeadOperands& x, const Tensor& out, const Tensor& normalisers,
         Access access)
      : y(x.of_queries(out, access)),
        query(x.of_queries(x.query, Access::kRead)),
        key(x.of_keys(x.key, Access::kRead)),
        value(x.of_keys(x.value, Access::kRead)),
        args{y.view, query.view, key.view, value.view, no_view(), nullptr, a.scale, a.causal} {
    if (x.mask.defined())
      mask.emplace(x.mask, x.leading.of_queries(), 0, x.leading.grouped ? 0 : 1, Access::kRead);
    if (mask) args.mask = mask->view;
    if (normalisers.defined()) args.normalisers = kernel_data(normalisers, access);
  }
};

}  // namespace

// -- the gradient ---------------------------------------------------------------------------------

// With P the weights:  dvalue = P^T dy,  dP = dy value^T,
//   dS = scale * P (dP - sum(P dP)),  dquery = dS key,  dkey = dS^T query
static void by_operators(Backward& b, const Attention& a, const Tensor& query, const Tensor& key,
                         const Tensor& value, const Tensor& mask) {
  const Tensor bias = bias_of(mask.defined() ? &mask : nullptr, query.dtype());
  const Tensor weights = attention_weights(a, query, key, bias);
  const Tensor dy = cast(b.dy(), query.dtype());
  const auto turned = [](const Tensor& x) { return transpose(x, -2, -1); };
  if (b.needs(2)) b.set_grad(2, sum_to(matmul(turned(weights), dy), value.shape()));
  if (!b.needs(0) && !b.needs(1)) return;
  const int64_t last[] = {-1};
  const Tensor dweights = matmul(dy, turned(value));
  const Tensor total = sum(weights * dweights, Dims(last), true);
  const Tensor dscores = weights * (dweights - total) * a.scale;
  if (b.needs(0)) b.set_grad(0, sum_to(matmul(dscores, key), query.shape()));
  if (b.needs(1)) b.set_grad(1, sum_to(matmul(turned(dscores), query), key.shape()));
}

using Gradients = std::tuple<Tensor, Tensor, Tensor>;

// Those of the operands as the kernel takes them: the sums that undo broadcasting are the caller's.
static Gradients in_one_pass(const Attention& a, const Tensor& arrived, const Tensor& query,
                             const Tensor& key, const Tensor& value, const Tensor& mask,
                             const Tensor& y, const Tensor& normalisers) {
  LIBDL_OBSERVED_PART("scaled_dot_product_attention_backward",
                      in_one_pass(a, arrived, query, key, value, mask, y, normalisers), arrived,
                      query, key, value, y, normalisers);
  const HeadOperands x(query, key, value, mask);
  const Tensor dy = with_rows(cast(arrived, query.dtype()));
  const auto keys = [&](const Tensor& like) {
    Shape leading = x.leading.sizes;
    if (x.leading.grouped) leading[leading.size() - 1] = 1;
    const int n = like.ndim();
    return empty_beside(like, leading, like.size(n - 2), like.size(n - 1));
  };
  const Tensor dquery =
      empty_beside(query, x.leading.sizes, x.rows(), query.size(query.ndim() - 1));
  const Tensor dkey = keys(key), dvalue = keys(value);
  const Tensor output = with_rows(y), sums = plain(normalisers);  // hooks may have moved them
  const Launch forward(a, x, output, sums, Access::kRead);
  const MatrixView dquery_view = x.of_queries(dquery, Access::kOverwrite);
  const MatrixView dkey_view = x.of_keys(dkey, Access::kOverwrite);
  const MatrixView dvalue_view = x.of_keys(dvalue, Access::kOverwrite);
  const MatrixView dy_view = x.of_queries(dy, Access::kRead);
  const AttentionBackwardArgs args{dquery_view.view, dkey_view.view, dvalue_view.view, dy_view.view,
                                   forward.args};
  launch_attention_backward(query.device(), args);
  return {dquery, dkey, dvalue};
}

static void by_kernel(Backward& b, const Attention& a, const Tensor& query, const Tensor& key,
                      const Tensor& value, const Tensor& mask) {
  const auto [dquery, dkey, dvalue] =
      in_one_pass(a, b.dy(), query, key, value, mask, b.saved(4), b.saved(5));
  if (b.needs(0)) b.set_grad(0, sum_to(dquery, query.shape()));
  if (b.needs(1)) b.set_grad(1, sum_to(dkey, key.shape()));
  if (b.needs(2)) b.set_grad(2, sum_to(dvalue, value.shape()));
}

static void attention_vjp(Backward& b) {
  const auto run = b.differentiated() ? by_operators : by_kernel;
  run(b, b.attr<Attention>(), b.saved(0), b.saved(1), b.saved(2), b.saved(3));
}
static const Rule kAttention{"scaled_dot_product_attention", attention_vjp};

// -- the operator ---------------------------------------------------------------------------------

bool goes_in_one_pass(const Attention& a, const Tensor& query, const Tensor& key,
                      const Tensor& value, const Tensor* mask) {
  if (a.dropout != 0 || (state().mode & kModeForward)) return false;
  const Device device = query.device();
  if (mask && (mask->device() != device || has_history(*mask))) return false;
  for (const Tensor* x : {&query, &key, &value})
    if (x->device() != device || x->numel() == 0) return false;
  return has_kernel(device, KernelId::attention) &&
         has_kernel(device, KernelId::attention_backward);
}

Tensor attention_in_one_pass(const Attention& a, const Tensor& query, const Tensor& key,
                             const Tensor& value, const Tensor* mask) {
  Call call("scaled_dot_product_attention", {}, {&query, &key, &value});
  const bool added = mask && mask->dtype() != Dtype::kBool;
  const Tensor kept = !mask ? Tensor() : added ? cast(*mask, query.dtype()) : *mask;
  const HeadOperands x(query, key, value, kept);
  Shape rows = x.leading.sizes;
  Tensor y = empty_beside(query, rows, x.rows(), x.columns());
  rows.push_back(x.rows());
  rows.push_back(2);
  const Tensor normalisers = call.recording() ? empty(rows, y.dtype(), y.device()) : Tensor();
  const Launch views(a, x, y, normalisers, Access::kOverwrite);
  launch_attention(query.device(), views.args);
  return call.done(y, kAttention, a,
                   {saves_input(query, 0), saves_input(key, 1), saves_input(value, 2),
                    saves_value(kept), saves_output(y, 0), saves_value(normalisers)});
}

}  // namespace libdl
