// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/conv/patches/pixels.h"

#include "kernels/cpu/gemm/matmul.h"

namespace libdl::kernels::cpu {
namespace {

// Whether the pixels of images, of these strides, lie in equal steps.
bool lie_evenly(const int64_t* strides, const int64_t* sizes, int64_t images) {
  int64_t step = strides[3];
  for (int d = 2; d >= 0; --d) {
    if (sizes[d] > 1 && strides[d + 1] != step) return false;
    step *= sizes[d];
  }
  return images == 1 || strides[0] == step;
}

template <class S>
bool are_pixels(const Patches<S>& a, int64_t rows) {
  for (int d = 0; d < 3; ++d) {
    if (a.taps[d] != 1 || a.step[d] != 1 || a.start[d] != 0) return false;
    if (a.lattice.sizes[d] != a.sizes[d]) return false;
  }
  return lie_evenly(a.strides, a.sizes, rows / a.lattice.count());
}

struct Matrix {
  const void* data;
  int64_t sizes[3], strides[3];
  View view(int32_t dtype) const { return {const_cast<void*>(data), sizes, strides, 3, dtype}; }
};

}  // namespace

template <class S>
bool is_matrix(const PatchesTimesMatrix<S>& p) {
  return are_pixels(p.a, p.i1) && lie_evenly(p.out_strides, p.a.sizes, p.i1 / p.a.lattice.count());
}
template <class S>
bool is_matrix(const MatrixTimesPatches<S>& p) {
  return are_pixels(p.b, p.r1);
}

template <class S>
void multiply_pixels(Context& context, const PatchesTimesMatrix<S>& p, const Taps<S>& taps) {
  constexpr int32_t kDtype = kStoredDtype<S>;
  const int64_t rows = p.i1, columns = taps.columns, k = taps.rows, one[] = {1};
  const Matrix a{p.a.data, {1, rows, k}, {0, p.a.strides[3], 1}};
  const Matrix b{taps.weights, {1, k, columns}, {0, taps.row_stride, taps.col_stride}};
  const Matrix out{p.out, {1, rows, columns}, {0, p.out_strides[3], 1}};
  MatmulArgs m{};
  m.out = out.view(kDtype), m.a = a.view(kDtype), m.b = b.view(kDtype);
  m.bias = {const_cast<S*>(p.bias), &columns, one, 1, kDtype};
  matmul(context, m);
}

template <class S>
void multiply_by_pixels(Context& context, const MatrixTimesPatches<S>& p, S* out) {
  constexpr int32_t kDtype = kStoredDtype<S>;
  const Matrix a{p.a, {1, p.i1, p.r1}, {0, 1, p.a_stride}};
  const Matrix b{p.b.data, {1, p.r1, p.j1}, {0, p.b.strides[3], 1}};
  const Matrix c{out, {1, p.i1, p.j1}, {0, p.j1, 1}};
  MatmulArgs m{};
  m.out = c.view(kDtype), m.a = a.view(kDtype), m.b = b.view(kDtype);
  matmul(context, m);
}

#define LIBDL_PIXELS(S)                                                                  \
  template bool is_matrix(const PatchesTimesMatrix<S>&);                                 \
  template bool is_matrix(const MatrixTimesPatches<S>&);                                 \
  template void multiply_pixels(Context&, const PatchesTimesMatrix<S>&, const Taps<S>&); \
  template void multiply_by_pixels(Context&, const MatrixTimesPatches<S>&, S*);
LIBDL_PIXELS(float)
LIBDL_PIXELS(double)
LIBDL_PIXELS(Bfloat)
LIBDL_PIXELS(Half)
#undef LIBDL_PIXELS

}  // namespace libdl::kernels::cpu
