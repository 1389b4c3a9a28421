// SPDX-License-Identifier: Apache-2.0

#include "base/thread_end.h"

#include <pthread.h>

namespace libdl {

namespace {

constinit thread_local ThreadEnd* first = nullptr;  // in the order of their turns

// C++ thread_local destructors of the host have run before, so they may still use the library.
void run_all(void*) {
  while (ThreadEnd* const end = first) {
    first = end->next;
    end->waiting = false;
    end->run();
  }
}

pthread_key_t key;
[[maybe_unused]] const bool have_key = pthread_key_create(&key, run_all) == 0;

}  // namespace

bool at_thread_end(ThreadEnd& end) noexcept {
  if (end.waiting) return true;
  if (!have_key || pthread_setspecific(key, &key) != 0) return false;
  ThreadEnd** at = &first;
  while (*at && (*at)->order < end.order) at = &(*at)->next;
  end.next = *at;
  *at = &end;
  return end.waiting = true;
}

}  // namespace libdl
