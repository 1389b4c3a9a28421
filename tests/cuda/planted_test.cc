// SPDX-License-Identifier: Apache-2.0

// The simulated device tested by wrong kernels: each must fail as it would on a device, be told
// with its name, and leave the process alive.

#include <set>
#include <string>

#include "planted.h"
#include "simulated_driver.h"

using planted::Count;
using planted::Large;
using planted::Nothing;
using planted::Pair;
using planted::To;
using planted::Two;

class Planted : public Simulation {
 protected:
  // The work that was queued fails so, with a report that has these words, and nothing else works
  // any more on this device.
  void expect_fault(CUresult result, const std::string& kernel, const std::string& words) {
    EXPECT_EQ(DRIVER(cuCtxSynchronize)(), result);
    expect_lost(result);
    EXPECT_EQ(STEER(reports)(), 1);
    const std::string told = STEER(last_report)();
    EXPECT_NE(told.find(kernel + ":"), std::string::npos) << told;
    EXPECT_NE(told.find(words), std::string::npos) << told;
    STEER(reset)(1);
    EXPECT_EQ(DRIVER(cuCtxSynchronize)(), CUDA_SUCCESS);
  }
  void expect_lost(CUresult result) {
    size_t free = 0, total = 0;
    CUdeviceptr no_memory = 0;
    CUstream no_stream = nullptr;
    for (const CUresult later :
         {DRIVER(cuMemGetInfo)(&free, &total), DRIVER(cuMemAlloc)(&no_memory, 8),
          DRIVER(cuStreamCreateWithPriority)(&no_stream, 0, 0), DRIVER(cuStreamQuery)(nullptr),
          DRIVER(cuStreamSynchronize)(nullptr), DRIVER(cuCtxSynchronize)()})
      EXPECT_EQ(later, result);
    int count = 0;
    EXPECT_EQ(DRIVER(cuDeviceGetCount)(&count), CUDA_SUCCESS);
    EXPECT_EQ(DRIVER(cuCtxSetCurrent)(context_[0]), CUDA_SUCCESS);
  }
};

