// SPDX-License-Identifier: Apache-2.0

// Moving rows between a tensor and the places that indices refer to, and computing those places.

#include <bit>

#include "kernels/cuda/indexed.h"
#include "kernels/cuda/plan.h"

namespace libdl::kernels::cuda {

namespace {

struct LookUp {
  const void* index;  // NULL: all positions mean the start
  int64_t* offset;
  int64_t* target;
  int64_t size, step, first;  // of the indexed dimension; this part's first position
  int32_t dtype;
  int32_t begins;  // the first index sets what later ones add to
  Geometry<1> geometry;
};

struct RowMove {
  void* base;
  void* values;
  const int64_t* offset;
  const void* index;
  int64_t count, values_step, index_step, size, step;
  int32_t index_dtype, unused;
  Geometry<2> rest;  // base, values
};

}  // namespace

#ifdef LIBDL_KERNELS

LIBDL_KERNEL(index_look_up, LookUp) {
  for (int64_t i = first_element(); i < p.geometry.numel; i += all_threads()) {
    int64_t from[1];
    offsets_of(p.geometry, i, from);
    const int64_t at = p.index ? wrapped(index_at(p.index, from[0], p.dtype), p.size) : 0;
    int64_t& offset = p.offset[p.first + i];
    int64_t& target = p.target[p.first + i];
    if (at < 0) {
      offset = kNowhere;
      target = -1;
    } else if (p.begins) {
      offset = at * p.step;
      target = at;
    } else if (target >= 0) {
      offset += at * p.step;
      target = target * p.size + at;
    }
  }
}

template <class T, bool kGets>
LIBDL_DEVICE void move_rows(const RowMove& p) {
  const int64_t row = p.rest.numel, total = p.count * row;
  for (int64_t i = first_element(); i < total; i += all_threads()) {
    const int64_t at = quotient_of(i, row, total);
    int64_t offset[2];
    offsets_of(p.rest, i - at * row, offset);
    int64_t start = kNowhere;
    if (p.offset) {
      start = p.offset[at];
    } else {
      const int64_t index = wrapped(index_at(p.index, at * p.index_step, p.index_dtype), p.size);
      if (index >= 0) start = index * p.step;
    }
    if (start == kNowhere) continue;
    T& base = static_cast<T*>(p.base)[start + offset[0]];
    T& value = static_cast<T*>(p.values)[at * p.values_step + offset[1]];
    if constexpr (kGets) {
      value = base;
    } else {
      base = value;
    }
  }
}
LIBDL_KERNEL(rows_get_1, RowMove) { move_rows<uint8_t, true>(p); }
LIBDL_KERNEL(rows_get_2, RowMove) { move_rows<uint16_t, true>(p); }
LIBDL_KERNEL(rows_get_4, RowMove) { move_rows<uint32_t, true>(p); }
LIBDL_KERNEL(rows_get_8, RowMove) { move_rows<uint64_t, true>(p); }
LIBDL_KERNEL(rows_get_16, RowMove) { move_rows<Complex, true>(p); }
LIBDL_KERNEL(rows_get_wide, RowMove) { move_rows<Sixteen, true>(p); }
LIBDL_KERNEL(rows_put_1, RowMove) { move_rows<uint8_t, false>(p); }
LIBDL_KERNEL(rows_put_2, RowMove) { move_rows<uint16_t, false>(p); }
LIBDL_KERNEL(rows_put_4, RowMove) { move_rows<uint32_t, false>(p); }
LIBDL_KERNEL(rows_put_8, RowMove) { move_rows<uint64_t, false>(p); }
LIBDL_KERNEL(rows_put_16, RowMove) { move_rows<Complex, false>(p); }

#endif  // LIBDL_KERNELS

#ifdef LIBDL_PLANS

void look_up(Context& context, const IndexArgs& a, Positions& positions) {
  LookUp p{};
  p.offset = positions.offset;
  p.target = positions.target;
  p.begins = 1;
  positions.targets = 1;
  if (a.indices == 0) {
    p.geometry.numel = p.geometry.sizes[0] = positions.count;
    p.geometry.ndim = 1;
    launch(context, "index_look_up", grid_for(context, positions.count), p);
  }
  for (int32_t k = 0; k < a.indices; ++k) {
    p.size = a.indexed_sizes[k];
    p.step = a.indexed_strides[k];
    p.dtype = a.index[k].dtype;
    p.first = 0;
    positions.targets *= p.size;
    const View* const views[] = {&a.index[k]};
    each_part(views, 1, p.geometry, [&](void* const* data) {
      p.index = data[0];
      launch(context, "index_look_up", grid_for(context, p.geometry.numel), p);
      p.first += p.geometry.numel;
    });
    p.begins = 0;
  }
}

namespace {

// Rows that are contiguous on both sides and all aligned are moved in units of up to 16 bytes.
struct Widened {
  int64_t size;
  bool is_widest = false;
  Rows rows;

