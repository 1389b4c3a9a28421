// SPDX-License-Identifier: Apache-2.0

// What pooling operators are asked for, in one to three dimensions, and the images that they read
// and write.
#pragma once

#include "ops/core/call.h"
#include "ops/primitive/each_dimension.h"
#include "ops/primitive/innermost.h"

namespace libdl {

// An operator's call.
struct Pooled {
  const char* op;
  int dims;  // of the windows
  const Tensor& input;

  bool batched() const { return input.ndim() == dims + 2; }
  LIBDL_NORETURN void bad(libdl_error_code code, const char* name, const std::string& found,
                          const std::string& wanted LIBDL_SOURCE_LOCATION) const {
    fail_argument(code, op, name, found, wanted LIBDL_SAME_SOURCE_LOCATION);
  }
};

// The input's number of dimensions, and which of them are not 0.
enum class MayBeEmpty : int32_t { kBatch, kFirst, kBatchAndChannels };
void check_image(const Pooled& a, MayBeEmpty what = MayBeEmpty::kBatch);
void check_real(const Pooled& a);  // nor bool
void check_floating(const Pooled& a);

struct WindowOptions {
  Dims kernel_size;
  std::optional<Dims> stride, padding, dilation;
  bool ceil_mode;
};
kernels::PoolWindows windows_of(const Pooled& a, const WindowOptions& windows);
// One more check: that a dilation leaves every window an element.
void check_dilation(const Pooled& a, const kernels::PoolWindows& w);
// Windows of which output_size tells how many there are in each dimension.
kernels::PoolWindows adaptive_windows(const Pooled& a, Dims output_size);

// -- images ---------------------------------------------------------------------------------------

// x, which has windows over its last `dims` dimensions, with a batch of one where it has none; and
// the reverse: a result y in the form of x.
Tensor with_batch(const Tensor& x, int dims);
Tensor without_batch(const Tensor& y);
// [n, c] of a batch with the last `dims` of three sizes.
Shape pooled_shape(const Tensor& batch, int dims, const int64_t (&sizes)[3]);

// How the channels lie: in the order of dimensions, innermost by strides, or innermost in a form.
enum class Order : int32_t { kRowMajor, kStrided, kForm };
Order order_of(const Innermost& x);

// A new image to be written, with its channels as `order` says.
Innermost new_image(Dims shape, Dtype dtype, Device device, Order order);

}  // namespace libdl
