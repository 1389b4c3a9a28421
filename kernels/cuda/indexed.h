// SPDX-License-Identifier: Apache-2.0

// Shared by the kernels that follow an index: reading it, complaining of a value that is out of
// range, and skipping positions of which kernel check_index has complained.
#pragma once

#include "kernels/cuda/device.h"
#include "kernels/cuda/launch.h"

namespace libdl::kernels::cuda {

constexpr int64_t kNowhere = INT64_MIN;  // an offset that marks a position to skip

// base[offset[p] + r] op= values[p, r] for the positions p, in order, and the elements r of the
// rest dimensions. Positions have the same target if and only if they refer to the same place.
struct Positions {
  int64_t count;
  int64_t targets;  // all targets are below this
  int64_t* offset;  // [count], in elements of base; kNowhere if there is nothing to do
  int64_t* target;  // [count], -1 there
};
struct Updates {
  Positions positions;
  View base;    // the rest dimensions, data at the start
  View values;  // [dimensions of the positions..., rest...]
  ScatterOp op;
};
void apply_updates(Context& context, const Updates& updates);

// Scratch memory for positions; offset is NULL after a failure.
class PositionsWorkspace : public Positions {
 public:
  PositionsWorkspace(Context& context, int64_t n) : Positions{}, scratch_(context, 16 * n) {
    count = n;
    offset = static_cast<int64_t*>(scratch_.data());
    target = offset ? offset + n : nullptr;
  }

 private:
  Scratch scratch_;
};
// Fills the positions of the index shape.
void look_up(Context& context, const IndexArgs& a, Positions& positions);

// Copies whole rows between base and values, at the places given by `offset` or, if that is NULL,
// by a single index. Positions are evenly spaced in values and in the index.
struct Rows {
  View base, values;  // the rest dimensions, data at the start
  int64_t count, values_step;
  const int64_t* offset;
  const void* index;
  int64_t index_step, size, step;  // of base along the indexed dimension
  int32_t index_dtype;
};
void get_rows(Context& context, const Rows& rows);
void put_rows(Context& context, const Rows& rows);

#ifdef LIBDL_KERNELS

LIBDL_DEVICE int64_t index_at(const void* index, int64_t i, int32_t dtype) {
  return dtype == 8 ? static_cast<const int32_t*>(index)[i]  // LIBDL_DTYPE_INT32
                    : static_cast<const int64_t*>(index)[i];
}

// Negative indices count from the end; -1 for one outside [-size, size).
LIBDL_DEVICE int64_t wrapped(int64_t index, int64_t size) {
  const int64_t at = index + (index < 0 ? size : 0);
  return at >= 0 && at < size ? at : -1;
}

// Reports the value at a position in host memory, where the next call that waits finds it. Until it
// has read one, no further one of the same stream is reported.
LIBDL_DEVICE void report_device_error(DeviceError* c, const char* op, const char* finding,
                                      int64_t position, int64_t value, int64_t size) {
  const int32_t taken = *static_cast<volatile int32_t*>(&c->taken);
  if (atomicCAS(&c->claimed, taken, taken + 1) != taken) return;
  c->position = position;
  c->value = value;
  c->size = size;
  c->op = op;
  c->finding = finding;
  __threadfence_system();  // the host sees these before it sees the next
  *static_cast<volatile int32_t*>(&c->reported) = taken + 1;
}

#endif

}  // namespace libdl::kernels::cuda
