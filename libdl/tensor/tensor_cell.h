// SPDX-License-Identifier: Apache-2.0

// The object behind a tensor's handle.
#pragma once

#include <cstdint>

#include "base/counted.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/storage.h"

namespace libdl {

struct Meta;  // what the tape attaches to a tensor; libdl/tape/meta.h
void destroy_meta(Meta* meta, const libdl_tensor* owner) noexcept;

enum TensorFlag : uint8_t {
  kContiguous = 1,       // row-major without gaps
  kNumber = 2,           // a host number: no storage, the value is in the handle
  kEmptied = 4,          // its scope has ended
  kInferenceTensor = 8,  // made in inference mode: can never be recorded
  kAside = 16,           // Python's .data: values saved through other handles ignore its writes
  kScopeOwned = 32,      // an owning scope has, or had, the handle
  kStandIn = 64,  // without elements (stand_in.h); only the doors of the geometry and of operators
                  // that are composed of others let it in
};

}  // namespace libdl

// The object behind the handle: two cache lines.
struct libdl_tensor : libdl::Counted {
  libdl_tensor() : Counted(libdl::Tag::kTensor) {}

  libdl::Storage* storage = nullptr;  // owned; NULL for numbers and emptied handles
  int64_t offset = 0;                 // in elements
  int64_t numel = 0;
  int64_t* dims = nullptr;      // sizes, then strides (in elements); in inline_dims or a cell
  libdl::Meta* meta = nullptr;  // owned
  void* host = nullptr;         // the first runtime's object, weak; see tape/meta.h
  libdl::Dtype dtype = libdl::Dtype::kNone;
  uint8_t ndim = 0;
  uint8_t flags = 0;
  uint8_t max_dims = 0;  // how many dimensions the cell at dims can hold; 0: dims is inline_dims
  union {
    int64_t inline_dims[2 * libdl::kInlineDims];
    bool as_bool;
    int64_t as_int;
    double as_double;
    double as_complex[2];
  };

  int64_t* sizes() { return dims; }
  int64_t* strides() { return dims + ndim; }
};
