// SPDX-License-Identifier: Apache-2.0

// How the plans in this folder launch kernels. Each file holds an operator's kernels and the plan,
// a host function that chooses among them. It is compiled three times: by nvcc for the device
// (LIBDL_KERNELS), by the host's compiler for the plan (LIBDL_PLANS), and once more by the host's
// compiler for tests without a device, with the kernels as functions that an emulator runs thread
// by thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/args.h"

namespace libdl::kernels::cuda {

constexpr int kThreads = 256;  // of a block, unless a kernel says otherwise

struct Grid {
  int64_t blocks = 1;
  int32_t threads = kThreads;
  int32_t rows = 1;  // the grid's second dimension, up to 65,535
};

// Queues a kernel by its name; params are copied. A failure is kept in the context, after which
// further launches do nothing.
void launch(Context& context, const char* name, const Grid& grid, const void* params, size_t bytes);
template <class Params>
void launch(Context& context, const char* name, const Grid& grid, const Params& params) {
  launch(context, name, grid, &params, sizeof(Params));
}

// Puts an error into the context: the plan cannot do what was asked. The message is a static
// string.
void refuse(Context& context, const char* message);

// Blocks of kThreads threads for n elements, `each` per thread: at most as many as run at once, for
// kernels that loop over the rest.
Grid grid_for(const Context& context, int64_t n, int each = 1);

// Copies bytes from the device to the host, once all queued work is done.
bool read_back(Context& context, void* to, const void* from, size_t bytes);

// Where the kernels of a stream report an index out of range; see CheckIndexArgs. It lies in pinned
// memory of the host. What one side writes the other only reads: atomic operations of the device
// are none for the host.
struct alignas(128) DeviceError {
  int32_t claimed;   // how many were begun; of several threads one writes the next
  int32_t reported;  // how many are complete
  int64_t position, value, size;
  const char* op;
  const char* finding;
  alignas(128) int32_t taken;  // the host's: how many it has read
};
DeviceError* device_error(Context& context);

// A word of device memory that is 0 whenever no kernel of the stream runs: see last_block.h. NULL
// with an error in the context.
unsigned* arrival_counter(Context& context);

#define KERNEL(name, Args) void name(Context& context, const Args& args);
#define OPTIONAL_KERNEL(name, Args)
#include "kernels/kernels.def"
#undef KERNEL

}  // namespace libdl::kernels::cuda
