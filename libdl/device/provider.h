// SPDX-License-Identifier: Apache-2.0

// Libraries that do some launches of a device better than its own kernels do: for each kind of
// device and kernel a chain of providers, the last registered first, and behind them the device's
// own table.
#pragma once

#include <atomic>
#include <cstdint>

#include "device/backend.h"
#include "device/device.h"

namespace libdl {

// The provider must live on, and have a name of its own. One that LIBDL_DISABLE names is left out,
// with a notice; registering one again does nothing. Throws Error(BACKEND) for a table that is no
// provider's.
void register_provider(const Provider& provider);

// Whether the provider's kernels are asked, from the next launch on. False if there is no such one.
bool set_provider_enabled(const char* name, bool enabled);

// Of the first provider that serves these arguments; NULL: the device's own kernel does.
Kernel provided_kernel(const kernels::Context& context, KernelId id, const void* args);

namespace device_detail {
struct ProviderLink {
  const Provider* provider;
  const ProviderLink* next;
  const std::atomic<bool>* enabled;
};
extern constinit std::atomic<const ProviderLink*> provider_chains[kDeviceTypes][kKernels];
}  // namespace device_detail

inline bool has_providers(Device device, KernelId id) {
  return device_detail::provider_chains[device.type][static_cast<int32_t>(id)].load(
             std::memory_order_acquire) != nullptr;
}

}  // namespace libdl
