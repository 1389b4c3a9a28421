// SPDX-License-Identifier: Apache-2.0

// Trains a small network on handwritten digits, in C++17: 64 pixels -> 64 -> 10 classes, with Adam.
//
//     digits [data/digits.safetensors]
//
// The same program as examples/digits.c, with the same losses to the last bit.
#include <algorithm>
#include <cstdio>
#include <libdl.hpp>

using libdl::Dtype;
using libdl::Tensor;

constexpr int64_t k_epochs = 40, k_batch = 48;

// Numbers scattered over [-bound, bound), the same in every language and library: element i is
// 2 bound fract(43758.5453 (12.9898 i mod 3.14159265)) - bound.
static Tensor parameter(const std::vector<int64_t>& shape, double bound) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  Tensor x = libdl::arange({}, count, {}, Dtype::float64);
  x = x * 12.9898 % 3.14159265 * 43758.5453 % 1.0 * (2 * bound) - bound;
  return x.to(Dtype::float32).view(shape).set_requires_grad();
}

static Tensor forward(const std::vector<Tensor>& p, const Tensor& images) {
  return images.linear(p[0], p[1]).relu().linear(p[2], p[3]);
}

// The rows of x with these indices.
static Tensor rows(const Tensor& x, const std::vector<int64_t>& numbers) {
  return x.index_select(0, Tensor::from(numbers, {static_cast<int64_t>(numbers.size())}));
}

static double train_step(const std::vector<Tensor>& p, libdl::Adam& adam, const Tensor& images,
                         const Tensor& labels) {
  const Tensor loss = forward(p, images).cross_entropy(labels);
  loss.backward();
  adam.step();
  adam.zero_grad();
  return loss.item_f64();
}

// The accuracy: the fraction of images whose largest logit is that of the label.
static double accuracy(const std::vector<Tensor>& p, const Tensor& images, const Tensor& labels) {
  const int64_t hits = forward(p, images).argmax(1).eq(labels).sum().item_i64();
  return static_cast<double>(hits) / static_cast<double>(labels.numel());
}

static void run(const char* path) {
  libdl::check_abi();
  const libdl::File file(path);
  const Tensor images = file.tensor("images"), labels = file.tensor("labels");

  // Image i is held out if i is divisible by 5.
  std::vector<int64_t> train, test;
  for (int64_t i = 0; i < images.shape()[0]; ++i) (i % 5 ? train : test).push_back(i);
  const std::vector<Tensor> p = {parameter({64, 64}, 0.125), parameter({64}, 0.125),
                                 parameter({10, 64}, 0.125), parameter({10}, 0.125)};
  libdl::Adam adam(p, 3e-3);

  const auto trains = static_cast<int64_t>(train.size());
  for (int64_t epoch = 0; epoch < k_epochs; ++epoch) {
    double sum = 0, batches = 0;
    std::vector<int64_t> order;
    for (int64_t k = 0; k < trains; ++k) order.push_back(train[(563 * k + 97 * epoch) % trains]);
    for (int64_t k = 0; k < trains; k += k_batch, ++batches) {
      const auto first = order.begin() + k, last = order.begin() + std::min(k + k_batch, trains);
      const std::vector<int64_t> batch(first, last);
      sum += train_step(p, adam, rows(images, batch), rows(labels, batch));
    }
    std::printf("epoch %2d  loss %a  (%.6f)\n", static_cast<int>(epoch), sum / batches,
                sum / batches);
  }
  std::printf("held out: %.2f %%\n", 100 * accuracy(p, rows(images, test), rows(labels, test)));
}

int main(int argc, char** argv) {
  try {
    run(argc > 1 ? argv[1] : "data/digits.safetensors");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
