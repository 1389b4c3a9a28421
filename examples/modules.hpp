// SPDX-License-Identifier: Apache-2.0

/// Networks as trees of modules over libdl.hpp, with PyTorch's names for what they hold, so that
/// weights pass between C++ and Python. This file is an example: copy it and change it.
#ifndef MODULES_HPP
#define MODULES_HPP

#include <algorithm>
#include <cmath>
#include <functional>
#include <libdl.hpp>
#include <map>
#include <memory>

namespace modules {

using libdl::Tensor;
using Named = std::vector<std::pair<std::string, Tensor>>;

/// Computes something, with parameters, buffers (tensors that are not trained) and other modules,
/// each under a name. A module owns the modules below it.
class Module {
 public:
  using Children = std::vector<std::pair<std::string, std::unique_ptr<Module>>>;

  Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  virtual ~Module() = default;

  virtual Tensor forward(const Tensor& x) = 0;
  Tensor operator()(const Tensor& x) { return forward(x); }

  /// Training, or evaluation, of this module and all below it.
  void train(bool on = true) {
    training_ = on;
    for (const auto& [name, module] : children_) module->train(on);
  }
  void eval() { train(false); }
  bool training() const { return training_; }

  const Children& children() const { return children_; }
  Named named_parameters() const { return named(true, false); }
  Named named_buffers() const { return named(false, true); }
  /// Parameters and buffers under the names and in the order of PyTorch's state_dict. They are the
  /// module's own tensors, to be saved: libdl::save(path, net.state()).
  Named state() const { return named(true, true); }
  std::vector<Tensor> parameters() const {
    std::vector<Tensor> result;
    for (auto& [name, tensor] : named_parameters()) result.push_back(tensor);
    return result;
  }
  /// Copies a file into the parameters and buffers. One that does not fit throws, and changes
  /// nothing.
  void load_state(const libdl::File& file);

 protected:
  template <class T, class... Args>
  T& child(std::string name, Args&&... args) {
    auto module = std::make_unique<T>(std::forward<Args>(args)...);
    T& result = *module;
    children_.emplace_back(std::move(name), std::move(module));
    return result;
  }
  Tensor parameter(std::string name, const Tensor& value) {
    parameters_.emplace_back(std::move(name), value.set_requires_grad());
    return value;
  }
  Tensor buffer(std::string name, const Tensor& value) {
    buffers_.emplace_back(std::move(name), value);
    return value;
  }

 private:
  Named named(bool parameters, bool buffers) const {
    Named result;
    collect("", parameters, buffers, result);
    return result;
  }
  void collect(const std::string& prefix, bool parameters, bool buffers, Named& into) const {
    if (parameters)
      for (const auto& [name, tensor] : parameters_) into.emplace_back(prefix + name, tensor);
    if (buffers)
      for (const auto& [name, tensor] : buffers_) into.emplace_back(prefix + name, tensor);
    for (const auto& [name, module] : children_)
      module->collect(prefix + name + '.', parameters, buffers, into);
  }

  Named parameters_, buffers_;
  Children children_;
  bool training_ = true;
};

inline void Module::load_state(const libdl::File& file) {
  const auto refuse = [](libdl::ErrorCode code, const std::string& text) {
    throw libdl::Error(code, "load_state: " + text);
  };
  const std::vector<std::string> names = file.names();
  std::map<std::string, Tensor> given;
  for (const std::string& name : names) given[name] = file.tensor(name);
  const Named wanted = state();
  for (const auto& [name, tensor] : wanted) {
    const auto found = given.find(name);
    if (found == given.end()) refuse(libdl::ErrorCode::value, name + " is not in the file");
    if (found->second.dtype() != tensor.dtype())
      refuse(libdl::ErrorCode::dtype, name + " has another dtype in the file");
    if (found->second.shape() != tensor.shape())
      refuse(libdl::ErrorCode::shape, name + " has another shape in the file");
  }
  if (given.size() != wanted.size()) {
    for (const auto& [name, tensor] : wanted) given.erase(name);
    refuse(libdl::ErrorCode::value, "the network has no " + given.begin()->first);
  }
  const libdl::NoGrad off;
  for (const auto& [name, tensor] : wanted) tensor.copy_(given[name]);
}

/// Numbers of [-bound, bound) with the bound 1 / sqrt(inputs): PyTorch's for most layers.
inline Tensor uniform(const libdl::Dims& shape, int64_t inputs) {
  const double bound = 1 / std::sqrt(static_cast<double>(inputs));
  return libdl::empty(shape).uniform_(-bound, bound);
}

class Linear : public Module {
 public:
  Linear(int64_t inputs, int64_t outputs)
      : weight_(parameter("weight", uniform({outputs, inputs}, inputs))),
        bias_(parameter("bias", uniform({outputs}, inputs))) {}
  Tensor forward(const Tensor& x) override { return x.linear(weight_, bias_); }

 private:
  Tensor weight_, bias_;
};

/// A convolution without bias, for a normalisation follows. With a stride of 1 and an odd size, the
/// image keeps its size.
class Conv2d : public Module {
 public:
  Conv2d(int64_t inputs, int64_t outputs, int64_t size, int64_t stride = 1)
      : stride_(stride),
        padding_(size / 2),
        weight_(parameter("weight", libdl::empty({outputs, inputs, size, size}))) {
    // He et al. 2015, by the fan out: the variance of gradients stays the same through ReLUs.
    const libdl::NoGrad off;
    weight_.normal_(0, std::sqrt(2.0 / static_cast<double>(outputs * size * size)));
  }
  Tensor forward(const Tensor& x) override { return x.conv2d(weight_, {}, {stride_}, {padding_}); }

 private:
  int64_t stride_, padding_;
  Tensor weight_;
};

class BatchNorm2d : public Module {
 public:
  explicit BatchNorm2d(int64_t channels, double weight = 1)
      : weight_(parameter("weight", libdl::full({channels}, weight))),
        bias_(parameter("bias", libdl::zeros({channels}))),
        mean_(buffer("running_mean", libdl::zeros({channels}))),
        var_(buffer("running_var", libdl::ones({channels}))),
        batches_(buffer("num_batches_tracked", libdl::zeros({}, libdl::Dtype::int64))) {}
  Tensor forward(const Tensor& x) override {
    if (training()) batches_.add_(1);
    return x.batch_norm(mean_, var_, weight_, bias_, training());
  }

 private:
  Tensor weight_, bias_, mean_, var_, batches_;
};

/// A function without parameters, such as an activation.
class Function : public Module {
 public:
  explicit Function(std::function<Tensor(const Tensor&)> f) : f_(std::move(f)) {}
  Tensor forward(const Tensor& x) override { return f_(x); }

 private:
  std::function<Tensor(const Tensor&)> f_;
};

/// Modules in a row, whose names are their numbers.
class Sequential : public Module {
 public:
  template <class T, class... Args>
  Sequential& add(Args&&... args) {
    child<T>(std::to_string(children().size()), std::forward<Args>(args)...);
    return *this;
  }
  Tensor forward(const Tensor& x) override {
    Tensor y = x;
    for (const auto& [name, module] : children()) y = (*module)(y);
    return y;
  }
};

}  // namespace modules

#endif
