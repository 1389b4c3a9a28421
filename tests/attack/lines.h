// SPDX-License-Identifier: Apache-2.0

// What generate.py writes into attacks.txt, read.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "values.h"

namespace attack {

struct Line {
  char type;  // 'H' a call as it is meant, 'A' an attack on the one before, 'Q' a function without
              // an error as it is meant, 'G' such a function asked with what is no such handle
  std::string header, function;
  Words words;                   // H, Q, G: its parameters
  Words before;                  // H, Q: a function that is called first, and its parameters
  std::string argument, fault;   // A, G
  int32_t number = 0;            // A: the argument's, or 0 where names alone count
  std::set<std::string> others;  // A: arguments that may be blamed as well
  std::vector<std::pair<size_t, std::string>> changes;  // A
};

std::vector<Line> read_attacks(const std::string& path);

const Function& function_of(const Line& line);

// "add" of "add_into", too.
std::string without_into(const std::string& name);
bool begins(const std::string& text, const char* with);

}  // namespace attack
