// SPDX-License-Identifier: Apache-2.0

// safetensors files: https://github.com/huggingface/safetensors. Loading runs no code, and nothing
// is allocated before the header has been checked against the file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "io/header.h"

// An opened file. Tensors may be read from several threads at once.
struct libdl_file : libdl::Handle<libdl_file> {
  libdl_file() : Handle(libdl::Tag::kFile) {}
  ~libdl_file();

  libdl::Header header;
  bool shares = false;           // tensors point into `memory`
  libdl::Descriptor descriptor;  // either this
  const char* memory = nullptr;  // or the whole file in memory
  int64_t bytes = 0;
  bool mapped = false;
  std::string path;         // for errors; empty where it is not known
  void* context = nullptr;  // of the caller's memory
  void (*release)(void*) = nullptr;
};

namespace libdl {

using File = Ref<libdl_file>;
void destroy(libdl_file* file);

// share: tensors are read-only and point into the file's memory (mapped, or the caller's) instead
// of being copies, wherever elements are aligned. If a mapped file shrinks, the operating system
// kills the process on access; that is why copies are the default.
File open_file(const std::string& path, bool share);
File open_file(int descriptor, bool share);  // stays the caller's, at its present file offset
// release(context) runs once, when neither the file nor a shared tensor needs the memory any more,
// or when this throws.
File open_memory(const void* data, int64_t bytes, bool share, void (*release)(void*),
                 void* context);

Tensor read_tensor(const File& file, size_t index);

void save_file(const std::string& path, const std::vector<NamedTensor>& tensors,
               const std::vector<NamedText>& metadata);
// Returns the file's bytes.
std::string save_text(const std::vector<NamedTensor>& tensors,
                      const std::vector<NamedText>& metadata);

}  // namespace libdl
