// SPDX-License-Identifier: Apache-2.0

#include "runtime/host_limits.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/uncancelled.h"

namespace libdl {
namespace {

// The beginning of a small file of /proc or /sys; empty when it is not there. Plain system calls:
// stdio would allocate, and this runs when memory is short.
struct Text {
  char data[4096];

  explicit Text(const char* path) {
    const Uncancelled whole;
    size_t size = 0;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    while (file >= 0 && size < sizeof data - 1) {
      const ssize_t got = read(file, data + size, sizeof data - 1 - size);
      if (got <= 0) break;
      size += static_cast<size_t>(got);
    }
    if (file >= 0) close(file);
    data[size] = 0;
  }
};

// The cgroup of this process for a controller ("" in version 2), or "" if there is none.
std::string cgroup_path(const char* controller) {
  const Text text("/proc/self/cgroup");
  const size_t length = std::strlen(controller);
  for (const char* line = text.data; line && *line;) {
    const char* names = std::strchr(line, ':');
    const char* path = names ? std::strchr(names + 1, ':') : nullptr;
    if (!path) break;
    const char* end = std::strchr(path, '\n');
    const std::string list(names + 1, path);
    const bool matches =
        length == 0
            ? list.empty()
            : ("," + list + ",").find(std::string(",") + controller + ",") != std::string::npos;
    if (matches) return end ? std::string(path + 1, end) : std::string(path + 1);
    line = end ? end + 1 : nullptr;
  }
  return "";
}

// Calls visit(folder) for the process's own cgroup and each of its parents. In a container the
// path may name folders that only the host sees; the mount's root is then the own one.
template <class Visit>
void for_cgroups(const char* mount, const char* controller, Visit visit) {
  std::string path = cgroup_path(controller);
  while (true) {
    visit((mount + path + "/").c_str());
    if (path.empty() || path == "/") return;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

int cgroup_cpus() {
  double cpus = 1e9;
  for_cgroups("/sys/fs/cgroup", "", [&](const std::string& folder) {
    double quota, period;
    if (std::sscanf(Text((folder + "cpu.max").c_str()).data, "%lf %lf", &quota, &period) == 2 &&
        period > 0) {
      cpus = std::min(cpus, quota / period);
    }
  });
  for_cgroups("/sys/fs/cgroup/cpu", "cpu", [&](const std::string& folder) {
    const double quota = std::atof(Text((folder + "cpu.cfs_quota_us").c_str()).data);
    const double period = std::atof(Text((folder + "cpu.cfs_period_us").c_str()).data);
    if (quota > 0 && period > 0) cpus = std::min(cpus, quota / period);
  });
  return static_cast<int>(std::max(1.0, cpus + 0.999));
}

}  // namespace

int available_cpus() {
  int cpus = static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
#ifdef __linux__
  cpu_set_t mask;
  // The main thread's mask: the calling thread may be pinned for reasons of its own.
  if (sched_getaffinity(getpid(), sizeof mask, &mask) == 0) cpus = std::max(1, CPU_COUNT(&mask));
#endif
  return std::min(cpus, cgroup_cpus());
}

size_t available_memory() {
  const Text text("/proc/meminfo");
  const char* line = std::strstr(text.data, "MemAvailable:");
  return line ? std::strtoull(line + 13, nullptr, 10) * 1024 : SIZE_MAX;
}

size_t cgroup_memory_limit() {
  size_t limit = SIZE_MAX;
  const auto read = [&](const std::string& path) {
    const Text text(path.c_str());
    char* end;
    const unsigned long long bytes = std::strtoull(text.data, &end, 10);
    if (end != text.data)
      limit = std::min(limit, static_cast<size_t>(bytes));  // "max" is no number
  };
  for_cgroups("/sys/fs/cgroup", "",
              [&](const std::string& folder) { read(folder + "memory.max"); });
  for_cgroups("/sys/fs/cgroup/memory", "memory",
              [&](const std::string& folder) { read(folder + "memory.limit_in_bytes"); });
  return limit;
}

size_t resident_memory() {
  const Text text("/proc/self/statm");
  const char* second = std::strchr(text.data, ' ');
  return second ? std::strtoull(second, nullptr, 10) * static_cast<size_t>(sysconf(_SC_PAGESIZE))
                : 0;
}

}  // namespace libdl
