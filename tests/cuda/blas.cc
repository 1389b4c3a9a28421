// SPDX-License-Identifier: Apache-2.0

// cuBLASLt as its documentation defines a product, element by element: matrices by columns, leading
// dimensions, strided batches, a bias along the rows. Only where LIBDL_SIMULATED_BLAS is set. Bias
// epilogues are refused for float64, so that the way without them is tried too.

#include <cublasLt.h>

#include <complex>
#include <cstdlib>
#include <cstring>

#include "kernels/half.h"
#include "simulation.h"
#include "work.h"

namespace {

struct Layout {
  cudaDataType type;
  uint64_t rows, cols;
  int64_t step;
  int32_t batch = 1;
  int64_t batch_step = 0;
};
struct Desc {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  int32_t ops[2] = {CUBLAS_OP_N, CUBLAS_OP_N};
  uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
};
int64_t products;

using Value = std::complex<double>;

Value read(const void* data, int64_t i, cudaDataType type) {
  using namespace libdl::kernels;
  switch (type) {
    case CUDA_R_16F: return float_from_float16(static_cast<const uint16_t*>(data)[i]);
    case CUDA_R_16BF: return float_from_bfloat16(static_cast<const uint16_t*>(data)[i]);
    case CUDA_R_32F: return static_cast<const float*>(data)[i];
    case CUDA_R_64F: return static_cast<const double*>(data)[i];
    case CUDA_C_32F: return static_cast<const std::complex<float>*>(data)[i];
    case CUDA_C_64F: return static_cast<const Value*>(data)[i];
    default: std::abort();
  }
}
void write(void* data, int64_t i, cudaDataType type, Value x) {
  using namespace libdl::kernels;
  const auto narrow = static_cast<float>(x.real());
  switch (type) {
    case CUDA_R_16F: static_cast<uint16_t*>(data)[i] = float16_from_float(narrow); break;
    case CUDA_R_16BF: static_cast<uint16_t*>(data)[i] = bfloat16_from_float(narrow); break;
    case CUDA_R_32F: static_cast<float*>(data)[i] = narrow; break;
    case CUDA_R_64F: static_cast<double*>(data)[i] = x.real(); break;
    case CUDA_C_32F: static_cast<std::complex<float>*>(data)[i] = std::complex<float>(x); break;
    case CUDA_C_64F: static_cast<Value*>(data)[i] = x; break;
    default: std::abort();
  }
}

bool fits(const Desc& d, const Layout& a, const Layout& b, const Layout& out) {
  const bool ta = d.ops[0] != CUBLAS_OP_N, tb = d.ops[1] != CUBLAS_OP_N;
  for (const Layout* l : {&a, &b, &out})
    if (l->step < static_cast<int64_t>(l->rows) || l->batch != out.batch || l->type != out.type)
      return false;
  return (ta ? a.cols : a.rows) == out.rows && (tb ? b.rows : b.cols) == out.cols &&
         (ta ? a.rows : a.cols) == (tb ? b.cols : b.rows);
}

struct Work {
  Desc desc;
  Layout a, b, out;
  const void *a_data, *b_data;
  void* out_data;
  Value alpha, beta;

  void run() const {
    const bool ta = desc.ops[0] != CUBLAS_OP_N, tb = desc.ops[1] != CUBLAS_OP_N;
    const auto depth = static_cast<int64_t>(ta ? a.rows : a.cols);
    for (int64_t z = 0; z < out.batch; ++z) {
      for (int64_t c = 0; c < static_cast<int64_t>(out.cols); ++c) {
        for (int64_t r = 0; r < static_cast<int64_t>(out.rows); ++r) {
          Value sum = 0;
          for (int64_t k = 0; k < depth; ++k)
            sum += read(a_data, z * a.batch_step + (ta ? k + r * a.step : r + k * a.step), a.type) *
                   read(b_data, z * b.batch_step + (tb ? c + k * b.step : k + c * b.step), b.type);
          const int64_t at = z * out.batch_step + r + c * out.step;
          Value y = alpha * sum;
          if (beta != 0.0) y += beta * read(out_data, at, out.type);
          if (desc.epilogue == CUBLASLT_EPILOGUE_BIAS) y += read(desc.bias, r, out.type);
          write(out_data, at, out.type, y);
        }
      }
    }
  }
};

template <class T>
T& as(void* opaque) {
  return *static_cast<T*>(opaque);
}

}  // namespace

