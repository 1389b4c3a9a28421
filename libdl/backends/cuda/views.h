// SPDX-License-Identifier: Apache-2.0

// What each kernel reads and writes: each_view(id, args, visit) calls visit for every view that a
// kernel's arguments hold on the device, as visit(view, use, more), where `more` are dimensions
// that stand beside the view's own.
#pragma once

#include <initializer_list>
#include <type_traits>

#include "device/backend.h"

namespace libdl::cuda {

enum class Use { kReads, kWrites };

struct MoreDims {
  int count = 0;
  const int64_t *sizes = nullptr, *strides = nullptr;
};

template <class A, class... Types>
concept AnyOf = (std::is_same_v<std::remove_const_t<A>, Types> || ...);

namespace views_detail {

using namespace kernels;

template <class V, class... Views>
void all(V& visit, Use use, Views&... views) {
  (visit(views, use, MoreDims()), ...);
}

template <class V, class A>
void inputs(V& visit, A& a) {
  for (int k = 0; k < a.inputs; ++k)
    if (!(a.host_inputs >> k & 1)) visit(a.in[k], Use::kReads, MoreDims());
}

}  // namespace views_detail

#define LIBDL_VIEWS(...)                   \
  template <AnyOf<__VA_ARGS__> A, class V> \
  void each_view([[maybe_unused]] KernelId id, A& a, V&& visit)

using namespace kernels;
using views_detail::all;

LIBDL_VIEWS(PointwiseArgs, ProgramArgs, SpecialArgs) {
  views_detail::inputs(visit, a);
  all(visit, Use::kWrites, a.out);
}
LIBDL_VIEWS(CopyArgs, SoftmaxArgs, AvgPoolArgs, NonzeroArgs) {
  all(visit, Use::kReads, a.in);
  all(visit, Use::kWrites, a.out);
}
LIBDL_VIEWS(FillArgs) { all(visit, Use::kWrites, a.out); }
LIBDL_VIEWS(ReduceArgs, ScanArgs, MaxPoolArgs) {
  all(visit, Use::kReads, a.in);
  all(visit, Use::kWrites, a.out, a.indices);
}
LIBDL_VIEWS(MatmulArgs) {
  all(visit, Use::kReads, a.a, a.b, a.bias);
  all(visit, Use::kWrites, a.out);
}
LIBDL_VIEWS(SoftmaxBackwardArgs) {
  all(visit, Use::kReads, a.dy, a.y);
  all(visit, Use::kWrites, a.dx);
}
LIBDL_VIEWS(ClassLossArgs) {
  all(visit, Use::kReads, a.in, a.targets.target, a.targets.weight);
  all(visit, Use::kWrites, a.log_p, a.losses, a.loss, a.divisor);
}
LIBDL_VIEWS(ClassLossBackwardArgs) {
  all(visit, Use::kReads, a.dy, a.log_p, a.targets.target, a.targets.weight, a.divisor);
  all(visit, Use::kWrites, a.dx);
}
LIBDL_VIEWS(LayerNormArgs) {
  all(visit, Use::kReads, a.in, a.weight, a.bias);
  all(visit, Use::kWrites, a.out, a.mean, a.rstd);
}
LIBDL_VIEWS(LayerNormBackwardArgs, BatchNormBackwardArgs) {
  all(visit, Use::kReads, a.dy, a.in, a.mean, a.rstd, a.weight);
  all(visit, Use::kWrites, a.dx, a.dweight, a.dbias);
}
LIBDL_VIEWS(BatchStatisticsArgs) {
  all(visit, Use::kReads, a.in);
  all(visit, Use::kWrites, a.mean, a.rstd, a.variance);
}
LIBDL_VIEWS(BatchNormArgs) {
  all(visit, Use::kReads, a.in, a.mean, a.rstd, a.weight, a.bias);
  all(visit, Use::kWrites, a.out);
}
LIBDL_VIEWS(MaxPoolBackwardArgs) {
  all(visit, Use::kReads, a.dy, a.indices);
  all(visit, Use::kWrites, a.dx);
}
LIBDL_VIEWS(AvgPoolBackwardArgs) {
  all(visit, Use::kReads, a.dy);
  all(visit, Use::kWrites, a.dx);
}
LIBDL_VIEWS(ConvolutionArgs) {
  const auto use = [&](ConvolutionArgs::Computed role) {
    return role == a.computed ? Use::kWrites : Use::kReads;
  };
  all(visit, use(ConvolutionArgs::kInput), a.x);
  all(visit, use(ConvolutionArgs::kWeight), a.w, a.bias);
  all(visit, use(ConvolutionArgs::kOutput), a.y);
}
LIBDL_VIEWS(RnnStepArgs) {
  all(visit, Use::kReads, a.recurrent);
  all(visit, Use::kWrites, a.gates, a.h, a.c, a.h_before, a.c_before, a.inner, a.out);
}
LIBDL_VIEWS(RnnStepBackwardArgs) {
  all(visit, Use::kReads, a.dy, a.gates, a.h_before, a.c_before, a.inner);
  all(visit, Use::kWrites, a.dgates, a.drecurrent, a.dh, a.dc);
}
LIBDL_VIEWS(ResampleArgs) {
  all(visit, Use::kReads, a.in, a.first, a.index, a.weight);
  all(visit, Use::kWrites, a.out);
}
LIBDL_VIEWS(GridSampleArgs) {
  all(visit, Use::kReads, a.in, a.grid);
  all(visit, Use::kWrites, a.out);
}
LIBDL_VIEWS(GridSampleBackwardArgs) {
  all(visit, Use::kReads, a.dy, a.in, a.grid);
  all(visit, Use::kWrites, a.din, a.dgrid);
}
LIBDL_VIEWS(GatherArgs) {
  all(visit, Use::kReads, a.in, a.index);
  all(visit, Use::kWrites, a.out);
}
LIBDL_VIEWS(ScatterArgs) {
  all(visit, Use::kReads, a.src, a.index);
  all(visit, Use::kWrites, a.out);
}
LIBDL_VIEWS(IndexArgs) {
  const bool puts = id == KernelId::index_put;
  for (int k = 0; k < a.indices; ++k) all(visit, Use::kReads, a.index[k]);
  visit(a.base, puts ? Use::kWrites : Use::kReads,
        MoreDims{a.indices, a.indexed_sizes, a.indexed_strides});
  all(visit, puts ? Use::kReads : Use::kWrites, a.values);
}
LIBDL_VIEWS(CheckIndexArgs) { all(visit, Use::kReads, a.index); }
LIBDL_VIEWS(SortArgs) {
  all(visit, Use::kReads, a.in);
  all(visit, Use::kWrites, a.values, a.indices);
}
LIBDL_VIEWS(RandomArgs) {
  all(visit, Use::kReads, a.probability);
  all(visit, Use::kWrites, a.out);
}
// Lists of tensors without gaps, not views: visit.list(list, data, use) for each array of
// addresses.
LIBDL_VIEWS(OptimizerArgs) {
  const TensorList list{a.count, a.dtype, a.numel, a.param};
  auto* grad = const_cast<void* const*>(a.grad);
  visit.list(list, grad, Use::kReads);
  if constexpr (!std::is_const_v<A>) a.grad = const_cast<const void* const*>(grad);
  const auto written = [&](auto& data) {
    if (data) visit.list(list, data, Use::kWrites);
  };
  written(a.param);
  written(a.state1);
  written(a.state2);
  written(a.state3);
}
LIBDL_VIEWS(ListNormArgs) {
  visit.list(a.list, a.list.data, Use::kReads);
  all(visit, Use::kWrites, a.total, a.out);
}
LIBDL_VIEWS(ListClipArgs) {
  all(visit, Use::kReads, a.total);
  visit.list(a.list, a.list.data, Use::kWrites);
}

#undef LIBDL_VIEWS

// The bytes from a view's first to its last, relative to its data.
struct ByteRange {
  int64_t begin = 0, end = 0;
};
inline ByteRange bytes_of(const View& v, const MoreDims& more) {
  int64_t low = 0, high = 0;
  bool empty = v.data == nullptr;
  const auto add = [&](int64_t size, int64_t stride) {
    empty |= size == 0;
    const int64_t reach = (size - 1) * stride;
    (reach < 0 ? low : high) += reach;
  };
  for (int d = 0; d < v.ndim; ++d) add(v.sizes[d], v.strides[d]);
  for (int d = 0; d < more.count; ++d) add(more.sizes[d], more.strides[d]);
  const int64_t size = dtype_bytes(v.dtype);
  return empty ? ByteRange() : ByteRange{low * size, (high + 1) * size};
}

}  // namespace libdl::cuda
