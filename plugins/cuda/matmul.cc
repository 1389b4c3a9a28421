// SPDX-License-Identifier: Apache-2.0

// Products by cuBLASLt. It thinks in columns: a result by rows is the transposed one by columns, so
// operands change places, and a bias added to every row runs along what it calls rows. float32 is
// computed as such, never as TF32. What its heuristics chose is kept by the geometry.

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <climits>
#include <map>
#include <mutex>
#include <optional>

#include "kernels/cuda/library.h"
#include "kernels/cuda/plan.h"
#include "plugins/cuda/driver.h"
#include "plugins/cuda/host.h"
#include "plugins/cuda/libraries.h"

namespace libdl::cuda {

namespace {

using kernels::Context;
using kernels::MatmulArgs;
using kernels::View;

std::atomic<int64_t> taken, left;

struct Types {
  cudaDataType_t element, scale;
  cublasComputeType_t compute;
};
bool types_of(int32_t dtype, Types* types) {
  switch (dtype) {
    case LIBDL_DTYPE_FLOAT32:
      *types = {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
      return true;
    case LIBDL_DTYPE_FLOAT16:
      *types = {CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
      return true;
    case LIBDL_DTYPE_BFLOAT16:
      *types = {CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F};
      return true;
    case LIBDL_DTYPE_FLOAT64:
      *types = {CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F};
      return true;
    case LIBDL_DTYPE_COMPLEX64:
      *types = {CUDA_C_32F, CUDA_C_32F, CUBLAS_COMPUTE_32F};
      return true;
    case LIBDL_DTYPE_COMPLEX128:
      *types = {CUDA_C_64F, CUDA_C_64F, CUBLAS_COMPUTE_64F};
      return true;
  }
  return false;
}

// A matrix by columns: `rows` of them neighbours, columns `step` apart.
struct Columns {
  int64_t rows = 0, cols = 0, step = 0, batch_step = 0;
  bool transposed = false;
};

// The transposed of a view's matrix, or that one itself as what is to be transposed; false if its
// elements are neighbours neither way.
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

// What the choice depends on, as numbers.
using Key = std::array<int64_t, 20>;

struct Problem {
  int32_t device;
  Types types;
  int64_t batch, m, n, k;
  Columns a, b, out;  // as cuBLASLt calls them: its a is our b
  int bias;
  const void *a_data, *b_data, *bias_data;
  void* out_data;

  static int64_t alignment(const void* data) {
    const auto bits = reinterpret_cast<uintptr_t>(data) | 256;
    return int64_t{1} << std::countr_zero(bits);
  }
  Key key() const {
    return {device,
            types.element,
            batch,
            m,
            n,
            k,
            a.step,
            a.batch_step,
            a.transposed,
            b.step,
            b.batch_step,
            b.transposed,
            out.step,
            out.batch_step,
            bias,
            alignment(a_data),
            alignment(b_data),
            alignment(out_data),
            alignment(bias_data),
            0};
  }
};

struct Plan {
  bool serves = false;
  cublasLtMatmulDesc_t desc = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, out = nullptr;
  cublasLtMatmulAlgo_t algo{};
  size_t workspace = 0;

  Plan() = default;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() {
    const CublasLt& lt = *cublaslt();
    if (desc) lt.cublasLtMatmulDescDestroy(desc);
    for (cublasLtMatrixLayout_t layout : {a, b, out})
      if (layout) lt.cublasLtMatrixLayoutDestroy(layout);
  }
};

constexpr size_t kMostPlans = 4096;
constexpr size_t kMostWorkspace = size_t{32} << 20;  // what NVIDIA recommends on Hopper

// Plans change (the bias's address) while they are used: one thread queues at a time.
struct Library {
  std::mutex mutex;
  cublasLtHandle_t handles[kMostDevices] = {};
  bool refused[kMostDevices] = {};
  std::map<Key, Plan> plans;
};
Library& library() {
  static Library* const one = new Library;
  return *one;
}

cublasLtHandle_t handle_of(Library& l, int32_t device) {
  if (!l.handles[device] && !l.refused[device])
    l.refused[device] = cublaslt()->cublasLtCreate(&l.handles[device]) != CUBLAS_STATUS_SUCCESS;
  return l.refused[device] ? nullptr : l.handles[device];
}

bool layout(const Problem& p, const Columns& c, cublasLtMatrixLayout_t* made) {
  const CublasLt& lt = *cublaslt();
  if (lt.cublasLtMatrixLayoutCreate(made, p.types.element, static_cast<uint64_t>(c.rows),
                                    static_cast<uint64_t>(c.cols), c.step))
    return false;
  if (p.batch == 1) return true;
  const auto count = static_cast<int32_t>(p.batch);
  return !lt.cublasLtMatrixLayoutSetAttribute(*made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                              sizeof count) &&
         !lt.cublasLtMatrixLayoutSetAttribute(*made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                              &c.batch_step, sizeof c.batch_step);
}

bool describe(const Problem& p, Plan& plan) {
  const CublasLt& lt = *cublaslt();
  if (lt.cublasLtMatmulDescCreate(&plan.desc, p.types.compute, p.types.scale)) return false;
  const auto set = [&](cublasLtMatmulDescAttributes_t which, const auto& value) {
    return !lt.cublasLtMatmulDescSetAttribute(plan.desc, which, &value, sizeof value);
  };
  const int32_t op_a = p.a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  const int32_t op_b = p.b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  if (!set(CUBLASLT_MATMUL_DESC_TRANSA, op_a) || !set(CUBLASLT_MATMUL_DESC_TRANSB, op_b))
    return false;
  if (p.bias) {
    const uint32_t epilogue = CUBLASLT_EPILOGUE_BIAS;
    if (!set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue) ||
        !set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, p.bias_data))
      return false;
  }
  return layout(p, p.a, &plan.a) && layout(p, p.b, &plan.b) && layout(p, p.out, &plan.out);
}

bool choose(const Problem& p, cublasLtHandle_t handle, Plan& plan) {
  const CublasLt& lt = *cublaslt();
  cublasLtMatmulPreference_t preference = nullptr;
  if (lt.cublasLtMatmulPreferenceCreate(&preference)) return false;
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t which, const auto& value) {
    return !lt.cublasLtMatmulPreferenceSetAttribute(preference, which, &value, sizeof value);
  };
  const auto unit = [](const void* data) {
    return static_cast<uint32_t>(Problem::alignment(data));
  };
  // Parts of a sum are never rounded to 16 bits.
  const uint32_t schemes = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  cublasLtMatmulHeuristicResult_t result{};
  int found = 0;
  const bool chosen =
      set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kMostWorkspace) &&
      set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, schemes) &&
      set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, unit(p.a_data)) &&
      set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, unit(p.b_data)) &&
      set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, unit(p.out_data)) &&
      set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, unit(p.out_data)) &&
      !lt.cublasLtMatmulAlgoGetHeuristic(handle, plan.desc, plan.a, plan.b, plan.out, plan.out,
                                         preference, 1, &result, &found) &&
      found == 1 && result.state == CUBLAS_STATUS_SUCCESS;
  lt.cublasLtMatmulPreferenceDestroy(preference);
  plan.algo = result.algo;
  plan.workspace = result.workspaceSize;
  return chosen;
}

