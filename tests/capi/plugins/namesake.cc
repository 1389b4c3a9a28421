// SPDX-License-Identifier: Apache-2.0

// The abacus, with a provider that has the name of the library's own.
#include "examples/plugins/abacus.cc"

extern "C" __attribute__((visibility("default"))) libdl_error *libdl_provider_open(
    const BackendHost *, const Provider **provider) {
  static const ProvidedKernel none[kKernels] = {};
  static const Provider table = {.struct_size = sizeof(Provider),
                                 .device_type = LIBDL_DEVICE_CPU,
                                 .name = "winograd",
                                 .build_id = LIBDL_BUILD_ID,
                                 .kernel_count = kKernels,
                                 .kernels = none};
  *provider = &table;
  return nullptr;
}
