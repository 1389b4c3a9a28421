// SPDX-License-Identifier: Apache-2.0

// The lists that operators with a variable number of results give out.
#pragma once

#include <vector>

#include "base/handle.h"
#include "tensor/tensor.h"

struct libdl_tensor_list : libdl::Handle<libdl_tensor_list> {
  explicit libdl_tensor_list(std::vector<libdl::Tensor> list)
      : Handle(libdl::Tag::kTensorList), tensors(std::move(list)) {}
  const std::vector<libdl::Tensor> tensors;
};

namespace libdl {

inline void destroy(libdl_tensor_list* list) { delete list; }

inline libdl_tensor_list* make_tensor_list(std::vector<Tensor> tensors) {
  return new libdl_tensor_list(std::move(tensors));
}

}  // namespace libdl
