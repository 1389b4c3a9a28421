// SPDX-License-Identifier: Apache-2.0

// A sequence of calls as data: it is run, written down before each call for whoever has to know
// what killed the process, cut smaller, and printed as C.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fuzz {

// The value of one parameter.
enum class Is : int32_t {
  null,
  integer,     // i
  real,        // f
  variable,    // variable i
  out,         // variable i is made here; -1: a place of 256 bytes
  integers,    // ints: a pointer to them
  reals,       // f: a pointer to it
  list,        // items: variables, NULLs or texts
  text,        // text
  device,      // ints: type and index
  options,     // 512 bytes of zeros that begin with the number i
  callback,    // text: a callback of host_fixtures.h
  made,        // text: a maker of host_fixtures.h, called with fixture i
  place,       // text: a place of host_fixtures.h
  fixture,     // fixture i
  op,          // text: the number of the operator of that name
  descriptor,  // of the fixtures' file
  values,      // items: each a value
  value,       // i: its type; items: what it holds and, of arrays and texts, their count
  results,     // ints: the variables of a generic call's results
};

struct Operand {
  Is is = Is::null;
  int64_t i = 0;
  double f = 0;
  std::vector<int64_t> ints = {};
  std::vector<Operand> items = {};
  std::string text = {};
};

struct Statement {
  int32_t function = 0;
  int32_t result = -1;   // the variable that a returned handle becomes
  bool hostile = false;  // an argument is bad on purpose
  std::vector<Operand> arguments;
};

using Program = std::vector<Statement>;

// The variables that a statement reads, and those that it makes.
void read_by(const Operand& operand, std::vector<int64_t>* variables);
void history_text(const Statement& statement, std::vector<int64_t>* variables);

std::string written(const Statement& statement);
// Moves *at behind the statement.
Statement read(const char** at);

}  // namespace fuzz
