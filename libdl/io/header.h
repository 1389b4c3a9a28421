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

// Kept small: a hostile header consists of entries.
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
  std::vector<TensorEntry> tensors;  // as the file names them
  std::vector<TextEntry> metadata;
  std::vector<uint32_t> by_name;  // numbers of tensors, sorted
  int64_t data = 0;               // where the first tensor's bytes are in the file

  std::string_view name(const TensorEntry& e) const {
    return std::string_view(text).substr(e.name, e.name_length);
  }
  Dims shape(const TensorEntry& e) const { return {sizes.data() + e.shape, e.ndim}; }
  std::optional<size_t> find(std::string_view name) const;
};

// The length that the file's first bytes tell. Throws FORMAT unless the header fits into the file
// and under the limit.
int64_t header_bytes(const unsigned char (&prefix)[kPrefixBytes], int64_t file_bytes,
                     const char* function);

// Throws FORMAT unless the entries describe, without holes and overlaps, all bytes that follow.
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
  std::vector<size_t> order;    // in which the tensors' bytes follow: wide elements first
};
// Throws VALUE (a name twice, or no UTF-8), DTYPE (complex128), OVERFLOW.
HeaderPlan plan_header(const std::vector<NamedTensor>& tensors,
                       const std::vector<NamedText>& metadata, const char* function);

}  // namespace libdl
