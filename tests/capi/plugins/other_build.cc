// SPDX-License-Identifier: Apache-2.0

// A provider that another build of libdl would take: each time it is asked, something else is.
#include "device/backend.h"

extern "C" __attribute__((visibility("default"))) libdl_error *libdl_provider_open(
    const libdl::BackendHost *host, const libdl::Provider **provider) {
  static const libdl::ProvidedKernel kernels[libdl::kKernels] = {};
  static const libdl::Provider another = {
      sizeof(libdl::Provider), 1, "other", "of another time", libdl::kKernels, kernels};
  static const libdl::Provider small = {8, 1, "small", host->build_id, libdl::kKernels, kernels};
  static const libdl::Provider few = {sizeof(libdl::Provider), 1, "few",
                                      host->build_id,          1, kernels};
  static int asked = 0;
  const libdl::Provider *const all[] = {&another, &small, &few};
  if (asked == 3) return host->error(0, "");
  *provider = all[asked++];
  return nullptr;
}
