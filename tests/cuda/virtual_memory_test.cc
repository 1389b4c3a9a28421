// SPDX-License-Identifier: Apache-2.0

// Memory that is mapped to reserved addresses, by right and by wrong calls.

#include "planted.h"
#include "simulated_driver.h"

using planted::Count;

namespace {

constexpr size_t kGranule = size_t{2} << 20;

class VirtualMemory : public Simulation {
 protected:
  void SetUp() override {
    Simulation::SetUp();
    place_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    place_.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    place_.location.id = 0;
    ASSERT_EQ(DRIVER(cuMemAddressReserve)(&at_, 8 * kGranule, 0, 0, 0), CUDA_SUCCESS);
  }
  void TearDown() override {
    for (int i = 0; i < 8; ++i)
      if (mapped_[i]) unmap(i);
    EXPECT_EQ(DRIVER(cuMemAddressFree)(at_, 8 * kGranule), CUDA_SUCCESS);
    Simulation::TearDown();
  }

  CUresult make(CUmemGenericAllocationHandle* memory, size_t bytes = kGranule) {
    return DRIVER(cuMemCreate)(memory, bytes, &place_, 0);
  }
  CUresult map(int granule, CUmemGenericAllocationHandle memory) {
    const CUresult result =
        DRIVER(cuMemMap)(at_ + static_cast<size_t>(granule) * kGranule, kGranule, 0, memory, 0);
    mapped_[granule] |= result == CUDA_SUCCESS;
    return result;
  }
  void map_new(int granule) {
    CUmemGenericAllocationHandle memory = 0;
    ASSERT_EQ(make(&memory), CUDA_SUCCESS);
    ASSERT_EQ(map(granule, memory), CUDA_SUCCESS);
    ASSERT_EQ(DRIVER(cuMemRelease)(memory), CUDA_SUCCESS);
  }
  CUresult open(int granule, int count) {
    CUmemAccessDesc access{};
    access.location = place_.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return DRIVER(cuMemSetAccess)(at_ + static_cast<size_t>(granule) * kGranule,
                                  static_cast<size_t>(count) * kGranule, &access, 1);
  }
  CUresult unmap(int granule) {
    mapped_[granule] = false;
    return DRIVER(cuMemUnmap)(at_ + static_cast<size_t>(granule) * kGranule, kGranule);
  }
  size_t left() {
    size_t free = 0, total = 0;
    EXPECT_EQ(DRIVER(cuMemGetInfo)(&free, &total), CUDA_SUCCESS);
    return free;
  }
  void expect_reported(const char* what) {
    EXPECT_EQ(STEER(reports)(), ++expected_reports_);
    EXPECT_NE(std::string(STEER(last_report)()).find(what), std::string::npos)
        << STEER(last_report)();
  }

  CUmemAllocationProp place_{};
  CUdeviceptr at_ = 0;
  bool mapped_[8] = {};
};

TEST_F(VirtualMemory, PiecesBesideEachOtherAreOneMemory) {
  const size_t free = left();
  map_new(0);
  map_new(1);
  EXPECT_EQ(open(0, 2), CUDA_SUCCESS);
  EXPECT_EQ(left(), free - 2 * kGranule);
  constexpr int kCount = 100;
  auto* const across = reinterpret_cast<int32_t*>(at_ + kGranule) - kCount / 2;
  declare(across, kCount * sizeof(int32_t), true);
  EXPECT_EQ(launch(kernel("planted_count"), Count{across, nullptr, kCount}, 1, 128), CUDA_SUCCESS);
  const std::vector<int32_t> counted = read(across, kCount);
  for (int i = 0; i < kCount; ++i) EXPECT_EQ(counted[static_cast<size_t>(i)], i);
  EXPECT_EQ(unmap(0), CUDA_SUCCESS);
  EXPECT_EQ(unmap(1), CUDA_SUCCESS);
  EXPECT_EQ(left(), free);
}

TEST_F(VirtualMemory, MemoryIsOnceWhereItIsReserved) {
  CUmemGenericAllocationHandle memory = 0;
  ASSERT_EQ(make(&memory), CUDA_SUCCESS);
  EXPECT_EQ(DRIVER(cuMemMap)(at_ + 8 * kGranule, kGranule, 0, memory, 0), CUDA_ERROR_INVALID_VALUE);
  expect_reported("nothing is reserved");
  EXPECT_EQ(map(3, memory), CUDA_SUCCESS);
  EXPECT_EQ(map(4, memory), CUDA_ERROR_INVALID_VALUE);
  expect_reported("not there, or in part");
  CUmemGenericAllocationHandle other = 0;
  ASSERT_EQ(make(&other), CUDA_SUCCESS);
  EXPECT_EQ(map(3, other), CUDA_ERROR_INVALID_VALUE);
  expect_reported("where there is some");
  EXPECT_EQ(open(3, 2), CUDA_ERROR_INVALID_VALUE);
  expect_reported("without memory");
  EXPECT_EQ(DRIVER(cuMemUnmap)(at_ + 3 * kGranule, kGranule / 2), CUDA_ERROR_INVALID_VALUE);
  expect_reported("not mapped so");
  EXPECT_EQ(DRIVER(cuMemAddressFree)(at_, 8 * kGranule), CUDA_ERROR_INVALID_VALUE);
  expect_reported("while memory is mapped");
  for (const CUmemGenericAllocationHandle each : {memory, other})
    EXPECT_EQ(DRIVER(cuMemRelease)(each), CUDA_SUCCESS);
  EXPECT_EQ(DRIVER(cuMemRelease)(other), CUDA_ERROR_INVALID_VALUE);
  expect_reported("twice");
}

TEST_F(VirtualMemory, MemoryThatWorkMayUseMustStay) {
  map_new(0);
  EXPECT_EQ(open(0, 1), CUDA_SUCCESS);
  for (int i = 0; i < 10; ++i) {
    declare(reinterpret_cast<void*>(at_), 100, true);
    EXPECT_EQ(DRIVER(cuMemsetD8Async)(at_, 1, 100, nullptr), CUDA_SUCCESS);
  }
  EXPECT_EQ(unmap(0), CUDA_SUCCESS);
  expect_reported("queued work uses");
  DRIVER(cuCtxSynchronize)();
  STEER(reset)(1);
  expected_reports_ = 0;
}

TEST_F(VirtualMemory, ThereIsNoMoreThanTheDeviceHas) {
  CUmemGenericAllocationHandle memory = 0;
  EXPECT_EQ(make(&memory, (left() / kGranule + 1) * kGranule), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(make(&memory, kGranule / 2), CUDA_ERROR_INVALID_VALUE);
  expect_reported("whole granules");
}

}  // namespace
