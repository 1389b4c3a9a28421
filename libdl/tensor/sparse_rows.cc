// SPDX-License-Identifier: Apache-2.0

#include "tensor/sparse_rows.h"

#include <algorithm>
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

static void spread_rows(Dims shape, Dtype dtype, void* form, void* plain) {
  const SparseRows rows = rows_at(form);
  const auto bytes = static_cast<size_t>(shape[1] * size_of(dtype));
  if (bytes == 0) return;
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

Tensor empty_sparse_rows(Dims shape, Dtype dtype, int64_t count, SparseRows& rows) {
  static const bool known = [] {
    set_form_operations(Layout::kSparseRows, {.spread = spread_rows});
    return true;
  }();
  static_cast<void>(known);
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

// -- sparse matrices ------------------------------------------------------------------------------

const std::vector<int64_t>* held_rows(const Tensor& x) {
  if (!x.get()->storage || !x.storage().held) return nullptr;
  const HeldRows& held = *x.storage().held;
  const bool whole = x.ndim() == 2 && x.is_contiguous() && x.offset() == 0 &&
                     x.dtype() == held.dtype && x.size(0) == held.sizes[0] &&
                     x.size(1) == held.sizes[1];
  if (!whole || x.storage().version.load(std::memory_order_acquire) != held.version) return nullptr;
  return &held.numbers;
}

void declare_sparse(const Tensor& x) {
  const SparseRows rows = rows_in(sparse_rows_of(x));
  auto held = std::make_unique<HeldRows>();
  held->numbers.assign(rows.numbers, rows.numbers + rows.count);
  std::ranges::copy(x.shape(), held->sizes);
  held->dtype = x.dtype();
  held->version = x.storage().version.load(std::memory_order_relaxed);
  x.storage().held = held.release();
}

Tensor sparse_matrix(Dims shape, const std::vector<int64_t>& numbers, const Tensor& values) {
  SparseRows rows;
  const Tensor x = empty_sparse_rows(shape, values.dtype(), std::ssize(numbers), rows);
  std::ranges::copy(numbers, rows.numbers);
  if (values.numel() > 0)
    std::memcpy(rows.elements, values.read_plain(),
                static_cast<size_t>(values.numel() * size_of(values.dtype())));
  declare_sparse(x);
  return x;
}

// Copies rows from one place to another: row i of the held ones is `numbers[i]` of the matrix.
static void gather_rows(const std::vector<int64_t>& numbers, size_t bytes, const std::byte* matrix,
                        std::byte* held) {
  for (size_t i = 0; i < numbers.size(); ++i)
    std::memcpy(held + i * bytes, matrix + static_cast<size_t>(numbers[i]) * bytes, bytes);
}

Tensor held_values(const Tensor& x) {
  const std::vector<int64_t>& numbers = *held_rows(x);
  const int64_t shape[] = {std::ssize(numbers), x.size(1)};
  const Tensor values = empty(shape, x.dtype());
  if (values.numel() == 0) return values;
  auto* const to = values.overwrite_plain<std::byte>();
  const auto bytes = static_cast<size_t>(x.size(1) * size_of(x.dtype()));
  if (const PackedReader form = sparse_rows_of(x); form.data()) {
    std::memcpy(to, rows_in(form).elements, numbers.size() * bytes);
  } else {
    gather_rows(numbers, bytes, x.read_plain<std::byte>(), to);
  }
  return values;
}

void take_rows(const Tensor& x, const Tensor& fresh, const char* op) noexcept {
  Storage &storage = x.storage(), &source = fresh.storage();
  if (storage.packed_only()) {
    swap_forms(storage, source);
  } else if (x.numel() > 0) {
    const auto bytes = static_cast<size_t>(x.size(1) * size_of(x.dtype()));
    auto* const to = x.update_plain<std::byte>();
    for (const int64_t row : storage.held->numbers)
      std::memset(to + static_cast<size_t>(row) * bytes, 0, bytes);
    const PackedReader form = only_form(source);
    const SparseRows rows = rows_in(form);
    for (int64_t i = 0; i < rows.count; ++i)
      std::memcpy(to + static_cast<size_t>(rows.numbers[i]) * bytes,
                  static_cast<const std::byte*>(rows.elements) + static_cast<size_t>(i) * bytes,
                  bytes);
  }
  written(x, op);
  std::swap(storage.held, source.held);
  storage.held->version = storage.version.load(std::memory_order_relaxed);
}

}  // namespace libdl
