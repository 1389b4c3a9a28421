// SPDX-License-Identifier: Apache-2.0

// A slice is what one coordinate outside the dimension selects: two slices never write to the same
// place. If there are many, or they are short, each thread follows one of them in order; else the
// elements are sorted by their target.

#include "kernels/cuda/combine.h"
#include "kernels/cuda/indexed.h"
#include "kernels/cuda/plan.h"

namespace libdl::kernels::cuda {

namespace {

struct Slices {
  void* out;
  const void* src;
  const void* index;
  int64_t length, size, out_step, src_step, index_step;  // along the dimension
  int32_t dtype, index_dtype, op, unused;
  Geometry<3> geometry;  // out, src, index
};

struct Targets {
  const void* index;
  int64_t* offset;
  int64_t* target;
  int64_t size, step, first;  // of out along the dimension; this part's first position
  int64_t length, after;      // positions along the dimension; in a row of those behind it
  int64_t base;               // of out, in elements
  int32_t index_dtype, unused;
  Geometry<2> geometry;  // index, out (which stands still along the dimension)
};

}  // namespace

#ifdef LIBDL_KERNELS

template <class T, class Combine>
LIBDL_DEVICE void follow(const Slices& p, const int64_t* offset, const Combine& combine) {
  T* const out = static_cast<T*>(p.out) + offset[0];
  const T* const src = static_cast<const T*>(p.src) + offset[1];
  for (int64_t j = 0; j < p.length; ++j) {
    const int64_t index = index_at(p.index, offset[2] + j * p.index_step, p.index_dtype);
    const int64_t at = wrapped(index, p.size);
    if (at >= 0) combine(out[at * p.out_step], src[j * p.src_step]);
  }
}

LIBDL_KERNEL(scatter_slices, Slices) {
  for (int64_t i = first_element(); i < p.geometry.numel; i += all_threads()) {
    int64_t offset[3];
    offsets_of(p.geometry, i, offset);
    with_type(p.dtype, [&](auto* type) {
      using T = std::remove_pointer_t<decltype(type)>;
      follow<T>(p, offset, [&](T& out, const T& src) { out = combined(p.op, out, src); });
    });
  }
}

LIBDL_KERNEL(scatter_targets, Targets) {
  for (int64_t i = first_element(); i < p.geometry.numel; i += all_threads()) {
    int64_t offset[2];
    offsets_of(p.geometry, i, offset);
    const int64_t at = wrapped(index_at(p.index, offset[0], p.index_dtype), p.size);
    const int64_t position = p.first + i;
    const int64_t slice = position / (p.length * p.after) * p.after + position % p.after;
    p.offset[position] = at < 0 ? kNowhere : p.base + offset[1] + at * p.step;
    p.target[position] = at < 0 ? -1 : slice * p.size + at;
  }
}

#endif  // LIBDL_KERNELS

#ifdef LIBDL_PLANS

namespace {

void scatter_many(Context& context, const ScatterArgs& a) {
  Slices p{};
  p.length = a.index.sizes[a.dim];
  p.size = a.out.sizes[a.dim];
  p.out_step = a.out.strides[a.dim];
  p.src_step = a.src.strides[a.dim];
  p.index_step = a.index.strides[a.dim];
  p.dtype = a.out.dtype;
  p.index_dtype = a.index.dtype;
  p.op = a.op;
  View views[] = {a.out, a.src, a.index};
  int64_t sizes[kMaxDims], strides[3][kMaxDims];
  for (int k = 0; k < 3; ++k) {
    int n = 0;
    for (int d = 0; d < a.index.ndim; ++d) {
      if (d == a.dim) continue;
      sizes[n] = a.index.sizes[d];
      strides[k][n++] = views[k].strides[d];
    }
    views[k].ndim = n;
    views[k].sizes = sizes;
    views[k].strides = strides[k];
  }
  const View* const all[] = {&views[0], &views[1], &views[2]};
  each_part(all, 3, p.geometry, [&](void* const* data) {
    p.out = data[0];
    p.src = data[1];
    p.index = data[2];
    launch(context, "scatter_slices", grid_for(context, p.geometry.numel), p);
  });
}

}  // namespace

void scatter(Context& context, const ScatterArgs& a) {
  constexpr int64_t kManySlices = 1 << 14, kShort = 32;
  const int64_t count = numel(a.index);
  if (count == 0) return;
  const int64_t length = a.index.sizes[a.dim];
  if (length <= kShort || count / length >= kManySlices) return scatter_many(context, a);

  // Look up the targets.
  PositionsWorkspace positions(context, count);
  if (context.error) return;
  Targets p{};
  p.offset = positions.offset;
  p.target = positions.target;
  p.size = a.out.sizes[a.dim];
  p.step = a.out.strides[a.dim];
  p.length = length;
  p.after = 1;
  for (int d = a.dim + 1; d < a.index.ndim; ++d) p.after *= a.index.sizes[d];
  p.index_dtype = a.index.dtype;
  positions.targets = count / length * p.size;
  int64_t steps[kMaxDims];
  for (int d = 0; d < a.out.ndim; ++d) steps[d] = d == a.dim ? 0 : a.out.strides[d];
  View out = a.out;
  out.sizes = a.index.sizes;
  out.strides = steps;
  const View* const views[] = {&a.index, &out};
  each_part(views, 2, p.geometry, [&](void* const* data) {
    p.index = data[0];
    p.base =
        (static_cast<char*>(data[1]) - static_cast<char*>(a.out.data)) / dtype_bytes(a.out.dtype);
    launch(context, "scatter_targets", grid_for(context, p.geometry.numel), p);
    p.first += p.geometry.numel;
  });
  // Apply the updates in order.
  View base = a.out, values = a.src;
  base.ndim = 0;
  values.sizes = a.index.sizes;
  apply_updates(context, {positions, base, values, static_cast<ScatterOp>(a.op)});
}

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
