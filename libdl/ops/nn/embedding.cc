// SPDX-License-Identifier: Apache-2.0

#include "ops/nn/embedding.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/cpu/sum_rows.h"
#include "ops/core/launch.h"
#include "ops/creation/copy.h"
#include "ops/indexing/gather.h"
#include "ops/indexing/index.h"
#include "ops/indexing/index_select.h"
#include "ops/indexing/indices.h"
#include "ops/indexing/sort.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/view/view.h"
#include "runtime/mechanism.h"
#include "tensor/chance.h"
#include "tensor/sparse_rows.h"

namespace libdl {

namespace {
struct EmbeddingAttr {
  Shape shape;      // of weight
  int64_t padding;  // row without gradient, or -1
  bool by_frequency;
};
}  // namespace

// One over how often each row was read, for every reading of it: [input's shape, 1].
static Tensor inverse_frequencies(const Tensor& where, int64_t rows, Dtype dtype) {
  const int64_t whole[] = {-1}, table[] = {rows};
  const Tensor flat = reshape(where, whole);
  const Tensor counts = zeros(table, Dtype::kInt64, where.device());
  const Tensor ones = full(flat.shape(), number(int64_t{1}), Dtype::kInt64, where.device());
  scatter_add(counts, 0, cast(flat, Dtype::kInt64), ones, Into(counts));
  const Tensor read = cast(index_select(counts, 0, flat), dtype);
  Shape shape(where.shape());
  shape.push_back(1);
  return reshape(reciprocal(read), shape);
}

// dweight[r] = sum of dy over the places that read row r, in their order.
static Tensor of_all_rows(const EmbeddingAttr& a, const Tensor& where, const Tensor& dy) {
  const Tensor dw = zeros(a.shape, dy.dtype(), dy.device());
  const Tensor indices[] = {where};
  index_put(dw, indices, dy, true, Into(dw));
  if (a.padding >= 0)
    index_fill(dw, 0, full({}, number(a.padding), Dtype::kInt64, dy.device()), number(int64_t{0}),
               Into(dw));
  return dw;
}

// The same in a form that holds the rows that were read alone (tensor/sparse_rows.h).
static Tensor of_rows_read(const EmbeddingAttr& a, const Tensor& where, const Tensor& dy) {
  LIBDL_OBSERVED_PART("embedding_backward", of_rows_read(a, where, dy), where, dy);
  const int64_t whole[] = {-1}, matrix[] = {-1, a.shape[1]};
  // Negative places count from the end.
  const Tensor read = remainder(cast(reshape(where, whole), Dtype::kInt64), number(a.shape[0]));
  const auto in_order = sort(read, 0, false, true);
  const Tensor &sorted = std::get<0>(in_order), &places = std::get<1>(in_order);
  const auto* const row = sorted.read_plain<int64_t>();
  std::vector<int64_t> numbers, starts;
  for (int64_t p = 0; p < sorted.numel(); ++p) {
    if (p > 0 && row[p] == row[p - 1]) continue;
    numbers.push_back(row[p]), starts.push_back(p);
  }
  starts.push_back(sorted.numel());
  const Tensor from = contiguous(reshape(dy, matrix));
  SparseRows rows;
  const Tensor dw = empty_sparse_rows(a.shape, dy.dtype(), std::ssize(numbers), rows);
  std::ranges::copy(numbers, rows.numbers);
  launch([&](kernels::Context& context) {
    kernels::cpu::sum_rows(
        context, {rows.elements, from.read_plain<void>(), rows.count, a.shape[1],
                  places.read_plain<int64_t>(), starts.data(), static_cast<int32_t>(dy.dtype())});
  });
  const int64_t* const padding =
      std::ranges::find(rows.numbers, rows.numbers + rows.count, a.padding);
  if (padding != rows.numbers + rows.count)
    std::memset(static_cast<std::byte*>(rows.elements) +
                    (padding - rows.numbers) * a.shape[1] * size_of(dy.dtype()),
                0, static_cast<size_t>(a.shape[1] * size_of(dy.dtype())));
  return dw;
}

// Where few rows of a large table were read.
static bool holds_few(const EmbeddingAttr& a, const Tensor& where, const Tensor& dy) {
  if (left_out(Mechanism::kSparseRows)) return false;
  const bool wide = dy.dtype() == Dtype::kFloat32 || dy.dtype() == Dtype::kFloat64;
  if (!dy.device().is_cpu() || !wide || dy.numel() == 0) return false;
  return (a.shape[0] * a.shape[1] >= 1 << 14 && where.numel() <= a.shape[0] / 2) || by_chance(2);
}

static void embedding_vjp(Backward& b) {
  const auto& a = b.attr<EmbeddingAttr>();
  const Tensor where = b.saved(0);
  Tensor dy = b.dy();
  if (a.by_frequency) dy = mul(dy, inverse_frequencies(where, a.shape[0], dy.dtype()));
  const bool few = !b.differentiated() && holds_few(a, where, dy);
  b.set_grad(0, few ? of_rows_read(a, where, dy) : of_all_rows(a, where, dy));
}
static const Rule kEmbedding{"embedding", embedding_vjp};

Tensor embedding(const Tensor& input, const Tensor& weight, std::optional<int64_t> padding_idx,
                 bool scale_grad_by_freq, bool sparse) {
  LIBDL_OBSERVED(embedding, input, weight, padding_idx, scale_grad_by_freq, sparse);
  Call call("embedding", {}, {&weight});
  if (sparse)
    call.bad(LIBDL_ERROR_UNSUPPORTED, 5, "sparse", "is true",
             "false: sparse gradients are not offered");
  if (weight.ndim() != 2)
    call.bad(LIBDL_ERROR_SHAPE, 2, "weight", "has shape " + to_string(weight.shape()),
             "two dimensions");
  const int64_t rows = weight.size(0);
  if (padding_idx && (*padding_idx < -rows || *padding_idx >= rows))
    call.bad(LIBDL_ERROR_INDEX, 3, "padding_idx", "is " + std::to_string(*padding_idx),
             std::to_string(-rows) + " to " + std::to_string(rows - 1));
  const Tensor where = checked_index(call, {}, 1, "input", input, rows);
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
                EmbeddingAttr{Shape(weight.shape()), padding, scale_grad_by_freq},
                {saves_value(where)});
  if (call.forward()) call.jvp(y, [&] { return embedding(where, call.tangent(0)); });
  return y;
}

}  // namespace libdl
