// SPDX-License-Identifier: Apache-2.0

// C++ hosts whose callbacks throw although they must not: an exception ends where it left the
// callback, or comes out as an error where the callback has one to return.
#include <gtest/gtest.h>
#include <libdl/libdl.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

void throws(void*) { throw std::runtime_error("from destroy"); }

libdl_tensor* made(int64_t size) {
  libdl_tensor* out = nullptr;
  EXPECT_EQ(libdl_ones(&size, 1, LIBDL_DTYPE_FLOAT32, nullptr, &out), nullptr);
  return out;
}

// The code and text of an error.
std::string told(libdl_error* error) {
  const std::string text =
      std::to_string(libdl_error_get_code(error)) + " " + libdl_error_get_message(error);
  libdl_error_release(error);
  return text;
}

TEST(Contained, LogHandler) {
  int calls = 0;
  ASSERT_EQ(libdl_set_log_handler(
                [](void* ctx, libdl_log_level, const char*, int64_t) {
                  ++*static_cast<int*>(ctx);
                  throw std::runtime_error("from the handler");
                },
                &calls, throws),
            nullptr);
  const int at_first = calls;
  EXPECT_GT(at_first, 0);
  libdl_tensor_release(reinterpret_cast<libdl_tensor*>(libdl_generator_default()));
  EXPECT_EQ(calls, at_first + 1);  // it is still told
  ASSERT_EQ(libdl_set_log_handler(nullptr, nullptr, nullptr), nullptr);
}

TEST(Contained, Payload) {
  int payload;
  libdl_error_release(libdl_error_new(LIBDL_ERROR_CALLBACK, "meant", -1, &payload, throws));
}

TEST(Contained, MemoryOfTheHost) {
  float memory[2] = {};
  const int64_t size = 2;
  libdl_tensor* x = nullptr;
  ASSERT_EQ(libdl_tensor_from_memory(memory, sizeof memory, &size, 1, nullptr, 0, 0,
                                     LIBDL_DTYPE_FLOAT32, 0, nullptr, throws, &x),
            nullptr);
  libdl_tensor_release(x);
  // The same where the call fails.
  EXPECT_EQ(told(libdl_tensor_from_memory(memory, 4, &size, 1, nullptr, 0, 0, LIBDL_DTYPE_FLOAT32,
                                          0, nullptr, throws, &x))
                .substr(0, 3),
            "100");
}

TEST(Contained, DestroyOfAHook) {
  libdl_tensor* const x = made(2);
  ASSERT_EQ(libdl_tensor_set_requires_grad(x, 1), nullptr);
  libdl_hook* hook = nullptr;
  const auto passes = [](void*, libdl_tensor**, int64_t, libdl_tensor* const*,
                         int64_t) -> libdl_error* { return nullptr; };
  ASSERT_EQ(libdl_tensor_add_hook(x, LIBDL_HOOK_TENSOR, passes, nullptr, throws, &hook), nullptr);
  libdl_hook_remove(hook);
  libdl_hook_release(hook);
  libdl_tensor_release(x);
}

TEST(Contained, InterruptionEndsTheCall) {
  libdl_tensor* const x = made(4 << 20);
  libdl_tensor* y = nullptr;
  // The caller asks between its own chunks: others might take them all.
  const int32_t threads = libdl_get_threads();
  ASSERT_EQ(libdl_set_threads(1), nullptr);
  ASSERT_EQ(libdl_set_interruption([](void*) -> int32_t { throw 1; }, nullptr, throws), nullptr);
  EXPECT_EQ(told(libdl_neg(x, &y)).substr(0, 3), std::to_string(LIBDL_ERROR_INTERRUPTED));
  ASSERT_EQ(libdl_set_interruption(nullptr, nullptr, nullptr), nullptr);
  ASSERT_EQ(libdl_set_threads(threads), nullptr);
  libdl_tensor_release(x);
}

TEST(Contained, AHookThatThrowsFailsThePass) {
  libdl_tensor* const x = made(2);
  ASSERT_EQ(libdl_tensor_set_requires_grad(x, 1), nullptr);
  libdl_hook* hook = nullptr;
  const auto fails = [](void*, libdl_tensor**, int64_t, libdl_tensor* const*,
                        int64_t) -> libdl_error* { throw std::runtime_error("from the hook"); };
  ASSERT_EQ(libdl_tensor_add_hook(x, LIBDL_HOOK_TENSOR, fails, nullptr, nullptr, &hook), nullptr);
  libdl_tensor* loss = nullptr;
  ASSERT_EQ(libdl_sum(x, nullptr, 0, 0, LIBDL_DTYPE_NONE, &loss), nullptr);
  const std::string text = told(
      libdl_backward(const_cast<const libdl_tensor**>(&loss), 1, nullptr, 0, nullptr, 0, nullptr));
  EXPECT_NE(text.find("from the hook"), std::string::npos) << text;
  libdl_tensor* const grad = libdl_tensor_grad(x);
  EXPECT_EQ(grad, nullptr);
  libdl_tensor_release(grad);
  libdl_hook_release(hook);
  libdl_tensor_release(loss);
  libdl_tensor_release(x);
}

// Removing n hooks takes n steps, from whichever end: 100,000 took 5.7 s.
TEST(Hooks, AreRemovedInLinearTime) {
  constexpr int kHooks = 200'000;
  libdl_tensor* const x = made(1);
  ASSERT_EQ(libdl_tensor_set_requires_grad(x, 1), nullptr);
  int64_t calls = 0;
  const auto counts = [](void* ctx, libdl_tensor**, int64_t, libdl_tensor* const*,
                         int64_t) -> libdl_error* {
    ++*static_cast<int64_t*>(ctx);
    return nullptr;
  };
  for (const int order : {0, 1, 2}) {
    std::vector<libdl_hook*> hooks(kHooks);
    for (libdl_hook*& hook : hooks)
      ASSERT_EQ(libdl_tensor_add_hook(x, LIBDL_HOOK_TENSOR, counts, &calls, nullptr, &hook),
                nullptr);
    const auto start = std::chrono::steady_clock::now();
    for (int64_t i = 0; i < kHooks - 3; ++i) {
      const int64_t k = order == 0 ? i : order == 1 ? kHooks - 1 - i : i * 77'777 % kHooks;
      libdl_hook_remove(hooks[static_cast<size_t>(k)]);
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    EXPECT_LT(took.count(), 2.0);  // 0.02 s; a quadratic search takes twenty
    libdl_tensor* loss = nullptr;
    calls = 0;
    ASSERT_EQ(libdl_sum(x, nullptr, 0, 0, LIBDL_DTYPE_NONE, &loss), nullptr);
    ASSERT_EQ(
        libdl_backward(const_cast<const libdl_tensor**>(&loss), 1, nullptr, 0, nullptr, 0, nullptr),
        nullptr);
    EXPECT_EQ(calls, 3);  // those that are left
    libdl_tensor_release(loss);
    for (libdl_hook* const hook : hooks) {
      libdl_hook_remove(hook);
      libdl_hook_release(hook);
    }
  }
  libdl_tensor_release(x);
}

}  // namespace
