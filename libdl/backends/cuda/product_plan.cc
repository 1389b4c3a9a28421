// SPDX-License-Identifier: Apache-2.0

#include "backends/cuda/product_plan.h"

#include <atomic>
#include <map>
#include <mutex>

namespace libdl::cuda {

namespace {

constexpr size_t kMostPlans = 4096;                  // of a thread, and choices of all
constexpr size_t kMostWorkspace = size_t{32} << 20;  // what NVIDIA recommends on Hopper

bool layout(const Problem& p, const Columns& c, cublasLtMatrixLayout_t* result) {
  const CublasLt& lt = *cublaslt();
  if (lt.cublasLtMatrixLayoutCreate(result, p.types.element, static_cast<uint64_t>(c.rows),
                                    static_cast<uint64_t>(c.cols), c.step))
    return false;
  if (p.batch == 1) return true;
  const auto count = static_cast<int32_t>(p.batch);
  return !lt.cublasLtMatrixLayoutSetAttribute(*result, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                              sizeof count) &&
         !lt.cublasLtMatrixLayoutSetAttribute(*result, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
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

Choice choose(const Problem& p, cublasLtHandle_t handle, const Plan& plan) {
  const CublasLt& lt = *cublaslt();
  cublasLtMatmulPreference_t preference = nullptr;
  if (lt.cublasLtMatmulPreferenceCreate(&preference)) return {};
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t which, const auto& value) {
    return !lt.cublasLtMatmulPreferenceSetAttribute(preference, which, &value, sizeof value);
  };
  const auto unit = [](const void* data) {
    return static_cast<uint32_t>(Problem::alignment(data));
  };
  // Parts of a sum are never rounded to 16 bits.
  const uint32_t schemes = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  cublasLtMatmulHeuristicResult_t result{};
  int count = 0;
  const bool chosen =
      set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kMostWorkspace) &&
      set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, schemes) &&
      set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, unit(p.a_data)) &&
      set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, unit(p.b_data)) &&
      set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, unit(p.out_data)) &&
      set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, unit(p.out_data)) &&
      !lt.cublasLtMatmulAlgoGetHeuristic(handle, plan.desc, plan.a, plan.b, plan.out, plan.out,
                                         preference, 1, &result, &count) &&
      count == 1 && result.state == CUBLAS_STATUS_SUCCESS;
  lt.cublasLtMatmulPreferenceDestroy(preference);
  return {chosen, result.algo, result.workspaceSize};
}

struct Shared {
  std::mutex mutex;
  std::map<Key, Choice> choices;
};
Shared& shared() {
  static auto* const one = new Shared;
  return *one;
}

// The heuristics run without the lock: two threads may ask for the same, and get the same.
Choice choice_for(const Key& key, const Problem& p, cublasLtHandle_t handle, const Plan& plan) {
  Shared& s = shared();
  {
    const std::lock_guard lock(s.mutex);
    const auto known = s.choices.find(key);
    if (known != s.choices.end()) return known->second;
  }
  const Choice choice = choose(p, handle, plan);
  const std::lock_guard lock(s.mutex);
  if (s.choices.size() >= kMostPlans) s.choices.clear();
  s.choices.emplace(key, choice);
  return choice;
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

cublasLtHandle_t handle_of(int32_t device) {
  struct Handle {
    std::atomic<cublasLtHandle_t> handle{nullptr};
    std::atomic<bool> refused{false};
    std::mutex making;
  };
  static auto* const handles = new Handle[kMostDevices];
  Handle& h = handles[device];
  if (cublasLtHandle_t const created = h.handle.load(std::memory_order_acquire)) return created;
  if (h.refused.load(std::memory_order_relaxed)) return nullptr;
  const std::lock_guard lock(h.making);
  cublasLtHandle_t fresh = h.handle.load(std::memory_order_relaxed);
  if (fresh || h.refused) return fresh;
  if (cublaslt()->cublasLtCreate(&fresh) != CUBLAS_STATUS_SUCCESS) {
    h.refused = true;
    return nullptr;
  }
  h.handle.store(fresh, std::memory_order_release);
  return fresh;
}

const Plan* plan_for(const Problem& p) {
  cublasLtHandle_t const handle = handle_of(p.device);
  if (!handle) return nullptr;
  thread_local std::map<Key, Plan> plans;
  const Key key = p.key();
  auto entry = plans.find(key);
  if (entry == plans.end()) {
    if (plans.size() >= kMostPlans) plans.clear();
    entry = plans.try_emplace(key).first;
    Plan& plan = entry->second;
    if (describe(p, plan)) plan.choice = choice_for(key, p, handle, plan);
  }
  return entry->second.choice.serves ? &entry->second : nullptr;
}

}  // namespace libdl::cuda
