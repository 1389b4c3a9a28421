// SPDX-License-Identifier: Apache-2.0

#include "io/safetensors.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/contained.h"
#include "io/checksum.h"
#include "tensor/export.h"
#include "tensor/row_major.h"

libdl_file::~libdl_file() {
  if (mapped) libdl::file_calls.unmap(const_cast<char*>(memory), static_cast<size_t>(bytes));
  libdl::run_destroy_in_turn(release, context);
}

namespace libdl {

void destroy(libdl_file* file) { delete file; }

// -- opening --------------------------------------------------------------------------------

static void check_length(int64_t bytes, const Origin& origin) {
  if (bytes < kPrefixBytes)
    origin.other_format({}, "it has " + std::to_string(bytes) + " bytes, such a file at least 8");
}

static void read_header_in(libdl_file& file, const Origin& origin) {
  check_length(file.bytes, origin);
  char head[kPrefixBytes];
  if (file.memory)
    std::memcpy(head, file.memory, sizeof head);
  else
    file.descriptor.read(origin.function, head, sizeof head, 0);
  const auto length = static_cast<size_t>(header_bytes({head, sizeof head}, file.bytes, origin));
  if (file.memory) {
    file.header = parse_header({file.memory + kPrefixBytes, length}, file.bytes, origin);
  } else {
    std::string json(length, '\0');
    file.descriptor.read(origin.function, json.data(), length, kPrefixBytes);
    file.header = parse_header(json, file.bytes, origin);
  }
}

static File opened(Descriptor descriptor, bool share, const Origin& origin) {
  File file = File::take(new libdl_file);
  file->descriptor = std::move(descriptor);
  file->bytes = file->descriptor.size(origin.function);
  file->shares = share;
  file->path = origin.path;
  check_length(file->bytes, origin);
  if (share) {
    const int number = file->descriptor.number();
    void* const data = file_calls.map(number, static_cast<size_t>(file->bytes));
    if (!data)
      fail_io(origin.function, "cannot map " + (origin.path.empty() ? "the file" : origin.path),
              errno);
    file->memory = static_cast<const char*>(data);
    file->mapped = true;
    file->descriptor = {};
  }
  read_header_in(*file, origin);
  return file;
}

File open_file(const std::string& path, bool share) {
  return opened(Descriptor::open("file_open", path), share, {"file_open", path});
}

File open_file(int descriptor, bool share) {
  constexpr const char* function = "file_open_descriptor";
  return opened(Descriptor::duplicate(function, descriptor), share, {function, {}});
}

File open_memory(const void* data, int64_t bytes, bool share, void (*release)(void*),
                 void* context) {
  libdl_file* created;
  try {
    created = new libdl_file;
  } catch (...) {
    run_destroy(release, context);
    throw;
  }
  File file = File::take(created);
  file->release = release;
  file->context = context;
  file->memory = static_cast<const char*>(data);
  file->bytes = bytes;
  file->shares = share;
  read_header_in(*file, {"file_open_memory", {}});
  return file;
}

// -- tensors --------------------------------------------------------------------------------

// A file may say anything in a byte; a bool is 0 or 1.
static bool is_clean(const char* bytes, int64_t count) {
  return std::all_of(bytes, bytes + count, [](char c) { return (c & ~1) == 0; });
}
static void clean(const Tensor& x) {
  auto* const bytes = x.update_plain<unsigned char>();
  std::transform(bytes, bytes + x.numel(), bytes, [](unsigned char c) { return c != 0; });
}

static bool can_share(const libdl_file& file, const TensorEntry& entry) {
  if (!file.shares || entry.begin == entry.end) return false;
  const char* const data = file.memory + file.header.data + entry.begin;
  const auto alignment = static_cast<uintptr_t>(size_of(real_of(entry.dtype)));
  return reinterpret_cast<uintptr_t>(data) % alignment == 0 &&
         (entry.dtype != Dtype::kBool || is_clean(data, entry.end - entry.begin));
}

static Tensor window(const File& file, const TensorEntry& entry, Dims shape) {
  File owner = file;
  const char* const data = file->memory + file->header.data + entry.begin;
  Ref<Storage> storage = adopt_storage(
      const_cast<char*>(data), static_cast<size_t>(entry.end - entry.begin), {}, true,
      [](void* held) { File::take(static_cast<libdl_file*>(held)); }, owner.release());
  if (!file->mapped) export_for_good(*storage);  // the caller's memory, who may write it
  const Shape strides = contiguous_strides(shape);
  return over_storage(std::move(storage), shape, {strides.data(), strides.size()}, 0, entry.dtype,
                      "file_tensor");
}

// Raises unless the bytes are those that were saved.
static void check_bytes(const libdl_file& file, size_t index, const void* data, size_t bytes) {
  if (file.header.checksums.empty() || crc32(0, data, bytes) == file.header.checksums[index])
    return;
  const std::string_view name = file.header.name(file.header.tensors[index]);
  fail(LIBDL_ERROR_FORMAT, "file_tensor",
       (file.path.empty() ? "" : file.path + ": ") + "the bytes of tensor \"" +
           std::string(name.substr(0, 80)) +
           "\" are not those that were written: their CRC-32 differs; the file was damaged");
}

Tensor read_tensor(const File& file, size_t index) {
  const TensorEntry& entry = file->header.tensors[index];
  const Dims shape = file->header.shape(entry);
  if (can_share(*file, entry)) return window(file, entry, shape);
  Tensor x = empty(shape, entry.dtype);
  const auto bytes = static_cast<size_t>(entry.end - entry.begin);
  const int64_t at = file->header.data + entry.begin;
  if (bytes == 0) return x;
  auto* const into = x.overwrite_plain<char>();
  if (file->memory)
    std::memcpy(into, file->memory + at, bytes);
  else
    file->descriptor.read("file_tensor", into, bytes, at);
  check_bytes(*file, index, into, bytes);
  if (entry.dtype == Dtype::kBool) clean(x);
  return x;
}

// -- saving ---------------------------------------------------------------------------------

// Calls write(part, bytes) with the parts of each tensor's elements in row-major order, and returns
// the checksums of what was handed over. Another thread may write the tensors meanwhile (Hogwild):
// each part is a copy, so that a checksum is always that of the bytes in the file.
template <class Write>
static std::vector<uint32_t> write_data(const std::vector<NamedTensor>& tensors,
                                        const HeaderPlan& plan, const Write& write) {
  constexpr size_t kPart = size_t{1} << 18;
  std::vector<uint32_t> checksums(tensors.size());
  std::string part;
  for (const size_t i : plan.order) {
    const Tensor& x = *tensors[i].tensor;
    const Tensor flat = x.is_contiguous() && x.device().is_cpu() ? x : row_major_copy(x);
    const auto bytes = static_cast<size_t>(byte_count(flat));
    const char* const from = bytes ? flat.read_plain<char>() : nullptr;
    for (size_t at = 0; at < bytes; at += kPart) {
      part.assign(from + at, std::min(kPart, bytes - at));
      checksums[i] = crc32(checksums[i], part.data(), part.size());
      write(part.data(), part.size());
    }
  }
  return checksums;
}

void save_file(const std::string& path, const std::vector<NamedTensor>& tensors,
               const std::vector<NamedText>& metadata) {
  HeaderPlan plan = plan_header(tensors, metadata, "file_save");
  std::string& head = plan.prefix_and_json;
  Replacement file("file_save", path);
  file.write(head.data(), head.size());
  plan.set_checksums(
      write_data(tensors, plan, [&](const void* from, size_t bytes) { file.write(from, bytes); }));
  file.write_again(head.data(), head.size(), 0);
  file.commit();
}

std::string save_text(const std::vector<NamedTensor>& tensors,
                      const std::vector<NamedText>& metadata) {
  HeaderPlan plan = plan_header(tensors, metadata, "file_save_memory");
  std::string& head = plan.prefix_and_json;
  std::string text;
  size_t bytes = head.size();
  for (const NamedTensor& entry : tensors) bytes += static_cast<size_t>(byte_count(*entry.tensor));
  text.reserve(bytes);
  text += head;
  plan.set_checksums(write_data(tensors, plan, [&](const void* from, size_t count) {
    text.append(static_cast<const char*>(from), count);
  }));
  text.replace(0, head.size(), head);
  return text;
}

}  // namespace libdl
