// SPDX-License-Identifier: Apache-2.0

#include "machine.h"
#include "simulation.h"

using namespace simulation;

void libdl_simulated_reset(uint64_t seed) {
  Machine& m = machine();
  const std::lock_guard lock(m.mutex);
  m.dice.seed(seed);
  m.calls = m.fail_at = m.reports = 0;
  m.stuck = m.late = m.fault = 0;
  for (const auto& context : m.contexts) context->lost = 0;
  m.report.clear();
  m.launches.clear();
  for (auto& [name, calls] : m.calls_of) calls = 0;
  m.all_launches = 0;
}
void libdl_simulated_fail(int64_t n, int result, int sticks, int late) {
  Machine& m = machine();
  const std::lock_guard lock(m.mutex);
  m.fail_at = n > 0 ? m.calls + n : 0;
  m.fail_result = result;
  m.fail_sticks = sticks != 0;
  m.fail_late = late != 0;
  if (n <= 0) m.stuck = m.late = 0;
}
void libdl_simulated_fault(int result) {
  const std::lock_guard lock(machine().mutex);
  machine().fault = result;
}
int64_t libdl_simulated_calls() { return machine().calls; }
int64_t libdl_simulated_calls_of(const char* name) {
  const std::lock_guard lock(machine().mutex);
  return calls_of(name);
}
void libdl_simulated_memory(size_t bytes) { machine().total = bytes; }
int64_t libdl_simulated_waits() { return machine().waits; }
int64_t libdl_simulated_reports() { return machine().reports; }
const char* libdl_simulated_last_report() { return machine().report.c_str(); }
int64_t libdl_simulated_launches(const char* kernel) {
  return kernel ? machine().launches[kernel] : machine().all_launches;
}
