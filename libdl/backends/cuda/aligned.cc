// SPDX-License-Identifier: Apache-2.0

#include "backends/cuda/aligned.h"

namespace libdl::cuda {

void* AlignedCopies::copy_of(void* data, const ByteRange& range, Use use) {
  if (context_.error) return data;
  const int64_t bytes = range.end - range.begin;
  char* const original = static_cast<char*>(data) + range.begin;
  Copied& made = copies_.emplace_back(context_, original, bytes, use);
  if (context_.error) return data;
  context_.error = copy(context_.device, made.room.data(), original, made.bytes, context_.stream);
  return static_cast<char*>(made.room.data()) - range.begin;
}

void AlignedCopies::operator()(View& v, Use use, const MoreDims& more) {
  if (!is_aligned(v.data, v.dtype)) v.data = copy_of(v.data, bytes_of(v, more), use);
}

void AlignedCopies::lists(OptimizerArgs& a) {
  const auto replaced = [&](void* const* list, Use use) -> void* const* {
    if (!list) return nullptr;
    std::vector<void*>& own = lists_.emplace_back(list, list + a.count);
    for (int32_t i = 0; i < a.count; ++i) {
      if (is_aligned(own[i], a.dtype[i])) continue;
      own[i] = copy_of(own[i], {0, a.numel[i] * dtype_bytes(a.dtype[i])}, use);
    }
    return own.data();
  };
  a.param = replaced(a.param, Use::kWrites);
  a.grad = const_cast<const void* const*>(replaced(const_cast<void* const*>(a.grad), Use::kReads));
  a.state1 = replaced(a.state1, Use::kWrites);
  a.state2 = replaced(a.state2, Use::kWrites);
  a.state3 = replaced(a.state3, Use::kWrites);
}

void AlignedCopies::write_back() {
  for (const Copied& c : copies_) {
    if (!c.written || context_.error) continue;
    context_.error = copy(context_.device, c.original, c.room.data(), c.bytes, context_.stream);
  }
}

}  // namespace libdl::cuda
