// SPDX-License-Identifier: Apache-2.0

// Libraries that run some launches of a device better than its own kernels do. Each kind of device
// and kernel has a chain of providers, the last registered first; after them comes the device's own
// table.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "device/backend.h"
#include "device/device_id.h"
#include "device/special.h"

namespace libdl {

// The provider must stay valid and have a unique name. One that LIBDL_DISABLE names is left out,
// with a notice; registering one again does nothing. Throws Error(BACKEND) for a table that is not
// a provider's.
void register_provider(const Provider& provider);
// Registers the core's own: once, later calls do nothing. Whoever launches a kernel that one of
// them may serve calls this first: so programs that launch no such kernel never look for providers.
void register_own_providers();
// Throws what register_provider would for a provider of others; the core's own come before it.
void check_provider(const Provider& provider);

// Sets whether the provider's kernels are used, from the next launch on. False if there is no such
// provider.
bool set_provider_enabled(const char* name, bool enabled);
bool has_provider(std::string_view name);

// Whether a provider that is used has this kernel.
bool is_provided(Device device, KernelId id);
// The kernel of the first provider that serves these arguments; NULL: use the device's own.
Kernel provided_kernel(const kernels::Context& context, KernelId id, const void* args);

namespace device_detail {
struct ProviderLink {
  const Provider* provider;
  const ProviderLink* next;
  const std::atomic<bool>* enabled;
};
extern constinit std::atomic<const ProviderLink*> provider_chains[kDeviceTypes][kKernels];
}  // namespace device_detail

// Whether any is registered, used or not: one look, for launches.
inline bool has_providers(Device device, KernelId id) {
  return device_detail::provider_chains[device.type][static_cast<int32_t>(id)].load(
             std::memory_order_acquire) != nullptr;
}

}  // namespace libdl
