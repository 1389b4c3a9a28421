// SPDX-License-Identifier: Apache-2.0

// The processors and memory that the operating system grants this process.
#pragma once

#include <cstddef>

namespace libdl {

// Processors in the main thread's affinity mask, limited by the cgroup's quota (rounded up). At
// least 1.
int available_cpus();

// Bytes that the machine can still allocate without swapping (MemAvailable), or SIZE_MAX if that is
// unknown. Takes some tens of microseconds.
size_t available_memory();

// The memory limit of the process's cgroup (version 1 or 2, the smallest on the path to the root),
// or SIZE_MAX.
size_t cgroup_memory_limit();

// Resident memory of this process, in bytes.
size_t resident_memory();

}  // namespace libdl
