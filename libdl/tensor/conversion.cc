// SPDX-License-Identifier: Apache-2.0

#include "tensor/conversion.h"

namespace libdl {

// Fewer elements are converted in the time that it takes to find them.
static constexpr int64_t kLeast = 256;

static Tensor over(const PackedReader& form, const Tensor& x, Dtype dtype) {
  auto* const storage = static_cast<Storage*>(const_cast<void*>(form.data()));
  const Shape strides = contiguous_strides(x.shape());
  return over_storage(Ref<Storage>::share(storage), x.shape(), strides, 0, dtype, "to");
}

Tensor kept_conversion(const Tensor& x, Dtype dtype, Tensor (*convert)(const Tensor&, Dtype)) {
  Storage& storage = x.storage();
  if (!x.is_contiguous() || x.numel() < kLeast || x.ndim() > PackedKey::kMostDims)
    return convert(x, dtype);
  const Layout layout = dtype == Dtype::kBfloat16 ? Layout::kBfloat16 : Layout::kFloat16;
  PackedSource source{storage,
                      {layout, x.dtype(), x.offset(), x.shape(), x.strides()},
                      {},
                      storage.version.load(std::memory_order_acquire)};
  if (source.watched())
    source.bytes = {x.read_plain<std::byte>(), static_cast<size_t>(x.numel() * size_of(x.dtype()))};
  bool noted;
  if (const PackedReader found = find_packed(source, noted); found.data())
    return over(found, x, dtype);
  const std::optional<uint64_t> fingerprint = packed_fingerprint(source);
  const Tensor y = convert(x, dtype);
  y.storage().read_only = true;
  y.storage().fresh = false;  // others may see it from here on
  y.storage().retain();
  void* data = &y.storage();
  keep_packed(source, fingerprint, data, y.storage().bytes);
  if (data) Ref<Storage>::take(&y.storage());
  return y;
}

}  // namespace libdl
