// SPDX-License-Identifier: Apache-2.0

// The CUDA plugin and the caching allocator on the simulated driver: order between streams, memory
// that runs out, and driver calls that fail.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <string>
#include <type_traits>

#include "base/error.h"
#include "device/backend_source.h"
#include "device/device.h"
#include "device/stream.h"
#include "engine/backward.h"
#include "entries/arithmetic.h"
#include "entries/copy.h"
#include "entries/creation.h"
#include "ops/copy/copy.h"
#include "ops/pointwise/arithmetic.h"
#include "simulation.h"
#include "tape/meta.h"

namespace libdl {
namespace {

constexpr Device kDevice{LIBDL_DEVICE_CUDA, 0};
constexpr int kOutOfMemory = 2, kLaunchFailed = 719;  // CUresult

// The steering functions of the driver that LIBDL_CUDA_DRIVER names.
template <class F>
F* steering(const char* name) {
  static void* const driver = dlopen(std::getenv("LIBDL_CUDA_DRIVER"), RTLD_NOW);
  return reinterpret_cast<F*>(dlsym(driver, name));
}
#define STEER(name) (*steering<decltype(libdl_simulated_##name)>("libdl_simulated_" #name))

class CudaPlugin : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    allocator_for(kDevice).trim();
    STEER(reset)(static_cast<uint64_t>(GetParam()));
  }
  void TearDown() override {
    STEER(fail)(0, 0, 0, 0);
    set_current_stream(default_stream(kDevice));
    synchronize(kDevice);
    EXPECT_EQ(STEER(reports)(), expected_reports_ ? STEER(reports)() : 0) << STEER(last_report)();
    EXPECT_EQ(allocator_for(kDevice).statistics().allocated, 0) << "every tensor was released";
  }
  bool expected_reports_ = false;
};

Tensor filled(int64_t n, double value) {
  const int64_t shape[] = {n};
  return full(shape, number(value), Dtype::kFloat32, kDevice);
}

double element(const Tensor& x, int64_t i) { return item_f64(alias(x, {}, {}, i, x.dtype())); }
double first_of(const Tensor& x) { return element(x, 0); }

// A tensor of one stream is read on another, released, and its memory given to the next tensor of
// the first stream, which writes it at once.
void reuse_across_streams() {
  const Stream first = make_stream(kDevice), second = make_stream(kDevice);
  for (int round = 0; round < 20; ++round) {
    set_current_stream(first);
    Tensor x = filled(1000, 3);
    const Event made = make_event(kDevice, false);
    record(*made.get(), *first.get());
    wait(*second.get(), *made.get());
    set_current_stream(second);
    const Tensor y = mul(x, number(2.0));
    x = Tensor();
    set_current_stream(first);
    const Tensor next = filled(1000, -1);
    set_current_stream(second);
    ASSERT_EQ(first_of(y), 6) << "the reader saw the old values, round " << round;
    set_current_stream(first);
    ASSERT_EQ(first_of(next), -1);
  }
}

TEST_P(CudaPlugin, MemoryReadOnAnotherStreamIsNotWrittenBeforeTheReadIsDone) {
  reuse_across_streams();
}

TEST_P(CudaPlugin, TheSimulationReportsWhatNoEventOrders) {
  expected_reports_ = true;
  const Stream first = make_stream(kDevice), second = make_stream(kDevice);
  set_current_stream(first);
  const Tensor x = filled(1000, 3);
  set_current_stream(second);
  const Tensor y = mul(x, number(2.0));
  EXPECT_GT(STEER(reports)(), 0);
}

// x is squared on one stream and the square on another; the pass is called from a third.
TEST_P(CudaPlugin, BackwardFollowsTheStreamsOfTheForwardPass) {
  const Stream first = make_stream(kDevice), second = make_stream(kDevice);
  const Stream third = make_stream(kDevice);
  const Event squared = make_event(kDevice, false);
  for (int round = 0; round < 20; ++round) {
    set_current_stream(first);
    const Tensor x = filled(1000, 3);
    set_requires_grad(x, true);
    const Tensor y = mul(x, x);
    record(*squared, *first);
    wait(*second, *squared);
    set_current_stream(second);
    const Tensor z = mul(y, y);
    set_current_stream(third);  // which has not waited for the others
    const Tensor seed = filled(1000, 1);
    backward({&z, 1}, {&seed, 1}, {}, {});
    EXPECT_EQ(current_stream(kDevice).get(), third.get());
    ASSERT_EQ(first_of(get_grad(x)), 108) << "4 x^3, read on the caller's stream";
  }
}

TEST_P(CudaPlugin, APassThatFailsLeavesTheCallersStream) {
  const Stream other = make_stream(kDevice);
  set_current_stream(other);
  const Tensor x = filled(10, 3);
  set_requires_grad(x, true);
  const Tensor y = mul(x, x), z = mul(y, y);
  set_current_stream(default_stream(kDevice));
  const Tensor seed = filled(10, 1);
  synchronize(kDevice);
  {
    const ModeGuard unrecorded(kModeGrad);
    fill(number(1.0), Into(y));  // z's rule finds its value changed
  }
  StreamSet* const callers = current_streams();
  EXPECT_THROW(backward({&z, 1}, {&seed, 1}, {}, {}), Error);
  EXPECT_EQ(current_streams(), callers);
}

