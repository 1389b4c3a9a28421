// SPDX-License-Identifier: Apache-2.0

// A provider that another build of libdl would take.
#include "device/backend.h"

extern "C" __attribute__((visibility("default"))) libdl_error *libdl_provider_open(
    const libdl::BackendHost *, const libdl::Provider **provider) {
  static const libdl::ProvidedKernel kernels[libdl::kKernels] = {};
  static const libdl::Provider table = {sizeof(libdl::Provider), 1,      "other", "of another time",
                                        libdl::kKernels,         kernels};
  *provider = &table;
  return nullptr;
}
