// SPDX-License-Identifier: Apache-2.0

#include "device/provider.h"

#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/lock.h"
#include "device/cpu_providers.h"
#include "runtime/log.h"
#include "runtime/mechanism.h"

namespace libdl {
namespace device_detail {

constinit std::atomic<const ProviderLink*> provider_chains[kDeviceTypes][kKernels];

}  // namespace device_detail

namespace {

using device_detail::provider_chains;
using device_detail::ProviderLink;

// Providers are never removed: launches walk the chains without a lock.
struct Registered {
  Registered(const Provider* provider, bool enabled) : provider(provider), enabled(enabled) {}
  const Provider* provider;
  std::atomic<bool> enabled;
  Registered* next = nullptr;
  ProviderLink links[kKernels] = {};
};
constinit std::atomic<Registered*> registered{nullptr};

Registered* find(std::string_view name) {
  Registered* r = registered.load(std::memory_order_acquire);
  while (r && r->provider->name != name) r = r->next;
  return r;
}

void check_table(const Provider& p) {
  if (p.device_type > 0 && p.device_type < kDeviceTypes && p.name && *p.name && p.kernels &&
      p.kernel_count == kKernels && p.struct_size >= sizeof(Provider))
    return;
  fail_unnamed(LIBDL_ERROR_BACKEND, "provider " + std::string(p.name ? p.name : "(no name)") +
                                        ": its table has no name, device type or kernels that "
                                        "this build knows");
}

// Whether it is registered already. Throws Error(BACKEND) if another one has its name.
bool is_registered(const Provider& provider) {
  const Registered* const known = find(provider.name);
  if (known && known->provider != &provider)
    fail_unnamed(LIBDL_ERROR_BACKEND,
                 std::string("provider ") + provider.name + ": another one has this name");
  return known != nullptr;
}

}  // namespace

void check_provider(const Provider& provider) {
  check_table(provider);
  register_own_providers();
  is_registered(provider);
}

void register_provider(const Provider& provider) {
  check_table(provider);
  const bool enabled = !left_out_by_name(provider.name);
  auto fresh = std::make_unique<Registered>(&provider, enabled);
  {
    static Mutex mutex;
    const std::lock_guard lock(mutex);
    if (is_registered(provider)) return;
    Registered* const mine = fresh.release();
    for (int32_t k = 0; k < kKernels; ++k) {
      if (!provider.kernels[k].run) continue;
      auto& chain = provider_chains[provider.device_type][k];
      mine->links[k] = {&provider, chain.load(std::memory_order_relaxed), &mine->enabled};
      chain.store(&mine->links[k], std::memory_order_release);
    }
    mine->next = registered.load(std::memory_order_relaxed);
    registered.store(mine, std::memory_order_release);
  }
  note_providers();
  if (!enabled) log(LogLevel::kInfo, "%s: left out, as LIBDL_DISABLE says", provider.name);
}

void register_own_providers() {
  static const bool once = (register_provider(winograd_provider()), true);
  static_cast<void>(once);
}

bool set_provider_enabled(const char* name, bool enabled) {
  register_own_providers();
  Registered* const provider = find(name);
  if (provider) provider->enabled.store(enabled, std::memory_order_relaxed);
  return provider != nullptr;
}

bool has_provider(std::string_view name) {
  register_own_providers();
  return find(name) != nullptr;
}

Kernel provided_kernel(const kernels::Context& context, KernelId id, const void* args) {
  const auto& chain = provider_chains[context.host->device_type][static_cast<int32_t>(id)];
  for (const ProviderLink* link = chain.load(std::memory_order_acquire); link; link = link->next) {
    const ProvidedKernel& kernel = link->provider->kernels[static_cast<int32_t>(id)];
    if (link->enabled->load(std::memory_order_relaxed) &&
        (!kernel.serves || kernel.serves(&context, args)))
      return kernel.run;
  }
  return nullptr;
}

}  // namespace libdl