// The plugin's table with one function that forgets its work: each must be missed by some test.
Backend without(const char* what) {
  Backend table = backend(LIBDL_DEVICE_CUDA);
  const auto answer_always = [](auto done) {
    return [](int32_t, void*, int32_t* answer) -> libdl_error* {
      *answer = decltype(done)::value;
      return nullptr;
    };
  };
  if (std::string(what) == "event_query") table.event_query = answer_always(std::true_type());
  if (std::string(what) == "stream_wait") {
    table.event_query = answer_always(std::false_type());  // so that the stream must wait
    table.stream_wait = [](int32_t, void*, void*) -> libdl_error* { return nullptr; };
  }
  if (std::string(what) == "event_record")
    table.event_record = [](int32_t, void*, void*) -> libdl_error* { return nullptr; };
  return table;
}

TEST_P(CudaPlugin, AnAllocatorThatForgetsToWaitIsFound) {
  for (const char* what : {"stream_wait", "event_record", "event_query"}) {
    static Backend careless;
    careless = without(what);
    Allocator allocator("careless", std::make_shared<BackendSource>(careless, 0), 512);
    const Stream other = make_stream(kDevice);
    void *const first = nullptr, *const second = other->native;
    const Backend& honest = backend(LIBDL_DEVICE_CUDA);
    STEER(reset)(static_cast<uint64_t>(GetParam()));
    std::array<void*, 2> used;  // two: the third of a size must wait for the first
    for (void*& x : used) {
      x = allocator.allocate(4096, first);
      check_backend(honest.fill(0, x, 1, 4096, first));
    }
    void* event = nullptr;
    check_backend(honest.event_create(0, 0, &event));
    check_backend(honest.event_record(0, event, first));
    check_backend(honest.stream_wait(0, second, event));
    honest.event_destroy(0, event);
    for (void* const x : used) {
      check_backend(honest.fill(0, x, 2, 4096, second));
      allocator.record_use(x, second);
    }
    for (void* const x : used) allocator.deallocate(x, 4096);
    void* const next = allocator.allocate(4096, first);
    check_backend(honest.fill(0, next, 3, 4096, first));
    EXPECT_GT(STEER(reports)(), 0) << what;
    allocator.deallocate(next, 4096);
    check_backend(honest.device_synchronize(0));
  }
  expected_reports_ = true;
}

TEST_P(CudaPlugin, MemoryThatRunsOutIsATypedErrorAndThenGoesOn) {
  const size_t most = size_t{64} << 20;
  STEER(memory)(most);
  {
    const Tensor x = filled(int64_t{4} << 20, 1);  // 16 MB
    try {
      filled(int64_t{16} << 20, 1);  // 64 MB more
      ADD_FAILURE() << "there is no such memory";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), LIBDL_ERROR_OUT_OF_MEMORY);
      EXPECT_NE(error.message().find("cuda:0"), std::string::npos) << error.message();
    }
    EXPECT_EQ(first_of(x), 1);
  }
  // What is kept from small blocks is given back before a large request fails.
  for (int i = 0; i < 3; ++i) filled(int64_t{1} << 20, 1);
  EXPECT_EQ(first_of(filled(int64_t{12} << 20, 5)), 5);
  STEER(memory)(size_t{1} << 30);
}

double a_little_work() {
  const Stream own = make_stream(kDevice);
  const Event made = make_event(kDevice, true);
  const Tensor x = filled(100, 3);
  record(*made.get(), *default_stream(kDevice).get());
  wait(*own.get(), *made.get());
  set_current_stream(own);
  const Tensor y = add(mul(x, x), number(1.0));
  const Tensor z = to(y, Dtype::kNone, Device{}, false, false);
  set_current_stream(default_stream(kDevice));
  synchronize(kDevice);
  return element(z, 5);
}

TEST_P(CudaPlugin, EveryDriverCallMayFailAndTheNextWorkIsWhole) {
  ASSERT_EQ(a_little_work(), 10);
  const int64_t before = STEER(calls)();
  ASSERT_EQ(a_little_work(), 10);
  const int64_t calls = STEER(calls)() - before;
  ASSERT_GT(calls, 10);
  for (const bool late : {false, true}) {
    for (int64_t n = 1; n <= calls; ++n) {
      STEER(fail)(n, n % 2 ? kLaunchFailed : kOutOfMemory, 0, late);
      try {
        EXPECT_EQ(a_little_work(), 10) << "call " << n << " failed and the result is wrong";
      } catch (const Error& error) {
        EXPECT_TRUE(error.code() == LIBDL_ERROR_BACKEND ||
                    error.code() == LIBDL_ERROR_OUT_OF_MEMORY)
            << error.message();
      }
      STEER(fail)(0, 0, 0, 0);
      set_current_stream(default_stream(kDevice));
      synchronize(kDevice);
      ASSERT_EQ(a_little_work(), 10) << "after the failure of call " << n;
    }
  }
}

TEST_P(CudaPlugin, AnErrorThatSticksComesOutOfEveryCallAndHarmsNothingElse) {
  const int64_t shape[] = {3};
  const Tensor on_host = full(shape, number(2.0), Dtype::kFloat32);
  {
    const Tensor x = filled(100, 3);
    STEER(fail)(1, kLaunchFailed, 1, 0);
    for (int i = 0; i < 3; ++i) EXPECT_THROW(first_of(x), Error);
    EXPECT_EQ(first_of(add(on_host, on_host)), 4);
  }
  STEER(fail)(0, 0, 0, 0);
  EXPECT_EQ(first_of(filled(10, 4)), 4);
}

INSTANTIATE_TEST_SUITE_P(Seeds, CudaPlugin, testing::Range(1, 9));

}  // namespace
}  // namespace libdl
