// SPDX-License-Identifier: Apache-2.0

// What has happened in this process that the common road of a launch need not ask for until then.
#pragma once

#include <atomic>
#include <cstdint>

namespace libdl {

namespace device_detail {
extern constinit std::atomic<uint8_t> special __attribute__((visibility("hidden")));
constexpr uint8_t kElsewhere = 1, kPackedOnly = 2, kProviders = 4;
inline uint8_t special_now() { return special.load(std::memory_order_relaxed); }
inline void note(uint8_t what) { special.fetch_or(what, std::memory_order_relaxed); }
}  // namespace device_detail

// Whether memory of any device other than the CPU was ever allocated or adopted: until then no
// operator needs to compare the devices of its operands.
inline bool memory_elsewhere() { return device_detail::special_now() & device_detail::kElsewhere; }
inline void note_memory_elsewhere() { device_detail::note(device_detail::kElsewhere); }

// Whether there was such memory, or a tensor whose bytes exist only as a packed form
// (tensor/forms.h): until then all operands of a launch have plain bytes on the CPU.
inline bool memory_is_special() {
  using namespace device_detail;
  return special_now() & (kElsewhere | kPackedOnly);
}
inline void note_packed_only() { device_detail::note(device_detail::kPackedOnly); }

// Whether there was memory elsewhere or a provider: until then the CPU's own kernels run every
// launch.
inline bool launches_are_special() {
  using namespace device_detail;
  return special_now() & (kElsewhere | kProviders);
}
inline void note_providers() { device_detail::note(device_detail::kProviders); }

}  // namespace libdl