  explicit Widened(const Rows& from) : rows(from) {
    const int64_t bytes = dtype_bytes(from.base.dtype), row = numel(from.base);
    // Offsets were looked up in elements.
    if (from.offset || !is_dense(from.base) || !is_dense(from.values)) return;
    for (int64_t unit = 16; unit > bytes; unit /= 2) {
      const int64_t ratio = unit / bytes;
      if (row % ratio || from.step % ratio || from.values_step % ratio ||
          !is_aligned(from.base, unit) || !is_aligned(from.values, unit))
        continue;
      static constexpr int64_t kOne = 1;
      static constexpr int32_t kOfUnit[] = {LIBDL_DTYPE_UINT16, LIBDL_DTYPE_UINT32,
                                            LIBDL_DTYPE_UINT64, LIBDL_DTYPE_COMPLEX128};
      const int32_t dtype = kOfUnit[std::bit_width(static_cast<uint64_t>(unit)) - 2];
      size = row / ratio;
      is_widest = unit == 16;
      rows.base = {from.base.data, &size, &kOne, 1, dtype};
      rows.values = {from.values.data, &size, &kOne, 1, dtype};
      rows.step /= ratio;
      rows.values_step /= ratio;
      return;
    }
  }
  Widened(const Widened&) = delete;
  Widened& operator=(const Widened&) = delete;
};

void move_rows(Context& context, const Rows& rows, const char* name) {
  if (rows.count == 0 || numel(rows.base) == 0) return;
  RowMove p{};
  p.offset = rows.offset;
  p.index = rows.index;
  p.count = rows.count;
  p.values_step = rows.values_step;
  p.index_step = rows.index_step;
  p.size = rows.size;
  p.step = rows.step;
  p.index_dtype = rows.index_dtype;
  const View* const views[] = {&rows.base, &rows.values};
  each_part(views, 2, p.rest, [&](void* const* data) {
    p.base = data[0];
    p.values = data[1];
    launch(context, name, grid_for(context, rows.count * p.rest.numel), p);
  });
}

}  // namespace

void get_rows(Context& context, const Rows& rows) {
  static constexpr const char* kNames[] = {"rows_get_1", "rows_get_2", "rows_get_4", "rows_get_8",
                                           "rows_get_16"};
  const Widened wide(rows);
  move_rows(context, wide.rows,
            wide.is_widest ? "rows_get_wide" : of_size(kNames, dtype_bytes(wide.rows.base.dtype)));
}
void put_rows(Context& context, const Rows& rows) {
  static constexpr const char* kNames[] = {"rows_put_1", "rows_put_2", "rows_put_4", "rows_put_8",
                                           "rows_put_16"};
  move_rows(context, rows, of_size(kNames, dtype_bytes(rows.base.dtype)));
}

#endif  // LIBDL_PLANS

}  // namespace libdl::kernels::cuda
