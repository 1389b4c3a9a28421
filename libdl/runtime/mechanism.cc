// SPDX-License-Identifier: Apache-2.0

#include "runtime/mechanism.h"

#include <algorithm>
#include <cstdlib>

namespace libdl {

namespace {

constexpr std::string_view kNames[] = {"allocator", "panels", "sparse_rows",
                                       "forms",     "fusion", "growing"};

// Calls f with each name in LIBDL_DISABLE, which commas separate, until it returns true.
template <class F>
bool any_name(F f) {
  const char* const text = std::getenv("LIBDL_DISABLE");
  for (std::string_view rest = text ? text : ""; !rest.empty();) {
    const size_t comma = std::min(rest.find(','), rest.size());
    if (f(rest.substr(0, comma))) return true;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return false;
}

}  // namespace

bool left_out_by_name(std::string_view name) {
  return any_name([&](std::string_view text) { return text == name; });
}

void for_each_other_name(void (*f)(void* ctx, std::string_view name), void* ctx) {
  any_name([&](std::string_view text) {
    if (std::ranges::find(kNames, text) == std::end(kNames)) f(ctx, text);
    return false;
  });
}

bool left_out(Mechanism mechanism) {
  static const uint32_t named = [] {
    uint32_t all = 0;
    for (uint32_t i = 0; i < std::size(kNames); ++i)
      if (left_out_by_name(kNames[i])) all |= 1u << i;
    return all;
  }();
  return named >> static_cast<int32_t>(mechanism) & 1;
}

}  // namespace libdl