// With the lock held; NULL if the library does not take such a product.
Plan* plan_for(Library& l, const Problem& p) {
  cublasLtHandle_t const handle = handle_of(l, p.device);
  if (!handle) return nullptr;
  if (l.plans.size() >= kMostPlans) l.plans.clear();
  const auto [at, is_new] = l.plans.try_emplace(p.key());
  Plan& plan = at->second;
  if (is_new) plan.serves = describe(p, plan) && choose(p, handle, plan);
  return plan.serves ? &plan : nullptr;
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
  Library& l = library();
  const std::lock_guard lock(l.mutex);
  Plan* const plan = plan_for(l, p);
  if (!plan) return false;
  const kernels::cuda::Scratch workspace(context, static_cast<int64_t>(plan->workspace));
  if (context.error) return true;  // it is the context's now
  const CublasLt& lt = *cublaslt();
  if (p.bias && lt.cublasLtMatmulDescSetAttribute(plan->desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                                  &p.bias_data, sizeof p.bias_data))
    return false;
  const Scale by(alpha, p.types.scale), keep(beta, p.types.scale);
  return lt.cublasLtMatmul(l.handles[p.device], plan->desc, by.bytes, p.a_data, plan->a, p.b_data,
                           plan->b, keep.bytes, p.out_data, plan->out, p.out_data, plan->out,
                           &plan->algo, workspace.data(), plan->workspace,
                           static_cast<CUstream>(context.stream)) == CUBLAS_STATUS_SUCCESS;
}

// An operand whose elements are neighbours one way or the other, copied where they were not. A
// matrix that serves the whole batch is copied once.
class Operand {
 public:
  Operand(Context& context, const View& v)
      : sizes_{v.strides[0] == 0 ? 1 : v.sizes[0], v.sizes[1], v.sizes[2]}, view_(v) {
    view_.sizes = sizes_;
    made_.emplace(context, view_, !columns_of(view_, true, &columns));
    view_ = made_->view();
    columns_of(view_, true, &columns);
    data = view_.data;
  }
  Columns columns;
  const void* data;

 private:
  int64_t sizes_[3];
  View view_;
  std::optional<kernels::cuda::WithoutGaps> made_;
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
  if (libdl_error* const error = enter(p.device)) {
    context.error = error;
    return true;
  }
  {
    Library& l = library();
    const std::lock_guard lock(l.mutex);
    if (!handle_of(l, p.device)) return false;
  }
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
  if (args.beta != 0) return false;
  {
    Library& l = library();
    const std::lock_guard lock(l.mutex);
    if (!plan_for(l, p)) return false;
  }
  const int64_t steps[3] = {0, 0, args.bias.strides[0]};
  kernels::cuda::copy(context,
                      {args.out, {args.bias.data, args.out.sizes, steps, 3, args.bias.dtype}});
  return queue(context, p, args.alpha, 1);
}

}  // namespace

LibraryUse cublaslt_use() { return {taken.load(), left.load()}; }

}  // namespace libdl::cuda

namespace libdl::kernels::cuda {

bool library_matmul(Context& context, const MatmulArgs& args) {
  if (context.error) return false;
  const bool done = libdl::cuda::product(context, args);
  libdl::cuda::Types types;
  if (libdl::cuda::types_of(args.out.dtype, &types))
    ++(done ? libdl::cuda::taken : libdl::cuda::left);
  return done;
}

}  // namespace libdl::kernels::cuda
