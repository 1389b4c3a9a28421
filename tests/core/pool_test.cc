// SPDX-License-Identifier: Apache-2.0

#include "runtime/thread_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/core/in_child.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace libdl {
namespace {

using Body = std::function<void(int64_t first, int64_t last)>;

bool run(int64_t chunks, const Body& body) {
  return parallel(
      chunks,
      [](void* arg, int64_t first, int64_t last) { (*static_cast<const Body*>(arg))(first, last); },
      const_cast<Body*>(&body));
}

// How often each chunk was run.
std::vector<int> count_chunks(int64_t chunks) {
  std::vector<std::atomic<int>> runs(static_cast<size_t>(chunks));
  run(chunks, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) runs[static_cast<size_t>(i)].fetch_add(1);
  });
  return std::vector<int>(runs.begin(), runs.end());
}

// Allocates nothing: a fork while another thread is inside malloc is safe with the C library's, but
// not with the one of GCC 12's address sanitizer, whose lock the child would inherit.
bool counts_are_right() {
  std::array<int, 1000> counts{};
  parallel(
      1000,
      [](void* arg, int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) ++(*static_cast<std::array<int, 1000>*>(arg))[i];
      },
      &counts);
  return std::all_of(counts.begin(), counts.end(), [](int n) { return n == 1; });
}

class Pool : public testing::Test {
 protected:
  void TearDown() override {
    set_executor(nullptr);
    set_interruption(nullptr);
    set_threads(before_);
  }
  const int before_ = threads();
};

TEST_F(Pool, RunsEachChunkOnceWithAnyNumberOfThreads) {
  for (int number : {1, 2, 3, 8, 3, 1, 8}) {
    set_threads(number);
    EXPECT_EQ(threads(), number);
    for (int64_t chunks : {1, 2, 7, 64, 1000}) {
      EXPECT_EQ(count_chunks(chunks), std::vector<int>(static_cast<size_t>(chunks), 1)) << number;
    }
  }
}

TEST_F(Pool, NothingToDoIsDone) {
  EXPECT_TRUE(parallel(0, nullptr, nullptr));
  EXPECT_TRUE(parallel(-5, nullptr, nullptr));
}

TEST_F(Pool, HelpersTakePart) {
  set_threads(3);
  std::atomic<int> together{0}, most{0};
  run(3, [&](int64_t first, int64_t last) {
    const int now =
        together.fetch_add(static_cast<int>(last - first)) + static_cast<int>(last - first);
    int seen = most.load();
    while (now > seen && !most.compare_exchange_weak(seen, now)) {
    }
    // Waits for the others, who must come: nobody else has work.
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (most.load() < 3 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  });
  EXPECT_EQ(most.load(), 3);
}

TEST_F(Pool, TheCallerFinishesAloneWhatNobodyTakes) {
  set_threads(2);
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> helper_stuck{false}, release{false};
  std::atomic<int> by_caller{0};
  run(100, [&](int64_t first, int64_t last) {
    if (std::this_thread::get_id() == caller) {
      by_caller += static_cast<int>(last - first);
      if (by_caller > 60) release = true;
    } else if (!helper_stuck.exchange(true)) {
      while (!release) std::this_thread::yield();
    }
  });
  EXPECT_GT(by_caller.load(), 60);
}

TEST_F(Pool, NestedCallsRunOnTheirOwnThread) {
  set_threads(4);
  std::atomic<int> wrong{0}, inner{0};
  run(16, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const std::thread::id self = std::this_thread::get_id();
      run(10, [&](int64_t a, int64_t b) {
        inner += static_cast<int>(b - a);
        if (std::this_thread::get_id() != self) ++wrong;
      });
    }
  });
  EXPECT_EQ(inner.load(), 160);
  EXPECT_EQ(wrong.load(), 0);
}

