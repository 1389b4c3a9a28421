// SPDX-License-Identifier: Apache-2.0

// The parts of the words that stand for parameters, "t:f64:2,3": what attack and fuzz both read.
#pragma once

#include <errno.h>
#include <libdl/libdl.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace words {

// An error of the program itself: without what it stands on, no result means anything.
[[noreturn]] inline void stop(const std::string& why) {
  std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, why.c_str());
  std::fflush(nullptr);
  std::_Exit(3);
}

inline std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) parts.push_back(part);
  return parts;
}

inline std::vector<int64_t> integers(const std::string& text) {
  std::vector<int64_t> all;
  for (const std::string& part : split(text, ','))
    all.push_back(std::strtoll(part.c_str(), nullptr, 10));
  return all;
}

inline libdl_dtype dtype_of(const std::string& name) {
  static const std::map<std::string, libdl_dtype> names = {
      {"bool", LIBDL_DTYPE_BOOL},   {"i64", LIBDL_DTYPE_INT64},       {"f64", LIBDL_DTYPE_FLOAT64},
      {"f32", LIBDL_DTYPE_FLOAT32}, {"c128", LIBDL_DTYPE_COMPLEX128}, {"u64", LIBDL_DTYPE_UINT64},
      {"i32", LIBDL_DTYPE_INT32}};
  const auto found = names.find(name);
  if (found == names.end()) stop("no dtype " + name);
  return found->second;
}

}  // namespace words
