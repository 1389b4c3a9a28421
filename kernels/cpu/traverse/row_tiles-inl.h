// SPDX-License-Identifier: Apache-2.0

// Shared by the row-wise kernels: reading and writing rows a tile at a time, in parallel.
#if defined(LIBDL_KERNELS_CPU_TRAVERSE_ROW_TILES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_TRAVERSE_ROW_TILES_INL_H
#undef LIBDL_KERNELS_CPU_TRAVERSE_ROW_TILES_INL_H
#else
#define LIBDL_KERNELS_CPU_TRAVERSE_ROW_TILES_INL_H
#endif

#include <libdl/dtype.h>

#include <algorithm>

#include "kernels/cpu/traverse/order-inl.h"
#include "kernels/cpu/traverse/rows.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kGrain = 1 << 13;  // elements worth a chunk of their own

// The rows of a view: its last dimension. They go through a buffer a block at a time, unless they
// are contiguous T: there they are converted.
template <class T>
struct RowTiles {
  const View* view;
  Dims rows, row;
  int64_t bytes;
  bool direct;

  explicit RowTiles(const View& v)
      : view(&v),
        rows(v, 0, v.ndim - 1),
        row(v, v.ndim - 1, v.ndim),
        bytes(dtype_bytes(v.dtype)),
        direct(plain() && row.inner_stride() == 1) {}

  bool plain() const {
    return view->dtype == (sizeof(T) == 4 ? LIBDL_DTYPE_FLOAT32 : LIBDL_DTYPE_FLOAT64);
  }

  char* element(int64_t r, int64_t i) const {
    return const_cast<char*>(at(*view, rows.offset(r) + row.offset(i), bytes));
  }
  const T* read(int64_t r, int64_t i, int64_t n, T* tile) const {
    if (direct) return reinterpret_cast<const T*>(element(r, i));
    load_tile(tile, element(r, i), view->dtype, row.inner_stride(), n);
    return tile;
  }
  T* room(int64_t r, int64_t i, T* tile) const {
    return direct ? reinterpret_cast<T*>(element(r, i)) : tile;
  }
  void write(int64_t r, int64_t i, int64_t n, const T* tile) const {
    if (!direct) store_tile(element(r, i), view->dtype, row.inner_stride(), tile, n);
  }
};

// out[i] = f(x[i], y[i]) on vectors; f is a functor with apply(D, x, y).
template <class T, class F>
HWY_INLINE void map(const F& f, T* out, const T* x, const T* y, int64_t n) {
  using P = Pack<T>;
  int64_t i = 0;
  for (; i + P::n <= n; i += P::n) P::store(f.apply(P::load(x + i), P::load(y + i)), out + i);
  if (i == n) return;
  const typename P::D d;
  const auto last = f.apply(first::load(d, n - i, x + i), first::load(d, n - i, y + i));
  first::store(last, d, n - i, out + i);
}

template <class Row>
void for_rows(Context& context, const Row& row, int64_t rows, int64_t n) {
  if (n == 0) return;
  if (rows * n < 4 * kGrain) {
    for (int64_t r = 0; r < rows; ++r) row(r);
    return;
  }
  struct Task {
    const Row* row;
    int64_t rows, grain;
  } task{&row, rows, std::max<int64_t>(1, kGrain / n)};
  context.parallel((rows + task.grain - 1) / task.grain,
                   [](void* arg, int64_t first, int64_t last) {
                     const Task& t = *static_cast<Task*>(arg);
                     for (int64_t r = first * t.grain; r < std::min(last * t.grain, t.rows); ++r)
                       (*t.row)(r);
                   },
                   &task);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
