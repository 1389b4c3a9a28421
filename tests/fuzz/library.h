// SPDX-License-Identifier: Apache-2.0

// What table.py knows of the library's functions, read.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "calls.h"
#include "program.h"
#include "words.h"

namespace fuzz {

using words::stop;

// Kinds of handles, in the order of KINDS in tests/samples/rows.py.
enum Kind : int32_t {
  kTensor,
  kList,
  kError,
  kGenerator,
  kState,
  kStream,
  kEvent,
  kFile,
  kNode,
  kHook,
  kText,
  kMapping,
  kDlpack,
  kDlpackOld,
  kOp,
  kKinds,
};  // clang-format off
Kind kind_of(const std::string& name);  // kKinds if it is none

// What an argument is made of.
struct Word {
  std::string kind;  // "t", "ints", "h", ...
  std::string rest;  // behind the colon
  Operand operand;   // where nothing depends on the sequence
  bool constant = false;
  bool fresh = false;           // t, leaf: nobody else's
  libdl_dtype dtype = 0;        // t, leaf, sparse
  std::vector<int64_t> shape;   // likewise
  Kind handle = kKinds;         // h, out
  std::vector<Word> items;      // list
};

struct Parameter {
  std::string type;
  Kind handle = kKinds;
  bool nullable = false;
  std::vector<Word> good;  // any of them
};

using Fault = std::vector<std::pair<size_t, Word>>;  // by parameter

struct Info {
  std::string name;
  Raw (*call)(const Raw*) = nullptr;
  bool fallible = false;  // returns an error or NULL
  Kind result = kKinds;   // a handle that it returns
  bool gives_up = false;  // its first argument
  int32_t wants = -1;     // a function that is called before, most of the time
  int32_t seldom = 1;     // called once where others are called so often; 0: by the fuzzer alone
  std::vector<Parameter> parameters;
  std::vector<std::vector<Fault>> faults;  // by the first parameter that each changes
  // Of an operator:
  std::string op;
  size_t results = 0;
  std::vector<std::pair<std::string, size_t>> spelled;  // an argument's kind and first parameter
  std::vector<Word> models;                             // what its destinations are like
  bool is_into() const { return !op.empty() && parameters.back().type == "libdl_tensor *"; }
};

struct Library {
  explicit Library(const std::string& path);
  const Info& operator[](int32_t k) const { return functions[static_cast<size_t>(k)]; }
  int32_t find(const std::string& name) const;

  std::vector<Info> functions;
  std::vector<int32_t> into, plain;  // operators
  int32_t release[kKinds];           // the function that gives a handle up; -1: none
 private:
  void read(const std::string& path);
  std::map<std::string, int32_t> numbers_;
};

Word parsed(const std::string& text);

}  // namespace fuzz
