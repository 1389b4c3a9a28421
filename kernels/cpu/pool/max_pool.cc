// SPDX-License-Identifier: Apache-2.0

#include <libdl/dtype.h>

#include <algorithm>
#include <limits>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/pool/max_pool_rows.h"
#include "kernels/cpu/pool/pool.h"
#include "kernels/cpu/simd/highway_targets.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/traverse/elements.h"
#include "kernels/cpu/traverse/rooms.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/pool/max_pool.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernels/cpu/pool/pool-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

// Positions in lanes as wide as T.
template <class T>
struct Positions {
  using I = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  using D = hn::Rebind<I, typename Pack<T>::D>;
  using V = hn::Vec<D>;
  static HWY_INLINE V load(const I* from, int64_t rest) {
    if (HWY_LIKELY(rest == Pack<T>::n)) return hn::LoadU(D(), from);
    return first::load(D(), rest, from);
  }
  static HWY_INLINE void store(V v, I* to, int64_t rest) {
    if (HWY_LIKELY(rest == Pack<T>::n)) return hn::StoreU(v, D(), to);
    first::store(v, D(), rest, to);
  }

  char* data;
  bool wide;  // int64 in memory
  explicit Positions(const View& v)
      : data(static_cast<char*>(v.data)), wide(v.dtype == LIBDL_DTYPE_INT64) {}
  bool direct() const { return wide == (sizeof(I) == 8); }

  const I* read(int64_t offset, int64_t n, I* tile) const {
    if (direct()) return reinterpret_cast<const I*>(data) + offset;
    if (wide)
      copy(reinterpret_cast<const int64_t*>(data) + offset, n, tile);
    else
      copy(reinterpret_cast<const int32_t*>(data) + offset, n, tile);
    return tile;
  }
  I* room(int64_t offset, I* tile) const {
    return direct() ? reinterpret_cast<I*>(data) + offset : tile;
  }
  void write(int64_t offset, int64_t n, const I* tile) const {
    if (direct()) return;
    if (wide)
      copy(tile, n, reinterpret_cast<int64_t*>(data) + offset);
    else
      copy(tile, n, reinterpret_cast<int32_t*>(data) + offset);
  }
  template <class From, class To>
  static void copy(const From* from, int64_t n, To* to) {
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<To>(from[i]);
  }
};

// -- forward --------------------------------------------------------------------------------------

struct Window {
  PoolRange i, j, k;
};

template <class T>
struct Largest {
  using P = Pack<T>;
  using At = Positions<T>;

  const PoolWindows& w;
  Channels<T> out, in;
  At indices;

  // kVectors vectors of channels from `from` in the input, in one window.
  template <int kVectors>
  HWY_INLINE void of(const Window& window, int64_t from, int64_t rest, T* values,
                     typename At::I* at) const {
    typename P::V largest[kVectors];
    typename At::V where[kVectors];
    const typename At::D integers;
    const auto position = [&](int64_t i, int64_t j, int64_t k) {
      return static_cast<typename At::I>((i * w.in[1] + j) * w.in[2] + k);
    };
    LIBDL_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      largest[v] = P::set(-std::numeric_limits<T>::infinity());
      where[v] = hn::Set(integers, position(window.i.begin, window.j.begin, window.k.begin));
    }
    alignas(64) T tile[kPoolBlock<T>];
    const int64_t count = (kVectors - 1) * P::n + rest;
    const int64_t down = pool_step(w, 0), across = pool_step(w, 1), right = pool_step(w, 2);
    for (int64_t i = window.i.begin; i < window.i.end; i += down)
      for (int64_t j = window.j.begin; j < window.j.end; j += across)
        for (int64_t k = window.k.begin; k < window.k.end; k += right) {
          const T* const x = in.read(from + pool_offset(*in.view, i, j, k), count, tile);
          const auto here = hn::Set(integers, position(i, j, k));
          LIBDL_UNROLL
          for (int v = 0; v < kVectors; ++v) {
            const auto value = load_some<T>(x + v * P::n, rest);
            const auto taken = hn::Or(hn::Gt(value, largest[v]), hn::IsNaN(value));
            largest[v] = hn::IfThenElse(taken, value, largest[v]);
            where[v] = hn::IfThenElse(hn::RebindMask(integers, taken), here, where[v]);
          }
        }
    LIBDL_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      store_some<T>(largest[v], values + v * P::n, rest);
      if (at) At::store(where[v], at + v * P::n, rest);
    }
  }
};

