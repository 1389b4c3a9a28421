// SPDX-License-Identifier: Apache-2.0

// The header of a safetensors file: JSON that names each tensor's dtype, shape and bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace libdl {

constexpr int64_t kMaxHeaderBytes = 100'000'000;  // the format's own limit
constexpr int64_t kPrefixBytes = 8;               // the header's length, little-endian

// Kept small, because a hostile header may consist of nothing but entries.
struct TensorEntry {
  uint32_t name, name_length;  // in Header::text
  uint32_t shape, ndim;        // in Header::sizes
  Dtype dtype;
  int64_t begin, end;  // bytes behind the header
};

struct TextEntry {
  uint32_t key, key_length, value, value_length;
};

struct Header {
  std::string text;  // names and metadata, each followed by a NUL
  std::vector<int64_t> sizes;
  std::vector<TensorEntry> tensors;  // in the file's order
  std::vector<TextEntry> metadata;
  std::vector<uint32_t> by_name;  // indices into tensors, sorted by name
  int64_t data = 0;               // where the tensors' bytes begin in the file

  std::string_view name(const TensorEntry& e) const {
    return std::string_view(text).substr(e.name, e.name_length);
  }
  Dims shape(const TensorEntry& e) const { return {sizes.data() + e.shape, e.ndim}; }
  std::optional<size_t> find(std::string_view name) const;
};

// The header's length, from the file's first bytes. Throws FORMAT unless the header fits into the
// file and under the limit.
int64_t header_bytes(const unsigned char (&prefix)[kPrefixBytes], int64_t file_bytes,
                     const char* function);

// Throws FORMAT unless the entries cover all bytes that follow, without gaps or overlaps.
Header parse_header(std::string_view json, int64_t file_bytes, const char* function);

// -- writing --------------------------------------------------------------------------------

struct NamedTensor {
  std::string_view name;
  const Tensor* tensor;
};
struct NamedText {
  std::string_view key, value;
};

struct HeaderPlan {
  std::string prefix_and_json;  // padded, so that the data is aligned to 8 bytes
  std::vector<size_t> order;    // of the tensors' bytes: wide elements first
};
// Throws VALUE (a duplicate name, or one that is not UTF-8), DTYPE (complex128), OVERFLOW.
HeaderPlan plan_header(const std::vector<NamedTensor>& tensors,
                       const std::vector<NamedText>& metadata, const char* function);

}  // namespace libdl
