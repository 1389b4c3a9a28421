// SPDX-License-Identifier: Apache-2.0

// A device of a plugin that has the CPU's kernels, but for those that a test takes away: operators
// ask its table what they may launch, and not which device it is.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include "device/device.h"
#include "device/launch.h"
#include "entries/convolution.h"
#include "entries/copy.h"
#include "entries/creation.h"
#include "ops/copy/copy.h"
#include "ops/nn/row_gradient.h"
#include "ops/pointwise/arithmetic.h"

namespace libdl {
namespace {

constexpr Device kLent{27, 0};

int sums = 0;
void sum_rows(kernels::Context* context, const void* args) {
  ++sums;
  cpu_backend().kernels[static_cast<int>(KernelId::sum_rows)](context, args);
}

struct Lent {
  Kernel kernels[kKernels];
  Backend backend = cpu_backend();

  Lent() {
    std::copy_n(cpu_backend().kernels, kKernels, kernels);
    kernels[static_cast<int>(KernelId::sum_rows)] = sum_rows;
    backend.device_type = kLent.type;
    backend.name = "lent";
    backend.kernels = kernels;
    backend.allocate = [](int32_t, size_t bytes, void** data) -> libdl_error* {
      *data = std::aligned_alloc(512, bytes);
      return nullptr;
    };
    backend.free = [](int32_t, void* data) { std::free(data); };
    register_backend(backend);
  }
};

class LentKernels : public testing::Test {
 protected:
  static void SetUpTestSuite() { static const Lent lent; }
};

template <class T>
Tensor made(Dims shape, Dtype dtype, const std::vector<T>& values) {
  const Tensor x = empty(shape, dtype);
  std::memcpy(x.overwrite_plain(), values.data(), values.size() * sizeof(T));
  return x;
}
Tensor counted(Dims shape, Dtype dtype) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  const Tensor x = arange(nullptr, number(count), nullptr, Dtype::kFloat32, Device());
  return cast(alias(x, shape, contiguous_strides(shape), 0, Dtype::kFloat32) * 0.37, dtype);
}
void expect_same_bytes(const Tensor& x, const Tensor& y) {
  const Tensor host = on_host(x);
  ASSERT_EQ(host.numel(), y.numel());
  ASSERT_EQ(host.dtype(), y.dtype());
  EXPECT_EQ(std::memcmp(host.read_plain(), y.read_plain(),
                        static_cast<size_t>(y.numel() * size_of(y.dtype()))),
            0);
}

// -- the gradient of a table ----------------------------------------------------------------------

TEST_F(LentKernels, RowsAreSummedInOnePassWhereThereIsTheKernel) {
  constexpr int64_t kTable[] = {6, 3}, kReadings[] = {7}, kParts[] = {4, 3};
  const Tensor row = made<int64_t>(kReadings, Dtype::kInt64, {4, 1, 1, -1, 0, 4, 1});
  const Tensor from = made<int64_t>(kReadings, Dtype::kInt64, {3, 3, 0, 1, 2, 0, 1});
  for (const Dtype dtype : {Dtype::kFloat32, Dtype::kBfloat16})
    for (const int64_t padding : {-1, 1})
      for (const bool weighted : {false, true}) {
        const Tensor dy = counted(kParts, dtype);
        const Tensor factor = weighted ? counted(kReadings, dtype) : Tensor();
        const auto there = [](const Tensor& x) {
          return x.defined() ? on_device(x, kLent) : Tensor();
        };
        sums = 0;
        const Tensor dw = row_gradient(
            {kTable, padding, false, there(row), there(from), there(factor)}, there(dy), false);
        EXPECT_EQ(sums, 1);
        EXPECT_TRUE(dw.device() == kLent);
        expect_same_bytes(dw, row_gradient({kTable, padding, false, row, from, factor}, dy, false));
      }
}

// -- convolutions ---------------------------------------------------------------------------------

bool serves_now = true;
bool serves(const kernels::Context*, const void*) { return serves_now; }
void fill_with_sevens(kernels::Context*, const void* arguments) {
  const auto& a = *static_cast<const kernels::ConvolutionArgs*>(arguments);
  int64_t count = 1;
  for (int d = 0; d < a.y.ndim; ++d) count *= a.y.sizes[d];
  std::fill_n(static_cast<float*>(a.y.data), count, 7.0f);
}

TEST_F(LentKernels, AProviderMayBringConvolutions) {
  static ProvidedKernel table[kKernels] = {};
  table[static_cast<int>(KernelId::convolution)] = {serves, fill_with_sevens};
  static const Provider provider = {sizeof(Provider), kLent.type, "sevens", "", kKernels, table};
  register_provider(provider);
  constexpr int64_t kImage[] = {1, 2, 4, 4}, kWeight[] = {3, 2, 3, 3}, kBias[] = {3};
  const Tensor x = counted(kImage, Dtype::kFloat32), w = counted(kWeight, Dtype::kFloat32);
  const Tensor b = full(kBias, number(1.0), Dtype::kFloat32, Device());
  const auto first_there = [&] {
    const Tensor bias = on_device(b, kLent);
    const Tensor y = on_host(conv2d(on_device(x, kLent), on_device(w, kLent), &bias));
    return *y.read_plain<float>();
  };
  const Tensor y = conv2d(x, w, &b);
  EXPECT_EQ(first_there(), 8);
  serves_now = false;
  EXPECT_NEAR(first_there(), *y.read_plain<float>(), 1e-3);
  serves_now = true;
  set_provider_enabled("sevens", false);
  EXPECT_NEAR(first_there(), *y.read_plain<float>(), 1e-3);
}

}  // namespace
}  // namespace libdl
