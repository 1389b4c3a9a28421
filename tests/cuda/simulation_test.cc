// SPDX-License-Identifier: Apache-2.0

// The simulated driver tested by wrong calls: each must be refused, or reported, as a real driver
// does it.

#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <thread>

#include "planted.h"
#include "simulated_driver.h"

using planted::Count;

TEST_F(Simulation, WithoutAContextACallIsRefused) {
  CUstream const made = stream();
  CUevent const mark = event();
  CUfunction const function = kernel("planted_count");
  auto* const memory = allocate<int32_t>(8);
  const auto address = reinterpret_cast<CUdeviceptr>(memory);
  ASSERT_EQ(DRIVER(cuCtxSetCurrent)(nullptr), CUDA_SUCCESS);
  CUcontext context = context_[0];
  EXPECT_EQ(DRIVER(cuCtxGetCurrent)(&context), CUDA_SUCCESS);
  EXPECT_EQ(context, nullptr);

  size_t bytes = 0, all = 0;
  float passed = 0;
  CUdeviceptr no_memory = 0;
  void* no_pinned = nullptr;
  CUstream no_stream = nullptr;
  CUevent no_event = nullptr;
  CUmodule no_module = nullptr;
  for (const CUresult result :
       {DRIVER(cuCtxSynchronize)(), DRIVER(cuMemGetInfo)(&bytes, &all),
        DRIVER(cuMemAlloc)(&no_memory, 8), DRIVER(cuMemFree)(address),
        DRIVER(cuMemHostAlloc)(&no_pinned, 8, 0), DRIVER(cuMemcpyAsync)(address, address, 8, made),
        DRIVER(cuMemsetD8Async)(address, 0, 8, made), DRIVER(cuStreamSynchronize)(made),
        DRIVER(cuStreamCreateWithPriority)(&no_stream, 0, 0), DRIVER(cuStreamQuery)(made),
        DRIVER(cuStreamWaitEvent)(made, mark, 0), DRIVER(cuEventCreate)(&no_event, 0),
        DRIVER(cuEventRecord)(mark, made), DRIVER(cuEventQuery)(mark),
        DRIVER(cuEventSynchronize)(mark), DRIVER(cuEventElapsedTime)(&passed, mark, mark),
        DRIVER(cuModuleLoadData)(&no_module, &kImage),
        launch(function, Count{memory, nullptr, 8}, 1, 8, made)})
    EXPECT_EQ(result, CUDA_ERROR_INVALID_CONTEXT);
  enter(0);
}