template <class T>
void largest(Context& context, const MaxPoolArgs& a) {
  const PoolRanges ranges = positions_of(context, a.windows);
  if (ranges.failed()) return;
  const Largest<T> job{a.windows, Channels<T>(a.out), Channels<T>(a.in), Positions<T>(a.indices)};
  const bool marks = a.indices.data != nullptr;
  each_deep_row(context, a.out, pool_cost(a.windows), kPoolBlock<T>,
                [&](int64_t n, int64_t i, int64_t j, int64_t first, int64_t count) {
                  for (int64_t k = 0; k < a.out.sizes[4]; ++k) {
                    const Window window{ranges.at(0, i), ranges.at(1, j), ranges.at(2, k)};
                    const int64_t to = n * a.out.strides[0] + pool_offset(a.out, i, j, k);
                    const int64_t mark =
                        marks ? n * a.indices.strides[0] + pool_offset(a.indices, i, j, k) : 0;
                    each_block<T>(first, count, [&](auto vectors, int64_t c, int64_t rest) {
                      alignas(64) T tile[kPoolBlock<T>];
                      alignas(64) typename Positions<T>::I where[kPoolBlock<T>];
                      const int64_t some = (vectors - 1) * Pack<T>::n + rest;
                      job.template of<vectors>(window, n * a.in.strides[0] + c, rest,
                                               job.out.room(to + c, tile),
                                               marks ? job.indices.room(mark + c, where) : nullptr);
                      job.out.write(to + c, some, tile);
                      if (marks) job.indices.write(mark + c, some, where);
                    });
                  }
                });
}

// -- backward -------------------------------------------------------------------------------------

// Each element's gradient is the sum over the windows around it that took it.
template <class T>
struct Collect {
  using P = Pack<T>;
  using At = Positions<T>;

  Channels<T> dx, dy;
  At indices;
  const View& index_view;

  template <int kVectors>
  HWY_INLINE void at(const Window& around, int64_t n, int64_t here, int64_t c, int64_t rest,
                     T* sums) const {
    typename P::V sum[kVectors];
    LIBDL_UNROLL
    for (int v = 0; v < kVectors; ++v) sum[v] = P::set(0);
    const auto position = hn::Set(typename At::D(), static_cast<typename At::I>(here));
    alignas(64) T tile[kPoolBlock<T>];
    alignas(64) typename At::I index_tile[kPoolBlock<T>];
    const int64_t count = (kVectors - 1) * P::n + rest;
    for (int64_t i = around.i.begin; i < around.i.end; ++i)
      for (int64_t j = around.j.begin; j < around.j.end; ++j)
        for (int64_t k = around.k.begin; k < around.k.end; ++k) {
          const T* const g =
              dy.read(n * dy.view->strides[0] + pool_offset(*dy.view, i, j, k) + c, count, tile);
          const auto* const where = indices.read(
              n * index_view.strides[0] + pool_offset(index_view, i, j, k) + c, count, index_tile);
          LIBDL_UNROLL
          for (int v = 0; v < kVectors; ++v) {
            const auto taken = hn::Eq(At::load(where + v * P::n, rest), position);
            sum[v] = hn::Add(sum[v], hn::IfThenElseZero(hn::RebindMask(typename P::D(), taken),
                                                        load_some<T>(g + v * P::n, rest)));
          }
        }
    LIBDL_UNROLL
    for (int v = 0; v < kVectors; ++v) store_some<T>(sum[v], sums + v * P::n, rest);
  }
};

template <class T>
void collect(Context& context, const MaxPoolBackwardArgs& a) {
  const PoolRanges ranges = windows_over(context, a.windows);
  if (ranges.failed()) return;
  const Collect<T> job{Channels<T>(a.dx), Channels<T>(a.dy), Positions<T>(a.indices), a.indices};
  const PoolWindows& w = a.windows;
  each_deep_row(context, a.dx, 2, kPoolBlock<T>,
                [&](int64_t n, int64_t i, int64_t j, int64_t first, int64_t count) {
                  for (int64_t k = 0; k < w.in[2]; ++k) {
                    const Window around{ranges.at(0, i), ranges.at(1, j), ranges.at(2, k)};
                    const int64_t here = (i * w.in[1] + j) * w.in[2] + k;
                    const int64_t to = n * a.dx.strides[0] + pool_offset(a.dx, i, j, k);
                    each_block<T>(first, count, [&](auto vectors, int64_t c, int64_t rest) {
                      alignas(64) T tile[kPoolBlock<T>];
                      job.template at<vectors>(around, n, here, c, rest, job.dx.room(to + c, tile));
                      job.dx.write(to + c, (vectors - 1) * Pack<T>::n + rest, tile);
                    });
                  }
                });
}

