// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/blas.h"

#include <condition_variable>
#include <mutex>

namespace libdl::kernels::cpu {
namespace {

constexpr int kMostCalls = 32;

// BLAS has one setting for the process, so this state has to be the process's, too.
struct Gate {
  std::mutex mutex;
  std::condition_variable free;
  int calls = 0;
  int host_threads = 1;
};
Gate& gate() {
  static Gate& g = *new Gate;  // never destroyed: calls may come while the process ends
  return g;
}

}  // namespace

BlasCall::BlasCall() {
  Gate& g = gate();
  std::unique_lock lock(g.mutex);
  g.free.wait(lock, [&] { return g.calls < kMostCalls; });
  if (g.calls++ > 0) return;
  g.host_threads = openblas_get_num_threads();
  if (g.host_threads != 1) openblas_set_num_threads(1);
}

BlasCall::~BlasCall() {
  Gate& g = gate();
  const std::lock_guard lock(g.mutex);
  if (--g.calls == 0 && g.host_threads != 1) openblas_set_num_threads(g.host_threads);
  g.free.notify_one();
}

}  // namespace libdl::kernels::cpu
