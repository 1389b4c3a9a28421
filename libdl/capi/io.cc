// SPDX-License-Identifier: Apache-2.0

#include <libdl/io.h>

#include "base/contained.h"
#include "capi/arguments.h"
#include "capi/options.h"
#include "capi/scope.h"
#include "capi/text.h"
#include "io/safetensors.h"

using namespace libdl;
using namespace libdl::capi;

namespace {

bool has(const libdl_file* file, int64_t index) {
  return file && index >= 0 && index < libdl_file_count(file);
}

const char* part(const libdl_file* file, uint32_t at, uint32_t bytes, int64_t* length) {
  if (length) *length = bytes;
  return file->header.text.data() + at;
}

// Getters treat handles of other kinds like NULL.
bool is_file(const libdl_file* file) { return file && has_tag(file, Tag::kFile); }

const TextEntry* metadata_at(const libdl_file* file, int64_t index) {
  if (index < 0 || index >= libdl_file_metadata_count(file)) return nullptr;
  return &file->header.metadata[static_cast<size_t>(index)];
}

std::string path_of(const char* function, const char* path, int64_t length) {
  const std::string_view text = in_text(function, "path", path, length);
  if (text.empty() || text.find('\0') != text.npos)
    fail_argument(LIBDL_ERROR_VALUE, function, "path", text.empty() ? "is empty" : "contains a NUL",
                  "a path");
  return std::string(text);
}

File checked(const char* function, const libdl_file* file) {
  check_kind(function, "file", file, Tag::kFile);
  return File::share(const_cast<libdl_file*>(file));
}

void check_count(const char* function, const char* name, int64_t count,
                 int64_t most = kMostEntries) {
  if (!is_count(count, most))
    fail_argument(LIBDL_ERROR_VALUE, function, name, "has the length " + std::to_string(count),
                  most == kMostEntries ? "0 to 2147483647" : "one that is not negative");
}

void entry_not_null(const char* function, const char* name, const char* const* list, int64_t i,
                    const char* wanted) {
  if (!list[i])
    fail_argument(LIBDL_ERROR_NULL, function, name, "has at " + std::to_string(i) + " NULL",
                  wanted);
}

// What is saved; arguments are counted from that of the names.
std::vector<NamedTensor> named_tensors(const char* function, const char* const* names,
                                       const libdl_tensor* const* tensors, int64_t count) {
  check_count(function, "tensors", count);
  if (count) not_null(function, "names", names, "an array of names");
  if (count) not_null(function, "tensors", tensors, "an array of tensors");
  const TensorSpan listed = live_tensors(function, "tensors", tensors, count);
  std::vector<NamedTensor> named;
  named.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    entry_not_null(function, "names", names, i, "a name for each tensor");
    named.push_back({names[i], &listed[static_cast<size_t>(i)]});
  }
  return named;
}

std::vector<NamedText> named_texts(const char* function, const char* const* keys,
                                   const char* const* texts, int64_t count) {
  check_count(function, "metadata_texts", count);
  if (count) not_null(function, "metadata_keys", keys, "an array of keys");
  if (count) not_null(function, "metadata_texts", texts, "an array of texts");
  std::vector<NamedText> named;
  for (int64_t i = 0; i < count; ++i) {
    entry_not_null(function, "metadata_keys", keys, i, "a key for each text");
    entry_not_null(function, "metadata_texts", texts, i, "a text for each key");
    named.push_back({keys[i], texts[i]});
  }
  return named;
}

}  // namespace

// -- reading --------------------------------------------------------------------------------

libdl_error* libdl_file_open(const char* path, int64_t path_length,
                             const libdl_file_options* options, libdl_file** out) {
  constexpr const char* name = "file_open";
  return door(name, [&] {
    const std::string at = path_of(name, path, path_length);
    const bool share = read_options(name, options).share;
    output(name, "out", out);
    *out = open_file(at, share).release();
  });
}

libdl_error* libdl_file_open_descriptor(int32_t descriptor, const libdl_file_options* options,
                                        libdl_file** out) {
  constexpr const char* name = "file_open_descriptor";
  return door(name, [&] {
    const bool share = read_options(name, options).share;
    output(name, "out", out);
    *out = open_file(descriptor, share).release();
  });
}

libdl_error* libdl_file_open_memory(const void* data, int64_t bytes,
                                    const libdl_file_options* options, void* ctx,
                                    void (*destroy)(void* ctx), libdl_file** out) {
  constexpr const char* name = "file_open_memory";
  return door(name, [&] {
    bool share;
    try {
      check_count(name, "data", bytes, INT64_MAX);
      if (bytes) not_null(name, "data", data, "the file's bytes");
      share = read_options(name, options).share;
      output(name, "out", out);
    } catch (...) {
      run_destroy(destroy, ctx);
      throw;
    }
    *out = open_memory(data, bytes, share, destroy, ctx).release();
  });
}

