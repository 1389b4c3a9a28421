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
#include "device/provider.h"
#include "engine/backward.h"
#include "entries/convolution.h"
#include "entries/copy.h"
#include "entries/creation.h"
#include "entries/nn.h"
#include "entries/optim.h"
#include "ops/copy/copy.h"
#include "ops/nn/row_gradient.h"
#include "ops/pointwise/arithmetic.h"

namespace libdl {
namespace {

constexpr Device kLent{27, 0};

// How often the kernel has been launched.
template <KernelId id>
int launches = 0;
template <KernelId id>
void counting(kernels::Context* context, const void* args) {
  ++launches<id>;
  cpu_backend().kernels[static_cast<int>(id)](context, args);
}

struct Lent {
  Kernel kernels[kKernels];
  Backend backend = cpu_backend();

  Lent() {
    std::copy_n(cpu_backend().kernels, kKernels, kernels);
    count<KernelId::sum_rows>();
    count<KernelId::class_loss>();
    count<KernelId::class_loss_backward>();
    count<KernelId::list_norm>();
    count<KernelId::list_clip>();
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
  template <KernelId id>
  void count() {
    kernels[static_cast<int>(id)] = counting<id>;
  }
};

Lent& lent() {
  static Lent lent;
  return lent;
}

class LentKernels : public testing::Test {
 protected:
  static void SetUpTestSuite() { lent(); }
};

// While it lives the device has no such kernel.
class Without {
 public:
  explicit Without(KernelId id) : at_(&lent().kernels[static_cast<int>(id)]), kernel_(*at_) {
    *at_ = nullptr;
  }
  Without(const Without&) = delete;
  Without& operator=(const Without&) = delete;
  ~Without() { *at_ = kernel_; }

 private:
  Kernel* at_;
  Kernel kernel_;
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
        launches<KernelId::sum_rows> = 0;
        const Tensor dw = row_gradient(
            {kTable, padding, false, there(row), there(from), there(factor)}, there(dy), false);
        EXPECT_EQ(launches<KernelId::sum_rows>, 1);
        EXPECT_TRUE(dw.device() == kLent);
        expect_same_bytes(dw, row_gradient({kTable, padding, false, row, from, factor}, dy, false));
      }
}

// -- class losses ---------------------------------------------------------------------------------

void expect_near(const Tensor& x, const Tensor& y) {
  const Tensor mine = plain(on_host(x)), other = plain(on_host(y));
  ASSERT_TRUE(same(mine.shape(), other.shape()));
  for (int64_t i = 0; i < mine.numel(); ++i)
    EXPECT_NEAR(mine.read_plain<float>()[i], other.read_plain<float>()[i], 1e-5) << i;
}

struct Loss {
  Tensor loss, gradient;
};
Loss loss_on(Device device, Dims shape, bool of_logits) {
  const Tensor x = on_device(counted(shape, Dtype::kFloat32), device);
  set_requires_grad(x, true);
  Shape labels(shape);
  labels.erase(1);
  const Tensor target = on_device(zeros(labels, Dtype::kInt64, Device()), device);
  const Tensor losses[] = {of_logits ? cross_entropy(x, target) : nll_loss(x, target)};
  const Tensor inputs[] = {x}, weights[] = {full({}, number(1.0), Dtype::kFloat32, device)};
  return {losses[0], grad(losses, inputs, weights, {})[0]};
}

TEST_F(LentKernels, ClassLossesAreComposedWhereThereIsNoKernel) {
  constexpr int64_t kBatch[] = {5, 3}, kImages[] = {2, 3, 4};
  for (const Dims shape : {Dims(kBatch), Dims(kImages)})
    for (const bool of_logits : {false, true}) {
      const Loss here = loss_on({}, shape, of_logits);
      launches<KernelId::class_loss> = launches<KernelId::class_loss_backward> = 0;
      const Loss there = loss_on(kLent, shape, of_logits);
      EXPECT_EQ(launches<KernelId::class_loss>, 1);
      EXPECT_EQ(launches<KernelId::class_loss_backward>, 1);
      expect_near(there.loss, here.loss);
      expect_near(there.gradient, here.gradient);
      for (const KernelId id : {KernelId::class_loss, KernelId::class_loss_backward}) {
        const Without kernel(id);
        const Loss composed = loss_on(kLent, shape, of_logits);
        expect_near(composed.loss, here.loss);
        expect_near(composed.gradient, here.gradient);
      }
      EXPECT_EQ(launches<KernelId::class_loss>, 1);
    }
}

void fill_with_nines(kernels::Context*, const void* arguments) {
  *static_cast<float*>(static_cast<const kernels::ClassLossArgs*>(arguments)->loss.data) = 9;
}

// Libdl's own is slower there than what composes it.
TEST_F(LentKernels, AProviderMayBringTheLossOfImagesInTheHostsMemory) {
  static ProvidedKernel table[kKernels] = {};
  table[static_cast<int>(KernelId::class_loss)] = {
      [](const kernels::Context*, const void*) { return true; }, fill_with_nines};
  static const Provider provider = {
      sizeof(Provider), LIBDL_DEVICE_CPU, "nines", "", kKernels, table};
  register_provider(provider);
  constexpr int64_t kImages[] = {2, 3, 4};
  EXPECT_EQ(*loss_on({}, kImages, false).loss.read_plain<float>(), 9);
  set_provider_enabled("nines", false);
  EXPECT_NE(*loss_on({}, kImages, false).loss.read_plain<float>(), 9);
}

// -- clipping -------------------------------------------------------------------------------------

TEST_F(LentKernels, GradientsAreClippedOneByOneWhereThereIsNoKernel) {
  constexpr int64_t kMatrix[] = {5, 3}, kRow[] = {7};
  const auto gradients = [&](Device device) {
    return std::vector<Tensor>{on_device(counted(kMatrix, Dtype::kFloat32), device),
                               on_device(counted(kRow, Dtype::kFloat32), device)};
  };
  const auto clip = [](const std::vector<Tensor>& grads, bool by_norm) {
    if (by_norm) return clip_grad_norm(grads, 0.5, 2, false);
    clip_grad_value(grads, 0.5);
    return Tensor();
  };
  for (const bool by_norm : {true, false}) {
    const std::vector<Tensor> here = gradients({});
    const Tensor norm = clip(here, by_norm);
    for (const bool composed : {false, true}) {
      std::optional<Without> norms, clips;
      if (composed) norms.emplace(KernelId::list_norm), clips.emplace(KernelId::list_clip);
      launches<KernelId::list_norm> = launches<KernelId::list_clip> = 0;
      const std::vector<Tensor> there = gradients(kLent);
      const Tensor norm_there = clip(there, by_norm);
      EXPECT_EQ(launches<KernelId::list_norm>, by_norm && !composed);
      EXPECT_EQ(launches<KernelId::list_clip>, !composed);
      for (size_t i = 0; i < here.size(); ++i) expect_near(there[i], here[i]);
      if (by_norm) expect_near(norm_there, norm);
    }
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
