// SPDX-License-Identifier: Apache-2.0

// One call, prepared: its parameters, where it writes, and what it must leave as it was if it
// fails.
#pragma once

#include <functional>
#include <memory>

#include "lines.h"

namespace attack {

// Outputs, which nobody but a call that succeeds writes.
class Places {
 public:
  Raw add(const std::string& kind);
  bool touched() const;
  void release();  // what the call has written there
  // Whether a scope that owns would own some of it, and that it does.
  bool are_owned() const;
  void leave_owned();
  libdl_tensor* tensor(size_t k) const;

 private:
  std::vector<std::pair<std::string, std::unique_ptr<std::vector<unsigned char>>>> slots_;
};

// Its destinations are like these tensors.
using Models = std::vector<libdl_tensor*>;
Models models_of(const Line& happy, Values* keep);

class Call {
 public:
  // Of the function that the happy line calls, with other words perhaps.
  Call(const Line& happy, const Words& words, const Models& models);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  // Closes what it opened. How often a destroy ran is known afterwards, by wrongly_destroyed.
  ~Call();

  // Whether its words exist together: there may be no such destination.
  bool possible() const { return possible_; }
  // The error, which is the caller's; other handles that it returns are given up.
  libdl_error* run();
  bool wrote() const { return slots_.touched(); }
  // Of its arguments, or the default one.
  libdl_generator* generator() const { return generators_.front(); }
  bool makes_tensors() const { return slots_.are_owned(); }
  // What it has made belongs to the scope that is open.
  void leave_results() { slots_.leave_owned(); }
  // What a failed call must not change: parameters, their counts, the thread's and the process's
  // settings, how much lives.
  std::string seen() const;

 private:
  const Function& function_;
  Values values_;
  Places slots_;
  std::vector<Raw> parameters_;
  std::vector<libdl_generator*> generators_;
  bool possible_ = true;
  bool given_up_ = false;  // a ctx, to be destroyed once
};

// Whether a ctx was given up in the last call that had one, but its destroy did not run once.
bool wrongly_destroyed();

// Runs f; inside a pass, if the line's function is one that wants a running one.
void where_it_belongs(const Line& line, const std::function<void()>& f);

}  // namespace attack
