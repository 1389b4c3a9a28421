// SPDX-License-Identifier: Apache-2.0

// What the operating system lets this process have: processors and memory.
#pragma once

#include <cstddef>

namespace libdl {

// Processors of the main thread's affinity mask, at most what the cgroup's quota pays for (rounded
// up). At least 1.
int available_cpus();

// Bytes that the machine could still give out without swapping (MemAvailable), or SIZE_MAX where
// nobody tells. Costs some tens of microseconds.
size_t available_memory();

// The memory limit of the process's cgroup (version 1 or 2, the smallest on the path to the root),
// or SIZE_MAX.
size_t cgroup_memory_limit();

// Bytes of this process that are resident.
size_t resident_memory();

}  // namespace libdl
