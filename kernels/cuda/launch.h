// SPDX-License-Identifier: Apache-2.0

// How a plan of this folder reaches the device. Each file holds an operator's kernels and the plan
// that chooses among them; it is compiled three times: by nvcc for the device (LIBDL_KERNELS), by
// the host's compiler for the plan (LIBDL_PLANS), and for tests without a device by the host's
// compiler once more, with the kernels as functions that an emulator runs thread by thread.
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

// Keeps an error in the context: the plan has no way to do what was asked. A static text.
void refuse(Context& context, const char* message);

// Blocks of kThreads threads for n elements, `each` a thread: at most so many that all run at once,
// for kernels that step through what is left.
Grid grid_for(const Context& context, int64_t n, int each = 1);

// Bytes from the device to the host, once all that is queued is done.
bool read_back(Context& context, void* to, const void* from, size_t bytes);

// Where kernels report an index out of range; see CheckIndexArgs.
struct Complaint {
  int32_t set;
  int32_t unused;
  int64_t position, value, size;
  const char* op;
};
Complaint* complaint(Context& context);

#define KERNEL(name, Args) void name(Context& context, const Args& args);
#include "kernels/kernels.def"
#undef KERNEL

}  // namespace libdl::kernels::cuda
