// SPDX-License-Identifier: Apache-2.0

// A foreign tensor that an input describes by DLPack's structs, and what has to become of it.
#pragma once

#include <memory>
#include <vector>

#include "target.h"
#include "tests/capi/dlpack_structs.h"

namespace libfuzzer {

using Wide = __int128;

constexpr int64_t kMemory = int64_t{32} << 20;
constexpr size_t kBlock = 1024;
constexpr int64_t kMostRead = 4096;  // elements
constexpr uint64_t kReadOnly = 1;

// One struct, of either kind, with the memory that it points to; each array is as long as it says
// and no longer.
struct Foreign {
  DLManagedTensorVersioned versioned{};
  DLManagedTensor plain{};
  bool is_versioned = true;
  std::unique_ptr<unsigned char[]> block;
  std::unique_ptr<int64_t[]> shape, strides;
  int deleted = 0;

  DLTensor& tensor() { return is_versioned ? versioned.dl_tensor : plain.dl_tensor; }
  // The producer's memory goes at once, so that a later look at it is seen.
  void gone() {
    deleted += planted("deleter") ? 2 : 1;
    block.reset(), shape.reset(), strides.reset();
  }
  static void end(DLManagedTensorVersioned* self) {
    static_cast<Foreign*>(self->manager_ctx)->gone();
  }
  static void end_plain(DLManagedTensor* self) { static_cast<Foreign*>(self->manager_ctx)->gone(); }
};

struct Verdict {
  bool refused = false;
  bool unknown = false;  // neither refused nor in the block: it is not tried
  bool copied = false;
  std::vector<int64_t> shape, strides;
  libdl_dtype dtype = LIBDL_DTYPE_NONE;
  Wide numel = 1, low = 0, high = 0;  // in elements from the first one
};

// Decides every field but where the memory is.
void choose_struct(Input& input, Foreign& foreign);

// By what the struct says, in 128 bits, before its memory is looked at.
Verdict verdict_of(Foreign& foreign, libdl_copy_policy copy);

// Lays what is described into the block, which is possible where it is not longer; data and
// byte_offset share the way there.
void lay(Input& input, Foreign& foreign, libdl_copy_policy copy, Verdict* verdict);

}  // namespace libfuzzer
