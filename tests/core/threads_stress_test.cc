// SPDX-License-Identifier: Apache-2.0

// Many threads at once through the doors, in every way that the headers call allowed. Numbers are
// checked where they can be; the rest is for the thread sanitizer, which reports none of this.
#include <gtest/gtest.h>
#include <libdl/libdl.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/core/handle.h"
#include "tests/core/whole.h"

namespace {

// How often each test does what it does: ten million calls in all where races are looked for.
#if defined(__SANITIZE_THREAD__)
constexpr int64_t kLeast = 10'000'000;
const auto kMany = static_cast<int>(libdl::test::of_whole(160));
#elif defined(LIBDL_SANITIZE)
constexpr int64_t kLeast = 0;  // not where the figure is taken
constexpr int kMany = 1;
#else
constexpr int64_t kLeast = 0;
constexpr int kMany = 40;
#endif
constexpr int kThreads = 8;

T of(const std::vector<float>& values, std::vector<int64_t> shape) {
  T x;
  good(libdl_empty(shape.data(), static_cast<int32_t>(shape.size()), LIBDL_DTYPE_FLOAT32, nullptr,
                   x.out()));
  good(libdl_tensor_copy_in(x.get(), values.data(), static_cast<int64_t>(values.size() * 4)));
  return x;
}
// Small integers, so that sums of products are exact in any order.
T counting(std::vector<int64_t> shape, int seed) {
  int64_t count = 1;
  for (const int64_t n : shape) count *= n;
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>((i * 7 + static_cast<size_t>(seed)) % 5) - 2;
  return of(values, std::move(shape));
}
std::vector<float> values(const T& x) {
  std::vector<float> all(static_cast<size_t>(libdl_tensor_numel(x.get())));
  good(libdl_tensor_copy_out(x.get(), all.data(), static_cast<int64_t>(all.size() * 4)));
  return all;
}
T leaf(T x) {
  good(libdl_tensor_set_requires_grad(x.get(), 1));
  return x;
}
T mul(const T& a, const T& b) {
  T y;
  good(libdl_mul(a.get(), b.get(), y.out()));
  return y;
}
T add(const T& a, const T& b) {
  T y;
  good(libdl_add(a.get(), b.get(), nullptr, y.out()));
  return y;
}
T sum(const T& a) {
  T y;
  good(libdl_sum(a.get(), nullptr, 0, 0, LIBDL_DTYPE_NONE, y.out()));
  return y;
}
T matmul(const T& a, const T& b) {
  T y;
  good(libdl_matmul(a.get(), b.get(), y.out()));
  return y;
}
T turned(const T& a) {
  T y;
  good(libdl_transpose(a.get(), 0, 1, y.out()));
  return y;
}
void backward(const T& y, bool retain = false) {
  const libdl_tensor* const outputs[] = {y.get()};
  libdl_backward_options options = {};
  options.struct_size = sizeof options;
  options.retain_graph = retain;
  good(libdl_backward(outputs, 1, nullptr, 0, nullptr, 0, &options));
}

std::atomic<int64_t> calls{0};  // of threads that have ended

// A thread whose calls are counted.
std::thread counted(std::function<void()> f) {
  return std::thread([f = std::move(f)] {
    f();
    calls += calls_made;
  });
}

// All begin together; f gets the thread's number.
void together(int threads, const std::function<void(int)>& f) {
  std::atomic<int> waiting{threads};
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.push_back(counted([&, t] {
      --waiting;
      while (waiting > 0) std::this_thread::yield();
      f(t);
    }));
  for (std::thread& thread : all) thread.join();
}

struct Live {
  int64_t tensors = 0, storages = 0, nodes = 0, bytes = 0;
  Live() { libdl_memory_get_live(&tensors, &storages, &nodes, &bytes); }
  bool operator==(const Live&) const = default;
};

class Threads : public ::testing::Test {
 protected:
  void SetUp() override { before_ = all_calls(); }
  void TearDown() override { std::printf("%lld calls\n", all_calls() - before_); }
  static void SetUpTestSuite() { start_ = all_calls(); }
  static void TearDownTestSuite() {
    const auto* const suite = ::testing::UnitTest::GetInstance()->current_test_suite();
    if (suite->test_to_run_count() != suite->total_test_count() || !kLeast) return;
    const long long made = all_calls() - start_;
    EXPECT_GE(made, libdl::test::of_whole(kLeast));
    libdl::test::figure("calls of " + std::to_string(kThreads) + " threads, thread sanitizer",
                        std::to_string(made) + " calls, " +
                            std::to_string(suite->failed_test_count()) + " findings");
  }