TEST_F(Planted, AFaultComesOutOfEveryLaterCallOfItsDeviceAlone) {
  auto* const memory = allocate<int32_t>(8);
  CUfunction const function = kernel("planted_count");
  CUevent const after = event();
  for (const int result : {700, 702, 710, 714, 715, 716, 717, 718, 719}) {
    STEER(reset)(static_cast<uint64_t>(result));
    EXPECT_EQ(launch(function, Count{memory, nullptr, 8}, 1, 8), CUDA_SUCCESS);
    EXPECT_EQ(read(memory, 8)[7], 7);
    STEER(fault)(result);
    EXPECT_EQ(launch(function, Count{memory, memory, 8}, 1, 8), CUDA_SUCCESS);
    EXPECT_EQ(DRIVER(cuStreamSynchronize)(nullptr), static_cast<CUresult>(result));
    expect_lost(static_cast<CUresult>(result));
    enter(1);
    EXPECT_EQ(DRIVER(cuCtxSynchronize)(), CUDA_SUCCESS);
    enter(0);
    STEER(reset)(1);
    EXPECT_EQ(read(memory, 8)[7], 7) << "the kernel has not run";
  }
  // Another device's stream that waits for the lost one's event goes on.
  STEER(fault)(CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(launch(function, Count{memory, memory, 8}, 1, 8), CUDA_SUCCESS);
  if (DRIVER(cuEventRecord)(after, nullptr) == CUDA_SUCCESS) {
    enter(1);
    EXPECT_EQ(DRIVER(cuStreamWaitEvent)(nullptr, after, 0), CUDA_SUCCESS);
    EXPECT_EQ(DRIVER(cuCtxSynchronize)(), CUDA_SUCCESS);
  }
}

TEST_F(Planted, ErrorsHaveTheDriversNames) {
  const char* text = nullptr;
  EXPECT_EQ(DRIVER(cuGetErrorName)(CUDA_ERROR_MISALIGNED_ADDRESS, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "CUDA_ERROR_MISALIGNED_ADDRESS");
  EXPECT_EQ(DRIVER(cuGetErrorString)(CUDA_ERROR_ILLEGAL_ADDRESS, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "an illegal memory access was encountered");
  EXPECT_EQ(DRIVER(cuGetErrorName)(static_cast<CUresult>(12345), &text), CUDA_ERROR_INVALID_VALUE);
}

// Sizes that end at, just before and far before the end of a page.
TEST_F(Planted, ReadingAndWritingPastTheEndIsFound) {
  CUfunction const function = kernel("planted_count");
  auto* const to = allocate<int32_t>(100000);
  for (const int64_t bytes : {256, 4096, 4096 + 256, 8192 - 256, 100096}) {
    auto* const memory = allocate<int32_t>(static_cast<size_t>(bytes) / 4);
    const int64_t n = bytes / 4;
    EXPECT_EQ(launch(function, Count{to, memory, n}, 400, 256), CUDA_SUCCESS);
    EXPECT_EQ(DRIVER(cuCtxSynchronize)(), CUDA_SUCCESS);
    EXPECT_EQ(launch(function, Count{to, memory, n + 1}, 400, 256), CUDA_SUCCESS);
    expect_fault(CUDA_ERROR_ILLEGAL_ADDRESS, "planted_count", "bytes past the end of ");
    EXPECT_EQ(launch(function, Count{memory, to, n + 1}, 400, 256), CUDA_SUCCESS);
    expect_fault(CUDA_ERROR_ILLEGAL_ADDRESS, "planted_count",
                 "past the end of " + std::to_string(bytes) + " bytes");
  }
}

TEST_F(Planted, MemoryOfNobodyIsFound) {
  CUfunction const function = kernel("planted_count");
  auto* const to = allocate<int32_t>(8);
  CUdeviceptr freed = 0;
  ASSERT_EQ(DRIVER(cuMemAlloc)(&freed, 400), CUDA_SUCCESS);
  ASSERT_EQ(DRIVER(cuMemFree)(freed), CUDA_SUCCESS);
  EXPECT_EQ(launch(function, Count{to, reinterpret_cast<int32_t*>(freed), 8}, 1, 8), CUDA_SUCCESS);
  expect_fault(CUDA_ERROR_ILLEGAL_ADDRESS, "planted_count", "freed memory of 400 bytes");
  EXPECT_EQ(launch(function, Count{nullptr, to, 8}, 1, 8), CUDA_SUCCESS);
  expect_fault(CUDA_ERROR_ILLEGAL_ADDRESS, "planted_count", "no memory of the device");
}

// Without peer access, which nobody has asked for.
TEST_F(Planted, MemoryOfAnotherDeviceIsFound) {
  CUfunction const function = kernel("planted_count");
  auto* const own = allocate<int32_t>(8);
  enter(1);
  auto* const others = allocate<int32_t>(8);
  enter(0);
  EXPECT_EQ(launch(function, Count{own, others, 8}, 1, 8), CUDA_SUCCESS);
  expect_fault(CUDA_ERROR_ILLEGAL_ADDRESS, "planted_count", "memory of device 1");
  EXPECT_EQ(DRIVER(cuMemsetD8Async)(reinterpret_cast<CUdeviceptr>(others), 0, 32, nullptr),
            CUDA_SUCCESS);
  expect_fault(CUDA_ERROR_ILLEGAL_ADDRESS, "fill", "memory of device 1");
}

TEST_F(Planted, ThreadsThatWaitForEachOtherAreFound) {
  EXPECT_EQ(launch(kernel("planted_stuck"), Nothing{}, 3, 64), CUDA_SUCCESS);
  expect_fault(CUDA_ERROR_LAUNCH_TIMEOUT, "planted_stuck", "threads wait for others");
  EXPECT_EQ(launch(kernel("planted_undeclared"), Nothing{}, 3, 64), CUDA_SUCCESS);
  expect_fault(CUDA_ERROR_LAUNCH_FAILED, "planted_undeclared", "without waits");
}

TEST_F(Planted, MisalignedAddressesAreFound) {
  CUfunction const function = kernel("planted_pair");
  auto* const memory = allocate<Two>(16);
  const auto shifted = [&](int bytes) {
    return reinterpret_cast<Two*>(reinterpret_cast<char*>(memory + 8) + bytes);
  };
  EXPECT_EQ(launch(function, Pair{memory, shifted(0)}, 1, 4), CUDA_SUCCESS);
  EXPECT_EQ(DRIVER(cuCtxSynchronize)(), CUDA_SUCCESS);
  for (const int bytes : {1, 2, 4}) {
    EXPECT_EQ(launch(function, Pair{memory, shifted(bytes)}, 1, 4), CUDA_SUCCESS);
    expect_fault(CUDA_ERROR_MISALIGNED_ADDRESS, "planted_pair", "no multiple of 8");
    EXPECT_EQ(launch(function, Pair{shifted(bytes), memory}, 1, 4), CUDA_SUCCESS);
    expect_fault(CUDA_ERROR_MISALIGNED_ADDRESS, "planted_pair", "planted.cc:");
  }
}

TEST_F(Planted, LaunchesBeyondTheLimitsAreRefused) {
  CUfunction const small = kernel("planted_small");
  EXPECT_EQ(launch(small, Nothing{}, 1, 64, nullptr, 65535), CUDA_SUCCESS);
  EXPECT_EQ(launch(small, Nothing{}, 1, 65), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(small, Nothing{}, 1, 64, nullptr, 65536), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(small, Nothing{}, 0x80000000, 64), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(small, Nothing{}, 0, 64), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(kernel("planted_count"), Count{}, 1, 1024), CUDA_SUCCESS);
  EXPECT_EQ(launch(kernel("planted_count"), Count{}, 1, 1025), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(kernel("planted_large"), Large{}, 1, 1), CUDA_ERROR_INVALID_VALUE);
  expected_reports_ = 1;
}

TEST_F(Planted, ValuesThatNobodyWroteAreSeen) {
  auto* const memory = allocate<int32_t>(1000);
  for (const int32_t value : read(memory, 1000)) EXPECT_EQ(value, -1);
  EXPECT_EQ(launch(kernel("planted_leftover"), To{memory}, 100, 32), CUDA_SUCCESS);
  for (const int32_t value : read(memory, 100)) EXPECT_EQ(value, -1) << "another block's";
}

TEST_F(Planted, WhatDependsOnTheOrderOfBlocksOrThreadsChanges) {
  auto* const memory = allocate<int32_t>(64);
  std::set<int32_t> blocks, threads;
  int missed = 0, taken = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    STEER(reset)(seed);
    EXPECT_EQ(launch(kernel("planted_last"), To{memory}, 7, 24), CUDA_SUCCESS);
    const auto last = read(memory, 2);
    blocks.insert(last[0]);
    threads.insert(last[1]);
    EXPECT_EQ(launch(kernel("planted_neighbour"), To{memory}, 1, 64), CUDA_SUCCESS);
    const auto held = read(memory, 64);
    for (int32_t t = 0; t < 64; ++t) {
      missed += held[static_cast<size_t>(t)] == -1;
      taken += held[static_cast<size_t>(t)] == (t + 1) % 64;
    }
  }
  EXPECT_GT(blocks.size(), 3U);
  EXPECT_GT(threads.size(), 5U);
  EXPECT_GT(missed, 64);
  EXPECT_GT(taken, 64);
  EXPECT_EQ(missed + taken, 20 * 64);
}

// Seen by the sanitizers alone: tests/cuda/sanitized looks for their reports.
TEST_F(Planted, ReadingPastSharedMemoryIsLeftToTheSanitizer) {
  auto* const to = allocate<int32_t>(64);
  EXPECT_EQ(launch(kernel("planted_past_the_end"), Count{to, nullptr, 64}, 1, 64), CUDA_SUCCESS);
  EXPECT_EQ(DRIVER(cuCtxSynchronize)(), CUDA_SUCCESS);
}

TEST_F(Planted, UndefinedBehaviourIsLeftToTheSanitizer) {
  auto* const from = allocate<int32_t>(2);
  auto* const to = allocate<int32_t>(1);
  const int32_t values[] = {INT32_MAX, 1};
  EXPECT_EQ(copy(from, values, 2), CUDA_SUCCESS);
  EXPECT_EQ(launch(kernel("planted_overflow"), Count{to, from, 1}, 1, 1), CUDA_SUCCESS);
  EXPECT_EQ(DRIVER(cuCtxSynchronize)(), CUDA_SUCCESS);
}
