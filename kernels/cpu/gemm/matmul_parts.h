// SPDX-License-Identifier: Apache-2.0

// Shared by the ways to multiply matrices, among which matmul.cc chooses: by vectors
// (matmul_vector.cc), outer products (matmul_outer.cc), floating-point numbers over packed panels
// (matmul_float.cc; matmul_long.cc where sums are long, matmul_few.cc where rows are few), on the
// matrix unit bfloat16 (matmul_bfloat.cc) and float32 (matmul_split.cc), complex numbers as real
// ones (matmul_complex.cc), integers (matmul_integer.cc), and plain loops (matmul_generic.cc).
#pragma once

#include <libdl/dtype.h>

#include <algorithm>
#include <cstdint>

#include "kernels/args.h"
#include "kernels/cpu/gemm/gemm.h"
#include "kernels/cpu/traverse/convert.h"
#include "kernels/cpu/traverse/walk.h"

namespace libdl::kernels::cpu {

struct Shape {
  int64_t batch, m, n, k;
};
inline Shape shape_of(const MatmulArgs& a) {
  return {a.out.sizes[0], a.out.sizes[1], a.out.sizes[2], a.a.sizes[2]};
}

template <class T>
constexpr int32_t kDtypeOf = sizeof(T) == 4 ? LIBDL_DTYPE_FLOAT32 : LIBDL_DTYPE_FLOAT64;

inline bool small_float(int32_t dtype) {
  return dtype == LIBDL_DTYPE_FLOAT32 || dtype == LIBDL_DTYPE_FLOAT16 ||
         dtype == LIBDL_DTYPE_BFLOAT16;
}
inline bool is_complex(int32_t dtype) {
  return dtype == LIBDL_DTYPE_COMPLEX64 || dtype == LIBDL_DTYPE_COMPLEX128;
}

template <class F>
void for_chunks(Context& context, int64_t chunks, const F& f) {
  in_chunks(context, chunks, 1, [&](int64_t first, int64_t) { f(first); });
}

// Carves scratch memory into pieces, each on its own cache lines; with data NULL it only counts.
struct BumpAllocator {
  char* data;
  int64_t used = 0;

  void* take(int64_t count, int64_t bytes) {
    int64_t size;
    if (used < 0 || bytes < 0 || __builtin_mul_overflow(count, bytes, &size) ||
        __builtin_add_overflow(size, used + 63, &size)) {
      used = -1;
      return nullptr;
    }
    void* piece = data == nullptr ? nullptr : data + used;
    used = size / 64 * 64;
    return piece;
  }
};

inline int64_t product(int64_t a, int64_t b, int64_t c = 1) {
  int64_t p;
  if (__builtin_mul_overflow(a, b, &p) || __builtin_mul_overflow(p, c, &p)) return INT64_MAX;
  return p;
}

// Whether the tiles of the matrix unit are worth filling.
inline bool fills_tiles(int64_t m, int64_t n, int64_t k) { return product(m, n, k) >= 4096; }

// Whether a matrix fits in a processor's L2 cache.
inline bool stays_cached(int64_t rows, int64_t cols, int64_t bytes) {
  return product(rows, cols, bytes) <= (1 << 20);
}

inline const char* matrix(const View& v, int64_t b) {
  return static_cast<const char*>(v.data) + b * v.strides[0] * dtype_bytes(v.dtype);
}

inline GemmOperand operand(const View& v, int64_t b) {
  return {matrix(v, b), v.strides[1], v.strides[2], v.dtype};
}
// Whether the result's memory can hold the sums while they are made.
inline bool writes_directly(const View& out) {
  return (out.dtype == LIBDL_DTYPE_FLOAT32 || out.dtype == LIBDL_DTYPE_FLOAT64) &&
         (out.strides[2] == 1 || out.sizes[2] == 1);
}

// float and double. Scratch memory is carved by this first, with NULL to count it.
template <class T>
void carve_float_product(const MatmulArgs& args, BumpAllocator& allocator);
template <class T>
void float_product(Context& context, const MatmulArgs& args, BumpAllocator allocator);
int64_t float_panels_size(int32_t dtype, int64_t n, int64_t k);  // -1: too large to count
void pack_float_panels(Context& context, void* packed, const View& b);

// Of these, small results of long sums, unless b is packed already. Each operand is read once.
template <class T>
bool has_long_sums(const Shape& s);
template <class T>
bool is_long_product(const MatmulArgs& args);
template <class T>
void carve_long_product(const MatmulArgs& args, BumpAllocator& allocator);
template <class T>
void long_product(Context& context, const MatmulArgs& args, BumpAllocator allocator);

// Of these, few rows times a matrix that is larger than the caches, unless it is packed already or
// sums are long.
template <class T>
bool few_rows_serve(const MatmulArgs& args);
template <class T>
void carve_few_rows(const MatmulArgs& args, BumpAllocator& allocator);
template <class T>
void few_rows_product(Context& context, const MatmulArgs& args, BumpAllocator allocator);

// bfloat16 on the matrix unit; packed_b is what pack_bfloat_panels wrote.
void allocate_bfloat_product(const MatmulArgs& args, BumpAllocator& allocator);
void bfloat_product(Context& context, const MatmulArgs& args, BumpAllocator allocator);
int64_t bfloat_panels_size(int64_t n, int64_t k);  // -1: too large to count
void pack_bfloat_panels(Context& context, char* packed, const View& b);

// float32 on the matrix unit (split_amx.h); packed_b is that of float_product.
bool split_serves(const MatmulArgs& args);
void carve_split_product(const MatmulArgs& args, BumpAllocator& allocator);
void split_product(Context& context, const MatmulArgs& args, BumpAllocator allocator);
// Whether it is faster: what is split is multiplied often enough, and there are tiles for all
// threads.
inline bool split_pays(int64_t batch, int64_t m, int64_t n, int64_t k) {
  return m >= 192 && std::min(n, k) >= 64 && product(m, n) >= 1 << 16 &&
         product(m, n, k) >= (batch == 1 ? 1 << 23 : 1 << 25);
}

// One row or one column of float32 and the 16-bit types, or of float64.
void vector_product(Context& context, const MatmulArgs& args);

void carve_complex_product(const MatmulArgs& args, BumpAllocator& allocator);
void complex_product(Context& context, const MatmulArgs& args, BumpAllocator allocator);
int64_t complex_panels_size(int32_t dtype, int64_t n, int64_t k);  // -1: too large to count
void pack_complex_panels(Context& context, void* packed, const View& b);

void integer_product(Context& context, const MatmulArgs& args);

// A column times a row of real numbers, and nothing else.
bool is_outer_product(const MatmulArgs& args);
void outer_product(Context& context, const MatmulArgs& args);

// Complex numbers with a bias of another type.
void generic_product(Context& context, const MatmulArgs& args);

}  // namespace libdl::kernels::cpu
