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
// The metadata pair with which libdl's own files keep checksums: kChecksums, then one of eight
// hexadecimal digits for the header (its own digits being 0) and one for each tensor, in the
// header's order. Readers of other libraries see a line of text.
constexpr std::string_view kChecksumKey = "libdl.crc32";
constexpr std::string_view kChecksums = "CRC-32 of the header and of each tensor:";

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
  std::vector<uint32_t> by_name;    // indices into tensors, sorted by name
  std::vector<uint32_t> checksums;  // of the tensors; none: the file has no checksums
  int64_t data = 0;                 // where the tensors' bytes begin in the file

  std::string_view name(const TensorEntry& e) const {
    return std::string_view(text).substr(e.name, e.name_length);
  }
  Dims shape(const TensorEntry& e) const { return {sizes.data() + e.shape, e.ndim}; }
  std::optional<size_t> find(std::string_view name) const;
};

// Whose header is read, for messages.
struct Origin {
  const char* function;
  std::string path;  // empty: bytes in memory, or a descriptor

  // Throws FORMAT.
  LIBDL_NORETURN void other_format(std::string_view head,
                                   const std::string& what LIBDL_SOURCE_LOCATION) const;
  LIBDL_NORETURN void damaged(const std::string& what LIBDL_SOURCE_LOCATION) const;
};

// The header's length, from the file's first bytes, `head`, of which there are at least 8. Throws
// FORMAT unless the header fits into the file and under the limit.
int64_t header_bytes(std::string_view head, int64_t file_bytes, const Origin& origin);

// Throws FORMAT unless the entries cover all bytes that follow, without gaps or overlaps, and the
// header is the one whose checksum it has.
Header parse_header(std::string_view json, int64_t file_bytes, const Origin& origin);

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
  size_t digits = 0;            // where the checksums begin in prefix_and_json

  // Writes them there, the header's own included. They are in the tensors' order.
  void set_checksums(const std::vector<uint32_t>& checksums);
};
// Throws VALUE (a duplicate name, or one that is not UTF-8), DTYPE (complex128), OVERFLOW.
HeaderPlan plan_header(const std::vector<NamedTensor>& tensors,
                       const std::vector<NamedText>& metadata, const char* function);

}  // namespace libdl
