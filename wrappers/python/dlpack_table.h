// SPDX-License-Identifier: Apache-2.0

// The part of DLPack 1.3 that only Python needs, written down from its specification: the versioned
// struct as far as its owner must see it, and the table of C functions that a tensor class offers.
#ifndef LIBDL_PYTHON_DLPACK_TABLE_H
#define LIBDL_PYTHON_DLPACK_TABLE_H

#include <stdint.h>

typedef struct VersionedHead {  // the beginning of DLManagedTensorVersioned
  uint32_t major, minor;
  void* manager_ctx;
  void (*deleter)(void* self);
} VersionedHead;

typedef struct UnversionedTail {  // what follows DLTensor in DLManagedTensor
  void* manager_ctx;
  void (*deleter)(void* self);
} UnversionedTail;

enum { SIZE_OF_DL_TENSOR = 48 };

typedef void (*ReportError)(void* error_ctx, const char* kind, const char* message);

typedef struct ExchangeTable {
  uint32_t major, minor;
  struct ExchangeTable* previous;
  int (*allocate)(void* prototype, void** out, void* error_ctx, ReportError report);
  int (*from_object)(void* object, void** out);
  int (*to_object)(void* managed, void** out);  // steals
  int (*borrow)(void* object, void* dl_tensor);
  int (*current_stream)(int32_t device_type, int32_t device_id, void** out);
} ExchangeTable;

#endif