TEST_F(Simulation, TheCurrentContextIsTheThreads) {
  CUcontext others = context_[0];
  std::thread([&] { DRIVER(cuCtxGetCurrent)(&others); }).join();
  EXPECT_EQ(others, nullptr);
  CUcontext own = nullptr;
  EXPECT_EQ(DRIVER(cuCtxGetCurrent)(&own), CUDA_SUCCESS);
  EXPECT_EQ(own, context_[0]);
  EXPECT_EQ(DRIVER(cuCtxSetCurrent)(reinterpret_cast<CUcontext>(&own)), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(Simulation, WhatBelongsToAnotherContextIsRefused) {
  CUstream const first = stream();
  CUevent const mark = event();
  CUfunction const function = kernel("planted_count");
  const Count nothing{nullptr, nullptr, 0};
  EXPECT_EQ(launch(function, nothing, 1, 8, first), CUDA_SUCCESS);
  enter(1);
  CUevent const others = event();
  EXPECT_EQ(launch(kernel("planted_count"), nothing, 1, 8, first), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(launch(function, nothing, 1, 8), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(DRIVER(cuEventRecord)(mark, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(DRIVER(cuEventRecord)(others, first), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(DRIVER(cuEventRecord)(mark, first), CUDA_SUCCESS);
  EXPECT_EQ(DRIVER(cuEventRecord)(others, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(DRIVER(cuEventSynchronize)(mark), CUDA_SUCCESS);
  EXPECT_EQ(DRIVER(cuCtxSynchronize)(), CUDA_SUCCESS);
  float passed = 0;
  EXPECT_EQ(DRIVER(cuEventElapsedTime)(&passed, mark, others), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(DRIVER(cuStreamSynchronize)(reinterpret_cast<CUstream>(&passed)),
            CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Simulation, StreamsWaitAndCopyAcrossDevices) {
  constexpr int kCount = 100;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    STEER(reset)(seed);
    enter(0);
    CUstream const first = stream();
    CUevent const counted = event();
    auto* const from = allocate<int32_t>(kCount);
    EXPECT_EQ(launch(kernel("planted_count"), Count{from, nullptr, kCount}, 1, 128, first),
              CUDA_SUCCESS);
    EXPECT_EQ(DRIVER(cuEventRecord)(counted, first), CUDA_SUCCESS);
    enter(1);
    auto* const to = allocate<int32_t>(kCount);
    EXPECT_EQ(DRIVER(cuStreamWaitEvent)(nullptr, counted, 0), CUDA_SUCCESS);
    EXPECT_EQ(copy(to, from, kCount), CUDA_SUCCESS);
    EXPECT_EQ(read(to, kCount)[kCount - 1], kCount - 1);
  }
}

TEST_F(Simulation, UsesOfTwoDevicesThatNothingOrdersAreReported) {
  auto* const from = allocate<char>(100);
  enter(1);
  auto* const to = allocate<char>(100);
  const auto copies = [&](int device) {
    enter(device);
    declare(from, 100, false);
    declare(to, 100, true);
    EXPECT_EQ(copy(to, from, 100), CUDA_SUCCESS);
  };
  copies(0);
  EXPECT_EQ(DRIVER(cuCtxSynchronize)(), CUDA_SUCCESS);
  copies(1);
  EXPECT_EQ(STEER(reports)(), 0) << "the host waited";
  copies(0);
  EXPECT_EQ(STEER(reports)(), 1);
  expected_reports_ = 1;
}

TEST_F(Simulation, TheHostCannotTouchDeviceMemory) {
  auto* const memory = allocate<int32_t>(8);
  EXPECT_EQ(launch(kernel("planted_count"), Count{memory, nullptr, 8}, 1, 8), CUDA_SUCCESS);
  EXPECT_EQ(DRIVER(cuCtxSynchronize)(), CUDA_SUCCESS);
  const auto look = [&] {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);  // it would hold all of the simulated device's memory
    std::exit(*const_cast<volatile int32_t*>(memory));
  };
  EXPECT_EXIT(look(), testing::KilledBySignal(SIGSEGV), "");
}

TEST_F(Simulation, EachDeviceHasItsMemoryAndItsWork) {
  size_t free = 0, total = 0, left = 0;
  ASSERT_EQ(DRIVER(cuMemGetInfo)(&free, &total), CUDA_SUCCESS);
  auto* const memory = allocate<char>(100 << 20);
  ASSERT_EQ(DRIVER(cuMemGetInfo)(&left, &total), CUDA_SUCCESS);
  EXPECT_EQ(left, free - (100 << 20));
  enter(1);
  ASSERT_EQ(DRIVER(cuMemGetInfo)(&left, &total), CUDA_SUCCESS);
  EXPECT_EQ(left, total);

  // Waiting for one device leaves the other's work alone, if the dice fall so.
  int unfinished = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    STEER(reset)(seed);
    enter(0);
    CUstream const first = stream();
    for (int i = 0; i < 10; ++i)
      EXPECT_EQ(DRIVER(cuMemsetD8Async)(reinterpret_cast<CUdeviceptr>(memory), 1, 8, first),
                CUDA_SUCCESS);
    enter(1);
    EXPECT_EQ(DRIVER(cuCtxSynchronize)(), CUDA_SUCCESS);
    unfinished += DRIVER(cuStreamQuery)(first) == CUDA_ERROR_NOT_READY;
    EXPECT_EQ(DRIVER(cuStreamSynchronize)(first), CUDA_SUCCESS);
  }
  EXPECT_GT(unfinished, 0);
}
