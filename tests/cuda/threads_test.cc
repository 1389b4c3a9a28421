// SPDX-License-Identifier: Apache-2.0

// Threads on the plugin: each works on a stream of its own and takes what others have made. Alone
// in a process they also meet in what is made at first use, and under the thread sanitizer every
// unguarded field of the plugin is told (cmake --preset tsan -DLIBDL_CUDA=ON).

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "device/device.h"
#include "device/stream.h"
#include "entries/arithmetic.h"
#include "entries/copy.h"
#include "entries/creation.h"
#include "entries/linalg.h"
#include "ops/copy/copy.h"
#include "ops/pointwise/arithmetic.h"

namespace libdl {
namespace {

constexpr Device kDevice{LIBDL_DEVICE_CUDA, 0};

Tensor filled(int64_t n, double value) {
  const int64_t shape[] = {n, n};
  return full(shape, number(value), Dtype::kFloat32, kDevice);
}
double first_of(const Tensor& x) { return item_f64(alias(x, {}, {}, 0, x.dtype())); }

// What a thread has made last, and when it will be there.
class Offer {
 public:
  void put(const Tensor& value, const Event& made) {
    const std::lock_guard lock(mutex_);
    value_ = value;
    made_ = made;
  }
  // On the caller's stream, once it is there; empty if nothing has been made yet.
  Tensor take(const Stream& own) {
    const std::lock_guard lock(mutex_);
    if (value_) wait(*own, **made_);
    return value_ ? mul(*value_, number(2.0)) : Tensor();
  }

 private:
  std::mutex mutex_;
  std::optional<Tensor> value_;
  std::optional<Event> made_;
};

TEST(CudaThreads, WorkOnStreamsOfTheirOwnAndShareResults) {
  constexpr int kThreads = 4, kRounds = 60;
  constexpr int64_t kSide = 20;
  Offer offers[kThreads];
  std::atomic<int> wrong{0}, taken{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const Stream own = make_stream(kDevice);
      set_current_stream(own);
      for (int round = 0; round < kRounds; ++round) {
        const Tensor x = filled(kSide, t + 1);
        const Tensor y = add(matmul(x, x), x);  // 20 (t + 1)^2 + t + 1, at least 21
        if (first_of(y) != kSide * (t + 1) * (t + 1) + t + 1) ++wrong;
        const Event made = make_event(kDevice, false);
        record(*made, *own);
        offers[t].put(y, made);
        const Tensor others = offers[(t + 1) % kThreads].take(own);
        if (!others.defined()) continue;
        const int o = (t + 1) % kThreads + 1;
        if (first_of(others) != 2 * (kSide * o * o + o)) ++wrong;
        ++taken;
      }
      set_current_stream(default_stream(kDevice));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(taken, kRounds);
  synchronize(kDevice);
}

}  // namespace
}  // namespace libdl
