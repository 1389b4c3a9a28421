// SPDX-License-Identifier: Apache-2.0

// Trains ResNet-50 in C++17, on images that the program draws: waves, whose direction and length
// are the class.
//
//     resnet50 [--batch N] [--size N] [--steps N] [--load FILE] [--save FILE] [--scores FILE]
//
// --load and --save are safetensors files of the weights under torchvision's names, which
// bench/models/resnet50.py has, too. --scores writes the images that were held out, with the
// network's scores, so that another program can compare its own.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "modules.hpp"

using libdl::Generator;
using libdl::Tensor;
using modules::BatchNorm2d, modules::Conv2d, modules::Linear, modules::Module, modules::Sequential;

constexpr int64_t k_outputs = 1000;  // ImageNet's classes, of which these images have 8
constexpr int64_t k_directions = 4, k_lengths = 2, k_classes = k_directions * k_lengths;
constexpr int64_t k_held_out = 4;  // batches
constexpr double k_pi = 3.14159265358979;

// -- the network (He et al. 2015, with the stride in the 3x3 convolutions) ------------------------

constexpr int64_t k_expansion = 4;
// A block begins as the identity (Goyal et al. 2017), which makes the first steps smaller.
constexpr double k_closed = 0;

class Bottleneck : public Module {
 public:
  Bottleneck(int64_t inputs, int64_t width, int64_t stride)
      : conv1_(child<Conv2d>("conv1", inputs, width, 1)),
        bn1_(child<BatchNorm2d>("bn1", width)),
        conv2_(child<Conv2d>("conv2", width, width, 3, stride)),
        bn2_(child<BatchNorm2d>("bn2", width)),
        conv3_(child<Conv2d>("conv3", width, width * k_expansion, 1)),
        bn3_(child<BatchNorm2d>("bn3", width * k_expansion, k_closed)) {
    if (stride == 1 && inputs == width * k_expansion) return;
    downsample_ = &child<Sequential>("downsample");
    downsample_->add<Conv2d>(inputs, width * k_expansion, 1, stride);
    downsample_->add<BatchNorm2d>(width * k_expansion);
  }
  Tensor forward(const Tensor& x) override {
    Tensor y = bn1_(conv1_(x)).relu_();
    y = bn2_(conv2_(y)).relu_();
    y = bn3_(conv3_(y));
    return y.add_(downsample_ ? (*downsample_)(x) : x).relu_();
  }

 private:
  Conv2d& conv1_;
  BatchNorm2d& bn1_;
  Conv2d& conv2_;
  BatchNorm2d& bn2_;
  Conv2d& conv3_;
  BatchNorm2d& bn3_;
  Sequential* downsample_ = nullptr;
};

class ResNet50 : public Module {
 public:
  ResNet50()
      : conv1_(child<Conv2d>("conv1", 3, 64, 7, 2)),
        bn1_(child<BatchNorm2d>("bn1", 64)),
        layers_{&stage("layer1", 3, 64, 64, 1), &stage("layer2", 4, 256, 128, 2),
                &stage("layer3", 6, 512, 256, 2), &stage("layer4", 3, 1024, 512, 2)},
        fc_(child<Linear>("fc", 512 * k_expansion, k_outputs)) {}
  Tensor forward(const Tensor& images) override {
    Tensor x = bn1_(conv1_(images)).relu_().max_pool2d({3}, {2}, {1});
    for (Sequential* const layer : layers_) x = (*layer)(x);
    return fc_(x.adaptive_avg_pool2d({1, 1}).flatten(1));
  }

 private:
  Sequential& stage(const char* name, int64_t blocks, int64_t inputs, int64_t width,
                    int64_t stride) {
    auto& blocks_in_a_row = child<Sequential>(name);
    blocks_in_a_row.add<Bottleneck>(inputs, width, stride);
    for (int64_t i = 1; i < blocks; ++i)
      blocks_in_a_row.add<Bottleneck>(width * k_expansion, width, 1);
    return blocks_in_a_row;
  }

  Conv2d& conv1_;
  BatchNorm2d& bn1_;
  Sequential* layers_[4];
  Linear& fc_;
};

// -- the images -----------------------------------------------------------------------------------

struct Images {
  Tensor pixels, labels;
};

