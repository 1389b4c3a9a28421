// SPDX-License-Identifier: Apache-2.0

// Lets the n-th allocation fail: the library's own (libdl_memory_fail_after: tensor memory and
// cells) and operator new's, which this program replaces.
#pragma once

#include <libdl/libdl.h>

#include <cstdint>

namespace failures {

enum class Where { kLibrary, kNew };

// Fails the n-th allocation of this thread from now, counted from 0, and with `all` every later
// one.
void arm(Where where, int64_t n, bool all);
// Off again. False if the call needed fewer allocations than n, so that none failed.
bool disarm();
// How many failures have been reached so far.
int64_t failed_allocations();

}  // namespace failures
