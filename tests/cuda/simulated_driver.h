// SPDX-License-Identifier: Apache-2.0

// The simulated driver's functions for tests that call them without the plugin, found by dlsym in
// the library that LIBDL_CUDA_DRIVER names.
#pragma once

#include <cuda.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "simulation.h"

template <class F>
F* of_driver(const char* name) {
  static void* const driver = dlopen(std::getenv("LIBDL_CUDA_DRIVER"), RTLD_NOW);
  return reinterpret_cast<F*>(dlsym(driver, name));
}
// The header's macros stand for the newest version of a function: the symbol is the expanded name.
#define LIBDL_TEXT(name) #name
#define DRIVER(name) (*of_driver<decltype(name)>(LIBDL_TEXT(name)))
#define STEER(name) (*of_driver<decltype(libdl_simulated_##name)>("libdl_simulated_" #name))

// Two devices, the first of them current.
class Simulation : public testing::Test {
 protected:
  static constexpr int kDevices = 2;
  static constexpr uint32_t kImage = 0xBA55ED50;  // how the images of modules begin

  void SetUp() override {
    setenv("LIBDL_SIMULATED_DEVICES", "2", 1);
    STEER(reset)(1);
    ASSERT_EQ(DRIVER(cuInit)(0), CUDA_SUCCESS);
    for (int device = 0; device < kDevices; ++device)
      ASSERT_EQ(DRIVER(cuDevicePrimaryCtxRetain)(&context_[device], device), CUDA_SUCCESS);
    enter(0);
  }
  void TearDown() override {
    EXPECT_EQ(STEER(reports)(), expected_reports_) << STEER(last_report)();
    STEER(reset)(1);
    for (const CUdeviceptr memory : memory_) DRIVER(cuMemFree)(memory);
  }

  void enter(int device) { ASSERT_EQ(DRIVER(cuCtxSetCurrent)(context_[device]), CUDA_SUCCESS); }

  template <class T>
  T* allocate(size_t count) {
    CUdeviceptr made = 0;
    EXPECT_EQ(DRIVER(cuMemAlloc)(&made, count * sizeof(T)), CUDA_SUCCESS);
    memory_.push_back(made);
    return reinterpret_cast<T*>(made);
  }
  CUstream stream() {
    CUstream made = nullptr;
    EXPECT_EQ(DRIVER(cuStreamCreateWithPriority)(&made, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
    return made;
  }
  CUevent event() {
    CUevent made = nullptr;
    EXPECT_EQ(DRIVER(cuEventCreate)(&made, CU_EVENT_DEFAULT), CUDA_SUCCESS);
    return made;
  }
  CUfunction kernel(const char* name) {
    CUmodule module = nullptr;
    CUfunction found = nullptr;
    EXPECT_EQ(DRIVER(cuModuleLoadData)(&module, &kImage), CUDA_SUCCESS);
    EXPECT_EQ(DRIVER(cuModuleGetFunction)(&found, module, name), CUDA_SUCCESS);
    return found;
  }
  template <class Params>
  static CUresult launch(CUfunction function, Params params, unsigned blocks, unsigned threads,
                         CUstream on = nullptr, unsigned rows = 1) {
    void* arguments[] = {&params};
    return DRIVER(cuLaunchKernel)(function, blocks, rows, 1, threads, 1, 1, 0, on, arguments,
                                  nullptr);
  }
  template <class T>
  static CUresult copy(T* to, const T* from, size_t count, CUstream on = nullptr) {
    return DRIVER(cuMemcpyAsync)(reinterpret_cast<CUdeviceptr>(to),
                                 reinterpret_cast<CUdeviceptr>(from), count * sizeof(T), on);
  }
  // What the work queued next on the current context's own stream reads or writes.
  static void declare(const void* first, size_t bytes, bool write) {
    of_driver<void(CUstream, const void*, size_t, int)>("libdl_simulated_access")(nullptr, first,
                                                                                  bytes, write);
  }
  // Once all work of the current context is done.
  template <class T>
  std::vector<T> read(const T* from, size_t count) {
    std::vector<T> to(count);
    EXPECT_EQ(copy(to.data(), from, count), CUDA_SUCCESS);
    EXPECT_EQ(DRIVER(cuCtxSynchronize)(), CUDA_SUCCESS);
    return to;
  }

  CUcontext context_[kDevices] = {};
  std::vector<CUdeviceptr> memory_;
  int64_t expected_reports_ = 0;
};
