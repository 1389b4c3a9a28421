// SPDX-License-Identifier: Apache-2.0

// Exchange of tensors with other libraries without a copy, through DLPack's structs.
#pragma once

#include "tensor/dlpack_abi.h"
#include "tensor/tensor.h"

namespace libdl {

enum class CopyPolicy : int32_t { kIfNeeded, kAlways, kNever };

struct ExportOptions {
  CopyPolicy copy = CopyPolicy::kIfNeeded;
  Device device{0, 0};     // type 0: the tensor's own
  int64_t stream = 0;      // the consumer's; 0: none given, -1: do not wait
  uint32_t max_major = 0;  // the highest version that the consumer knows; 0.0: any
  uint32_t max_minor = 0;
  bool read_only = false;  // the consumer will not write
};

// The struct owns a reference to the storage, not to the tensor; its deleter may run on any thread.
// History is not exported: the caller must make sure that none is lost.
dlpack::ManagedVersioned* to_dlpack(const Tensor& x, const ExportOptions& options);
dlpack::Managed* to_dlpack_unversioned(const Tensor& x, const ExportOptions& options);

// These take ownership of the struct, even when they throw: its deleter runs once, when the storage
// is freed or before they return. Memory that is less aligned than its element type is copied, or
// refused.
Tensor from_dlpack(dlpack::ManagedVersioned* managed, CopyPolicy copy);
Tensor from_dlpack(dlpack::Managed* managed, CopyPolicy copy);

// A view for the duration of a call: shape and strides point into x. If it is for writing, the
// version is raised now.
dlpack::Tensor borrow_dlpack(const Tensor& x, bool for_writing);

// An uninitialised tensor like the prototype: its shape, dtype and device.
dlpack::ManagedVersioned* allocate_dlpack(const dlpack::Tensor& prototype);

}  // namespace libdl
