// SPDX-License-Identifier: Apache-2.0

// What the host's callbacks hand back: errors, and tensors in places that they filled. A handle of
// another kind is not ours to release, and an error tells of it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "capi/door.h"
#include "tape/output_meta.h"

namespace libdl::capi {

// The tensors that a callback left, taken over. `wrong` tells of the first handle that is no live
// tensor: "2 is a generator"; its place is empty.
struct Returned {
  std::vector<Tensor> tensors;
  std::string wrong;
  libdl_error_code code = LIBDL_OK;

  explicit Returned(std::span<libdl_tensor* const> handles);
};

// Throws KIND or EMPTIED for a gradient that is no live tensor.
void check_gradients(const char* function, const Returned& given);
// A gradient that a callback returned as its input needs it: summed over what was broadcast.
// Throws SHAPE, DTYPE or DEVICE where it is none of that input's.
Tensor fit_gradient(const char* function, size_t input, const OutputMeta& meta, Tensor gradient);

// Throws what a callback returned, payload and all.
void check_returned(const char* function, libdl_error* error);

}  // namespace libdl::capi