libdl_file* libdl_file_retain(libdl_file* file) {
  if (!is_kind("libdl_file_retain", "file", file, Tag::kFile)) return nullptr;
  file->retain();
  return file;
}

void libdl_file_release(libdl_file* file) {
  if (is_kind("libdl_file_release", "file", file, Tag::kFile)) File::take(file);
}

int64_t libdl_file_count(const libdl_file* file) {
  return is_file(file) ? static_cast<int64_t>(file->header.tensors.size()) : 0;
}

const char* libdl_file_name(const libdl_file* file, int64_t index, int64_t* length) {
  if (!has(file, index)) return nullptr;
  const TensorEntry& entry = file->header.tensors[static_cast<size_t>(index)];
  return part(file, entry.name, entry.name_length, length);
}

libdl_dtype libdl_file_dtype(const libdl_file* file, int64_t index) {
  if (!has(file, index)) return LIBDL_DTYPE_NONE;
  return static_cast<libdl_dtype>(file->header.tensors[static_cast<size_t>(index)].dtype);
}

int32_t libdl_file_ndim(const libdl_file* file, int64_t index) {
  if (!has(file, index)) return -1;
  return static_cast<int32_t>(file->header.tensors[static_cast<size_t>(index)].ndim);
}

const int64_t* libdl_file_shape(const libdl_file* file, int64_t index) {
  if (!has(file, index)) return nullptr;
  static constexpr int64_t kNoSizes[1] = {};
  const Dims shape = file->header.shape(file->header.tensors[static_cast<size_t>(index)]);
  return shape.empty() ? kNoSizes : shape.data();
}

int64_t libdl_file_find(const libdl_file* file, const char* name, int64_t name_length) {
  if (!is_file(file) || !name || (name_length != -1 && !is_count(name_length))) return -1;
  const std::string_view requested_name =
      name_length == -1 ? name : std::string_view(name, static_cast<size_t>(name_length));
  const std::optional<size_t> index = file->header.find(requested_name);
  return index ? static_cast<int64_t>(*index) : -1;
}

libdl_error* libdl_file_tensor(const libdl_file* file, int64_t index, libdl_tensor** out) {
  constexpr const char* name = "file_tensor";
  return door(name, [&] {
    const File from = checked(name, file);
    output(name, "out", out);
    if (!has(file, index))
      fail_argument(LIBDL_ERROR_INDEX, name, "index", "is " + std::to_string(index),
                    "0 to " + std::to_string(libdl_file_count(file) - 1));
    *out = to_c(read_tensor(from, static_cast<size_t>(index)));
  });
}

libdl_error* libdl_file_tensor_by_name(const libdl_file* file, const char* name,
                                       int64_t name_length, libdl_tensor** out) {
  constexpr const char* function = "file_tensor_by_name";
  return door(function, [&] {
    const File from = checked(function, file);
    const std::string_view requested_name = in_text(function, "name", name, name_length);
    output(function, "out", out);
    const std::optional<size_t> index = from->header.find(requested_name);
    if (!index)
      fail_argument(LIBDL_ERROR_VALUE, function, "name",
                    "is \"" + std::string(requested_name) + "\"",
                    "the name of one of the file's tensors");
    *out = to_c(read_tensor(from, *index));
  });
}

int64_t libdl_file_metadata_count(const libdl_file* file) {
  return is_file(file) ? static_cast<int64_t>(file->header.metadata.size()) : 0;
}

const char* libdl_file_metadata_key(const libdl_file* file, int64_t index, int64_t* length) {
  const TextEntry* const entry = metadata_at(file, index);
  return entry ? part(file, entry->key, entry->key_length, length) : nullptr;
}

const char* libdl_file_metadata_text(const libdl_file* file, int64_t index, int64_t* length) {
  const TextEntry* const entry = metadata_at(file, index);
  return entry ? part(file, entry->value, entry->value_length, length) : nullptr;
}

// -- writing --------------------------------------------------------------------------------

libdl_error* libdl_file_save(const char* path, int64_t path_length, const char* const* names,
                             const libdl_tensor* const* tensors, int64_t count,
                             const char* const* metadata_keys, const char* const* metadata_texts,
                             int64_t metadata_count) {
  constexpr const char* name = "file_save";
  return door(name, [&] {
    const std::string at = path_of(name, path, path_length);
    save_file(at, named_tensors(name, names, tensors, count),
              named_texts(name, metadata_keys, metadata_texts, metadata_count));
  });
}

libdl_error* libdl_file_save_memory(const char* const* names, const libdl_tensor* const* tensors,
                                    int64_t count, const char* const* metadata_keys,
                                    const char* const* metadata_texts, int64_t metadata_count,
                                    libdl_text** out) {
  constexpr const char* name = "file_save_memory";
  return door(name, [&] {
    const auto named = named_tensors(name, names, tensors, count);
    const auto texts = named_texts(name, metadata_keys, metadata_texts, metadata_count);
    output(name, "out", out);
    *out = new libdl_text(save_text(named, texts));
  });
}
