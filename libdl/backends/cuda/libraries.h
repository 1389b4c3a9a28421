// SPDX-License-Identifier: Apache-2.0

// NVIDIA's libraries besides the driver, each opened when it is first needed; if one is missing,
// this plugin's own kernels do its work, and the host is warned once. A library is looked up by
// name alone (already loaded, or on the loader's path), then below LIBDL_CUDA_PATH, then in the
// PyPI wheels in the folders around this plugin. With a simulated driver only libraries that it
// provides are used.
#pragma once

#include <cublasLt.h>

#include <cstdint>

namespace libdl::cuda {

#define LIBDL_CUBLASLT_FUNCTIONS(FUNCTION)       \
  FUNCTION(cublasLtCreate)                       \
  FUNCTION(cublasLtMatmul)                       \
  FUNCTION(cublasLtMatmulDescCreate)             \
  FUNCTION(cublasLtMatmulDescDestroy)            \
  FUNCTION(cublasLtMatmulDescSetAttribute)       \
  FUNCTION(cublasLtMatrixLayoutCreate)           \
  FUNCTION(cublasLtMatrixLayoutDestroy)          \
  FUNCTION(cublasLtMatrixLayoutSetAttribute)     \
  FUNCTION(cublasLtMatmulPreferenceCreate)       \
  FUNCTION(cublasLtMatmulPreferenceDestroy)      \
  FUNCTION(cublasLtMatmulPreferenceSetAttribute) \
  FUNCTION(cublasLtMatmulAlgoGetHeuristic)

struct CublasLt {
#define FUNCTION(name) decltype(&::name) name;
  LIBDL_CUBLASLT_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

// NULL if there is none.
const CublasLt* cublaslt();

}  // namespace libdl::cuda
