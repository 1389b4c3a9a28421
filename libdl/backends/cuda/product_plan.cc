// SPDX-License-Identifier: Apache-2.0

#include "backends/cuda/product_plan.h"

namespace libdl::cuda {

namespace {

constexpr size_t kMostPlans = 4096;
constexpr size_t kMostWorkspace = size_t{32} << 20;  // what NVIDIA recommends on Hopper

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

}  // namespace

Key Problem::key() const {
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

Plan::~Plan() {
  const CublasLt& lt = *cublaslt();
  if (desc) lt.cublasLtMatmulDescDestroy(desc);
  for (cublasLtMatrixLayout_t layout : {a, b, out})
    if (layout) lt.cublasLtMatrixLayoutDestroy(layout);
}

Library& library() {
  static Library* const one = new Library;
  return *one;
}

cublasLtHandle_t handle_of(Library& l, int32_t device) {
  if (!l.handles[device] && !l.refused[device])
    l.refused[device] = cublaslt()->cublasLtCreate(&l.handles[device]) != CUBLAS_STATUS_SUCCESS;
  return l.refused[device] ? nullptr : l.handles[device];
}

Plan* plan_for(Library& l, const Problem& p) {
  cublasLtHandle_t const handle = handle_of(l, p.device);
  if (!handle) return nullptr;
  if (l.plans.size() >= kMostPlans) l.plans.clear();
  const auto [at, is_new] = l.plans.try_emplace(p.key());
  Plan& plan = at->second;
  if (is_new) plan.serves = describe(p, plan) && choose(p, handle, plan);
  return plan.serves ? &plan : nullptr;
}

}  // namespace libdl::cuda
