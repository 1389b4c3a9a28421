// SPDX-License-Identifier: Apache-2.0

#include "plugins/cuda/access.h"

#include <algorithm>

#include "kernels/cuda/plan.h"
#include "plugins/cuda/driver.h"

namespace libdl::cuda {

using namespace kernels;

namespace {

class Notes {
 public:
  explicit Notes(const Context& context)
      : tell_(driver(nullptr)->simulated_access), stream_(static_cast<CUstream>(context.stream)) {}
  explicit operator bool() const { return tell_ != nullptr; }

  void bytes(const void* data, int64_t count, bool writes) const {
    if (data && count > 0) tell_(stream_, data, static_cast<size_t>(count), writes);
  }
  // All between a view's first and last address.
  void view(const View& v, bool writes) const {
    if (!v.data) return;
    int64_t low = 0, high = 0;
    for (int d = 0; d < v.ndim; ++d) {
      if (v.sizes[d] == 0) return;
      const int64_t reach = (v.sizes[d] - 1) * v.strides[d];
      (reach < 0 ? low : high) += reach;
    }
    const int64_t size = kernels::cuda::element_bytes(v.dtype);
    bytes(static_cast<const char*>(v.data) + low * size, (high - low + 1) * size, writes);
  }
  void reads(std::initializer_list<const View*> views) const {
    for (const View* v : views) view(*v, false);
  }
  void writes(std::initializer_list<const View*> views) const {
    for (const View* v : views) view(*v, true);
  }

 private:
  decltype(Driver::simulated_access) tell_;
  CUstream stream_;
};

}  // namespace

#define NOTES             \
  const Notes note(context); \
  if (!note) return

void note_accesses(const Context& context, const PointwiseArgs& a) {
  NOTES;
  for (int k = 0; k < a.inputs; ++k)
    if (!(a.host_inputs >> k & 1)) note.reads({&a.in[k]});
  note.writes({&a.out});
}
void note_accesses(const Context& context, const ProgramArgs& a) {
  NOTES;
  for (int k = 0; k < a.inputs; ++k)
    if (!(a.host_inputs >> k & 1)) note.reads({&a.in[k]});
  note.writes({&a.out});
}
void note_accesses(const Context& context, const CopyArgs& a) {
  NOTES;
  note.reads({&a.in});
  note.writes({&a.out});
}
void note_accesses(const Context& context, const FillArgs& a) {
  NOTES;
  note.writes({&a.out});
}
void note_accesses(const Context& context, const ReduceArgs& a) {
  NOTES;
  note.reads({&a.in});
  note.writes({&a.out, &a.indices});
}
void note_accesses(const Context& context, const ScanArgs& a) {
  NOTES;
  note.reads({&a.in});
  note.writes({&a.out, &a.indices});
}
void note_accesses(const Context& context, const MatmulArgs& a) {
  NOTES;
  note.reads({&a.a, &a.b, &a.bias});
  note.writes({&a.out});
}
void note_accesses(const Context& context, const SoftmaxArgs& a) {
  NOTES;
  note.reads({&a.in});
  note.writes({&a.out});
}
void note_accesses(const Context& context, const SoftmaxBackwardArgs& a) {
  NOTES;
  note.reads({&a.dy, &a.y});
  note.writes({&a.dx});
}
void note_accesses(const Context& context, const LayerNormArgs& a) {
  NOTES;
  note.reads({&a.in, &a.weight, &a.bias});
  note.writes({&a.out, &a.mean, &a.rstd});
}
void note_accesses(const Context& context, const LayerNormBackwardArgs& a) {
  NOTES;
  note.reads({&a.dy, &a.in, &a.mean, &a.rstd, &a.weight});
  note.writes({&a.dx, &a.dweight, &a.dbias});
}
void note_accesses(const Context& context, const GatherArgs& a) {
  NOTES;
  note.reads({&a.in, &a.index});
  note.writes({&a.out});
}
void note_accesses(const Context& context, const ScatterArgs& a) {
  NOTES;
  note.reads({&a.src, &a.index});
  note.writes({&a.out});
}
void note_accesses(const Context& context, const IndexArgs& a) {
  NOTES;
  for (int k = 0; k < a.indices; ++k) note.reads({&a.index[k]});
  note.reads({&a.base, &a.values});
}
void note_accesses(const Context& context, const CheckIndexArgs& a) {
  NOTES;
  note.reads({&a.index});
}
void note_accesses(const Context& context, const NonzeroArgs& a) {
  NOTES;
  note.reads({&a.in});
  note.writes({&a.out});
}
void note_accesses(const Context& context, const SortArgs& a) {
  NOTES;
  note.reads({&a.in});
  note.writes({&a.values, &a.indices});
}
void note_accesses(const Context& context, const RandomArgs& a) {
  NOTES;
  note.reads({&a.probability});
  note.writes({&a.out});
}
void note_accesses(const Context& context, const OptimizerArgs& a) {
  NOTES;
  for (int32_t i = 0; i < a.count; ++i) {
    const int64_t bytes = a.numel[i] * kernels::cuda::element_bytes(a.dtype[i]);
    note.bytes(a.grad[i], bytes, false);
    note.bytes(a.param[i], bytes, true);
    for (void* const* state : {a.state1, a.state2, a.state3})
      if (state) note.bytes(state[i], bytes, true);
  }
}
#undef NOTES

}  // namespace libdl::cuda
