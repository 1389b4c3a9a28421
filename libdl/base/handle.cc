// SPDX-License-Identifier: Apache-2.0

#include "base/handle.h"

#include <cstdlib>
#include <deque>
#include <string_view>

#include "base/lock.h"

namespace libdl {

namespace {
constexpr size_t kKept = 1 << 16;

struct Graves {
  Mutex mutex;
  std::deque<void*> kept;
};
// Never destroyed: handles may go after static destructors have run.
Graves& graves() {
  static Graves* const made = new Graves;
  return *made;
}
}  // namespace

bool environment_watches_handles() {
  const char* const text = std::getenv("LIBDL_DEBUG_HANDLES");
  return text && std::string_view(text) == "1";
}

const bool handles_are_watched = environment_watches_handles();

void bury(void* memory, Tag was) noexcept {
  new (memory) Grave{.was = was};
  void* oldest = nullptr;
  try {
    Graves& g = graves();
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
