// SPDX-License-Identifier: Apache-2.0

// How tests steer the simulated driver; found in it by dlsym.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

// Everything anew: no failures planned, no context lost, this seed for the order in which streams'
// work runs.
void libdl_simulated_reset(uint64_t seed);

// The n-th driver call from now on (1: the next) fails with this CUresult, and so do all later ones
// if it sticks. late: the call succeeds, and the failure comes out of the next wait.
void libdl_simulated_fail(int64_t n, int result, int sticks, int late);
// The next launch succeeds, but its kernel does not run: where it would have, its device fails with
// this CUresult, which then comes out of every later call on that device's context.
void libdl_simulated_fault(int result);
// Driver calls so far.
int64_t libdl_simulated_calls();
// Of one function ("cuMemAlloc"); with LIBDL_SIMULATED_NOOP set they are counted too, and nothing
// is queued or run: what is left is the host's own time.
int64_t libdl_simulated_calls_of(const char* name);

// Waits of the host for a stream, an event or the device so far.
int64_t libdl_simulated_waits();

// What the machine has; before the driver is opened, else through LIBDL_SIMULATED_DEVICES,
// LIBDL_SIMULATED_VERSION and LIBDL_SIMULATED_MEMORY.
void libdl_simulated_memory(size_t bytes);

// Accesses that no event orders, and uses of memory that is free or nobody's.
int64_t libdl_simulated_reports();
const char* libdl_simulated_last_report();

// Launches of a kernel so far; NULL: of all.
int64_t libdl_simulated_launches(const char* kernel);

// Products by the simulated cuBLASLt so far.
int64_t libdl_simulated_products();
}
