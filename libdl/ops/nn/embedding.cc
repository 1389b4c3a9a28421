// SPDX-License-Identifier: Apache-2.0

#include "entries/nn.h"
#include "ops/core/call.h"
#include "ops/indexing/indices.h"
#include "ops/nn/row_gradient.h"
#include "ops/primitive/launch.h"
#include "ops/primitive/summed.h"

namespace libdl {

namespace {
struct EmbeddingAttr {
  Shape shape;      // of weight
  int64_t padding;  // row without gradient, or -1
  bool by_frequency, sparse;
};
}  // namespace

// dweight[r] = sum of dy over the places that read row r, in their order.
static void embedding_vjp(Backward& b) {
  const auto& a = b.attr<EmbeddingAttr>();
  Readings readings{a.shape, a.padding, a.sparse, b.saved(0), {}, {}};
  if (a.by_frequency)
    readings.factor = inverse_frequencies(readings.row, a.shape[0],
                                          a.sparse ? b.dy().dtype() : summed_as(b.dy().dtype()));
  b.set_grad(0, row_gradient(readings, b.dy(), b.differentiated()));
}
static const Rule kEmbedding{"embedding", embedding_vjp};

Tensor embedding_impl(const Tensor& input, const Tensor& weight, std::optional<int64_t> padding_idx,
                      bool scale_grad_by_freq, bool sparse) {
  Call call("embedding", {}, {&weight});
  check_sparse("embedding", sparse, weight);
  if (weight.ndim() != 2)
    call.bad(LIBDL_ERROR_SHAPE, "weight", "has shape " + to_string(weight.shape()),
             "two dimensions");
  const int64_t rows = weight.size(0);
  if (padding_idx && (*padding_idx < -rows || *padding_idx >= rows))
    call.bad(LIBDL_ERROR_INDEX, "padding_idx", "is " + std::to_string(*padding_idx),
             std::to_string(-rows) + " to " + std::to_string(rows - 1));
  const Tensor where = checked_index(call, {}, "input", input, rows);
  Shape shape(input.shape());
  shape.push_back(weight.size(1));

  Tensor y = empty(shape, weight.dtype(), weight.device());
  if (y.numel() > 0) {
    kernels::IndexArgs args;
    const auto *sizes = weight.get()->sizes(), *strides = weight.get()->strides();
    args.base = {kernel_data(weight, Access::kRead), sizes + 1, strides + 1, 1,
                 static_cast<int32_t>(weight.dtype())};
    args.values = overwrites(y);
    args.indices = 1;
    args.index[0] = reads(where);
    args.indexed_sizes = sizes;
    args.indexed_strides = strides;
    args.accumulate = false;
    launch_index_get(y.device(), args);
  }
  int64_t padding = padding_idx.value_or(-1);
  if (padding_idx && padding < 0) padding += rows;
  y = call.done(std::move(y), kEmbedding,
                EmbeddingAttr{Shape(weight.shape()), padding, scale_grad_by_freq, sparse},
                {saves_value(where)});
  if (call.forward()) call.jvp(y, [&] { return embedding(where, call.tangent(0)); });
  return y;
}

}  // namespace libdl
