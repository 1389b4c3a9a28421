// SPDX-License-Identifier: Apache-2.0

// Tests that `make attack` runs at their whole size and tells the results of; elsewhere they run at
// a part of it.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

namespace libdl::test {

inline bool is_whole() { return std::getenv("LIBDL_WHOLE"); }
inline int64_t of_whole(int64_t size) { return is_whole() ? size : size / 10; }

// What chooses a part of many tests that are alike; make takes it from the commit's id.
inline int64_t turn() {
  const char* const given = std::getenv("LIBDL_TURN");
  return given ? std::strtoll(given, nullptr, 10) : 0;
}

// Of many things that are alike one in `share`, with each commit others; at the whole size all.
inline bool in_turn(int64_t number, int64_t share) {
  return is_whole() || number % share == turn() % share;
}

// A line of the table that `make attack` ends with.
inline void figure(const std::string& what, const std::string& value) {
  if (const char* const path = std::getenv("LIBDL_FIGURES")) {
    std::ofstream(path, std::ios::app) << what << '\t' << value << '\n';
  }
}

}  // namespace libdl::test