// Waves of a random phase and colour, under noise.
static Images draw(int64_t count, int64_t size, const Generator& random) {
  const Tensor labels = libdl::randint({}, k_classes, {count}, random);
  const Tensor each = labels.view({count, 1, 1, 1});
  const Tensor angle = each % k_directions * (k_pi / k_directions);
  const Tensor frequency = each.div(k_directions, "floor") * 3 + 3;  // waves in an image
  const Tensor phase = libdl::rand({count, 1, 1, 1}, random) * (2 * k_pi);
  const Tensor place = libdl::linspace(0, 2 * k_pi, size);
  const Tensor along = angle.cos() * place + angle.sin() * place.view({size, 1});
  const Tensor colour = libdl::rand({count, 3, 1, 1}, random) + 0.5;
  const Tensor noise = libdl::randn({count, 3, size, size}, random) * 0.5;
  return {(frequency * along + phase).sin() * colour + noise, labels};
}

// -- training -------------------------------------------------------------------------------------

struct Options {
  int64_t batch = 16, size = 48, steps = 30;
  std::string load, save, scores;
};

static double train_step(ResNet50& net, libdl::Sgd& sgd, const Images& images) {
  const Tensor loss = net(images.pixels).cross_entropy(images.labels);
  sgd.zero_grad();
  loss.backward();
  sgd.step();
  return loss.item_f64();
}

static void train(ResNet50& net, const Options& options, const Generator& random) {
  using Clock = std::chrono::steady_clock;
  libdl::Sgd sgd(net.parameters(), 0.01);
  sgd.options.momentum = 0.9;
  sgd.options.weight_decay = 1e-4;
  net.train();
  std::chrono::duration<double> seconds{};
  for (int64_t step = 1; step <= options.steps; ++step) {
    const Images images = draw(options.batch, options.size, random);
    const auto start = Clock::now();
    const double loss = train_step(net, sgd, images);
    if (step > 1) seconds += Clock::now() - start;  // the first step fills the caches
    std::printf("step %2d  loss %.4f\n", static_cast<int>(step), loss);
    std::fflush(stdout);
  }
  if (options.steps > 1)
    std::printf("%.1f images a second\n",
                static_cast<double>((options.steps - 1) * options.batch) / seconds.count());
}

static void evaluate(ResNet50& net, const Options& options) {
  const int64_t count = k_held_out * options.batch;
  const Images images = draw(count, options.size, Generator(2));
  const libdl::NoGrad off;
  net.eval();
  const Tensor scores = net(images.pixels);
  const int64_t hits = scores.argmax(1).eq(images.labels).sum().item_i64();
  std::printf("held out: %.1f %%\n", 100 * static_cast<double>(hits) / static_cast<double>(count));
  if (!options.scores.empty())
    libdl::save(options.scores, {{"images", images.pixels}, {"scores", scores}});
}

static void run(const Options& options) {
  libdl::check_abi();
  libdl::manual_seed(0);  // of the weights
  ResNet50 net;
  if (!options.load.empty()) net.load_state(libdl::File(options.load));
  train(net, options, Generator(1));
  evaluate(net, options);
  if (!options.save.empty()) libdl::save(options.save, net.state());
}

static Options parse(int argc, char** argv) {
  Options options;
  const auto number = [](const std::string& text, int64_t least) {
    char* end = nullptr;
    const long long value = std::strtoll(text.c_str(), &end, 10);
    if (end == text.c_str() || *end || value < least)
      throw std::invalid_argument(text + " is not a number from " + std::to_string(least) + " on");
    return static_cast<int64_t>(value);
  };
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) throw std::invalid_argument(name + " wants a value");
    const std::string value = argv[i + 1];
    if (name == "--batch")
      options.batch = number(value, 1);
    else if (name == "--size")
      options.size = number(value, 1);
    else if (name == "--steps")
      options.steps = number(value, 0);
    else if (name == "--load")
      options.load = value;
    else if (name == "--save")
      options.save = value;
    else if (name == "--scores")
      options.scores = value;
    else
      throw std::invalid_argument(name + " is not an option");
  }
  return options;
}

int main(int argc, char** argv) {
  try {
    run(parse(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "resnet50: %s\n", error.what());
    return 1;
  }
}
