// SPDX-License-Identifier: Apache-2.0

// Tells a simulated driver what the kernels queued next read and write, so that it can report
// accesses that no event orders. Does nothing on a real driver.
#pragma once

#include "backends/cuda/driver.h"
#include "backends/cuda/views.h"

namespace libdl::cuda {

class Notes {
 public:
  explicit Notes(const Context& context) : stream_(static_cast<CUstream>(context.stream)) {}

  void operator()(const View& v, Use use, const MoreDims& more) const {
    const ByteRange range = bytes_of(v, more);
    bytes(static_cast<const char*>(v.data) + range.begin, range.end - range.begin, use);
  }
  void list(const TensorList& list, void* const* data, Use use) const {
    for (int32_t i = 0; i < list.count; ++i)
      bytes(data[i], list.numel[i] * dtype_bytes(list.dtype[i]), use);
  }

 private:
  void bytes(const void* data, int64_t count, Use use) const {
    if (data && count > 0)
      opened_driver().simulated_access(stream_, data, static_cast<size_t>(count),
                                       use == Use::kWrites);
  }
  CUstream stream_;
};

template <class Args>
void note_accesses(const Context& context, KernelId id, const Args& args) {
  if (opened_driver().simulated_access) each_view(id, args, Notes(context));
}

}  // namespace libdl::cuda
