// SPDX-License-Identifier: Apache-2.0

// Images whose channels are adjacent, read and written as vectors of channels. Compiled once for
// each of Highway's targets.
#if defined(LIBDL_KERNELS_CPU_POOL_POOL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_POOL_POOL_INL_H
#undef LIBDL_KERNELS_CPU_POOL_POOL_INL_H
#else
#define LIBDL_KERNELS_CPU_POOL_POOL_INL_H
#endif

#include "kernels/cpu/pool/pool.h"
#include "kernels/cpu/simd/unroll.h"
#include "kernels/cpu/traverse/order-inl.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

// Vectors that are in registers at once.
constexpr int kPoolVectors = 4;
template <class T>
constexpr int64_t kPoolBlock = kPoolVectors * Pack<T>::n;

// Elements go through a tile unless they are T in memory.
template <class T>
struct Channels {
  char* data;
  const View* view;
  int64_t bytes;
  bool direct;

  explicit Channels(const View& v)
      : data(static_cast<char*>(v.data)),
        view(&v),
        bytes(dtype_bytes(v.dtype)),
        direct(v.dtype == (sizeof(T) == 4 ? LIBDL_DTYPE_FLOAT32 : LIBDL_DTYPE_FLOAT64)) {}

  const T* read(int64_t offset, int64_t n, T* tile) const {
    char* const from = data + offset * bytes;
    if (direct) return reinterpret_cast<const T*>(from);
    load_tile(tile, from, view->dtype, 1, n);
    return tile;
  }
  T* room(int64_t offset, T* tile) const {
    return direct ? reinterpret_cast<T*>(data + offset * bytes) : tile;
  }
  void write(int64_t offset, int64_t n, const T* tile) const {
    if (!direct) store_tile(data + offset * bytes, view->dtype, 1, tile, n);
  }
};

// f(constant number of vectors, first channel, channels in the last vector) for parts of a row.
template <class T, class F>
HWY_INLINE void each_block(int64_t first, int64_t count, F f) {
  constexpr int64_t n = Pack<T>::n;
  int64_t c = 0;
  for (; c + kPoolBlock<T> <= count; c += kPoolBlock<T>)
    f(std::integral_constant<int, kPoolVectors>(), first + c, n);
  for (; c < count; c += n) f(std::integral_constant<int, 1>(), first + c, std::min(n, count - c));
}

// The first `rest` lanes, from and to memory.
template <class T>
HWY_INLINE typename Pack<T>::V load_some(const T* from, int64_t rest) {
  if (HWY_LIKELY(rest == Pack<T>::n)) return Pack<T>::load(from);
  return first::load(typename Pack<T>::D(), rest, from);
}
template <class T>
HWY_INLINE void store_some(typename Pack<T>::V v, T* to, int64_t rest) {
  if (HWY_LIKELY(rest == Pack<T>::n)) return Pack<T>::store(v, to);
  first::store(v, typename Pack<T>::D(), rest, to);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
