// SPDX-License-Identifier: Apache-2.0

#include "memory/account.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "memory/allocator.h"

namespace libdl {

static void refuse(int64_t requested, int64_t held, int64_t most) {
  fail_unnamed(LIBDL_ERROR_OUT_OF_MEMORY,
               "out of memory of this state: wanted " + readable_bytes(requested) + "; holds " +
                   readable_bytes(held) + ", limit " + readable_bytes(most));
}

int64_t Account::counted(size_t bytes) {
  return static_cast<int64_t>(std::clamp<size_t>(bytes, kLeast, INT64_MAX / 2));
}

void Account::check(size_t bytes) const {
  const int64_t held = taken(), most = limit(), requested = counted(bytes);
  if (held > most || requested > most - held) refuse(requested, held, most);
}

void Account::take(size_t bytes) {
  // Taken first: two threads that pass a check together could exceed the limit together.
  const int64_t most = limit(), requested = counted(bytes);
  const int64_t held = taken_.fetch_add(requested, std::memory_order_relaxed);
  if (held <= most && requested <= most - held) return;
  taken_.fetch_sub(requested, std::memory_order_relaxed);
  refuse(requested, held, most);
}

}  // namespace libdl
