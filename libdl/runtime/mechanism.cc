// SPDX-License-Identifier: Apache-2.0

#include "runtime/mechanism.h"

#include <algorithm>
#include <cstdlib>

namespace libdl {

// Names with commas between.
bool left_out_by_name(std::string_view name) {
  const char* const text = std::getenv("LIBDL_DISABLE");
  for (std::string_view rest = text ? text : ""; !rest.empty();) {
    const size_t comma = std::min(rest.find(','), rest.size());
    if (rest.substr(0, comma) == name) return true;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return false;
}

bool left_out(Mechanism mechanism) {
  static const uint32_t named = [] {
    static constexpr std::string_view kNames[] = {"allocator", "panels", "sparse_rows",
                                                  "forms",     "fusion", "growing"};
    uint32_t all = 0;
    for (uint32_t i = 0; i < std::size(kNames); ++i)
      if (left_out_by_name(kNames[i])) all |= 1u << i;
    return all;
  }();
  return named >> static_cast<int32_t>(mechanism) & 1;
}

}  // namespace libdl
