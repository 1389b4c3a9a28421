// SPDX-License-Identifier: Apache-2.0

#include "base/contained.h"

#include <cstddef>
#include <cstdlib>

namespace libdl {

namespace {

struct Waiting {
  void (*destroy)(void*);
  void* ctx;
};

// Plain memory without a destructor: it is freed when nothing waits any more.
struct Turns {
  int depth = 0;
  size_t count = 0, capacity = 0;
  Waiting* list = nullptr;

  bool add(Waiting next) noexcept {
    if (count == capacity) {
      const size_t more = capacity ? 2 * capacity : 16;
      void* const grown = std::realloc(list, more * sizeof(Waiting));
      if (!grown) return false;
      list = static_cast<Waiting*>(grown);
      capacity = more;
    }
    list[count++] = next;
    return true;
  }
  void run(Waiting next) noexcept {
    ++depth;
    contained([&] { next.destroy(next.ctx); });
    --depth;
  }
  void run_waiting() noexcept {
    while (count) run(list[--count]);
    std::free(list);
    list = nullptr;
    capacity = 0;
  }
};
constinit thread_local Turns turns;

constexpr int kInsideOneAnother = 16;  // some 10 KiB of stack, beside what the host's code takes

}  // namespace

void run_destroy_in_turn(void (*destroy)(void*), void* ctx) noexcept {
  if (!destroy) return;
  Turns& mine = turns;
  // Without memory to wait in, it runs at once.
  if (mine.depth >= kInsideOneAnother && mine.add({destroy, ctx})) return;
  mine.run({destroy, ctx});
  if (mine.depth == 0 && mine.list) mine.run_waiting();
}

}  // namespace libdl
