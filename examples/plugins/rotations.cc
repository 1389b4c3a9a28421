// SPDX-License-Identifier: Apache-2.0

// A provider: it computes the CPU's products of contiguous float32 3 by 3 matrices, such as
// rotations in space, and leaves all others to libdl. docs/plugins.md explains the rules.
#include "device/backend.h"

#include <atomic>

#include "build_info.h"

using namespace libdl;
using namespace libdl::kernels;

namespace {

std::atomic<int64_t> done{0};

bool is_3x3(const View& x) {
  return x.dtype == LIBDL_DTYPE_FLOAT32 && x.sizes[1] == 3 && x.sizes[2] == 3 &&
         x.strides[1] == 3 && x.strides[2] == 1;
}

bool serves(const Context*, const void* arguments) {
  const auto& a = *static_cast<const MatmulArgs*>(arguments);
  return is_3x3(a.out) && is_3x3(a.a) && is_3x3(a.b) && !a.bias.data && a.alpha == 1 && a.beta == 0;
}

void multiply(Context* context, const void* arguments) {
  constexpr int64_t kMatrices = 512;  // per chunk, whatever the number of threads
  const auto& a = *static_cast<const MatmulArgs*>(arguments);
  const int64_t batch = a.out.sizes[0];
  done.fetch_add(1, std::memory_order_relaxed);
  context->parallel(
      (batch + kMatrices - 1) / kMatrices,
      [](void* arg, int64_t first, int64_t last) {
        const auto& a = *static_cast<const MatmulArgs*>(arg);
        const int64_t end = last * kMatrices < a.out.sizes[0] ? last * kMatrices : a.out.sizes[0];
        for (int64_t m = first * kMatrices; m < end; ++m) {
          const float* x = static_cast<const float*>(a.a.data) + m * a.a.strides[0];
          const float* y = static_cast<const float*>(a.b.data) + m * a.b.strides[0];
          float* out = static_cast<float*>(a.out.data) + m * a.out.strides[0];
          for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j)
              out[3 * i + j] = x[3 * i] * y[j] + x[3 * i + 1] * y[3 + j] + x[3 * i + 2] * y[6 + j];
        }
      },
      const_cast<MatmulArgs*>(&a));
}

struct Kernels {
  ProvidedKernel by_id[kKernels] = {};
  Kernels() { by_id[static_cast<int32_t>(KernelId::matmul)] = {serves, multiply}; }
};

}  // namespace

// How many launches it has served, for tests.
extern "C" __attribute__((visibility("default"))) int64_t rotations_done() { return done; }

extern "C" __attribute__((visibility("default"))) libdl_error* libdl_provider_open(
    const BackendHost*, const Provider** provider) {
  static const Kernels kernels;
  static const Provider table = {
      .struct_size = sizeof(Provider),
      .device_type = 1,  // the CPU
      .name = "rotations",
      .build_id = LIBDL_BUILD_ID,
      .kernel_count = kKernels,
      .kernels = kernels.by_id,
  };
  *provider = &table;
  return nullptr;
}
