// SPDX-License-Identifier: Apache-2.0

// Norms and clipping of lists, a tensor after the other: a list on the CPU has the bits that its
// tensors have alone.

#include <libdl/dtype.h>

#include <algorithm>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/traverse/load_store.h"
#include "kernels/pointwise.h"

namespace libdl::kernels::cpu {

namespace {

constexpr int64_t kOne = 1, kStill = 0;

View elements_of(const TensorList& list, int32_t t) {
  return {list.data[t], &list.numel[t], &kOne, 1, list.dtype[t]};
}

// In the elements' own dtype; of 16 bits as float32, whose range many of them need. One element's
// norm is its magnitude: its power might overflow.
double norm_of(Context& context, const View& in, double order) {
  double place = 0, norm = 0;
  const int32_t dtype = dtype_bytes(in.dtype) == 2 ? int32_t{LIBDL_DTYPE_FLOAT32} : in.dtype;
  const View out{&place, nullptr, nullptr, 0, dtype};
  const double power = in.sizes[0] == 1 ? 1 : order;
  reduce(context, {static_cast<int32_t>(Reduction::kNorm), 1, out, {}, in, power, false});
  load_tile(&norm, &place, dtype, 1, 1);
  return norm;
}

// x = expression(x, first, second), of which the first `inputs` count.
void change(Context& context, Expression expression, int32_t inputs, const View& x, double* first,
            double* second) {
  const auto everywhere = [&](double* value) {
    return View{value, x.sizes, &kStill, 1, LIBDL_DTYPE_FLOAT64};
  };
  const bool is_double = x.dtype == LIBDL_DTYPE_FLOAT64;
  pointwise(context, {.expression = static_cast<int32_t>(expression),
                      .compute = static_cast<int32_t>(is_double ? Class::kF64 : Class::kF32),
                      .inputs = inputs,
                      .out = x,
                      .in = {x, everywhere(first), everywhere(second)}});
}

}  // namespace

void list_norm(Context& context, const ListNormArgs& a) {
  const int64_t count = a.list.count;
  const Scratch room(context, count * int64_t{sizeof(double)});
  if (room.failed()) return;
  auto* const norms = static_cast<double*>(room.data());
  for (int32_t t = 0; t < count; ++t) norms[t] = norm_of(context, elements_of(a.list, t), a.order);
  auto* const total = static_cast<double*>(a.total.data);
  *total = norm_of(context, {norms, &count, &kOne, 1, LIBDL_DTYPE_FLOAT64}, a.order);
  store_tile(a.out.data, a.out.dtype, 1, total, 1);
}

void list_clip(Context& context, const ListClipArgs& a) {
  double low = -a.limit, high = a.limit, factor = 1;
  if (a.total.data != nullptr) {
    double total = 0;
    load_tile(&total, a.total.data, a.total.dtype, 1, 1);
    factor = a.limit / (total + 1e-6);
    if (factor >= 1) return;
  }
  for (int32_t t = 0; t < a.list.count; ++t) {
    if (a.list.numel[t] == 0) continue;
    const View x = elements_of(a.list, t);
    if (a.total.data != nullptr) {
      change(context, Expression::mul, 2, x, &factor, &factor);
    } else {
      change(context, Expression::clamp, 3, x, &low, &high);
    }
  }
}

}  // namespace libdl::kernels::cpu