void largest_on(Context& context, const MaxPoolArgs& a) {
  if (a.in.dtype == LIBDL_DTYPE_FLOAT64) return largest<double>(context, a);
  largest<float>(context, a);
}
void collect_on(Context& context, const MaxPoolBackwardArgs& a) {
  if (a.dx.dtype == LIBDL_DTYPE_FLOAT64) return collect<double>(context, a);
  collect<float>(context, a);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libdl::kernels::cpu {

// -- in any order of memory -----------------------------------------------------------------------

// f(I*) with the indices' type in memory.
template <class F>
static void with_positions(const View& indices, F f) {
  if (indices.dtype == LIBDL_DTYPE_INT32) return f(static_cast<int32_t*>(indices.data));
  f(static_cast<int64_t*>(indices.data));
}

// One window of one channel.
template <class E, class I>
static void take_largest(const MaxPoolArgs& a, const E* plane, PoolRange i, PoolRange j,
                         PoolRange k, E* out, I* index) {
  const PoolWindows& w = a.windows;
  const int64_t down = pool_step(w, 0), across = pool_step(w, 1), right = pool_step(w, 2);
  auto largest = plane[pool_offset(a.in, i.begin, j.begin, k.begin)].load();
  int64_t at = (i.begin * w.in[1] + j.begin) * w.in[2] + k.begin;
  for (int64_t p = i.begin; p < i.end; p += down)
    for (int64_t q = j.begin; q < j.end; q += across)
      for (int64_t r = k.begin; r < k.end; r += right) {
        const auto value = plane[pool_offset(a.in, p, q, r)].load();
        if (value > largest || value != value)
          largest = value, at = (p * w.in[1] + q) * w.in[2] + r;
      }
  *out = E::store(largest);
  if (index) *index = static_cast<I>(at);
}

template <class E>
static void largest_by_rows(Context& context, const MaxPoolArgs& a) {
  const PoolRanges ranges = positions_of(context, a.windows);
  if (ranges.failed()) return;
  with_positions(a.indices, [&](auto* indices) {
    each_row(context, a.out, pool_cost(a.windows), [&](int64_t n, int64_t c, int64_t i, int64_t j) {
      const E* const plane =
          static_cast<const E*>(a.in.data) + n * a.in.strides[0] + c * a.in.strides[1];
      E* const out = static_cast<E*>(a.out.data) + n * a.out.strides[0] + c * a.out.strides[1];
      auto* index = indices;
      if (index) index += n * a.indices.strides[0] + c * a.indices.strides[1];
      for (int64_t k = 0; k < a.out.sizes[4]; ++k)
        take_largest(a, plane, ranges.at(0, i), ranges.at(1, j), ranges.at(2, k),
                     out + pool_offset(a.out, i, j, k),
                     index ? index + pool_offset(a.indices, i, j, k) : nullptr);
    });
  });
}

// Adds the windows of one plane to the elements that they took; each sum takes the windows in the
// order of collect_by_rows.
template <class E, class I, class T>
static void scatter_plane(const MaxPoolBackwardArgs& a, const E* dy, const I* indices, T* dx) {
  const PoolWindows& w = a.windows;
  const auto plane = static_cast<uint64_t>(pool_plane(w));
  const int64_t dy_step = a.dy.strides[4], index_step = a.indices.strides[4];
  std::fill_n(dx, plane, T(0));
  for (int64_t i = 0; i < w.out[0]; ++i)
    for (int64_t j = 0; j < w.out[1]; ++j) {
      const E* const row = dy + pool_offset(a.dy, i, j, 0);
      const I* const taken = indices + pool_offset(a.indices, i, j, 0);
      for (int64_t k = 0; k < w.out[2]; ++k) {
        const auto at = static_cast<uint64_t>(taken[k * index_step]);
        // Foreign code may have written to them since.
        if (at < plane) dx[at] += row[k * dy_step].load();
      }
    }
}

// The same sums for planes without gaps, window by window; those of 16 bits are rounded at the end.
template <class E>
static void scatter_by_planes(Context& context, const MaxPoolBackwardArgs& a) {
  using T = typename E::Compute;
  constexpr bool kDirect = sizeof(E) == sizeof(T);
  const int64_t plane = pool_plane(a.windows), c = a.dx.sizes[1], planes = a.dx.sizes[0] * c;
  const int64_t grain = std::max<int64_t>(1, kPoolGrain / plane);
  const int64_t rooms =
      std::min<int64_t>({(planes + grain - 1) / grain, context.host->threads(), Rooms<T>::kMost});
  const Scratch scratch(context, kDirect ? 0 : rooms * plane * int64_t{sizeof(T)});
  if (scratch.failed()) return;
  Rooms<T> free(static_cast<T*>(scratch.data()), plane, rooms);
  const auto run = [&](int64_t p, T* room) {
    const int64_t n = p / c, channel = p % c;
    const auto at = [&](const View& v) { return n * v.strides[0] + channel * v.strides[1]; };
    const E* const dy = static_cast<const E*>(a.dy.data) + at(a.dy);
    E* const dx = static_cast<E*>(a.dx.data) + at(a.dx);
    T* const sums = kDirect ? reinterpret_cast<T*>(dx) : room;
    with_positions(a.indices,
                   [&](const auto* all) { scatter_plane(a, dy, all + at(a.indices), sums); });
    if (!kDirect) store_tile(dx, a.dx.dtype, 1, sums, plane);
  };
  in_chunks(context, planes, grain, [&](int64_t first, int64_t last) {
    free.with_one([&](T* room) {
      for (int64_t p = first; p < last; ++p) run(p, room);
    });
  });
}
template <class E>
static void collect_by_rows(Context& context, const MaxPoolBackwardArgs& a) {
  using T = typename E::Compute;
  const PoolRanges ranges = windows_over(context, a.windows);
  if (ranges.failed()) return;
  const PoolWindows& w = a.windows;
  with_positions(a.indices, [&](const auto* indices) {
    each_row(context, a.dx, 2, [&](int64_t n, int64_t c, int64_t i, int64_t j) {
      const E* const dy =
          static_cast<const E*>(a.dy.data) + n * a.dy.strides[0] + c * a.dy.strides[1];
      const auto* const index = indices + n * a.indices.strides[0] + c * a.indices.strides[1];
      E* const dx = static_cast<E*>(a.dx.data) + n * a.dx.strides[0] + c * a.dx.strides[1];
      const PoolRange above = ranges.at(0, i), beside = ranges.at(1, j);
      for (int64_t k = 0; k < w.in[2]; ++k) {
        const PoolRange before = ranges.at(2, k);
        const int64_t here = (i * w.in[1] + j) * w.in[2] + k;
        T sum = 0;
        for (int64_t p = above.begin; p < above.end; ++p)
          for (int64_t q = beside.begin; q < beside.end; ++q)
            for (int64_t r = before.begin; r < before.end; ++r)
              if (index[pool_offset(a.indices, p, q, r)] == here)
                sum += dy[pool_offset(a.dy, p, q, r)].load();
        dx[pool_offset(a.dx, i, j, k)] = E::store(sum);
      }
    });
  });
}

// -- the kernels ----------------------------------------------------------------------------------

static bool fits_lanes(int32_t dtype, const PoolWindows& w) {
  return is_floating(dtype) &&
         (dtype == LIBDL_DTYPE_FLOAT64 || pool_plane(w) <= std::numeric_limits<int32_t>::max());
}

void max_pool(Context& context, const MaxPoolArgs& a) {
  if (goes_by_channels({&a.in, &a.out, &a.indices}) && fits_lanes(a.in.dtype, a.windows))
    LIBDL_ON_ISA(largest_on, context, a);
  else if (!max_pool_by_rows(context, a))
    with_element(a.in.dtype, [&]<class E>(E) {
      if constexpr (!kIsComplex<typename E::Compute>) largest_by_rows<E>(context, a);
    });
}

void max_pool_backward(Context& context, const MaxPoolBackwardArgs& a) {
  if (goes_by_channels({&a.dx, &a.dy, &a.indices}) && fits_lanes(a.dx.dtype, a.windows))
    LIBDL_ON_ISA(collect_on, context, a);
  else
    with_element(a.dx.dtype, [&]<class E>(E) {
      using T = typename E::Compute;
      if constexpr (std::is_floating_point_v<T>) {
        if (has_whole_planes(a.dx)) return scatter_by_planes<E>(context, a);
        collect_by_rows<E>(context, a);
      }
    });
}

}  // namespace libdl::kernels::cpu
#endif
