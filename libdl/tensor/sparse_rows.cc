// SPDX-License-Identifier: Apache-2.0

#include "tensor/sparse_rows.h"

#include <cstring>

#include "device/launch.h"
#include "kernels/cpu/traverse/walk.h"

namespace libdl {

// The form: the count, the numbers, and from the next cache line on the elements.
constexpr size_t kLine = 64;

static size_t elements_at(int64_t count) {
  const size_t bytes = (1 + static_cast<size_t>(count)) * sizeof(int64_t);
  return (bytes + kLine - 1) / kLine * kLine;
}

static SparseRows rows_at(void* form) {
  auto* const words = static_cast<int64_t*>(form);
  return {words[0], words + 1, static_cast<std::byte*>(form) + elements_at(words[0])};
}

Tensor empty_sparse_rows(Dims shape, Dtype dtype, int64_t count, SparseRows& rows) {
  const int64_t held[] = {count, shape[1]};
  const int64_t numel = checked_numel(held, dtype, nullptr);
  void* form;
  const Tensor x =
      empty_packed(shape, dtype, Layout::kSparseRows,
                   elements_at(count) + static_cast<size_t>(numel * size_of(dtype)), form);
  *static_cast<int64_t*>(form) = count;
  rows = rows_at(form);
  return x;
}

PackedReader sparse_rows_of(const Tensor& x) {
  if (x.is_number() || x.ndim() != 2 || !x.storage().packed_only() || !x.is_contiguous()) return {};
  PackedReader form = only_form(x.storage());
  if (!form.data() || form.form()->key.layout != Layout::kSparseRows) return {};
  const PackedKey& key = form.form()->key;
  const bool whole = x.offset() == 0 && x.dtype() == key.dtype && x.size(0) == key.sizes[0] &&
                     x.size(1) == key.sizes[1];
  return whole ? std::move(form) : PackedReader();
}

SparseRows rows_in(const PackedReader& form) { return rows_at(const_cast<void*>(form.data())); }

void spread_rows(Dims shape, Dtype dtype, void* form, void* plain) {
  const SparseRows rows = rows_at(form);
  const auto bytes = static_cast<size_t>(shape[1] * size_of(dtype));
  auto* const to = static_cast<std::byte*>(plain);
  const auto* const from = static_cast<const std::byte*>(rows.elements);
  // From the end of one row that is held to the end of the next.
  launch([&](kernels::Context& context) {
    constexpr int64_t kRows = 256;
    kernels::cpu::in_chunks(context, rows.count + 1, kRows, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const auto begin = static_cast<size_t>(i == 0 ? 0 : rows.numbers[i - 1] + 1);
        const auto end = static_cast<size_t>(i < rows.count ? rows.numbers[i] : shape[0]);
        std::memset(to + begin * bytes, 0, (end - begin) * bytes);
        if (i < rows.count)
          std::memcpy(to + end * bytes, from + static_cast<size_t>(i) * bytes, bytes);
      }
    });
  });
}

}  // namespace libdl
