// SPDX-License-Identifier: Apache-2.0

#include "backends/cuda/aligned.h"

namespace libdl::cuda {

void* AlignedCopies::copy_of(void* data, const ByteRange& range, Use use) {
  if (context_.error) return data;
  const int64_t bytes = range.end - range.begin;
  char* const original = static_cast<char*>(data) + range.begin;
  Copied& copied = copies_.emplace_back(context_, original, bytes, use);
  if (context_.error) return data;
  context_.error =
      copy(context_.device, copied.scratch.data(), original, copied.bytes, context_.stream);
  return static_cast<char*>(copied.scratch.data()) - range.begin;
}

void AlignedCopies::operator()(View& v, Use use, const MoreDims& more) {
  if (!is_aligned(v.data, v.dtype)) v.data = copy_of(v.data, bytes_of(v, more), use);
}

void AlignedCopies::list(const TensorList& list, void* const*& data, Use use) {
  std::vector<void*>& own = lists_.emplace_back(data, data + list.count);
  for (int32_t i = 0; i < list.count; ++i)
    if (!is_aligned(own[i], list.dtype[i]))
      own[i] = copy_of(own[i], {0, list.numel[i] * dtype_bytes(list.dtype[i])}, use);
  data = own.data();
}

void AlignedCopies::write_back() {
  for (const Copied& c : copies_) {
    if (!c.written || context_.error) continue;
    context_.error = copy(context_.device, c.original, c.scratch.data(), c.bytes, context_.stream);
  }
}

}  // namespace libdl::cuda
