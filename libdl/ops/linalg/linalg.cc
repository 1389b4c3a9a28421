// SPDX-License-Identifier: Apache-2.0

#include "ops/linalg/linalg.h"

#include <algorithm>
#include <optional>

#include "entries/arithmetic.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/linalg.h"
#include "entries/nn.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/copy/holds.h"
#include "ops/core/call.h"
#include "ops/linalg/product.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pointwise/pointwise.h"
#include "ops/view/view.h"

namespace libdl {

// -- checks -----------------------------------------------------------------------------------

static void require_ndim(const char* op, const char* name, const Tensor& x, int n) {
  if (x.ndim() != n)
    fail_argument(LIBDL_ERROR_SHAPE, op, name, "has " + std::to_string(x.ndim()) + " dimensions",
                  std::to_string(n));
}

static void require_same_dtype(const char* op, const char* name, const Tensor& x,
                               const Tensor& like, const char* why = "") {
  const Tensor& input = std::string_view(name) == "input" ? x : like;
  if (input.dtype() == Dtype::kBool)
    fail_argument(LIBDL_ERROR_DTYPE, op, "input", "is bool", "a numeric dtype");
  if (x.dtype() != like.dtype())
    fail_argument(LIBDL_ERROR_DTYPE, op, name, std::string("is ") + name_of(x.dtype()),
                  std::string(name_of(like.dtype())) + why);
}

static std::string that_fit(int64_t expected, const char* what, const Tensor& a, const Tensor& b) {
  return std::to_string(expected) + what + ": shapes " + to_string(a.shape()) + " and " +
         to_string(b.shape()) + " cannot be multiplied";
}

static void require_inner(const char* op, const char* name, const Tensor& a, const Tensor& b,
                          int64_t cols, int64_t rows) {
  if (cols != rows)
    fail_argument(LIBDL_ERROR_SHAPE, op, name, "has shape " + to_string(b.shape()),
                  that_fit(cols, " rows", a, b));
}

// -- matrix times matrix ------------------------------------------------------------------------

// y = a b:  da = dy b^H,  db = a^H dy. One product for a whole batch of gradients, whose matrices
// lie below or beside each other: neither a nor b is repeated.

// dy m for each dy [.., r, c] of a batch in front.
static Tensor batch_times(const Tensor& dy, const Tensor& m) {
  const int64_t last = dy.ndim() - 1, rows = dy.size(static_cast<int>(last) - 1);
  if (last == 2) {
    const int64_t below[] = {dy.size(0) * rows, dy.size(2)};
    const int64_t apart[] = {dy.size(0), rows, m.size(1)};
    return reshape(mm(reshape(dy, below), m), apart);
  }
  const int64_t order[] = {1, 0, 2, 3};
  const int64_t below[] = {dy.size(1), dy.size(0) * rows, dy.size(3)};
  const int64_t apart[] = {dy.size(1), dy.size(0), rows, m.size(2)};
  return permute(reshape(bmm(reshape(permute(dy, order), below), m), apart), order);
}
// m dy.
static Tensor times_batch(const Tensor& m, const Tensor& dy) {
  const int64_t cols = dy.size(dy.ndim() - 1);
  if (dy.ndim() == 3) {
    const int64_t there[] = {1, 0, 2};
    const int64_t beside[] = {dy.size(1), dy.size(0) * cols};
    const int64_t apart[] = {m.size(0), dy.size(0), cols};
    return permute(reshape(mm(m, reshape(permute(dy, there), beside)), apart), there);
  }
  const int64_t there[] = {1, 2, 0, 3}, back[] = {2, 0, 1, 3};
  const int64_t beside[] = {dy.size(1), dy.size(2), dy.size(0) * cols};
  const int64_t apart[] = {dy.size(1), m.size(1), dy.size(0), cols};
  return permute(reshape(bmm(m, reshape(permute(dy, there), beside)), apart), back);
}

// The gradients of a product of matrices, or of batches of them.
static void product_vjp(Backward& b) {
  const int cols = b.dy().ndim() - b.lead() - 1, rows = cols - 1;
  const auto times = [rows](const Tensor& x, const Tensor& y) {
    return rows == 0 ? mm(x, y) : bmm(x, y);
  };
  if (b.needs(0)) {
    const Tensor right = conj(transpose(b.saved(1), rows, cols));
    b.set_grad(0, b.batch() ? batch_times(b.dy(), right) : times(b.dy(), right));
  }
  if (b.needs(1)) {
    const Tensor left = conj(transpose(b.saved(0), rows, cols));
    b.set_grad(1, b.batch() ? times_batch(left, b.dy()) : times(left, b.dy()));
  }
}
static const Rule kMm{.name = "mm", .vjp = product_vjp, .takes_batch = true},
    kBmm{.name = "bmm", .vjp = product_vjp, .takes_batch = true};

// The sum of the products with each tangent, for f linear in both arguments.
template <class F>
static Tensor bilinear_jvp(const Call& call, const Tensor& a, const Tensor& b, F f) {
  const Tensor &ta = call.tangent(0), &tb = call.tangent(1);
  if (ta.defined() && tb.defined()) return f(ta, b) + f(a, tb);
  return ta.defined() ? f(ta, b) : f(a, tb);
}

static Tensor multiply(const char* op, const Rule& rule, const Tensor& a, const Tensor& b,
                       Into into) {
  Call call(op, into, {&a, &b});
  // A value is saved for the other's gradient only.
  const Tensor none;
  const Tensor& saved_a = has_history(b) ? a : none;
  const Tensor& saved_b = has_history(a) ? b : none;
  return call.done(product({&a}, {&b}), rule, NoAttr{},
                   {saves_input(saved_a, 0), saves_input(saved_b, 1)}, [&](const Tensor&) {
                     return bilinear_jvp(call, a, b, [&](const Tensor& u, const Tensor& v) {
                       return multiply(op, rule, u, v, {});
                     });
                   });
}

Tensor mm_impl(const Tensor& input, const Tensor& mat2, Into into) {
  require_ndim("mm", "input", input, 2);
  require_ndim("mm", "mat2", mat2, 2);
  require_same_dtype("mm", "mat2", mat2, input);
  require_inner("mm", "mat2", input, mat2, input.size(1), mat2.size(0));
  return multiply("mm", kMm, input, mat2, into);
}

Tensor bmm_impl(const Tensor& input, const Tensor& mat2, Into into) {
  require_ndim("bmm", "input", input, 3);
  require_ndim("bmm", "mat2", mat2, 3);
  require_same_dtype("bmm", "mat2", mat2, input);
  if (input.size(0) != mat2.size(0))
    fail_argument(LIBDL_ERROR_SHAPE, "bmm", "mat2", "has shape " + to_string(mat2.shape()),
                  "a batch of " + std::to_string(input.size(0)));
  require_inner("bmm", "mat2", input, mat2, input.size(2), mat2.size(1));
  return multiply("bmm", kBmm, input, mat2, into);
}

// -- vectors --------------------------------------------------------------------------------------

Tensor mv_impl(const Tensor& input, const Tensor& vec, Into into) {
  require_ndim("mv", "input", input, 2);
  require_ndim("mv", "vec", vec, 1);
  require_same_dtype("mv", "vec", vec, input);
  require_inner("mv", "vec", input, vec, input.size(1), vec.size(0));
  const Named named("mv");
  const Tensor y = multiply("mv", kMm, input, unsqueeze(vec, 1), {});
  return write_result("mv", named(own(select(y, 1, 0))), into, {&input, &vec});
}

Tensor dot_impl(const Tensor& input, const Tensor& tensor, Into into) {
  require_ndim("dot", "input", input, 1);
  require_ndim("dot", "tensor", tensor, 1);
  require_same_dtype("dot", "tensor", tensor, input);
  require_inner("dot", "tensor", input, tensor, input.size(0), tensor.size(0));
  const Named named("dot");
  const Tensor y = multiply("dot", kMm, unsqueeze(input, 0), unsqueeze(tensor, 1), {});
  return write_result("dot", named(own(reshape(y, {}))), into, {&input, &tensor});
}

// -- matmul: what the ranks mean ------------------------------------------------------------------

std::optional<Shape> broadcast_batch(Dims a, Dims b) {
  Shape batch;
  const size_t n = std::max(a.size(), b.size());
  for (size_t d = 0; d < n; ++d) {
    const int64_t u = d < n - a.size() ? 1 : a[d - (n - a.size())];
    const int64_t v = d < n - b.size() ? 1 : b[d - (n - b.size())];
    if (u != v && u != 1 && v != 1) return {};
    batch.push_back(u == 1 ? v : u);
  }
  return batch;
}

static Shape batch_of(const Tensor& a, const Tensor& b) {
  const std::optional<Shape> batch =
      broadcast_batch(a.shape().first(a.ndim() - 2), b.shape().first(b.ndim() - 2));
  if (!batch)
    fail_argument(LIBDL_ERROR_SHAPE, "matmul", "other", "has shape " + to_string(b.shape()),
                  "batch dimensions that broadcast with those of " + to_string(a.shape()));
  return *batch;
}

// [batch…, r, c] expanded to the common batch and flattened to three dimensions.
static Tensor as_batch(const Tensor& x, const Shape& batch, int64_t count) {
  const int64_t r = x.size(x.ndim() - 2), c = x.size(x.ndim() - 1);
  Shape full(batch);
  full.push_back(r);
  full.push_back(c);
  const int64_t flat[] = {count, r, c};
  return reshape(expand(x, full), flat);
}

static Tensor matmul_batches(const Tensor& a, const Tensor& b) {
  if (b.ndim() == 2) {  // one matrix for all: its batch is rows of a
    const int64_t rows[] = {a.numel() / std::max<int64_t>(a.size(a.ndim() - 1), 1),
                            a.size(a.ndim() - 1)};
    if (a.size(a.ndim() - 1) > 0) {
      Shape shape(a.shape());
      shape.back() = b.size(1);
      return own(reshape(mm(reshape(a, rows), b), shape));
    }
  }
  const Shape batch = batch_of(a, b);
  int64_t count = 1;
  for (const int64_t n : batch) count *= n;
  const Tensor y = bmm(as_batch(a, batch, count), as_batch(b, batch, count));
  Shape shape(batch);
  shape.push_back(a.size(a.ndim() - 2));
  shape.push_back(b.size(b.ndim() - 1));
  return own(reshape(y, shape));
}

static Tensor by_ranks(const Tensor& input, const Tensor& other, Into into) {
  const int na = input.ndim(), nb = other.ndim();
  if (na == 2 && nb == 2 && into) {
    require_inner("matmul", "other", input, other, input.size(1), other.size(0));
    return mm(input, other, into);
  }
  if (na == 0 || nb == 0)
    fail_argument(LIBDL_ERROR_SHAPE, "matmul", na == 0 ? "input" : "other", "is 0-d",
                  "a vector or matrices (mul() scales)");
  require_same_dtype("matmul", "other", other, input);
  require_inner("matmul", "other", input, other, input.size(na - 1),
                other.size(std::max(nb - 2, 0)));
  Tensor y;
  if (na == 1 && nb == 1)
    y = dot(input, other);
  else if (na == 2 && nb == 2)
    y = mm(input, other);
  else if (na == 2 && nb == 1)
    y = mv(input, other);
  else if (na == 1)
    y = own(squeeze(by_ranks(unsqueeze(input, 0), other, {}), Dims(std::to_array<int64_t>({-2}))));
  else if (nb == 1)
    y = own(squeeze(by_ranks(input, unsqueeze(other, 1), {}), Dims(std::to_array<int64_t>({-1}))));
  else
    y = matmul_batches(input, other);
  return write_result("matmul", y, into, {&input, &other});
}

Tensor matmul_impl(const Tensor& input, const Tensor& other, Into into) {
  return rename_error(
      "matmul", {{"input", "input"}, {"mat2", "other"}, {"vec", "other"}, {"tensor", "other"}},
      [&] { return by_ranks(input, other, into); });
}

// -- with a sum -----------------------------------------------------------------------------------

// One element of any shape, without dimensions to broadcast to.
static Tensor flat(const Tensor& x) { return x.ndim() ? reshape(x, {}) : x; }

// y = x + a b:  dx = dy,  da = dy b^T,  db = a^T dy. Of the 16-bit floats, which round once.
static void addmm_vjp(Backward& b) {
  if (b.needs(0)) b.set_grad(0, sum_to(b.dy(), b.attr<Shape>()));
  if (b.needs(1)) b.set_grad(1, mm(b.dy(), transpose(b.saved(1), 0, 1)));
  if (b.needs(2)) b.set_grad(2, mm(transpose(b.saved(0), 0, 1), b.dy()));
}
static const Rule kAddmm{"addmm", addmm_vjp};

static Tensor narrow_addmm(const Tensor& input, const Tensor& mat1, const Tensor& mat2, Into into) {
  Call call("addmm", into, {&input, &mat1, &mat2});
  const int64_t shape[] = {mat1.size(0), mat2.size(1)};
  const bool row = input.ndim() == 1 && input.size(0) == shape[1];
  const Tensor base = row ? input : expand(detach(input), shape);
  const Tensor none;
  const Tensor& saved_a = has_history(mat2) ? mat1 : none;
  const Tensor& saved_b = has_history(mat1) ? mat2 : none;
  const auto jvp = [&](const Tensor&) {
    const Tensor &t = call.tangent(0), &ta = call.tangent(1), &tb = call.tangent(2);
    Tensor sum = t.defined() ? expand(t, shape) : Tensor();
    if (ta.defined()) sum = sum.defined() ? addmm(sum, ta, mat2, nullptr, nullptr) : mm(ta, mat2);
    if (tb.defined()) sum = sum.defined() ? addmm(sum, mat1, tb, nullptr, nullptr) : mm(mat1, tb);
    return sum;
  };
  return call.done(product({&mat1}, {&mat2}, row ? &base : nullptr, row ? nullptr : &base), kAddmm,
                   Shape(input.shape()), {saves_input(saved_a, 1), saves_input(saved_b, 2)}, jvp);
}

// The value of a factor that the kernel may scale by: it reads neither term if a factor is 0.
static std::optional<double> scale_of(const Tensor* x) {
  if (!x) return 1;
  if (!x->is_number()) return std::nullopt;
  const double value = std::get<0>(item_c128(*x));
  return value != 0 ? std::optional(value) : std::nullopt;
}

// By one call of the kernel, where nothing is recorded.
static std::optional<Tensor> scaled_addmm(const Tensor& input, const Tensor& mat1,
                                          const Tensor& mat2, const Tensor* beta,
                                          const Tensor* alpha, Into into) {
  const std::optional<double> b = scale_of(beta), a = scale_of(alpha);
  if (!a || !b) return std::nullopt;
  Call call("addmm", into, {&input, &mat1, &mat2});
  if (!call.is_unrecorded()) return std::nullopt;
  const int64_t shape[] = {mat1.size(0), mat2.size(1)};
  const Tensor base = expand(detach(input), shape);
  return call.done(product({&mat1}, {&mat2}, nullptr, &base, *a, *b));
}

Tensor addmm_impl(const Tensor& input, const Tensor& mat1, const Tensor& mat2, const Tensor* beta,
                  const Tensor* alpha, Into into) {
  require_ndim("addmm", "mat1", mat1, 2);
  require_ndim("addmm", "mat2", mat2, 2);
  require_same_dtype("addmm", "mat2", mat2, mat1);
  require_same_dtype("addmm", "input", input, mat1);
  if (mat1.size(1) != mat2.size(0))
    fail_argument(LIBDL_ERROR_SHAPE, "addmm", "mat2", "has shape " + to_string(mat2.shape()),
                  that_fit(mat1.size(1), " rows", mat1, mat2));
  const std::optional<Tensor> whole_beta = whole_factor(beta, mat1.dtype());
  const std::optional<Tensor> whole_alpha = whole_factor(alpha, mat1.dtype());
  if (whole_beta) beta = &*whole_beta;
  if (whole_alpha) alpha = &*whole_alpha;
  for (const Tensor* x : {beta, alpha})
    if (x && x->numel() != 1)
      fail_argument(LIBDL_ERROR_SHAPE, "addmm", x == beta ? "beta" : "alpha",
                    "has shape " + to_string(x->shape()), "a number");
  for (const Tensor* x : {beta, alpha})
    if (x && category(x->dtype()) > category(mat1.dtype()))
      fail_argument(LIBDL_ERROR_DTYPE, "addmm", x == beta ? "beta" : "alpha",
                    std::string("is ") + name_of(x->dtype()),
                    std::string("a number that ") + name_of(mat1.dtype()) + " holds");
  if (beta && beta->is_number()) check_number("addmm", "beta", *beta, mat1.dtype());
  const int64_t shape[] = {mat1.size(0), mat2.size(1)};
  if (is_floating(mat1.dtype()) && size_of(mat1.dtype()) == 2) {  // rounded once, at the end
    const bool whole = mat1.numel() > 0 && mat2.numel() > 0 && input.device() == mat1.device();
    if (whole && broadcasts_to(input.shape(), shape)) {
      if (!beta && !alpha) return narrow_addmm(input, mat1, mat2, into);
      if (const auto y = scaled_addmm(input, mat1, mat2, beta, alpha, into)) return *y;
    }
    const auto wide = [](const Tensor& x) { return cast(x, Dtype::kFloat32); };
    const Tensor y = addmm(wide(input), wide(mat1), wide(mat2), beta, alpha, {});
    return write_result("addmm", cast(y, mat1.dtype()), into, {&input, &mat1, &mat2});
  }
  const Named named("addmm");
  const auto as_addmm = [](auto&& body) {
    return rename_error("addmm", {{"input", "input"}, {"shape", "input"}}, body);
  };
  const Tensor base = as_addmm([&] { return expand(input, shape); });
  const auto factor = [](const Tensor* x) { return x ? item_c128(*x) : std::tuple(1.0, 0.0); };
  const Tensor y = as_addmm([&] { return mm(mat1, mat2); });
  // A term whose factor is 0 is not looked at, as in BLAS: a NaN in it stays there. Gradients do
  // flow to it, of zeros.
  if (factor(beta) == std::tuple(0.0, 0.0)) {
    const bool nothing = factor(alpha) == std::tuple(0.0, 0.0);
    const Tensor product = nothing ? named(where(number(true), number(int64_t{0}), y))
                           : alpha ? mul(y, flat(*alpha))
                                   : y;
    return write_result("addmm", input.meta() ? named(where(number(true), product, base)) : product,
                        into, {&input, &mat1, &mat2});
  }
  if (factor(alpha) == std::tuple(0.0, 0.0) || mat1.size(1) == 0) {
    const Tensor scaled = beta ? mul(base, flat(*beta)) : base;
    return write_result("addmm", named(where(number(true), scaled, y)), into,
                        {&input, &mat1, &mat2});
  }
  const bool scales = beta && factor(beta) != std::tuple(1.0, 0.0);
  const Tensor scaled = scales ? mul(base, flat(*beta)) : base;
  const Tensor sum = rename_error("addmm", {{"alpha", "alpha"}}, [&] {
    if (!alpha) return add(scaled, y);
    const Tensor times = flat(*alpha);
    return add(scaled, y, &times);
  });
  return write_result("addmm", named(sum), into, {&input, &mat1, &mat2});
}

// -- linear: y = x W^T + b ------------------------------------------------------------------------

namespace {
struct LinearAttr {
  Shape input;  // of x
};
}  // namespace

static Tensor rows_of(const Tensor& x, int64_t cols) {
  const int64_t shape[] = {cols ? x.numel() / cols : 0, cols};
  return reshape(x, shape);
}

// dx = dy W,  dW = dy^T x,  db = the sum of dy's rows
static void linear_vjp(Backward& b) {
  const LinearAttr& a = b.attr<LinearAttr>();
  const int64_t out = b.dy().size(b.dy().ndim() - 1);
  const Tensor dy = rows_of(b.dy(), out);
  if (b.needs(0)) b.set_grad(0, reshape(mm(dy, conj(b.saved(1))), b.batched(a.input)));
  const bool bias = b.inputs() > 2 && b.needs(2);
  if (!b.needs(1) && !bias) return;
  const int64_t each[] = {b.batch(), b.batch() ? dy.size(0) / b.batch() : 0, out};
  const Tensor apart = b.batch() ? reshape(dy, each) : dy;
  if (b.needs(1)) {
    const Tensor x = conj(rows_of(b.saved(0), a.input.back()));
    const Tensor turned = transpose(apart, b.lead(), b.lead() + 1);
    b.set_grad(1, b.batch() ? batch_times(turned, x) : mm(turned, x));
  }
  if (bias) {
    const int64_t rows[] = {b.lead()};
    b.set_grad(2, sum(apart, Dims(rows)));
  }
}
static const Rule kLinear{.name = "linear", .vjp = linear_vjp, .takes_batch = true};

static void check_linear(const Tensor& x, const Tensor& w, const Tensor* bias) {
  const char* const op = "linear";
  if (x.ndim() == 0)
    fail_argument(LIBDL_ERROR_SHAPE, op, "input", "is 0-d", "1 or more dimensions");
  if (w.ndim() != 1 && w.ndim() != 2)
    fail_argument(LIBDL_ERROR_SHAPE, op, "weight",
                  "has " + std::to_string(w.ndim()) + " dimensions", "1 or 2");
  require_same_dtype(op, "input", x, w, ", as argument (weight)");
  if (x.size(x.ndim() - 1) != w.size(w.ndim() - 1))
    fail_argument(LIBDL_ERROR_SHAPE, op, "input", "has shape " + to_string(x.shape()),
                  that_fit(w.size(w.ndim() - 1), " columns", x, w));
  if (!bias) return;
  require_same_dtype(op, "bias", *bias, x);
  Shape result(x.shape());
  result.pop_back();
  if (w.ndim() == 2) result.push_back(w.size(0));
  if (!broadcasts_to(bias->shape(), result))
    fail_argument(LIBDL_ERROR_SHAPE, op, "bias", "has shape " + to_string(bias->shape()),
                  "one that broadcasts to " + to_string(result));
}

Tensor linear_impl(const Tensor& input, const Tensor& weight, const Tensor* bias, Into into) {
  check_linear(input, weight, bias);
  if (weight.ndim() == 1) {  // one output, which is no dimension
    const Tensor y = matmul(input, weight);
    const Tensor none;
    return write_result("linear", bias ? add(y, *bias) : y, into,
                        {&input, &weight, bias ? bias : &none});
  }
  const int64_t outputs[] = {weight.size(0)};
  if (bias && !broadcasts_to(bias->shape(), outputs)) {  // of its own for each row
    const Tensor y = add(linear(input, weight, nullptr), *bias);
    return write_result("linear", y, into, {&input, &weight, bias});
  }
  if (bias && !same(bias->shape(), outputs)) {
    const Tensor wide = expand(*bias, outputs);
    return linear(input, weight, &wide, into);
  }
  if (input.numel() == 0 || weight.numel() == 0) {  // composed: the shapes alone matter
    const Tensor y = matmul(input, transpose(weight, 0, 1));
    const Tensor none;
    return write_result("linear", bias ? add(y, *bias) : y, into,
                        {&input, &weight, bias ? bias : &none});
  }
  const Tensor* const three[] = {&input, &weight, bias};
  Call call("linear", into, std::span(three, bias ? 3 : 2));
  const int64_t in = weight.size(1);
  const Tensor x = input.ndim() == 2 ? input : rows_of(input, in);
  Tensor y = product({&x}, {&weight, true}, bias);
  if (input.ndim() != 2) {
    Shape shape(input.shape());
    shape.back() = weight.size(0);
    y = alias(y, shape, contiguous_strides(shape), 0, y.dtype());
  }
  const Tensor none;
  const Tensor& saved_x = has_history(weight) ? input : none;
  const Tensor& saved_w = has_history(input) ? weight : none;
  const auto jvp = [&](const Tensor& z) {
    const Tensor &tx = call.tangent(0), &tw = call.tangent(1);
    const Tensor tb = bias ? call.tangent(2) : Tensor();
    Tensor t = tx.defined() ? linear(tx, weight, nullptr) : Tensor();
    if (tw.defined()) {
      const Tensor u = linear(input, tw, nullptr);
      t = t.defined() ? t + u : u;
    }
    if (tb.defined()) t = t.defined() ? t + tb : expand(tb, z.shape());
    return t;
  };
  return call.done(std::move(y), kLinear, LinearAttr{Shape(input.shape())},
                   {saves_input(saved_x, 0), saves_input(saved_w, 1)}, jvp);
}

}  // namespace libdl
