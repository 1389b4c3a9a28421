// SPDX-License-Identifier: Apache-2.0

#include "shrink.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "machine.h"

extern "C" {
// There with a sanitizer.
__attribute__((weak)) int __lsan_do_recoverable_leak_check();
// A refused allocation is an answer.
__attribute__((visibility("default"))) const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}
}

namespace fuzz {

Shared* shared;
unsigned seconds = 20;

bool leaks() { return __lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check(); }

void end_wrong(const std::string& why) {
  std::snprintf(shared->why, sizeof shared->why, "%s", why.c_str());
  std::fflush(nullptr);
  _exit(kWrong);
}

void settle(const Library& library, const std::string& folder) {
  if (chdir(folder.c_str()) != 0) stop("cannot enter " + folder);
  library[library.find("fixture_end_process")].call(nullptr);
}

End ended(int status, int32_t running) {
  End end;
  end.running = running;
  if (WIFSIGNALED(status))
    end.how = WTERMSIG(status) == SIGALRM ? "takes longer than " + std::to_string(seconds) + " s"
                                          : "dies of signal " + std::to_string(WTERMSIG(status));
  else if (WEXITSTATUS(status) == kWrong)
    end.how = shared->why;
  else if (WEXITSTATUS(status) == kLeak)
    end.how = "loses memory";
  else if (status)
    end.how = "ends with status " + std::to_string(WEXITSTATUS(status));
  return end;
}

// Numbers in it may change while the sequence becomes smaller.
bool End::same(const End& other) const {
  const auto words = [](const std::string& text) {
    return text.substr(0, text.find_first_of("0123456789-"));
  };
  const bool died = how.starts_with("dies") || how.starts_with("ends");
  if (died && (how != other.how || running != other.running)) return false;
  return how.empty() == other.how.empty() && words(how) == words(other.how);
}

End in_child(const std::function<void()>& body, bool loud) {
  std::fflush(nullptr);
  shared->running[0] = -1, shared->why[0] = 0;
  const pid_t pid = fork();
  if (!pid) {
    const int nowhere = open("/dev/null", O_WRONLY);
    if (!loud) dup2(nowhere, 2), dup2(nowhere, 1);
    alarm(seconds < 5 ? seconds : 5);
    body();
    std::fflush(nullptr);
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return ended(status, shared->running[0]);
}

End fails(const Library& library, const Program& program, const std::string& folder, bool loud) {
  return in_child(
      [&] {
        settle(library, folder);
        {  // what it knows of lost handles would keep them
          Machine machine(library);
          machine.begin();
          for (const Statement& statement : program) {
            shared->running[0] = statement.function;
            machine.run(statement);
            if (!machine.wrong().empty()) end_wrong(machine.wrong());
          }
          shared->running[0] = -1;
          machine.finish();
          if (!machine.wrong().empty()) end_wrong(machine.wrong());
        }
        if (leaks()) _exit(kLeak);
      },
      loud);
}

namespace {

struct Shrinking {
  const Library& library;
  const End& end;
  const std::string& folder;

  bool still_fails(const Program& program) const {
    return fails(library, program, folder, false).same(end);
  }
};

// Leaves out half, a quarter, ... and single statements, until nothing more can go.
Program with_fewer(const Shrinking& by, Program program) {
  for (size_t piece = (program.size() + 1) / 2; piece; piece = piece > 1 ? (piece + 1) / 2 : 0) {
    for (bool smaller = true; smaller;) {
      smaller = false;
      for (size_t first = program.size(); first > 0;) {
        const size_t begin = first > piece ? first - piece : 0;
        Program less(program.begin(), program.begin() + static_cast<std::ptrdiff_t>(begin));
        less.insert(less.end(), program.begin() + static_cast<std::ptrdiff_t>(first),
                    program.end());
        first = begin;
        if (!by.still_fails(less)) continue;
        program = less, smaller = true;
      }
      if (piece > 1) break;
    }
  }
  return program;
}

// Arguments that an older variable replaces as well, so that the calls that made theirs may go.
Program with_older(const Shrinking& by, Program program) {
  std::vector<int64_t> older;
  for (size_t at = 0; at < program.size(); history_text(program[at++], &older)) {
    for (size_t argument = 0; argument < program[at].arguments.size(); ++argument) {
      for (const int64_t variable : older) {
        const Operand& given = program[at].arguments[argument];
        if (given.is != Is::variable || given.i <= variable) break;
        Program other = program;
        other[at].arguments[argument].i = variable;
        if (by.still_fails(other)) program = other;
      }
    }
  }
  return program;
}

}  // namespace

Program shrunk(const Library& library, Program program, const End& end, const std::string& folder) {
  const Shrinking by{library, end, folder};
  return with_fewer(by, with_older(by, with_fewer(by, std::move(program))));
}

}  // namespace fuzz
