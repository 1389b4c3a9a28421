// SPDX-License-Identifier: Apache-2.0

// NVIDIA's libraries beside the driver, each opened when it is first needed; without one, kernels
// of this plugin do its work. Looked for by name alone (what is loaded already, or on the loader's
// path), then below LIBDL_CUDA_PATH, then among the PyPI wheels in the folders around this plugin.
// A simulated driver brings its own, or there are none.
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
