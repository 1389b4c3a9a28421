// SPDX-License-Identifier: Apache-2.0

#include "entries/arithmetic.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/indexing.h"
#include "entries/nn.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/nn/bags.h"
#include "ops/nn/row_gradient.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/primitive/summed.h"

namespace libdl {

static constexpr const char* kEmbeddingBagName = "embedding_bag";

// -- checks ---------------------------------------------------------------------------------------

static BagMode mode_of(std::optional<std::string_view> mode) {
  if (!mode || *mode == "mean") return BagMode::kMean;
  if (*mode == "sum") return BagMode::kSum;
  if (*mode == "max") return BagMode::kMax;
  fail_argument(LIBDL_ERROR_VALUE, kEmbeddingBagName, "mode", "is \"" + std::string(*mode) + "\"",
                "\"sum\", \"mean\" or \"max\"");
}

static void check_weight(const Call& call, const Tensor& weight) {
  if (weight.ndim() != 2)
    call.bad(LIBDL_ERROR_SHAPE, "weight", "has shape " + to_string(weight.shape()),
             "two dimensions");
  if (!is_floating(weight.dtype()))
    call.bad(LIBDL_ERROR_DTYPE, "weight", std::string("is ") + name_of(weight.dtype()),
             "a floating dtype");
}

static void check_mode(const Call& call, BagMode mode, bool scale_grad_by_freq, bool sparse) {
  if (mode != BagMode::kMax) return;
  if (scale_grad_by_freq)
    call.bad(LIBDL_ERROR_VALUE, "scale_grad_by_freq", "is true", "false with mode \"max\"");
  if (sparse) call.bad(LIBDL_ERROR_VALUE, "sparse", "is true", "false with mode \"max\"");
}

static void check_sample_weights(const Call& call, BagMode mode, const Tensor& x,
                                 const Tensor& input, const Tensor& weight) {
  const auto bad = [&](libdl_error_code code, const std::string& found,
                       const std::string& wanted LIBDL_SOURCE_LOCATION) {
    call.bad(code, "per_sample_weights", found, wanted LIBDL_SAME_SOURCE_LOCATION);
  };
  if (mode != BagMode::kSum)
    bad(LIBDL_ERROR_UNSUPPORTED, "is given", "NULL unless mode is \"sum\"");
  if (!same(x.shape(), input.shape()))
    bad(LIBDL_ERROR_SHAPE, "has shape " + to_string(x.shape()),
        to_string(input.shape()) + ", as input has");
  if (x.dtype() != weight.dtype())
    bad(LIBDL_ERROR_DTYPE, std::string("is ") + name_of(x.dtype()),
        std::string(name_of(weight.dtype())) + ", as weight is");
}

// The row that is left out, or -1.
static int64_t checked_padding(const Call& call, std::optional<int64_t> padding_idx, int64_t rows) {
  if (!padding_idx) return -1;
  if (*padding_idx < -rows || *padding_idx >= rows)
    call.bad(LIBDL_ERROR_INDEX, "padding_idx", "is " + std::to_string(*padding_idx),
             std::to_string(-rows) + " to " + std::to_string(rows - 1));
  return *padding_idx < 0 ? *padding_idx + rows : *padding_idx;
}

// -- the operator and its gradient ----------------------------------------------------------------

namespace {
struct BagAttr {
  BagMode mode;
  bool by_frequency, sparse;
  int64_t bags;
  Shape table;    // weight's shape
  Shape samples;  // input's
};
// What is saved, by place. Absent: kPosition where all readings count, kFrom of all but maxima, and
// the last two without weights of samples.
enum { kRow, kStarts, kPosition, kFrom, kTable, kWeights };
}  // namespace

// The factors of the readings that are in a bag.
static Tensor factors_in_bags(const Bags& bags, const Tensor& weights) {
  const int64_t whole[] = {-1};
  const Tensor flat = reshape(weights, whole);
  return bags.position.defined() ? index_select(flat, 0, on_device(bags.position, flat.device()))
                                 : flat;
}

static Tensor gradient_of_sums(const BagAttr& a, const Bags& bags, const Tensor& factors,
                               const Tensor& dy, bool differentiated) {
  const Device device = dy.device();
  Readings r{
      a.table, -1, a.sparse, on_device(bags.row, device), on_device(bag_of_each(bags), device),
      factors};
  const Dtype dtype = dy.dtype(), wide = summed_as(dtype);
  if (a.by_frequency) {
    const Tensor inverse = inverse_frequencies(r.row, a.table[0], a.sparse ? dtype : wide);
    r.factor = factors.defined() ? mul(cast(factors, inverse.dtype()), inverse) : inverse;
  }
  if (a.mode != BagMode::kMean) return row_gradient(r, dy, differentiated);
  const Tensor shared = div(cast(dy, wide), bag_sizes(bags, cast(dy, wide)), {});
  if (a.sparse) return row_gradient(r, cast(shared, dtype), differentiated);
  return cast(row_gradient(r, shared, differentiated), dtype);
}

// The row that was largest gets dy; an empty bag has none.
static Tensor gradient_of_maxima(const BagAttr& a, const Tensor& from, const Tensor& dy) {
  const Tensor zero = number(int64_t{0}), none = lt(from, zero);
  Tensor dw = zeros(a.table, dy.dtype(), dy.device());
  if (a.table[0] == 0) return dw;
  return scatter_add(dw, 0, where(none, zero, from), where(none, number(0.0), dy));
}

// Readings outside of bags have none.
static Tensor gradient_of_weights(const BagAttr& a, const Bags& bags, const Tensor& products) {
  if (!bags.position.defined()) return reshape(products, a.samples);
  int64_t count[] = {1};
  for (const int64_t size : a.samples) count[0] *= size;
  const Tensor dw = zeros(count, products.dtype(), products.device());
  return reshape(index_add(dw, 0, on_device(bags.position, dw.device()), products), a.samples);
}

static void embedding_bag_vjp(Backward& b) {
  const auto& a = b.attr<BagAttr>();
  const Bags bags{a.bags, b.saved(kRow), b.saved(kStarts), b.saved(kPosition)};
  const Tensor dy = b.dy(), weights = b.saved(kWeights);
  if (b.needs(0) && a.mode == BagMode::kMax) {
    b.set_grad(0, gradient_of_maxima(a, b.saved(kFrom), dy));
  } else if (b.needs(0)) {
    const Tensor factors = weights.defined() ? factors_in_bags(bags, weights) : Tensor();
    b.set_grad(0, gradient_of_sums(a, bags, factors, dy, b.differentiated()));
  }
  if (!weights.defined() || !b.needs(1)) return;
  const Tensor products = dot_bags(bags, b.saved(kTable), dy, b.differentiated());
  b.set_grad(1, gradient_of_weights(a, bags, products));
}
static const Rule kEmbeddingBag{"embedding_bag", embedding_bag_vjp};

// The tangent of the largest rows: those of the table where they were found.
static Tensor tangent_of_maxima(const Tensor& tangent, const Tensor& from) {
  const Tensor zero = number(int64_t{0}), none = lt(from, zero);
  if (tangent.size(0) == 0) return zeros(from.shape(), tangent.dtype(), tangent.device());
  return where(none, number(0.0), gather(tangent, 0, where(none, zero, from)));
}

Tensor embedding_bag_impl(const Tensor& input, const Tensor& weight, const Tensor* offsets,
                          bool scale_grad_by_freq, std::optional<std::string_view> mode,
                          bool sparse, const Tensor* per_sample_weights, bool include_last_offset,
                          std::optional<int64_t> padding_idx) {
  const BagMode how = mode_of(mode);
  Call call(kEmbeddingBagName, {}, {&weight, per_sample_weights});
  check_sparse(kEmbeddingBagName, sparse, weight);
  check_weight(call, weight);
  check_mode(call, how, scale_grad_by_freq, sparse);
  const int64_t padding = checked_padding(call, padding_idx, weight.size(0));
  if (per_sample_weights) check_sample_weights(call, how, *per_sample_weights, input, weight);
  const Bags bags = bags_of(call, {input, weight, offsets, include_last_offset, padding});

  const Tensor absent;
  const Tensor& weights = per_sample_weights ? *per_sample_weights : absent;
  Tensor from;
  Tensor y = reduce_bags(bags, how, weight,
                         weights.defined() ? factors_in_bags(bags, weights) : absent, from);
  y = call.done(std::move(y), kEmbeddingBag,
                BagAttr{how, scale_grad_by_freq, sparse, bags.count, Shape(weight.shape()),
                        Shape(input.shape())},
                {saves_value(bags.row), saves_value(bags.starts), saves_value(bags.position),
                 saves_value(from), saves_input(weights.defined() ? weight : absent, 0),
                 saves_input(weights, 1)});
  if (!call.forward()) return y;
  const auto bag = [&](const Tensor& table, const Tensor* factors) {
    return embedding_bag(input, table, offsets, false, mode, false, factors, include_last_offset,
                         padding_idx);
  };
  call.jvp(y, [&] {
    const Tensor &of_table = call.tangent(0), &of_weights = call.tangent(1);
    Tensor t;
    if (of_table.defined())
      t = how == BagMode::kMax ? tangent_of_maxima(of_table, from)
                               : bag(of_table, per_sample_weights);
    if (!of_weights.defined()) return t;
    const Tensor other = bag(weight, &of_weights);
    return t.defined() ? add(t, other) : other;
  });
  return y;
}

}  // namespace libdl