TEST_F(Pool, ManyCallersAtOnce) {
  set_threads(3);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 8; ++t) {
    callers.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        if (count_chunks(17) != std::vector<int>(17, 1)) ++wrong;
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST_F(Pool, MoreCallersThanJobsStillFinish) {
  set_threads(2);
  std::atomic<int> wrong{0}, ready{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 80; ++t) {
    callers.emplace_back([&] {
      ++ready;
      while (ready < 80) std::this_thread::yield();
      if (count_chunks(50) != std::vector<int>(50, 1)) ++wrong;
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST_F(Pool, TheNumberOfThreadsMayChangeWhileWorking) {
  std::atomic<bool> stop{false};
  std::thread changer([&] {
    for (int i = 0; !stop; ++i) set_threads(1 + i % 8);
  });
  for (int i = 0; i < 500; ++i) EXPECT_EQ(count_chunks(20), std::vector<int>(20, 1));
  stop = true;
  changer.join();
}

TEST_F(Pool, SumsAreBitEqualForEveryNumberOfThreads) {
  std::vector<double> partial(257);
  const auto sum = [&] {
    run(257, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        double s = 0;
        for (int k = 1; k < 300; ++k) s += 1.0 / (static_cast<double>(i) * 300 + k);
        partial[static_cast<size_t>(i)] = s;
      }
    });
    double total = 0;
    for (double p : partial) total += p;
    return total;
  };
  set_threads(1);
  const double serial = sum();
  for (int number : {2, 3, 8}) {
    set_threads(number);
    EXPECT_EQ(sum(), serial);
  }
}

TEST_F(Pool, InterruptionEndsTheJobEarly) {
  for (int number : {1, 3}) {
    set_threads(number);
    struct Counter {
      int asked = 0;
      std::atomic<int> destroyed{0};
    } counter;
    const Interruption hook = {
        .ctx = &counter,
        .ask = [](void* ctx) -> int32_t { return ++static_cast<Counter*>(ctx)->asked >= 3; },
        .destroy = [](void* ctx) { ++static_cast<Counter*>(ctx)->destroyed; }};
    set_interruption(&hook);
    std::atomic<int64_t> done{0};
    const auto slow = [&](int64_t first, int64_t last) {
      done += last - first;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    EXPECT_FALSE(run(10000, slow));
    EXPECT_LT(done.load(), 10000);
    EXPECT_EQ(counter.asked, 3);
    EXPECT_EQ(counter.destroyed.load(), 0);
    set_interruption(nullptr);
    EXPECT_EQ(counter.destroyed.load(), 1);
    EXPECT_TRUE(counts_are_right());
  }
}

TEST_F(Pool, AHookThatSaysNoIsAskedOnTheCallersThreadOnly) {
  set_threads(3);
  struct Asked {
    std::thread::id caller;
    int elsewhere = 0, times = 0, nested = 0;
  } asked{std::this_thread::get_id()};
  const Interruption hook = {.ctx = &asked,
                             .ask = [](void* ctx) -> int32_t {
                               Asked& a = *static_cast<Asked*>(ctx);
                               ++a.times;
                               if (std::this_thread::get_id() != a.caller) ++a.elsewhere;
                               if (count_chunks(3) == std::vector<int>(3, 1))
                                 ++a.nested;  // it may compute itself
                               return 0;
                             },
                             .destroy = nullptr};
  set_interruption(&hook);
  // On a busy machine helpers may finish before the caller comes to ask.
  for (int i = 0; i < 1000 && asked.times == 0; ++i) EXPECT_TRUE(counts_are_right());
  EXPECT_FALSE(interrupted());
  EXPECT_GT(asked.times, 1);
  EXPECT_EQ(asked.nested, asked.times);
  EXPECT_EQ(asked.elsewhere, 0);
}

TEST_F(Pool, ASerialExecutorLeavesTheWorkToTheCaller) {
  int tasks = 0;
  const Executor serial = {.ctx = &tasks,
                           .run =
                               [](void* ctx, void (*task)(void*), void* arg) {
                                 ++*static_cast<int*>(ctx);
                                 task(arg);
                               },
                           .concurrency = 4,
                           .destroy = nullptr};
  set_executor(&serial);
  EXPECT_EQ(threads(), 4);
  EXPECT_TRUE(counts_are_right());
  EXPECT_EQ(tasks, 3);
}

// A host's pool: tasks wait in a queue for two threads.
struct HostPool {
  std::mutex mutex;
  std::deque<std::pair<void (*)(void*), void*>> queue;
  bool stop = false;
  std::atomic<int> ran{0}, destroyed{0};
  std::vector<std::thread> threads;

  explicit HostPool(int count) {
    for (int i = 0; i < count; ++i) threads.emplace_back([this] { loop(); });
  }
  ~HostPool() {
    {
      std::lock_guard lock(mutex);
      stop = true;
    }
    for (auto& thread : threads) thread.join();
  }
  void loop() {
    while (true) {
      std::pair<void (*)(void*), void*> task = {};
      {
        std::lock_guard lock(mutex);
        if (queue.empty() && stop) return;
        if (!queue.empty()) {
          task = queue.front();
          queue.pop_front();
        }
      }
      if (task.first) {
        task.first(task.second);
        ++ran;
      } else {
        std::this_thread::yield();
      }
    }
  }
  Executor executor(int concurrency) {
    return {.ctx = this,
            .run =
                [](void* ctx, void (*task)(void*), void* arg) {
                  HostPool& pool = *static_cast<HostPool*>(ctx);
                  std::lock_guard lock(pool.mutex);
                  pool.queue.push_back({task, arg});
                },
            .concurrency = concurrency,
            .destroy = [](void* ctx) { ++static_cast<HostPool*>(ctx)->destroyed; }};
  }
};

TEST_F(Pool, AHostsThreadsDoTheWork) {
  HostPool host(2);
  const Executor executor = host.executor(3);
  set_executor(&executor);
  for (int i = 0; i < 300; ++i) EXPECT_TRUE(counts_are_right());
  set_executor(nullptr);
  EXPECT_EQ(host.destroyed.load(), 1);
  EXPECT_EQ(threads(), before_);
}

TEST_F(Pool, TasksThatComeLateFindNothingToDo) {
  auto host = std::make_unique<HostPool>(0);
  const Executor executor = host->executor(4);
  set_executor(&executor);
  EXPECT_TRUE(counts_are_right());  // nobody runs the tasks
  set_executor(nullptr);
  EXPECT_EQ(host->queue.size(), 3u);
  for (auto [task, arg] : host->queue) task(arg);
  host->queue.clear();
}

#if defined(__x86_64__)
TEST_F(Pool, BodiesSeeTheDefaultFloatingPointEnvironment) {
  for (int number : {1, 4}) {
    set_threads(number);
    const unsigned before = _mm_getcsr();
    const unsigned odd = (before & ~0x3Fu) | 0x8040 | 0x6000;  // flush to zero, round to zero
    _mm_setcsr(odd);
    std::atomic<int> wrong{0};
    run(64, [&](int64_t, int64_t) {
      if ((_mm_getcsr() & ~0x3Fu) != 0x1F80) ++wrong;
    });
    const unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    EXPECT_EQ(wrong.load(), 0);
    EXPECT_EQ(after, odd);
  }
}
#endif

TEST_F(Pool, AForkedChildHasAPoolOfItsOwn) {
  set_threads(4);
  EXPECT_EQ(in_child([] { return counts_are_right() ? 0 : 1; }), 0);
  EXPECT_TRUE(counts_are_right());
  // Workers asleep, and workers still spinning.
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(in_child([] { return counts_are_right() ? 0 : 1; }), 0);
  EXPECT_TRUE(counts_are_right());
  EXPECT_EQ(in_child([] { return counts_are_right() ? 0 : 1; }), 0);
  // A grandchild.
  EXPECT_EQ(in_child([] {
              return counts_are_right() && in_child([] { return counts_are_right() ? 0 : 1; }) == 0
                         ? 0
                         : 1;
            }),
            0);
}

TEST_F(Pool, AForkWhileOthersComputeHarmsNobody) {
  set_threads(3);
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 2; ++t) {
    callers.emplace_back([&] {
      while (!stop) {
        if (!counts_are_right()) ++wrong;
      }
    });
  }
  for (int i = 0; i < 20; ++i) EXPECT_EQ(in_child([] { return counts_are_right() ? 0 : 1; }), 0);
  stop = true;
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST_F(Pool, AForkInsideAJobEndsInTheChildAndGoesOnInTheParent) {
  set_threads(2);
  struct Forked {
    pid_t child = -1;
    std::atomic<int> asked{0};
  } forked;
  const std::thread::id caller = std::this_thread::get_id();
  const Interruption hook = {.ctx = &forked,
                             .ask = [](void* ctx) -> int32_t {
                               Forked& f = *static_cast<Forked*>(ctx);
                               if (f.asked++ == 0) {
                                 f.child = fork();
                                 if (f.child == 0) alarm(20);
                               }
                               return 0;
                             },
                             .destroy = nullptr};
  set_interruption(&hook);
  std::vector<std::atomic<int>> runs(200);
  const bool finished = run(200, [&](int64_t first, int64_t last) {
    // The helper leaves work to the caller until that has been asked.
    while (std::this_thread::get_id() != caller && !forked.asked) std::this_thread::yield();
    for (int64_t i = first; i < last; ++i) ++runs[static_cast<size_t>(i)];
  });
  bool whole = true;
  for (const auto& times : runs) whole = whole && times == 1;
  if (forked.child == 0) {
    // What the helper had in its hands is lost here; then the job says so.
    _exit(whole || !finished ? (counts_are_right() ? 0 : 2) : 1);
  }
  EXPECT_TRUE(finished);
  EXPECT_TRUE(whole);
  int status = -1;
  waitpid(forked.child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace libdl
