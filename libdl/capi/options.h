// SPDX-License-Identifier: Apache-2.0

// Sized option structs: an older program's smaller struct leaves the rest zero; a newer program's
// larger one is accepted as long as the members that this version does not know are zero.
#pragma once

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace libdl::capi {

template <class T>
T read_options(const char* function, const T* source, const char* name = "options") {
  T options{};
  if (!source) return options;
  const uint32_t size = source->struct_size;
  if (size < sizeof source->struct_size)
    fail_argument(LIBDL_ERROR_OPTION, function, name, "has struct_size " + std::to_string(size),
                  "sizeof of the struct");
  const char* const bytes = reinterpret_cast<const char*>(source);
  for (size_t i = sizeof(T); i < size; ++i)
    if (bytes[i])
      fail_argument(LIBDL_ERROR_OPTION, function, name,
                    "sets an option at byte " + std::to_string(i), "options of version 0.1 only");
  // No version's struct ends inside a field: its size is a multiple of the alignment.
  std::memcpy(&options, source, std::min<size_t>(size / alignof(T) * alignof(T), sizeof(T)));
  options.struct_size = sizeof(T);
  return options;
}

}  // namespace libdl::capi