 private:
  static long long all_calls() { return calls + calls_made; }
  static inline long long start_ = 0;
  long long before_ = 0;
};

// -- reading --------------------------------------------------------------------------------------

TEST_F(Threads, SharedTensorsAreReadByAll) {
  const T x = counting({32, 48}, 1), y = counting({48}, 2), z = leaf(counting({48, 16}, 3));
  const T view = turned(x);
  const auto work = [&] {
    T all = sum(mul(add(x, y), add(x, y)));
    const T product = matmul(x, z);
    all = add(all, sum(mul(product, product)));
    return values(add(all, sum(matmul(turned(view), z))))[0];
  };
  const float wanted = work();
  const Live before;
  together(kThreads, [&](int) {
    for (int i = 0; i < 150 * kMany; ++i) {
      ASSERT_EQ(work(), wanted);
      ASSERT_EQ(libdl_tensor_shape(x.get())[1], 48);
      ASSERT_EQ(libdl_tensor_version(x.get()), 1u);  // copy_in
      ASSERT_TRUE(libdl_tensor_requires_grad(z.get()));
      const T same(libdl_tensor_retain(x.get()));
    }
  });
  EXPECT_EQ(Live(), before);
}

TEST_F(Threads, PackedFormsOfOneWeightAreMadeByWhoeverComesFirst) {
  for (int round = 0; round < 10 * kMany; ++round) {
    const T weight = counting({96, 80}, round);
    const T x = counting({40, 96}, 2), wide = counting({40, 80}, 3);
    const T back = turned(weight);
    const std::vector<float> first = values(matmul(x, weight));  // a note, not yet packed
    together(kThreads, [&](int t) {
      for (int i = 0; i < 6; ++i) {
        ASSERT_EQ(values(matmul(x, weight)), first);
        if (t % 2) values(matmul(wide, back));  // another geometry of the same bytes
      }
    });
  }
}

// -- differentiating ------------------------------------------------------------------------------

TEST_F(Threads, PassesAddIntoLeavesWhoseGradIsRead) {
  const int kPasses = 60 * kMany;
  const T w = leaf(counting({8, 8}, 1)), bias = leaf(of({0, 0, 0, 0, 0, 0, 0, 0}, {8}));
  const T x = of(std::vector<float>(64, 1), {8, 8});
  std::atomic<bool> done{false};
  std::thread reader = counted([&] {
    while (!done) {
      const T grad(libdl_tensor_grad(w.get()));
      if (grad.get()) {
        EXPECT_EQ(libdl_tensor_numel(grad.get()), 64);
      }
      std::this_thread::yield();
    }
  });
  together(kThreads, [&](int) {
    for (int i = 0; i < kPasses; ++i) backward(sum(add(matmul(x, w), bias)));
  });
  done = true;
  reader.join();
  // 8 rows of ones; below 2^24, so exact.
  EXPECT_EQ(values(T(libdl_tensor_grad(w.get()))),
            std::vector<float>(64, 8.f * kThreads * kPasses));
  EXPECT_EQ(values(T(libdl_tensor_grad(bias.get()))),
            std::vector<float>(8, 8.f * kThreads * kPasses));
}

TEST_F(Threads, PassesShareATrunk) {
  const T x = leaf(of({1, 2, 3}, {3}));
  T trunk = x;
  for (int i = 0; i < 20; ++i) trunk = mul(trunk, mul(trunk, of({1, 0.5f, 1 / 3.f}, {3})));
  const int kPasses = 40 * kMany;
  const T one = of({1, 1, 1}, {3});
  together(kThreads, [&](int) {
    for (int i = 0; i < kPasses; ++i) backward(sum(mul(trunk, one)), true);
  });
  // trunk[0] stays 1, with the slope 2^20.
  EXPECT_EQ(values(T(libdl_tensor_grad(x.get())))[0], 0x1p20f * kThreads * kPasses);
}

// Passes over one graph that free it: each runs or is told that another was first.
TEST_F(Threads, PassesThatFreeOneTrunkRunOrAreTold) {
  for (int round = 0; round < 20 * kMany; ++round) {
    const T x = leaf(of({1, 1}, {2}));
    T trunk = x;
    for (int i = 0; i < 10; ++i) trunk = mul(trunk, trunk);
    std::atomic<int> ran{0}, told{0};
    const T y = sum(trunk);
    together(4, [&](int) {
      const libdl_tensor* const outputs[] = {y.get()};
      libdl_error* const error = libdl_backward(outputs, 1, nullptr, 0, nullptr, 0, nullptr);
      const libdl_error_code code = libdl_error_get_code(error);
      ran += code == LIBDL_OK;
      told += code == LIBDL_ERROR_STATE;
      libdl_error_release(error);
    });
    ASSERT_EQ(ran + told, 4);
    ASSERT_GE(ran, 1);
    const float slope = 1024.f * static_cast<float>(ran);  // d x^1024 at 1
    ASSERT_EQ(values(T(libdl_tensor_grad(x.get()))), (std::vector<float>{slope, slope}));
  }
}

struct Nested {
  const T* other;
  std::atomic<int>* runs;
};
libdl_error* nested_hook(void* ctx, libdl_tensor**, int64_t, libdl_tensor* const*, int64_t) {
  const Nested& nested = *static_cast<Nested*>(ctx);
  const libdl_bool before = libdl_set_grad_enabled(1);
  backward(sum(mul(*nested.other, *nested.other)));
  libdl_set_grad_enabled(before);
  ++*nested.runs;
  return nullptr;
}

TEST_F(Threads, HooksRunPassesOfTheirOwn) {
  const int kPasses = 40 * kMany;
  const T x = leaf(of({3}, {1})), other = leaf(of({1}, {1}));
  std::atomic<int> runs{0};
  Nested nested = {&other, &runs};
  libdl_hook* hook = nullptr;
  good(libdl_tensor_add_hook(x.get(), LIBDL_HOOK_TENSOR, nested_hook, &nested, nullptr, &hook));
  together(kThreads, [&](int) {
    for (int i = 0; i < kPasses; ++i) backward(sum(mul(x, x)));
  });
  libdl_hook_remove(hook);
  libdl_hook_release(hook);
  EXPECT_EQ(runs, kThreads * kPasses);
  EXPECT_EQ(values(T(libdl_tensor_grad(x.get())))[0], 6.f * kThreads * kPasses);
  EXPECT_EQ(values(T(libdl_tensor_grad(other.get())))[0], 2.f * kThreads * kPasses);
}

// A view whose base was written to renews its history when it is first read.
TEST_F(Threads, ReadersRenewAViewTogether) {
  for (int round = 0; round < 20 * kMany; ++round) {
    const T x = leaf(of({1, 2}, {2}));
    const T base = mul(x, of({1, 1}, {2}));
    T view;
    const int64_t shape[] = {2, 1};
    good(libdl_view(base.get(), shape, 2, view.out()));
    good(libdl_mul_into(base.get(), base.get(), base.get()));
    together(4, [&](int) { backward(sum(view), true); });
    ASSERT_EQ(values(T(libdl_tensor_grad(x.get()))), (std::vector<float>{8, 16}));
  }
}

// -- life -----------------------------------------------------------------------------------------

TEST_F(Threads, WhatOneMakesAnotherReleases) {
  const Live before;
  std::mutex mutex;
  std::deque<T> queue;
  const T x = leaf(counting({64}, 1));
  together(kThreads, [&](int t) {
    for (int i = 0; i < 500 * kMany; ++i) {
      T y = t % 2 ? mul(x, x) : counting({1 + i % 3000}, i);
      T taken;
      const std::lock_guard lock(mutex);
      if (queue.size() > 50) {
        taken = std::move(queue.front());
        queue.pop_front();
      }
      queue.push_back(std::move(y));
    }
  });
  queue.clear();
  const Live after;
  EXPECT_EQ(after.tensors, before.tensors + 1);
  EXPECT_EQ(after.nodes, before.nodes + 1);
  EXPECT_EQ(after.bytes, before.bytes + 256);
}

TEST_F(Threads, LeavesDieWhileTheirGraphsAreAsked) {
  for (int round = 0; round < 50 * kMany; ++round) {
    T x = leaf(of({1}, {1}));
    const T y = mul(x, x);
    libdl_node* const node = libdl_tensor_node(y.get(), nullptr);
    std::atomic<bool> gone{false};
    std::thread asker = counted([&] {
      while (!gone) {
        libdl_node* const end = libdl_node_input(node, 0, nullptr);
        const T found(libdl_node_leaf(end));
        if (found.get()) {
          EXPECT_EQ(libdl_tensor_numel(found.get()), 1);
        }
        libdl_node_release(end);
      }
    });
    x = T();
    gone = true;
    asker.join();
    libdl_node_release(node);
  }
}

TEST_F(Threads, ThreadsComeAndGo) {
  const Live before;
  const T x = leaf(counting({100}, 3));
  for (int round = 0; round < 12 * kMany; ++round)
    together(kThreads, [&](int) {
      const T y = sum(mul(x, x));
      const T big = counting({5000}, 1);
      backward(y);
    });
  EXPECT_EQ(values(T(libdl_tensor_grad(x.get())))[0], 2.f * 1 * kThreads * 12 * kMany);
  const Live after;
  EXPECT_EQ(after.nodes, before.nodes + 1);
}

// -- state ----------------------------------------------------------------------------------------

TEST_F(Threads, AStateMovesBetweenThreads) {
  libdl_state* state = nullptr;
  good(libdl_state_new(&state));
  libdl_bool recording = 1;
  libdl_dtype dtype = LIBDL_DTYPE_FLOAT32;
  for (int round = 0; round < 30 * kMany; ++round)
    counted([&] {  // one after the other: a state serves one thread at a time
      libdl_state *former = nullptr, *mine = nullptr;
      good(libdl_state_swap(state, &former));
      EXPECT_EQ(libdl_grad_enabled(), recording);
      EXPECT_EQ(libdl_default_dtype(), dtype);
      recording = !recording;
      dtype = round % 3 ? LIBDL_DTYPE_FLOAT64 : LIBDL_DTYPE_FLOAT32;
      libdl_set_grad_enabled(recording);
      good(libdl_set_default_dtype(dtype));
      good(libdl_state_swap(former, &mine));
      EXPECT_EQ(mine, state);
      EXPECT_EQ(libdl_default_dtype(), LIBDL_DTYPE_FLOAT32);  // the thread's own
    })
        .join();
  libdl_state_release(state);
}

TEST_F(Threads, StatesHandedOnByTwoThreadsKeepTheirSettings) {
  constexpr int kStates = 4;
  const int kTurns = 200 * kMany;
  struct Task {
    libdl_state* state = nullptr;
    int turns = 0;
  };
  std::deque<Task> ready(kStates);
  for (Task& task : ready) good(libdl_state_new(&task.state));
  std::mutex mutex;
  together(kThreads, [&](int) {
    for (int i = 0; i < kTurns; ++i) {
      Task task;
      {
        const std::lock_guard lock(mutex);
        if (ready.empty()) continue;
        task = ready.front();
        ready.pop_front();
      }
      libdl_state *former = nullptr, *mine = nullptr;
      good(libdl_state_swap(task.state, &former));
      const libdl_dtype wanted = task.turns % 2 ? LIBDL_DTYPE_FLOAT64 : LIBDL_DTYPE_FLOAT32;
      ASSERT_EQ(libdl_default_dtype(), wanted);
      good(libdl_set_default_dtype(task.turns % 2 ? LIBDL_DTYPE_FLOAT32 : LIBDL_DTYPE_FLOAT64));
      ++task.turns;
      const T x = leaf(of({2}, {1}));
      backward(sum(mul(x, x)));
      good(libdl_state_swap(former, &mine));
      const std::lock_guard lock(mutex);
      ready.push_back(task);
    }
  });
  for (Task& task : ready) libdl_state_release(task.state);
}

// -- the process's settings -----------------------------------------------------------------------

TEST_F(Threads, SettingsChangeWhileOthersWork) {
  const T x = counting({200000}, 1);
  const float wanted = values(sum(x))[0];
  const int32_t threads = libdl_get_threads();
  std::atomic<bool> done{false};
  std::thread changer = counted([&] {
    for (int32_t i = 0; !done; ++i) {
      good(libdl_set_threads(1 + i % 4));
      libdl_memory_statistics statistics = {};
      statistics.struct_size = sizeof statistics;
      good(libdl_memory_get_statistics(nullptr, &statistics));
      int64_t freed = 0;
      good(libdl_memory_trim(nullptr, &freed));
      good(libdl_set_warning_handler([](void*, libdl_warning_code, const char*) {}, nullptr,
                                     nullptr));
      good(libdl_memory_set_pressure([](void*, int64_t) {}, nullptr, nullptr));
      good(libdl_set_interruption([](void*) { return int32_t{0}; }, nullptr, nullptr));
      Live();
    }
  });
  together(4, [&](int) {
    libdl_set_check_copies(1);
    for (int i = 0; i < 30 * kMany; ++i) ASSERT_EQ(values(sum(mul(x, of({1}, {1}))))[0], wanted);
    const T weight = counting({96, 80}, 1), left = counting({40, 96}, 2);
    for (int i = 0; i < 4; ++i) matmul(left, weight);  // warns
  });
  done = true;
  changer.join();
  good(libdl_set_threads(threads));
  good(libdl_set_warning_handler(nullptr, nullptr, nullptr));
  good(libdl_memory_set_pressure(nullptr, nullptr, nullptr));
  good(libdl_set_interruption(nullptr, nullptr, nullptr));
}

TEST_F(Threads, OneGeneratorServesAllAndHandsOutEachBlockOnce) {
  libdl_generator* generator = nullptr;
  good(libdl_generator_new(7, &generator));
  const int kDraws = 50 * kMany;
  std::mutex mutex;
  std::vector<float> seen;
  together(kThreads, [&](int) {
    const int64_t shape[] = {4};
    for (int i = 0; i < kDraws; ++i) {
      T x;
      good(libdl_rand(shape, 1, generator, LIBDL_DTYPE_FLOAT32, nullptr, x.out()));
      const std::vector<float> drawn = values(x);
      const std::lock_guard lock(mutex);
      seen.insert(seen.end(), drawn.begin(), drawn.end());
    }
  });
  libdl_generator_release(generator);
  // Drawn one after the other, the same numbers in another order.
  good(libdl_generator_new(7, &generator));
  std::vector<float> wanted;
  const int64_t shape[] = {4};
  for (int i = 0; i < kThreads * kDraws; ++i) {
    T x;
    good(libdl_rand(shape, 1, generator, LIBDL_DTYPE_FLOAT32, nullptr, x.out()));
    for (const float v : values(x)) wanted.push_back(v);
  }
  libdl_generator_release(generator);
  std::sort(seen.begin(), seen.end());
  std::sort(wanted.begin(), wanted.end());
  EXPECT_EQ(seen, wanted);
}

}  // namespace
