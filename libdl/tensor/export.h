// SPDX-License-Identifier: Apache-2.0

// Exports: foreign code that may write to a storage for a time, such as a mapping, a NumPy array or
// a DLPack consumer.
//
// Nothing reports whether it did write. If a rule has saved the storage's value for backward, the
// bytes are compared by a fingerprint; otherwise the end of an export simply counts as a write. So
// plotting a saved value costs one pass over its bytes, and a real change is detected, even while
// the export is still open.
#pragma once

#include "tensor/tensor.h"

namespace libdl {

// One export, embedded in its holder. It must not move between begin and end.
struct WritableExport {
  Storage* storage = nullptr;        // kept alive by the holder
  const std::byte* first = nullptr;  // the bytes it can reach
  size_t bytes = 0;
  uint64_t version = 0, fingerprint = 0;
  bool compared = false;  // version and fingerprint are of the bytes as libdl last knew them
  WritableExport *next = nullptr, *previous = nullptr;  // in the storage's list
};

void begin_export(WritableExport& e, const Tensor& x);  // of the bytes that x shows

// Raises the version in the name of `who`, unless the bytes were compared and are unchanged. May
// run on any thread while others read: packed forms are left to the next exclusive writer, and
// their version shows that they are stale.
void end_export(WritableExport& e, const char* who) noexcept;

// A rule is about to save the storage's value while exports live: from here on they are compared.
void compare_exports(Storage& storage);

// Before a saved value is read while exports live: a change of the bytes raises the version.
void check_exports(Storage& storage) noexcept;

// A pointer was given away whose end will never be reported.
void export_for_good(Storage& storage);

}  // namespace libdl
