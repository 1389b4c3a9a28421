// SPDX-License-Identifier: Apache-2.0

#include "ops/indexing/nonzero.h"

#include "device/device.h"
#include "device/meta.h"
#include "device/transfer.h"
#include "entries/indexing.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/primitive/launch.h"

namespace libdl {

Tensor nonzero_coordinates(const Tensor& input) {
  const Tensor x = input.is_number() ? plain(input) : input;
  if (is_meta(x.device()))
    fail(LIBDL_ERROR_UNSUPPORTED, "nonzero",
         "the number of elements other than 0 is asked for, and a meta tensor has no elements");
  int64_t count = 0;
  if (!x.device().is_cpu()) about_to_wait(x.device(), "elements other than 0 are counted");
  if (x.numel() > 0) launch_nonzero(x.device(), {reads(x), &count, no_view()});
  const int64_t shape[] = {count, x.ndim()};
  Tensor y = empty(shape, Dtype::kInt64, x.device());
  if (y.numel() > 0) launch_nonzero(x.device(), {reads(x), &count, overwrites(y)});
  return y;
}

Tensor nonzero_impl(const Tensor& input, Into into) {
  const ModeGuard off(kModeGrad);  // coordinates have no derivative, in a destination as elsewhere
  Call call("nonzero", into, {&input});
  if (into && into.tensor().dtype() != Dtype::kInt64)
    fail_argument(LIBDL_ERROR_DTYPE, "nonzero", into.name,
                  std::string("is ") + name_of(into.tensor().dtype()), "int64");
  return call.done(nonzero_coordinates(input));
}

}  // namespace libdl
