// SPDX-License-Identifier: Apache-2.0

#include "base/handle.h"

#include <cstdlib>
#include <deque>
#include <string_view>

#include "base/lock.h"

namespace libdl {

namespace {
constexpr size_t kKept = 1 << 16;

struct Tombstones {
  Mutex mutex;
  std::deque<void*> kept;
};
// Never destroyed: handles may go after static destructors have run.
Tombstones& tombstones() {
  static Tombstones* const instance = new Tombstones;
  return *instance;
}
}  // namespace

bool environment_tracks_handles() {
  const char* const text = std::getenv("LIBDL_DEBUG_HANDLES");
  return text && std::string_view(text) == "1";
}

const bool handles_are_tracked = environment_tracks_handles();

void leave_tombstone(void* memory, Tag was) noexcept {
  new (memory) Tombstone{.was = was};
  void* oldest = nullptr;
  try {
    Tombstones& g = tombstones();
    const std::lock_guard lock(g.mutex);
    g.kept.push_back(memory);
    if (g.kept.size() > kKept) {
      oldest = g.kept.front();
      g.kept.pop_front();
    }
  } catch (...) {
    oldest = memory;
  }
  ::operator delete(oldest);
}

}  // namespace libdl
