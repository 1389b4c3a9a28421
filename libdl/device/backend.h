// SPDX-License-Identifier: Apache-2.0

// The tables that plugins fill in: a kind of device, or a provider that does some of its work. The
// tables of the CPU and of meta are part of the core; a plugin returns its own from its exported
// functions. They are plain C structs that only grow at the end, each beginning with its size. Even
// so, core and plugin must come from the same build: the build ids are compared.
//
// Functions that can fail return NULL, or an error that the caller then owns. Device numbers have
// been checked. Only the functions of which a comment says so may be NULL. Errors of queued work
// are reported by the next synchronisation.
#pragma once

#include <libdl/device.h>
#include <libdl/error.h>

#include <cstddef>
#include <cstdint>

#include "kernels/args.h"

namespace libdl {

using Kernel = void (*)(kernels::Context* context, const void* args);

enum class KernelId : int32_t {
#define KERNEL(name, Args) name,
#include "kernels/kernels.def"
#undef KERNEL
  count
};
constexpr int32_t kKernels = static_cast<int32_t>(KernelId::count);

struct DeviceProperties {
  uint32_t struct_size;
  char name[128];
  int64_t total_memory;                        // bytes
  int64_t free_memory;                         // bytes, at the moment
  int32_t processors;                          // that run threads or blocks in parallel
  int32_t capability_major, capability_minor;  // of the instruction set; 0 on the CPU
};

// The core's functions for a plugin.
struct BackendHost {
  uint32_t struct_size;
  const char* build_id;
  libdl_error* (*error)(libdl_error_code code, const char* message);
  void (*release)(libdl_error* error);
  void (*warn)(const char* message);
};

struct Backend {
  uint32_t struct_size;
  int32_t device_type;
  const char* name;  // "cuda"
  const char* build_id;
  int32_t kernel_count;
  const Kernel* kernels;  // by KernelId; NULL for each that it does not have

  libdl_error* (*device_count)(int32_t* count);
  libdl_error* (*properties)(int32_t device, DeviceProperties* properties);

  // Memory. With granule 0 the allocator takes whole segments with `allocate`; else it reserves
  // addresses and commits memory to them, in pieces of a multiple of the granule that are
  // decommitted whole. The first five may be NULL: as with granule 0. `reserve` and `allocate` set
  // *data to NULL when there is no more; that is not an error. All are NULL for the CPU, which has
  // its own allocator.
  size_t (*granule)(int32_t device);
  libdl_error* (*reserve)(int32_t device, size_t bytes, void** data);
  libdl_error* (*commit)(int32_t device, void* at, size_t bytes, size_t piece, int32_t* granted);
  void (*decommit)(int32_t device, void* at, size_t bytes);
  void (*unreserve)(int32_t device, void* data, size_t bytes);
  libdl_error* (*allocate)(int32_t device, size_t bytes, void** data);
  void (*free)(int32_t device, void* data);

  // Queued on a native stream; either side may be the host's memory.
  libdl_error* (*copy)(int32_t device, void* to, const void* from, size_t bytes, void* stream);
  libdl_error* (*fill)(int32_t device, void* to, int32_t byte, size_t bytes, void* stream);

  // Native streams and events. NULL is the device's default stream.
  libdl_error* (*stream_create)(int32_t device, int32_t priority, void** stream);
  void (*stream_destroy)(int32_t device, void* stream);
  libdl_error* (*stream_query)(int32_t device, void* stream, int32_t* done);
  libdl_error* (*stream_synchronize)(int32_t device, void* stream);
  libdl_error* (*device_synchronize)(int32_t device);
  libdl_error* (*event_create)(int32_t device, int32_t timing, void** event);
  void (*event_destroy)(int32_t device, void* event);
  libdl_error* (*event_record)(int32_t device, void* event, void* stream);
  libdl_error* (*stream_wait)(int32_t device, void* stream, void* event);
  libdl_error* (*event_query)(int32_t device, void* event, int32_t* done);
  libdl_error* (*event_synchronize)(int32_t device, void* event);
  libdl_error* (*event_elapsed)(int32_t device, void* first, void* second, double* milliseconds);

  // What finished kernels have found wrong with their values, such as an index out of range: one
  // device error, of this stream if it has any, else of another. Each is told once. Waits do not
  // tell them: some are the allocator's own, which has nobody to tell. NULL if kernels never report
  // an error.
  libdl_error* (*device_error)(int32_t device, void* stream);

  // Pinned memory of the host, which the device copies from and to while the host goes on; *data is
  // NULL when there is no more. A backend that has it takes up to 64 kB of other memory into its
  // own queue before `copy` returns. NULL if there is no such memory.
  libdl_error* (*host_allocate)(int32_t device, size_t bytes, void** data);
  void (*host_free)(int32_t device, void* data);
};

// One kernel of a provider, for the launches that it serves. `serves` only looks at the arguments
// and costs almost nothing; every launch that it accepts is done by `run`, which must follow the
// rules in kernels/args.h.
struct ProvidedKernel {
  bool (*serves)(const kernels::Context* context, const void* args);  // NULL: every launch
  Kernel run;                                                         // NULL: it has none
};

struct Provider {
  uint32_t struct_size;
  int32_t device_type;
  const char* name;  // "onednn"
  const char* build_id;
  int32_t kernel_count;
  const ProvidedKernel* kernels;  // by KernelId
};

// A plugin exports one or both of these functions, named libdl_backend_open and
// libdl_provider_open. Each is called once; the tables must outlive the process's use of libdl.
using BackendOpen = libdl_error* (*)(const BackendHost* host, const Backend** backend);
using ProviderOpen = libdl_error* (*)(const BackendHost* host, const Provider** provider);

const Backend& cpu_backend();
const Backend& meta_backend();

}  // namespace libdl
