// SPDX-License-Identifier: Apache-2.0

#include "device/cpu_providers.h"

#include "kernels/cpu/conv/winograd/winograd_convolution.h"

namespace libdl {

namespace {

bool serves_convolution(const kernels::Context*, const void* args) {
  return kernels::cpu::winograd_serves(*static_cast<const kernels::ConvolutionArgs*>(args));
}
void run_convolution(kernels::Context* context, const void* args) {
  kernels::cpu::winograd_convolution(*context, *static_cast<const kernels::ConvolutionArgs*>(args));
}

struct Winograd {
  ProvidedKernel kernels[kKernels] = {};
  Provider provider{sizeof(Provider), LIBDL_DEVICE_CPU, "winograd", "", kKernels, kernels};

  Winograd() {
    kernels[static_cast<int32_t>(KernelId::convolution)] = {serves_convolution, run_convolution};
  }
};

}  // namespace

const Provider& winograd_provider() {
  static const Winograd winograd;
  return winograd.provider;
}

}  // namespace libdl
