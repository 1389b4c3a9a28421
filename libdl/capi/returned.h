// SPDX-License-Identifier: Apache-2.0

// What the host's callbacks return: errors, and tensors in slots that they filled in. A handle of
// another kind is reported as an error, and never released.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "capi/door.h"
#include "tape/output_meta.h"

namespace libdl::capi {

// Takes over the tensors that a callback returned. `wrong` describes the first handle that is not a
// live tensor, as in "2 is a generator"; its entry is empty.
struct Returned {
  std::vector<Tensor> tensors;
  std::string wrong;
  libdl_error_code code = LIBDL_OK;

  explicit Returned(std::span<libdl_tensor* const> handles);
};

// Throws KIND or EMPTIED for a gradient that is not a live tensor.
void check_gradients(const char* function, const Returned& returned);
// Converts a gradient that a callback returned to what its input needs: sums it over broadcast
// dimensions. Throws SHAPE, DTYPE or DEVICE if it does not fit the input.
Tensor fit_gradient(const char* function, size_t input, const OutputMeta& meta, Tensor gradient);

// Throws the error that a callback returned, with its payload, if any.
void check_returned(const char* function, libdl_error* error);

}  // namespace libdl::capi
