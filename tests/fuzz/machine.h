// SPDX-License-Identifier: Apache-2.0

// Runs statements: keeps what they make, lets go of it at the end, and tells what is wrong.
#pragma once

#include <memory>

#include "library.h"

namespace fuzz {

enum class Ran { skipped, refused, good };

class Machine {
 public:
  explicit Machine(const Library& library) : library_(library) {}

  // Before the first statement of a program.
  void begin();
  Ran run(const Statement& statement);
  // Puts everything back, lets go of what is left, and compares with the beginning.
  void finish();
  // What no sequence may come to; "" while all is well.
  const std::string& wrong() const { return wrong_; }

  // A variable that nothing has written yet.
  int32_t variable();
  const std::vector<int32_t>& alive(Kind kind) const { return alive_[kind]; }
  bool is_alive(int64_t variable) const { return variables_[at(variable)].alive; }
  void* handle(int32_t variable) const { return variables_[at(variable)].value.p; }
  int32_t fixture();  // a ctx that nobody has yet, or -1
  // What the function that ran last was refused for; LIBDL_OK if it was not.
  libdl_error_code refusal() const { return refusal_; }

 private:
  struct Variable {
    Kind kind = kKinds;
    Raw value = {};
    bool alive = false;
  };
  struct Place {  // an output
    int64_t variable;
    char* bytes;
  };
  static size_t at(int64_t variable) { return static_cast<size_t>(variable); }
  // False if it stands on a variable that is not there.
  bool build(const Operand& operand, Raw* out);
  bool build_list(const Operand& operand, Raw* out);
  bool build_values(const Operand& operand, Raw* out);
  void* block(const void* data, size_t bytes);
  void* output(int64_t variable, size_t bytes);
  void live(int32_t variable, Raw value);
  void dead(int64_t variable);
  void declare(const Statement& statement);
  void take_outputs(const Statement& statement);
  void take_error(const Info& f, libdl_error* error);
  void fail(const std::string& why);

  const Library& library_;
  std::vector<Variable> variables_;
  std::vector<int32_t> alive_[kKinds];
  std::vector<std::unique_ptr<char[]>> memory_;
  std::vector<Place> slots_;
  int64_t state_ = -1;  // the state that the thread uses
  int32_t fixtures_ = 0;
  std::vector<int32_t> expected_;  // fixtures whose destroy runs once
  std::vector<int32_t> possible_;  // or once at most
  bool process_ = false;           // something of the process was changed
  int64_t before_[4] = {};
  libdl_error_code refusal_ = 0;
  std::string wrong_;
};

}  // namespace fuzz
