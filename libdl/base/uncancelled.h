// SPDX-License-Identifier: Apache-2.0

// pthread_cancel unwinds a thread out of any function that may wait, as write and fsync do. That
// would end the process where it meets a function of C, and leave half a file or a lock behind.
#pragma once

#include <pthread.h>

namespace libdl {

// While it lives, a cancellation of the calling thread waits.
class Uncancelled {
 public:
  Uncancelled() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  Uncancelled(const Uncancelled&) = delete;
  Uncancelled& operator=(const Uncancelled&) = delete;
  ~Uncancelled() { pthread_setcancelstate(before_, nullptr); }

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace libdl
