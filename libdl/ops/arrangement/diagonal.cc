// SPDX-License-Identifier: Apache-2.0

// Matrices made of their diagonals, and the other way round.
#include "entries/arrangement.h"
#include "entries/copy.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"

namespace libdl {

// -- diag_embed -----------------------------------------------------------------------------------

namespace {
struct Embedding {
  int64_t offset;
  int32_t dim1, dim2;
};
}  // namespace

static void diag_embed_vjp(Backward& b) {
  const auto& e = b.attr<Embedding>();
  b.set_grad(0, diagonal(b.dy(), e.offset, e.dim1 + b.lead(), e.dim2 + b.lead()));
}
static const Rule kDiagEmbed{.name = "diag_embed", .vjp = diag_embed_vjp, .takes_batch = true};

static Shape embedded_shape(const Call& call, const Tensor& input, const Embedding& e) {
  const int last = input.ndim() - 1;
  int64_t size;
  const bool fits =
      e.offset != INT64_MIN && !__builtin_add_overflow(input.size(last), std::abs(e.offset), &size);
  if (!fits)
    call.bad(LIBDL_ERROR_OVERFLOW, "offset", "is " + std::to_string(e.offset),
             "a result of fewer than 2^63 elements");
  Shape shape(input.shape().first(static_cast<size_t>(last)));
  for (const int32_t dim : {std::min(e.dim1, e.dim2), std::max(e.dim1, e.dim2)})
    shape.insert(static_cast<size_t>(dim), size);
  checked_numel(shape, input.dtype(), call.op(), "offset");
  return shape;
}

Tensor diag_embed_impl(const Tensor& input, int64_t offset, int32_t dim1, int32_t dim2) {
  Call call("diag_embed", {}, {&input});
  const int ndim = input.ndim() + 1;
  if (ndim > kMaxDims) call.bad(LIBDL_ERROR_LIMIT, "input", "has 64 dimensions", "at most 63");
  const Embedding e{offset, call.axis("dim1", dim1, ndim), call.axis("dim2", dim2, ndim)};
  if (e.dim1 == e.dim2)
    call.bad(LIBDL_ERROR_VALUE, "dim2", "is " + std::to_string(dim2) + ", the dimension of dim1",
             "another dimension");
  Tensor y = zeros(embedded_shape(call, input, e), input.dtype(), input.device());
  copy_bytes(diagonal(y, offset, e.dim1, e.dim2), input);
  y = call.done(std::move(y), kDiagEmbed, e);
  if (call.forward()) call.jvp(y, [&] { return diag_embed(call.tangent(0), offset, dim1, dim2); });
  return y;
}

// -- composed -------------------------------------------------------------------------------------

Tensor diag_impl(const Tensor& input, int64_t diagonal) {
  if (input.ndim() == 1) return diag_embed(input, diagonal);
  if (input.ndim() != 2)
    fail_argument(LIBDL_ERROR_SHAPE, "diag", "input", "has shape " + to_string(input.shape()),
                  "1-d or 2-d");
  return clone(libdl::diagonal(input, diagonal));
}

Tensor diagflat_impl(const Tensor& input, int64_t offset) {
  const int64_t count[] = {input.numel()};
  return diag_embed(reshape(input, count), offset);
}

Tensor trace_impl(const Tensor& input) {
  if (input.ndim() != 2)
    fail_argument(LIBDL_ERROR_SHAPE, "trace", "input", "has shape " + to_string(input.shape()),
                  "2-d");
  return sum(diagonal(input));
}

}  // namespace libdl
