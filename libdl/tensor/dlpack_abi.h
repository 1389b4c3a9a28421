// SPDX-License-Identifier: Apache-2.0

// The structs of DLPack 1.3, written from its specification. They are in a namespace, so that
// upstream's dlpack.h may be included beside them in any order.
#pragma once

#include <cstddef>
#include <cstdint>

namespace libdl::dlpack {

constexpr uint32_t kMajor = 1, kMinor = 3;

// Codes of DType.code; all later ones are types of 8 bits or fewer, which libdl does not have.
enum Code : uint8_t { kInt = 0, kUint = 1, kFloat = 2, kBfloat = 4, kComplex = 5, kBool = 6 };

// Device types whose memory the CPU may read and write.
enum DeviceType : int32_t { kCpu = 1, kCudaHost = 3, kRocmHost = 11 };

enum Flag : uint64_t { kReadOnly = 1, kIsCopied = 2 };

struct Version {
  uint32_t major, minor;
};
struct DType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct Tensor {
  void* data;
  int32_t device_type, device_id;
  int32_t ndim;
  DType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; NULL before 1.2: row-major
  uint64_t byte_offset;
};
struct Managed {  // before 1.0
  Tensor tensor;
  void* manager_ctx;
  void (*deleter)(Managed* self);
};
struct ManagedVersioned {
  Version version;
  void* manager_ctx;
  void (*deleter)(ManagedVersioned* self);
  uint64_t flags;
  Tensor tensor;
};

static_assert(sizeof(Tensor) == 48 && offsetof(Tensor, dtype) == 20 &&
              offsetof(Tensor, shape) == 24 && offsetof(Tensor, byte_offset) == 40);
static_assert(sizeof(Managed) == 64 && offsetof(Managed, manager_ctx) == 48);
static_assert(sizeof(ManagedVersioned) == 80 && offsetof(ManagedVersioned, deleter) == 16 &&
              offsetof(ManagedVersioned, tensor) == 32);

}  // namespace libdl::dlpack
