// SPDX-License-Identifier: Apache-2.0

// Calls that handle a failure badly, for the sweep to see.
#include "tests/core/planted.h"
#include "tests/failures/sweep.h"

namespace failures {
namespace {

libdl_error* make(T* out) {
  const int64_t count = 100;
  return libdl_zeros(&count, 1, LIBDL_DTYPE_FLOAT32, nullptr, out->out());
}
int failures_of(const std::function<libdl_error*()>& call,
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

}  // namespace
}  // namespace failures
