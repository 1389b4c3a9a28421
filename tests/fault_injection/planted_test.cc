// SPDX-License-Identifier: Apache-2.0

// Calls that handle a failure badly, for the sweep to see.
#include "tests/core/planted.h"
#include "tests/attack/call.h"
#include "tests/fault_injection/sweep.h"

namespace failures {
namespace {

libdl_error* make(T* out) {
  const int64_t count = 100;
  return libdl_zeros(&count, 1, LIBDL_DTYPE_FLOAT32, nullptr, out->out());
}
int failures_of(
    const std::function<libdl_error*()>& call,
    const std::function<void(bool)>& after = [](bool) {}) {
  return libdl::planted::failures_of([&] { sweep("planted", call, after); });
}

TEST(Planted, ACallThatIsInOrderPasses) {
  EXPECT_EQ(failures_of([] {
              T x;
              return make(&x);
            }),
            0);
}

TEST(Planted, AHandleThatAFailureLeavesBehindIsSeen) {
  std::vector<T> lost;
  lost.reserve(1000);
  EXPECT_GT(failures_of([&] {
              T x, y;
              libdl_error* error = make(&x);
              if (!error) error = make(&y);
              if (error && x) lost.push_back(x);
              return error;
            }),
            0);
}

TEST(Planted, AnotherCodeIsSeen) {
  EXPECT_GT(failures_of([]() -> libdl_error* {
              T x;
              libdl_error* const error = make(&x);
              if (!error) return nullptr;
              libdl_error_release(error);
              return libdl_error_new(LIBDL_ERROR_INTERNAL, "planted", -1, nullptr, nullptr);
            }),
            0);
}

TEST(Planted, AWriteBeforeAFailureIsSeen) {
  T dst;
  good(make(&dst));
  Seen before(dst);
  EXPECT_GT(failures_of(
                [&]() -> libdl_error* {
                  const float one[100] = {1};
                  if (libdl_error* const error = libdl_tensor_copy_in(dst.get(), one, 400))
                    return error;
                  T x;
                  return make(&x);
                },
                [&](bool failed) {
                  if (failed) {
                    EXPECT_EQ(Seen(dst), before);
                  }
                  before = Seen(dst);
                }),
            0);
}

// -- what the sweep of all functions looks at besides -----------------------------------------

TEST(Planted, AnOutputThatAFailedCallWroteIsSeen) {
  attack::Places places;
  auto* const place = static_cast<unsigned char*>(places.add("plain").p);
  const unsigned char untouched = *place;
  EXPECT_GT(failures_of(
                [&] {
                  T x;
                  *place = 1;
                  return make(&x);
                },
                [&](bool failed) {
                  if (failed) {
                    EXPECT_FALSE(places.touched());
                  }
                  *place = untouched;
                }),
            0);
}

TEST(Planted, ASettingThatAFailedCallChangedIsSeen) {
  attack::Line line;
  line.type = 'H', line.function = "libdl_neg", line.words = {"t:f64:2,3", "out:tensor"};
  for (const bool planted : {false, true}) {
    std::unique_ptr<attack::Call> call;
    std::string before;
    const auto fresh = [&] {
      call.reset();
      call = std::make_unique<attack::Call>(line, line.words, attack::Models());
      before = call->seen();
    };
    fresh();
    const int failures = failures_of(
        [&] {
          if (planted) good(libdl_set_default_dtype(LIBDL_DTYPE_FLOAT64));
          return call->run();
        },
        [&](bool failed) {
          if (failed) {
            EXPECT_TRUE(call->seen() == before);
          }
          fresh();
        });
    EXPECT_EQ(failures > 0, planted);
  }
  good(libdl_memory_set_limit(0));
}

TEST(Planted, ARandomNumberThatAFailedCallDrewIsSeen) {
  attack::Line line;
  line.type = 'H', line.function = "libdl_generator_get_state";
  line.words = {"h:generator", "buffer", "i:4096"};
  attack::Call call(line, line.words, attack::Models());
  const std::string before = call.seen();
  EXPECT_TRUE(call.seen() == before);
  T x;
  const int64_t count = 3;
  good(libdl_rand(&count, 1, call.generator(), LIBDL_DTYPE_FLOAT32, nullptr, x.out()));
  x = T();
  EXPECT_TRUE(call.seen() != before);
  good(libdl_memory_set_limit(0));
}

TEST(Planted, ADestroyThatDidNotRunIsSeen) {
  attack::Line line;
  line.type = 'Q', line.function = "libdl_version";
  for (const char* const word : {"i:0", "fixture"}) {  // the latter is never given up
    const attack::Words words = {word};
    std::make_unique<attack::Call>(line, words, attack::Models())->run();
    EXPECT_EQ(attack::wrongly_destroyed(), words[0] == "fixture");
  }
  good(libdl_memory_set_limit(0));
}

}  // namespace
}  // namespace failures
