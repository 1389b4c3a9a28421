// SPDX-License-Identifier: Apache-2.0

// Values of C parameters, written as words: "t:f64:2,3", "null", "kind", "ints:2,-1".
#pragma once

#include <libdl/libdl.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "calls.h"
#include "words.h"

namespace attack {

using Words = std::vector<std::string>;
using words::dtype_of, words::integers, words::split, words::stop;

void need(libdl_error* error, const std::string& what);

// Makes values and keeps them until it goes. Tensors without '!' before their word are made once.
class Values {
 public:
  Values() = default;
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;
  ~Values();

  Raw make(const std::string& word);
  // A destination like `model`, with the fault that its word names; false if there can be none.
  bool destination(const std::string& fault, libdl_tensor* model, libdl_tensor* operand, Raw* out);
  // The call that the words "up:" and "foreign:" made handles for has them now.
  void given_up() { to_give_up_.clear(); }
  void own(libdl_tensor* tensor) { tensors_.push_back(tensor); }
  const std::vector<libdl_tensor*>& tensors() const { return tensors_; }

 private:
  libdl_tensor* tensor(const std::string& word);
  Raw keep(const void* data, size_t bytes);

  std::map<std::string, libdl_tensor*> named_;
  std::vector<libdl_tensor*> tensors_;
  std::vector<std::unique_ptr<std::vector<char>>> memory_;
  std::vector<std::pair<std::string, void*>> others_;  // by kind
  std::vector<std::pair<std::string, void*>> to_give_up_;
};

const Function& find_function(const std::string& name);
libdl_tensor* filled(libdl_dtype dtype, const std::vector<int64_t>& shape);

}  // namespace attack
