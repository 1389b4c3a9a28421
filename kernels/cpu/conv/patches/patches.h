// SPDX-License-Identifier: Apache-2.0

// A convolution as products with a matrix of patches: its rows are the pixels of a lattice, its
// columns (t, c) the values of channel c under tap t of the window there. The matrix is never made
// whole; parts of it are gathered in cache.
#pragma once

#include <cstdint>

#include "kernels/cpu/conv/stored.h"

namespace libdl::kernels::cpu {

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Pixels of a batch of images, numbered row by row.
struct Lattice {
  int64_t sizes[3];
  int64_t count() const { return sizes[0] * sizes[1] * sizes[2]; }
};

struct Pixel {
  int64_t image, at[3];

  Pixel(const Lattice& lattice, int64_t row) {
    for (int d = 2; d >= 0; --d) at[d] = row % lattice.sizes[d], row /= lattice.sizes[d];
    image = row;
  }
  void advance(const Lattice& lattice) {
    if (++at[2] < lattice.sizes[2]) return;
    at[2] = 0;
    if (++at[1] < lattice.sizes[1]) return;
    at[1] = 0;
    if (++at[0] < lattice.sizes[0]) return;
    at[0] = 0, ++image;
  }
};

// The channels of images at a pixel are adjacent; strides are in elements: of images, then of the
// three dimensions.
template <class S>
struct Patches {
  const S* data;  // the first channel
  int64_t channels;
  int64_t strides[4];
  int64_t sizes[3];  // of an image; elements outside are 0
  Lattice lattice;
  int64_t step[3], start[3];  // tap 0 of pixel q lies at q step + start
  int64_t taps[3], dilation[3];

  int64_t columns() const { return taps[0] * taps[1] * taps[2] * channels; }
};

// out[row, j] = (bias[j] +) sum over columns of the patches' [row, column] b[column, j], for rows
// [i0, i1) and columns j in [j0, j1); j0 is a multiple of kPanel (gemm.h).
template <class S>
struct PatchesTimesMatrix {
  Patches<S> a;
  const Wide<S>* packed;  // b, as pack_taps wrote it
  S* out;                 // row r lies at the lattice's pixel r
  int64_t out_strides[4];
  const S* bias;  // or NULL
  int64_t i0, i1, j0, j1;
};
template <class S>
void multiply_patches(const PatchesTimesMatrix<S>& p);
// The most columns of one call: sums that memory does not hold lie aside until they are rounded.
template <class S>
constexpr int64_t kMostColumns = kNarrow<S> ? 256 : 4096 / sizeof(S);

// out[i, column] = sum over rows in [r0, r1) of a[row, i] * the patches' [row, column], for i in
// [i0, i1) and columns in [j0, j1), at most kPatchColumns of them.
template <class S>
struct MatrixTimesPatches {
  const S* a;  // [rows, i], contiguous along i
  int64_t a_stride;
  Patches<S> b;
  Wide<S>* out;  // contiguous along columns
  int64_t out_stride;
  int64_t r0, r1, i0, i1, j0, j1;
};
template <class S>
void multiply_by_patches(const MatrixTimesPatches<S>& p);
template <class T>
constexpr int64_t kPatchColumns = 768 / sizeof(T);

// The matrix [(t0, t1, t2, row), column] of weights, in panels (gemm.h).
template <class S>
struct Taps {
  const S* weights;
  int64_t rows, columns, row_stride, col_stride;
  int64_t counts[3], strides[3];

  int64_t all_rows() const { return counts[0] * counts[1] * counts[2] * rows; }
};
template <class S>
void pack_taps(Wide<S>* packed, const Taps<S>& taps, int64_t first_panel, int64_t last_panel);

}  // namespace libdl::kernels::cpu
