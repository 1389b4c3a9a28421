// SPDX-License-Identifier: Apache-2.0

// The tensors and other values that an input's calls are made of.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "target.h"

namespace libfuzzer {

// A word of tests/samples for each argument of an operator, in the order of their numbers; written
// by samples.py.
struct Sample {
  const char* name;
  const char* words[16];
};
extern const Sample kSamples[];

// Nothing that has more elements becomes an operand: two of them broadcast to 2^16.
constexpr int64_t kMostElements = 256;

class Pool {
 public:
  explicit Pool(Input& input) : input_(input) {}
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  void begin();  // a few tensors of any dtype, shape and layout
  size_t size() const { return tensors_.size(); }
  libdl_tensor* operator[](size_t k) const { return tensors_[k].get(); }
  libdl_tensor* any() { return tensors_[input_.below(tensors_.size())].get(); }
  // Takes a result over; one that is too large is released.
  void keep(libdl_tensor* result);
  // A new tensor of the same dtype and shape: a gradient, a destination.
  libdl_tensor* like(const libdl_tensor* model);
  // A value for a parameter of that type, most of the time.
  libdl_value value(libdl_value_type type, bool nullable);
  // What a word of a sample says; elements and layout are the input's.
  libdl_value sample(const std::string& word, libdl_value_type type);
  int64_t integer();

 private:
  libdl_tensor* made();
  libdl_tensor* made(libdl_dtype dtype, const std::vector<int64_t>& shape, uint8_t kind);
  libdl_tensor* sample_tensor(const std::string& word);
  libdl_tensor* number();
  libdl_value of_type(libdl_value_type type);

  Input& input_;
  std::vector<Tensor> tensors_;
  libdl_generator* generator_ = nullptr;
  // What values point to, as long as the pool lives.
  std::deque<std::vector<int64_t>> integers_;
  std::deque<std::vector<const libdl_tensor*>> lists_;
  std::deque<std::string> texts_;
};

}  // namespace libfuzzer
