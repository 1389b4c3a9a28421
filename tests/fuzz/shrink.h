// SPDX-License-Identifier: Apache-2.0

// Runs sequences in child processes, so that one that dies is only counted, and makes a failing one
// smaller as long as it fails in the same way.
#pragma once

#include <functional>

#include "library.h"

namespace fuzz {

constexpr size_t kMostFunctions = 2048, kTrace = 4 << 20;

// What children tell, also those that died.
struct Shared {
  int64_t calls[kMostFunctions], good[kMostFunctions];
  int64_t arguments, hostile, sequences;
  int64_t current[64];  // a worker's sequence
  int64_t checked[64];  // up to which there is no leak
  int32_t running[64];  // the function that a worker, or child 0, calls
  char why[512];        // what a child found wrong
  size_t traced;        // bytes of trace
  char trace[kTrace];
};
extern Shared* shared;

// How a child ended.
struct End {
  std::string how;  // "" for well
  int32_t running = -1;
  bool same(const End& other) const;
};

constexpr int kWrong = 41, kLeak = 42;  // exit statuses
extern unsigned seconds;                // that a sequence may take, which takes below a millisecond

// Whether something was lost, where a leak sanitizer tells.
bool leaks();
// Ends the process with what is wrong.
[[noreturn]] void end_wrong(const std::string& why);
// What every child does first: a folder to write in, one thread, a limit.
void settle(const Library& library, const std::string& folder);
End in_child(const std::function<void()>& body, bool loud);
End ended(int status, int32_t running);

// Runs the program in a child.
End fails(const Library& library, const Program& program, const std::string& folder, bool loud);
Program shrunk(const Library& library, Program program, const End& end, const std::string& folder);

}  // namespace fuzz
