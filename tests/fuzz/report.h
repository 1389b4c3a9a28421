// SPDX-License-Identifier: Apache-2.0

// What was asked for, and the table of what came of it.
#pragma once

#include "library.h"

namespace fuzz {

struct Options {
  std::string table, fixtures, rare, out = ".";
  int64_t sequences = 2000, jobs = 1, least = 0, only = -1, failures = 5;
  uint64_t seed = 1;
};

std::string text_of(const std::string& path);
// How often each function succeeded; false if one that is not listed did so too seldom.
bool print_table(const Library& library, const Options& options, double seconds);
// A line of the table that `make attack` ends with.
void tell_figure(const Library& library, const Options& options, size_t findings);

}  // namespace fuzz
