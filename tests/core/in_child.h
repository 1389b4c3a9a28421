// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <functional>

// Runs body in a forked child, which must end by itself within some seconds; its exit status, or
// 1000 and the signal that ended it.
inline int in_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(body());
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}
