// SPDX-License-Identifier: Apache-2.0

// An operator's row of tests/samples, as arguments of a call by number.
#pragma once

#include <libdl/libdl.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/attack/values.h"

namespace failures {

// Whether the operator has a row, as each that the headers declare has.
bool has_sample(libdl_op op);

class Sample {
 public:
  // With sizes that are larger than the row's, if `works` says that a call is accepted at such.
  using Works = std::function<bool(const Sample&)>;
  Sample(libdl_op op, const Works& works);
  // With all sizes alike, where a result may be like an argument, perhaps with the numbers of lists
  // alike, too, and with flags such as keepdim set. It need not work.
  enum class Alike { kThree, kOne, kNoDimensions };
  Sample(libdl_op op, Alike sizes, bool lists, bool flags);

  libdl_op op() const { return op_; }
  const std::vector<libdl_value>& arguments() const { return arguments_; }
  // All tensors among the arguments, those of lists, too, and a destination where there is no new
  // form to make one like.
  std::vector<libdl_tensor*> tensors() const;
  // Of these a call that succeeds may change some, as a layer's running statistics.
  bool is_updated(const libdl_tensor* x) const { return updated_.count(x); }
  libdl_tensor* destination() const { return destination_; }
  // Those that may require grad: floating ones that the call does not update.
  const std::vector<libdl_tensor*>& differentiable() const { return differentiable_; }
  void require_grad(bool on);
  // Of an argument that the operator refuses with grad; false if it is no such tensor.
  bool never_requires_grad(int32_t argument);
  bool is_grown() const { return is_grown_; }

 private:
  struct Growth;
  void make(const Growth& growth);
  libdl_value argument(int32_t k, const attack::Words& words, size_t* at);

  libdl_op op_;
  bool is_grown_ = false;
  std::unique_ptr<attack::Values> values_;
  std::vector<libdl_value> arguments_;
  std::vector<libdl_tensor*> differentiable_;
  std::set<const libdl_tensor*> updated_;
  libdl_tensor* destination_ = nullptr;
};

}  // namespace failures
