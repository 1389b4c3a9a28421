// SPDX-License-Identifier: Apache-2.0

// Foreign code that may write to a storage for a time: a mapping, a NumPy array, a DLPack consumer.
//
// Whether it did write, nobody tells. Where it matters, because a rule has saved the storage's
// value for backward, the bytes are compared by a fingerprint; elsewhere the end of an export
// simply counts as a write. So a plot of a saved value costs a pass over its bytes and no more, and
// a real change of it is found, also while the export still lives.
#pragma once

#include "tensor/tensor.h"

namespace libdl {

// One export, part of what its holder keeps. Stays where it is between begin and end.
struct WritableExport {
  Storage* storage = nullptr;        // kept alive by the holder
  const std::byte* first = nullptr;  // the bytes it can reach
  size_t bytes = 0;
  uint64_t version = 0, fingerprint = 0;
  bool compared = false;  // version and fingerprint are of the bytes as libdl last knew them
  WritableExport *next = nullptr, *previous = nullptr;  // in the storage's list
};

void begin_export(WritableExport& e, const Tensor& x);  // of the bytes that x shows

// Raises the version in the name of `who`, unless the bytes were compared and are the same. May run
// on any thread while others read: packed forms stay for the next exclusive writer, their version
// tells that they are stale.
void end_export(WritableExport& e, const char* who) noexcept;

// A rule is about to save the storage's value while exports live: from here on they are compared.
void compare_exports(Storage& storage);

// Before a saved value is read while exports live: a change of the bytes raises the version.
void check_exports(Storage& storage) noexcept;

// A pointer was given away whose end nobody will tell.
void export_for_good(Storage& storage);

}  // namespace libdl
