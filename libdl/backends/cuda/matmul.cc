// SPDX-License-Identifier: Apache-2.0

// Products by cuBLASLt, which is column-major: a row-major result is the transposed column-major
// one, so the operands are swapped, and a bias added to every row runs along what it calls rows.
// float32 is computed in full precision, never as TF32.

#include <cstdint>
#include <cstring>
#include <optional>

#include "backends/cuda/driver.h"
#include "backends/cuda/product_plan.h"
#include "kernels/cuda/library.h"
#include "kernels/cuda/plan.h"

namespace libdl::cuda {

namespace {

using kernels::Context;
using kernels::MatmulArgs;
using kernels::View;

bool types_of(int32_t dtype, Types* types) {
  switch (dtype) {
    case LIBDL_DTYPE_FLOAT32: *types = {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F}; return true;
    case LIBDL_DTYPE_FLOAT16: *types = {CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F}; return true;
    case LIBDL_DTYPE_BFLOAT16: *types = {CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F}; return true;
    case LIBDL_DTYPE_FLOAT64: *types = {CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F}; return true;
    case LIBDL_DTYPE_COMPLEX64: *types = {CUDA_C_32F, CUDA_C_32F, CUBLAS_COMPUTE_32F}; return true;
    case LIBDL_DTYPE_COMPLEX128: *types = {CUDA_C_64F, CUDA_C_64F, CUBLAS_COMPUTE_64F}; return true;
  }
  return false;
}

// The transpose of a view's matrix, or the matrix itself marked as transposed; false if neither
// rows nor columns are contiguous.
bool columns_of(const View& v, bool may_transpose, Columns* out) {
  const int64_t r = v.sizes[1], c = v.sizes[2];
  *out = {c, r, v.strides[1], v.strides[0], false};
  bool fits = (c == 1 || v.strides[2] == 1) && (r == 1 || v.strides[1] >= c);
  if (!fits && may_transpose) {
    *out = {r, c, v.strides[2], v.strides[0], true};
    fits = (r == 1 || v.strides[1] == 1) && (c == 1 || v.strides[2] >= r);
  }
  if (out->cols == 1) out->step = out->rows;
  if (v.sizes[0] == 1) out->batch_step = 0;
  return fits && out->batch_step >= 0;
}

// alpha and beta in the type that the library scales by.
struct alignas(16) Scale {
  char bytes[16] = {};
  Scale(double value, cudaDataType_t type) {
    const auto narrow = static_cast<float>(value);
    const bool is_double = type == CUDA_R_64F || type == CUDA_C_64F;
    std::memcpy(bytes, is_double ? static_cast<const void*>(&value) : &narrow, is_double ? 8 : 4);
  }
};

bool queue(Context& context, const Problem& p, double alpha, double beta) {
  const Plan* plan = plan_for(p);
  if (!plan) return false;
  const size_t bytes = plan->choice.workspace;
  const kernels::Scratch workspace(context, static_cast<int64_t>(bytes));
  if (context.error) return true;  // it is the context's now
  // Where memory is short the allocator calls functions of the host, which may multiply as well.
  if (bytes && !(plan = plan_for(p))) return false;
  const CublasLt& lt = *cublaslt();
  if (p.bias && lt.cublasLtMatmulDescSetAttribute(plan->desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                                  &p.bias_data, sizeof p.bias_data))
    return false;
  const Scale by(alpha, p.types.scale), keep(beta, p.types.scale);
  const bool queued =
      lt.cublasLtMatmul(handle_of(p.device), plan->desc, by.bytes, p.a_data, plan->a, p.b_data,
                        plan->b, keep.bytes, p.out_data, plan->out, p.out_data, plan->out,
                        &plan->choice.algo, workspace.data(), bytes,
                        static_cast<CUstream>(context.stream)) == CUBLAS_STATUS_SUCCESS;
  if (queued) note_launch(p.device, "cublasLtMatmul");
  return queued;
}

// An operand with contiguous rows or columns, copied if it has neither. A matrix that is used for
// the whole batch is copied once.
class Operand {
 public:
  Operand(Context& context, const View& v)
      : sizes_{v.strides[0] == 0 ? 1 : v.sizes[0], v.sizes[1], v.sizes[2]}, view_(v) {
    view_.sizes = sizes_;
    contiguous_.emplace(context, view_, !columns_of(view_, true, &columns));
    view_ = contiguous_->view();
    columns_of(view_, true, &columns);
    data = view_.data;
  }
  Columns columns;
  const void* data;

 private:
  int64_t sizes_[3];
  View view_;
  std::optional<kernels::cuda::WithoutGaps> contiguous_;
};

bool product(Context& context, const MatmulArgs& args) {
  Problem p{};
  if (!types_of(args.out.dtype, &p.types) || !cublaslt()) return false;
  p.device = context.device;
  p.batch = args.out.sizes[0];
  p.m = args.out.sizes[1];
  p.n = args.out.sizes[2];
  p.k = args.a.sizes[2];
  if (p.k == 0 || p.batch > INT32_MAX || !columns_of(args.out, false, &p.out)) return false;
  const Entered in(p.device);
  if (in.error) {
    context.error = in.error;
    return true;
  }
  if (!handle_of(p.device)) return false;
  const Operand a(context, args.b), b(context, args.a);
  if (context.error) return true;
  p.a = a.columns;
  p.b = b.columns;
  p.a_data = a.data;
  p.b_data = b.data;
  p.out_data = args.out.data;
  if (!args.bias.data) return queue(context, p, args.alpha, args.beta);

  const bool is_real = p.types.element != CUDA_C_32F && p.types.element != CUDA_C_64F;
  if (is_real && (args.bias.strides[0] == 1 || p.n == 1)) {
    p.bias = 1;
    p.bias_data = args.bias.data;
    if (queue(context, p, args.alpha, args.beta)) return true;
    p.bias = 0;
    p.bias_data = nullptr;
  }
  // The bias first, to which the product is then added.
  if (args.beta != 0 || !plan_for(p)) return false;
  const int64_t steps[3] = {0, 0, args.bias.strides[0]};
  kernels::cuda::copy(context,
                      {args.out, {args.bias.data, args.out.sizes, steps, 3, args.bias.dtype}});
  return queue(context, p, args.alpha, 1);
}

}  // namespace

}  // namespace libdl::cuda

namespace libdl::kernels::cuda {

bool library_matmul(Context& context, const MatmulArgs& args) {
  return !context.error && libdl::cuda::product(context, args);
}

}  // namespace libdl::kernels::cuda
