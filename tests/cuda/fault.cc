// SPDX-License-Identifier: Apache-2.0

#include "fault.h"

#include <cuda.h>
#include <setjmp.h>
#include <signal.h>

#include <cstdint>
#include <cstdio>

namespace emulator {

namespace {

thread_local bool running = false;
sigjmp_buf frame;  // of the work that runs
Fault found;
struct sigaction before;
bool (*asked)(const void* address);

void on_signal(int, siginfo_t* info, void*) {
  if (running && asked(info->si_addr)) return;
  if (running) fail({CUDA_ERROR_ILLEGAL_ADDRESS, info->si_addr});
  sigaction(SIGSEGV, &before, nullptr);  // the access is tried again, and is the host's own
}

}  // namespace

Fault guarded(const std::function<void()>& work, bool (*touched)(const void* address)) {
  asked = touched;
  struct sigaction ours = {};
  ours.sa_sigaction = on_signal;
  ours.sa_flags = SA_SIGINFO | SA_NODEFER;  // so that a jump out of the handler leaves no mask
  sigaction(SIGSEGV, &ours, &before);
  found = {};
  if (sigsetjmp(frame, 0) == 0) {
    running = true;
    work();
  }
  running = false;
  sigaction(SIGSEGV, &before, nullptr);
  return found;
}

void fail(const Fault& fault) {
  found = fault;
  siglongjmp(frame, 1);
}

}  // namespace emulator

// -- misaligned addresses -------------------------------------------------------------------------

// What the compiler knows of an access that it checks (-fsanitize=alignment); the host's processor
// would not mind.
struct Mismatch {
  const char* file;
  uint32_t line, column;
  const void* type;
  unsigned char log_alignment, kind;
};

extern "C" void __ubsan_handle_type_mismatch_v1(const Mismatch* where, uintptr_t address) {
  static char text[200];
  std::snprintf(text, sizeof text, "%p is no multiple of %d, %s:%u",
                reinterpret_cast<void*>(address), 1 << where->log_alignment, where->file,
                where->line);
  emulator::fail({CUDA_ERROR_MISALIGNED_ADDRESS, nullptr, text});
}
