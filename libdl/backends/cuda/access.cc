// SPDX-License-Identifier: Apache-2.0

#include "backends/cuda/access.h"

#include <algorithm>

#include "backends/cuda/driver.h"
#include "kernels/cuda/plan.h"

namespace libdl::cuda {

using namespace kernels;

namespace {

class Notes {
 public:
  explicit Notes(const Context& context)
      : tell_(opened_driver().simulated_access), stream_(static_cast<CUstream>(context.stream)) {}
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
    const int64_t size = kernels::dtype_bytes(v.dtype);
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

#define NOTES                \
  const Notes note(context); \
  if (!note) return

void note_accesses(const Context& context, KernelId, const PointwiseArgs& a) {
  NOTES;
  for (int k = 0; k < a.inputs; ++k)
    if (!(a.host_inputs >> k & 1)) note.reads({&a.in[k]});
  note.writes({&a.out});
}
void note_accesses(const Context& context, KernelId, const ProgramArgs& a) {
  NOTES;
  for (int k = 0; k < a.inputs; ++k)
    if (!(a.host_inputs >> k & 1)) note.reads({&a.in[k]});
  note.writes({&a.out});
}
void note_accesses(const Context& context, KernelId, const CopyArgs& a) {
  NOTES;
  note.reads({&a.in});
  note.writes({&a.out});
}
void note_accesses(const Context& context, KernelId, const FillArgs& a) {
  NOTES;
  note.writes({&a.out});
}
void note_accesses(const Context& context, KernelId, const ReduceArgs& a) {
  NOTES;
  note.reads({&a.in});
  note.writes({&a.out, &a.indices});
}
void note_accesses(const Context& context, KernelId, const ScanArgs& a) {
  NOTES;
  note.reads({&a.in});
  note.writes({&a.out, &a.indices});
}
void note_accesses(const Context& context, KernelId, const MatmulArgs& a) {
  NOTES;
  note.reads({&a.a, &a.b, &a.bias});
  note.writes({&a.out});
}
void note_accesses(const Context& context, KernelId, const SoftmaxArgs& a) {
  NOTES;
  note.reads({&a.in});
  note.writes({&a.out});
}
void note_accesses(const Context& context, KernelId, const SoftmaxBackwardArgs& a) {
  NOTES;
  note.reads({&a.dy, &a.y});
  note.writes({&a.dx});
}
void note_accesses(const Context& context, KernelId, const LayerNormArgs& a) {
  NOTES;
  note.reads({&a.in, &a.weight, &a.bias});
  note.writes({&a.out, &a.mean, &a.rstd});
}
void note_accesses(const Context& context, KernelId, const LayerNormBackwardArgs& a) {
  NOTES;
  note.reads({&a.dy, &a.in, &a.mean, &a.rstd, &a.weight});
  note.writes({&a.dx, &a.dweight, &a.dbias});
}
void note_accesses(const Context& context, KernelId, const BatchStatisticsArgs& a) {
  NOTES;
  note.reads({&a.in});
  note.writes({&a.mean, &a.rstd, &a.variance});
}
void note_accesses(const Context& context, KernelId, const BatchNormArgs& a) {
  NOTES;
  note.reads({&a.in, &a.mean, &a.rstd, &a.weight, &a.bias});
  note.writes({&a.out});
}
void note_accesses(const Context& context, KernelId, const BatchNormBackwardArgs& a) {
  NOTES;
  note.reads({&a.dy, &a.in, &a.mean, &a.rstd, &a.weight});
  note.writes({&a.dx, &a.dweight, &a.dbias});
}
void note_accesses(const Context& context, KernelId, const MaxPoolArgs& a) {
  NOTES;
  note.reads({&a.in});
  note.writes({&a.out, &a.indices});
}
void note_accesses(const Context& context, KernelId, const MaxPoolBackwardArgs& a) {
  NOTES;
  note.reads({&a.dy, &a.indices});
  note.writes({&a.dx});
}
void note_accesses(const Context& context, KernelId, const AvgPoolArgs& a) {
  NOTES;
  note.reads({&a.in});
  note.writes({&a.out});
}
void note_accesses(const Context& context, KernelId, const AvgPoolBackwardArgs& a) {
  NOTES;
  note.reads({&a.dy});
  note.writes({&a.dx});
}
void note_accesses(const Context& context, KernelId, const ConvolutionArgs& a) {
  NOTES;
  const View* const views[] = {&a.x, &a.w, &a.y};
  for (int32_t role = 0; role < 3; ++role) note.view(*views[role], role == a.wanted);
  if (a.bias.data) note.view(a.bias, a.wanted == ConvolutionArgs::kWeight);
}
void note_accesses(const Context& context, KernelId, const RnnStepArgs& a) {
  NOTES;
  note.reads({&a.recurrent});
  note.writes({&a.gates, &a.h, &a.c, &a.h_before, &a.c_before, &a.inner, &a.out});
}
void note_accesses(const Context& context, KernelId, const RnnStepBackwardArgs& a) {
  NOTES;
  note.reads({&a.dy, &a.gates, &a.h_before, &a.c_before, &a.inner});
  note.writes({&a.dgates, &a.drecurrent, &a.dh, &a.dc});
}
void note_accesses(const Context& context, KernelId, const ResampleArgs& a) {
  NOTES;
  note.reads({&a.in, &a.first, &a.index, &a.weight});
  note.writes({&a.out});
}
void note_accesses(const Context& context, KernelId, const GridSampleArgs& a) {
  NOTES;
  note.reads({&a.in, &a.grid});
  note.writes({&a.out});
}
void note_accesses(const Context& context, KernelId, const GridSampleBackwardArgs& a) {
  NOTES;
  note.reads({&a.dy, &a.in, &a.grid});
  note.writes({&a.din, &a.dgrid});
}
void note_accesses(const Context& context, KernelId, const GatherArgs& a) {
  NOTES;
  note.reads({&a.in, &a.index});
  note.writes({&a.out});
}
void note_accesses(const Context& context, KernelId, const ScatterArgs& a) {
  NOTES;
  note.reads({&a.src, &a.index});
  note.writes({&a.out});
}
void note_accesses(const Context& context, KernelId id, const IndexArgs& a) {
  NOTES;
  for (int k = 0; k < a.indices; ++k) note.reads({&a.index[k]});
  // Of the base the indexed dimensions' strides stand apart: its whole reach.
  View base = a.base;
  int64_t sizes[kMaxDims], strides[kMaxDims];
  base.ndim = 0;
  for (int k = 0; k < a.indices; ++k, ++base.ndim) {
    sizes[base.ndim] = a.indexed_sizes[k];
    strides[base.ndim] = a.indexed_strides[k];
  }
  for (int d = 0; d < a.base.ndim; ++d, ++base.ndim) {
    sizes[base.ndim] = a.base.sizes[d];
    strides[base.ndim] = a.base.strides[d];
  }
  base.sizes = sizes;
  base.strides = strides;
  const bool puts = id == KernelId::index_put;
  note.view(base, puts);
  note.view(a.values, !puts);
}
void note_accesses(const Context& context, KernelId, const CheckIndexArgs& a) {
  NOTES;
  note.reads({&a.index});
}
void note_accesses(const Context& context, KernelId, const NonzeroArgs& a) {
  NOTES;
  note.reads({&a.in});
  note.writes({&a.out});
}
void note_accesses(const Context& context, KernelId, const SortArgs& a) {
  NOTES;
  note.reads({&a.in});
  note.writes({&a.values, &a.indices});
}
void note_accesses(const Context& context, KernelId, const RandomArgs& a) {
  NOTES;
  note.reads({&a.probability});
  note.writes({&a.out});
}
void note_accesses(const Context& context, KernelId, const OptimizerArgs& a) {
  NOTES;
  for (int32_t i = 0; i < a.count; ++i) {
    const int64_t bytes = a.numel[i] * kernels::dtype_bytes(a.dtype[i]);
    note.bytes(a.grad[i], bytes, false);
    note.bytes(a.param[i], bytes, true);
    for (void* const* state : {a.state1, a.state2, a.state3})
      if (state) note.bytes(state[i], bytes, true);
  }
}
#undef NOTES

}  // namespace libdl::cuda