int64_t libdl_simulated_products() { return products; }

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  if (!std::getenv("LIBDL_SIMULATED_BLAS")) return CUBLAS_STATUS_NOT_INITIALIZED;
  *handle = reinterpret_cast<cublasLtHandle_t>(&products);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  *desc = reinterpret_cast<cublasLtMatmulDesc_t>(new Desc{compute, scale});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
  delete reinterpret_cast<Desc*>(desc);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t opaque,
                                              cublasLtMatmulDescAttributes_t which,
                                              const void* value, size_t bytes) {
  Desc& desc = as<Desc>(opaque);
  switch (which) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
    case CUBLASLT_MATMUL_DESC_TRANSB:
      if (bytes != 4) return CUBLAS_STATUS_INVALID_VALUE;
      std::memcpy(&desc.ops[which == CUBLASLT_MATMUL_DESC_TRANSB], value, bytes);
      return CUBLAS_STATUS_SUCCESS;
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      if (bytes != 4) return CUBLAS_STATUS_INVALID_VALUE;
      std::memcpy(&desc.epilogue, value, bytes);
      return CUBLAS_STATUS_SUCCESS;
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      if (bytes != sizeof desc.bias) return CUBLAS_STATUS_INVALID_VALUE;
      std::memcpy(&desc.bias, value, bytes);
      return CUBLAS_STATUS_SUCCESS;
    default: return CUBLAS_STATUS_INVALID_VALUE;
  }
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          uint64_t rows, uint64_t cols, int64_t step) {
  *layout = reinterpret_cast<cublasLtMatrixLayout_t>(new Layout{type, rows, cols, step});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete reinterpret_cast<Layout*>(layout);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t opaque,
                                                cublasLtMatrixLayoutAttribute_t which,
                                                const void* value, size_t bytes) {
  Layout& layout = as<Layout>(opaque);
  const bool counts = which == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT;
  if (!counts && which != CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (bytes != (counts ? sizeof layout.batch : sizeof layout.batch_step))
    return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(counts ? static_cast<void*>(&layout.batch) : &layout.batch_step, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  *preference = reinterpret_cast<cublasLtMatmulPreference_t>(&products);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                    cublasLtMatmulPreferenceAttributes_t which,
                                                    const void*, size_t bytes) {
  const bool whole = bytes == (which == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES ? 8u : 4u);
  return whole ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t desc,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t out,
                                              cublasLtMatmulPreference_t, int,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int* count) {
  const Desc& d = as<Desc>(desc);
  const Layout& result = as<Layout>(out);
  *count = 0;
  if (!fits(d, as<Layout>(a), as<Layout>(b), result)) return CUBLAS_STATUS_INVALID_VALUE;
  if (d.epilogue == CUBLASLT_EPILOGUE_BIAS && result.type == CUDA_R_64F)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  results[0] = {};
  results[0].workspaceSize = 4096;
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t desc, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                              cublasLtMatrixLayout_t b_layout, const void* beta, const void* before,
                              cublasLtMatrixLayout_t, void* out, cublasLtMatrixLayout_t layout,
                              const cublasLtMatmulAlgo_t*, void* workspace, size_t,
                              cudaStream_t stream) {
  if (before != out || !workspace) return CUBLAS_STATUS_INVALID_VALUE;
  const Desc& d = as<Desc>(desc);
  const Work work{d,   as<Layout>(a_layout),    as<Layout>(b_layout),  as<Layout>(layout), a, b,
                  out, read(alpha, 0, d.scale), read(beta, 0, d.scale)};
  if (!fits(d, work.a, work.b, work.out)) return CUBLAS_STATUS_INVALID_VALUE;
  ++products;
  run_later(reinterpret_cast<CUstream>(stream), [work] { work.run(); });
  return CUBLAS_STATUS_SUCCESS;
}
