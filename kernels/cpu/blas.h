// SPDX-License-Identifier: Apache-2.0

// The only file that sees a BLAS header. Where a wheel's OpenBLAS has renamed symbols, build with
// LIBDL_BLAS_PREFIX=scipy_ (or whatever stands before its names).
#pragma once

#if defined(LIBDL_BLAS_PREFIX)
#define LIBDL_BLAS_JOIN2(a, b) a##b
#define LIBDL_BLAS_JOIN(a, b) LIBDL_BLAS_JOIN2(a, b)
#define cblas_cgemm LIBDL_BLAS_JOIN(LIBDL_BLAS_PREFIX, cblas_cgemm)
#define cblas_zgemm LIBDL_BLAS_JOIN(LIBDL_BLAS_PREFIX, cblas_zgemm)
#define openblas_get_num_threads LIBDL_BLAS_JOIN(LIBDL_BLAS_PREFIX, openblas_get_num_threads)
#define openblas_set_num_threads LIBDL_BLAS_JOIN(LIBDL_BLAS_PREFIX, openblas_set_num_threads)
#endif

#include <cblas.h>

namespace libdl::kernels::cpu {

// While one lives, BLAS calls of this process run on their caller's thread alone; the host's number
// of threads comes back when the last is gone. At most 32 live at once, others wait: OpenBLAS ends
// the process when its table of work buffers (at least 50) is full.
class BlasCall {
 public:
  BlasCall();
  ~BlasCall();
  BlasCall(const BlasCall&) = delete;
  BlasCall& operator=(const BlasCall&) = delete;
};

}  // namespace libdl::kernels::cpu
