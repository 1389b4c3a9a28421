// SPDX-License-Identifier: Apache-2.0

// What the micro-kernel (micro_kernel.cc) is told, whichever the instruction set.
#pragma once

#include <cstdint>

namespace libdl::kernels::cpu {

// One run of the micro-kernel: c[r][j] (+)= alpha * sum over k of a[r][k] * b[k][j], j below kWide
// or `columns`.
template <class T>
struct Step {
  const T* a;
  int64_t a_stride;  // of rows or columns, where a is read in place
  const T* b;
  int64_t b_stride;
  T* c;
  int64_t c_stride, k;
  T alpha;
  bool add;
  bool stream;      // c is written past the caches; only without add
  int64_t columns;  // if there are fewer than kWide
  // The next panel, with rows laid out like b's: one line of each is prefetched to L2.
  const T* next;
};

// How the micro-kernel reads a: rows or columns of T in place, or rows that were copied kKBlock
// apart, so that copying is sequential on both sides. (Copied columns are columns.)
enum class OperandLayout { kRows, kColumns, kCopiedRows };
constexpr int kLayout = 3;

// For some number of rows: over whole runs of two vectors of columns, and over part of one.
template <class T>
struct Kernels {
  void (*wide)(const Step<T>&);
  void (*narrow)(const Step<T>&);
};

}  // namespace libdl::kernels::cpu
