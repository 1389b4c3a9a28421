// SPDX-License-Identifier: Apache-2.0

// Rows of an image, sorted by phase (pool_rows.h), and rows of numbers in turn. Compiled once for
// each of Highway's targets.
#if defined(LIBDL_KERNELS_CPU_POOL_POOL_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBDL_KERNELS_CPU_POOL_POOL_ROWS_INL_H
#undef LIBDL_KERNELS_CPU_POOL_POOL_ROWS_INL_H
#else
#define LIBDL_KERNELS_CPU_POOL_POOL_ROWS_INL_H
#endif

#include "kernels/cpu/pool/pool-inl.h"
#include "kernels/cpu/pool/pool_rows.h"

HWY_BEFORE_NAMESPACE();
namespace libdl::kernels::cpu {
namespace HWY_NAMESPACE {
namespace {

// The places [begin, end) of a row of T, of which those in [0, size) exist.
template <class T>
struct PaddedRow {
  const T* row;
  int64_t begin, size;
  T padding;

  // n of them from place `from` on.
  HWY_INLINE void copy(int64_t from, int64_t n, T* to) const {
    using P = Pack<T>;
    const int64_t start = begin + from, lead = std::clamp<int64_t>(-start, 0, n);
    for (int64_t i = 0; i < lead; ++i) to[i] = padding;
    for (int64_t i = lead; i < n; i += P::n) {
      const int64_t there = size - start - i, rest = std::min(P::n, n - i);
      auto x = P::set(padding);
      if (there >= P::n)
        x = P::load(row + start + i);
      else if (there > 0)
        x = hn::IfThenElse(hn::FirstN(typename P::D(), static_cast<size_t>(there)),
                           first::load(typename P::D(), there, row + start + i), x);
      store_some<T>(x, to + i, rest);
    }
  }
  // Where they are, or in `room`.
  const T* at(int64_t from, int64_t n, T* room) const {
    const int64_t first = begin + from;
    if (first >= 0 && first + n <= size) return row + first;
    copy(from, n, room);
    return room;
  }
};

// to[phase][t] = line[phase * apart + t * stride] for t < length, a multiple of a vector's.
template <class T>
void sort_by_phase(const PaddedRow<T>& line, const RowBlocks& b, int64_t stride, T* to) {
  using P = Pack<T>;
  const typename P::D d;
  alignas(64) T part[4 * P::n];
  const auto each = [&](auto unpack) {
    for (int64_t t = 0; t < b.length; t += P::n)
      unpack(line.at(t * stride, stride * P::n, part), to + t);
  };
  if (b.phases == stride && stride == 2)
    return each([&](const T* from, T* first) {
      typename P::V v[2];
      hn::LoadInterleaved2(d, from, v[0], v[1]);
      for (int p = 0; p < 2; ++p) P::store(v[p], first + p * b.length);
    });
  if (b.phases == stride && stride == 3)
    return each([&](const T* from, T* first) {
      typename P::V v[3];
      hn::LoadInterleaved3(d, from, v[0], v[1], v[2]);
      for (int p = 0; p < 3; ++p) P::store(v[p], first + p * b.length);
    });
  if (b.phases == stride && stride == 4)
    return each([&](const T* from, T* first) {
      typename P::V v[4];
      hn::LoadInterleaved4(d, from, v[0], v[1], v[2], v[3]);
      for (int p = 0; p < 4; ++p) P::store(v[p], first + p * b.length);
    });
  for (int64_t p = 0; p < b.phases; ++p)
    for (int64_t t = 0; t < b.length; ++t) {
      const int64_t at = line.begin + p * b.apart + t * stride;
      to[p * b.length + t] = at >= 0 && at < line.size ? line.row[at] : line.padding;
    }
}

template <class T>
bool is_stored(const View& v) {
  return v.dtype == (sizeof(T) == 4 ? LIBDL_DTYPE_FLOAT32 : LIBDL_DTYPE_FLOAT64);
}

// The rows that the windows of one block share with those of the next row, as long as they are
// those of one image.
template <class T>
class SortedRows {
 public:
  SortedRows(const RowBlocks& blocks, const PoolWindows& w, const View& in, T padding, T* room)
      : b_(blocks), w_(w), in_(in), padding_(padding), room_(room) {
    std::fill_n(held_, b_.planes * b_.rows, -1);
  }

  // The rows [n, c, p, q, :] of one row of windows, `count` from the first one on; how many.
  int64_t collect(int64_t n, int64_t c, PoolRange planes, PoolRange rows, int64_t first,
                  int64_t count, const T** row) {
    int64_t read = 0;
    const int64_t image = n * in_.sizes[1] + c;
    const int64_t offset = n * in_.strides[0] + c * in_.strides[1];
    Circle plane(planes.begin, w_.dilation[0], b_.planes);
    for (int64_t p = planes.begin; p < planes.end; p += w_.dilation[0]) {
      const int64_t slots = plane.next() * b_.rows;
      Circle slot(rows.begin, w_.dilation[1], b_.rows);
      for (int64_t q = rows.begin; q < rows.end; q += w_.dilation[1]) {
        const int64_t here = slots + slot.next();
        const int64_t name = ((image * w_.in[0] + p) * w_.in[1] + q) * w_.out[2] + first;
        T* const to = room_ + here * b_.row_elements();
        row[read++] = to;
        if (held_[here] == name) continue;
        held_[here] = name;
        this->read(static_cast<const char*>(in_.data) +
                       (offset + pool_offset(in_, p, q, 0)) * dtype_bytes(in_.dtype),
                   first, count, to);
      }
    }
    return read;
  }

 private:
  void read(const char* row, int64_t first, int64_t count, T* to) const {
    const int64_t stride = w_.stride[2], begin = first * stride - w_.padding[2];
    PaddedRow<T> line{reinterpret_cast<const T*>(row), begin, w_.in[2], padding_};
    if (!is_stored<T>(in_) || in_.strides[4] != 1) {
      const int64_t end = begin + (count - 1) * stride + (b_.taps - 1) * w_.dilation[2] + 1;
      const int64_t from = std::max<int64_t>(0, begin), there = std::min(w_.in[2], end) - from;
      T* const numbers = room_ + b_.planes * b_.rows * b_.row_elements();
      load_tile(numbers, row + from * in_.strides[4] * dtype_bytes(in_.dtype), in_.dtype,
                in_.strides[4], there);
      line = {numbers, begin - from, there, padding_};
    }
    if (stride == 1)
      line.copy(0, b_.length, to);
    else
      sort_by_phase(line, b_, stride, to);
  }

  const RowBlocks& b_;
  const PoolWindows& w_;
  const View& in_;
  const T padding_;
  T* const room_;
  int64_t held_[kKeptRows];
};

// Room for a row of T at an element of an image, which is written there if it is not of T.
template <class T>
struct RowRoom {
  T* numbers;
  char* place;
  const View& image;
  bool direct;

  RowRoom(const View& v, int64_t offset, T* room)
      : place(static_cast<char*>(v.data) + offset * dtype_bytes(v.dtype)), image(v) {
    direct = is_stored<T>(v) && v.strides[4] == 1;
    numbers = direct ? reinterpret_cast<T*>(place) : room;
  }
  void write(int64_t count) const {
    if (!direct) store_tile(place, image.dtype, image.strides[4], numbers, count);
  }
};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace libdl::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
