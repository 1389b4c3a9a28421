// SPDX-License-Identifier: Apache-2.0

#include "entries/convolution.h"
#include "entries/view.h"
#include "ops/core/call.h"

namespace libdl {

// conv1d has the steps last, and a weight [k, c, w].
Tensor conv_tbc_impl(const Tensor& input, const Tensor& weight, const Tensor* bias, int64_t pad) {
  const char* const op = "conv_tbc";
  const auto check = [&](const char* name, const Tensor& x, const char* wanted) {
    if (x.ndim() != 3)
      fail_argument(LIBDL_ERROR_SHAPE, op, name, "has shape " + to_string(x.shape()), wanted);
  };
  check("input", input, "[t, n, c]");
  check("weight", weight, "[w, c, k]");
  const int64_t steps_last[] = {1, 2, 0}, reversed[] = {2, 1, 0}, steps_first[] = {2, 0, 1};
  const int64_t padding[] = {pad};
  const Tensor y = rename_error(
      op, {{"input", "input"}, {"weight", "weight"}, {"bias", "bias"}, {"padding", "pad"}}, [&] {
        return conv1d(permute(input, steps_last), permute(weight, reversed), bias, {},
                      Dims(padding));
      });
  return permute(y, steps_first);
}

}  // namespace libdl
