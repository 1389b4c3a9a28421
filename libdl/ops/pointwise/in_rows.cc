// SPDX-License-Identifier: Apache-2.0

#include "ops/pointwise/in_rows.h"

#include <algorithm>
#include <vector>

#include "entries/arithmetic.h"
#include "entries/indexing.h"
#include "ops/copy/copy.h"
#include "tensor/sparse_rows.h"

namespace libdl {

namespace {
using Numbers = std::vector<int64_t>;
struct Rows {
  Numbers numbers;
  Tensor values;  // undefined: no result
};
}  // namespace

// Where each of some numbers is among others, which contain it.
static Tensor places_in(const Numbers& all, const Numbers& some) {
  const int64_t shape[] = {std::ssize(some)};
  const Tensor places = empty(shape, Dtype::kInt64);
  auto* const place = places.overwrite_plain<int64_t>();
  size_t at = 0;
  for (size_t i = 0; i < some.size(); ++i) {
    while (all[at] != some[i]) ++at;
    place[i] = static_cast<int64_t>(at);
  }
  return places;
}

static Rows sum_of(const Tensor& a, const Tensor& b, bool difference) {
  const Numbers &first = *held_rows(a), &second = *held_rows(b);
  const Tensor added = difference ? neg(held_values(b)) : held_values(b);
  if (first == second) return {first, add(held_values(a), added)};
  Rows sum;
  std::ranges::set_union(first, second, std::back_inserter(sum.numbers));
  const int64_t shape[] = {std::ssize(sum.numbers), a.size(1)};
  sum.values = zeros(shape, a.dtype());
  const Tensor at_first[] = {places_in(sum.numbers, first)};
  const Tensor at_second[] = {places_in(sum.numbers, second)};
  index_put(sum.values, at_first, held_values(a), false, Into(sum.values));
  index_put(sum.values, at_second, added, true, Into(sum.values));
  return sum;
}

static bool is_factor(const Tensor& x) { return x.ndim() == 0 && x.device().is_cpu(); }

static Rows rows_of(const PointwiseOp& op, const Tensor* const* in, Dtype compute,
                    PointwiseCall call) {
  const auto sparse = [&](int i) { return in[i]->dtype() == compute && is_sparse(*in[i]); };
  switch (op.expression) {
    case Expression::neg:
      if (sparse(0)) return {*held_rows(*in[0]), neg(held_values(*in[0]))};
      break;
    case Expression::mul:
    case Expression::div:
      for (int i = 0; i < (op.expression == Expression::mul ? 2 : 1); ++i) {
        if (!sparse(i) || !is_factor(*in[1 - i])) continue;
        const Tensor values = held_values(*in[i]);
        const Tensor* operands[] = {in[0], in[1]};
        operands[i] = &values;
        return {*held_rows(*in[i]), call(op, operands, {})};
      }
      break;
    case Expression::add:
    case Expression::sub:
      if (sparse(0) && sparse(1) && same(in[0]->shape(), in[1]->shape()))
        return sum_of(*in[0], *in[1], op.expression == Expression::sub);
      break;
    default: break;
  }
  return {};
}

Tensor in_rows(const PointwiseOp& op, const Tensor* const* in, Dtype compute, PointwiseCall call) {
  const ModeGuard off(kModeGrad | kModeForward);
  const Rows rows = rows_of(op, in, compute, call);
  const Tensor& like = in[0]->ndim() ? *in[0] : *in[op.inputs() - 1];
  return rows.values.defined() ? sparse_matrix(like.shape(), rows.numbers, rows.values) : Tensor();
}

bool written_in_rows(const PointwiseOp& op, const Tensor* const* in, Dtype compute,
                     PointwiseCall call, const Tensor& dst) {
  if (dst.dtype() != compute || !is_sparse(dst)) return false;
  const Tensor y = in_rows(op, in, compute, call);
  if (!y.defined()) return false;
  take_rows(dst, y, op.name);
  return true;
}

}  // namespace libdl
