// SPDX-License-Identifier: Apache-2.0

#include "device/meta.h"
#include "entries/copy.h"
#include "entries/indexing.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/indexing/indices.h"
#include "ops/indexing/nonzero.h"
#include "ops/indexing/places.h"
#include "ops/pointwise/pointwise.h"
#include "ops/primitive/launch.h"
#include "ops/primitive/plan.h"
#include "ops/primitive/summed.h"

namespace libdl {

namespace {

struct IndexAttr {
  Shape shape;  // index: of input; index_put: of values
  Shape dims;
  bool accumulate;
};

}  // namespace

// -- resolving ------------------------------------------------------------------------------------

LIBDL_NORETURN [[gnu::cold]] static void too_many(const Call& call,
                                                  int ndim LIBDL_SOURCE_LOCATION) {
  call.bad(LIBDL_ERROR_INDEX, "indices", "name more dimensions than input has",
           "at most " + std::to_string(ndim) LIBDL_SAME_SOURCE_LOCATION);
}

// What a mask on meta stands for where values are put: as many places as those have for it. behind:
// the dimensions of input that follow the mask's.
static Tensor unseen_coordinates(const Tensor& mask, const Tensor& values, int behind) {
  const bool own = values.ndim() > behind;
  const int64_t shape[] = {own ? values.size(values.ndim() - 1 - behind) : 1, mask.ndim()};
  return empty(shape, Dtype::kInt64, mask.device());
}

// A mask stands for as many dimensions as it has: it becomes the coordinates of what is true.
// values: what is put there, or NULL.
static void add_mask(const Call& call, const Tensor& input, const Tensor& mask,
                     const Tensor* values, int* dim, Places* out) {
  if (*dim + mask.ndim() > input.ndim()) too_many(call, input.ndim());
  if (mask.ndim() == 0)
    call.bad(LIBDL_ERROR_SHAPE, "indices", "hold a mask without dimensions",
             "masks of one dimension or more: unsqueeze input and mask");
  const Dims covered = input.shape().subspan(*dim, mask.ndim());
  if (!same(mask.shape(), covered))
    call.bad(LIBDL_ERROR_SHAPE, "indices", "hold a mask of shape " + to_string(mask.shape()),
             to_string(covered) + ", the sizes it stands for");
  const Tensor coordinates =
      values && is_meta(mask.device())
          ? unseen_coordinates(mask, *values, input.ndim() - *dim - mask.ndim())
          : nonzero_coordinates(mask);
  for (int k = 0; k < mask.ndim(); ++k) {
    const int64_t size[] = {coordinates.size(0)}, stride[] = {mask.ndim()};
    out->indices.push_back(alias(coordinates, size, stride, k, Dtype::kInt64));
    out->dims.push_back((*dim)++);
  }
}

static void broadcast(const Call& call, Places* out) {
  for (const Tensor& index : out->indices) {
    while (out->shape.size() < static_cast<size_t>(index.ndim())) out->shape.insert(0, 1);
    const size_t lead = out->shape.size() - static_cast<size_t>(index.ndim());
    for (int d = 0; d < index.ndim(); ++d) {
      int64_t& size = out->shape[lead + d];
      if (index.size(d) == size || index.size(d) == 1) continue;
      if (size != 1)
        call.bad(LIBDL_ERROR_SHAPE, "indices",
                 "have shapes that do not broadcast: " + to_string(out->indices[0].shape()) +
                     " and " + to_string(index.shape()),
                 "one common shape");
      size = index.size(d);
    }
  }
  for (Tensor& index : out->indices) index = expanded(index, out->shape);
}

// What a list of indices means for one input. values: what is put there, or NULL.
static Places resolve(const Call& call, Into into, const Tensor& input, TensorSpan indices,
                      const Tensor* values = nullptr) {
  Places out;
  int dim = 0;
  for (const Tensor& index : indices) {
    if (!index.defined()) {
      ++dim;
    } else if (index.dtype() == Dtype::kBool) {
      add_mask(call, input, index, values, &dim, &out);
    } else {
      if (dim >= input.ndim()) too_many(call, input.ndim());
      out.indices.push_back(checked_index(call, into, "indices", index, input.size(dim)));
      out.dims.push_back(dim++);
    }
  }
  if (dim > input.ndim()) too_many(call, input.ndim());
  if (out.dims.size() > kernels::kMaxIndices)
    call.bad(LIBDL_ERROR_LIMIT, "indices",
             "index " + std::to_string(out.dims.size()) + " dimensions",
             "at most " + std::to_string(kernels::kMaxIndices));
  broadcast(call, &out);

  // Neighbouring indexed dimensions are replaced where they stood, others gather in front.
  const size_t count = out.dims.size();
  if (count > 0 && out.dims[count - 1] - out.dims[0] + 1 == static_cast<int64_t>(count))
    out.at = static_cast<int>(out.dims[0]);
  size_t next = 0;
  for (int d = 0; d < input.ndim(); ++d) {
    if (next < count && out.dims[next] == d) {
      ++next;
    } else {
      out.result.push_back(input.size(d));
    }
  }
  for (size_t k = 0; k < out.shape.size(); ++k) out.result.insert(out.at + k, out.shape[k]);
  if (out.result.size() > kMaxDims)
    call.bad(LIBDL_ERROR_SHAPE, "indices",
             "make a result of " + std::to_string(out.result.size()) + " dimensions", "at most 64");
  return out;
}

// -- recording ------------------------------------------------------------------------------------

static std::vector<Save> saves_of(const Places& x) {
  std::vector<Save> saves;
  saves.reserve(x.indices.size());
  for (const Tensor& index : x.indices) saves.push_back(saves_value(index));
  return saves;
}

// The list that means the same as the one the call was given.
static std::vector<Tensor> list_of(Dims dims, auto&& index_of, int lead = 0) {
  std::vector<Tensor> list;
  for (size_t k = 0; k < dims.size(); ++k) {
    list.resize(static_cast<size_t>(dims[k] + lead));
    list.push_back(index_of(static_cast<int>(k)));
  }
  return list;
}
static std::vector<Tensor> saved_list(const Backward& b, const IndexAttr& a) {
  return list_of(a.dims, [&](int k) { return b.saved(k); }, b.lead());
}
static std::vector<Tensor> resolved_list(const Places& x) {
  return list_of(x.dims, [&](int k) { return x.indices[k]; });
}

// -- index ----------------------------------------------------------------------------------------

static void index_vjp(Backward& b) {
  const auto& a = b.attr<IndexAttr>();
  const Tensor dx = zeros(b.batched(a.shape), b.dy().dtype(), b.dy().device());
  Tensor dy = b.dy();
  const size_t count = a.dims.size();
  const bool neighbours = count > 0 && a.dims[count - 1] - a.dims[0] + 1 == std::ssize(a.dims);
  if (b.batch() && !neighbours && count > 0) {  // what they index then stands before the batch
    const int64_t from[] = {0}, to[] = {b.saved(0).ndim()};
    dy = movedim(dy, from, to);
  }
  b.set_grad(0, index_put(dx, saved_list(b, a), dy, true, Into(dx)));
}
static const Rule kIndex{.name = "index", .vjp = index_vjp, .takes_batch = true};

Tensor index_impl(const Tensor& input, TensorSpan indices, Into into) {
  Call call("index", into, {&input});
  const Places x = resolve(call, into, input, indices);
  Tensor y[] = {result_place(call, into, x.result, input.dtype(), input.device(), {&input})};
  read_places(input, y[0], x);
  const std::vector<Save> saves = call.recording() ? saves_of(x) : std::vector<Save>();
  call.done(y, kIndex, IndexAttr{Shape(input.shape()), x.dims, true}, std::span(saves));
  if (call.forward()) call.jvp(y[0], [&] { return index(call.tangent(0), resolved_list(x)); });
  return std::move(y[0]);
}

// -- index_put ------------------------------------------------------------------------------------

static void index_put_vjp(Backward& b) {
  const auto& a = b.attr<IndexAttr>();
  const std::vector<Tensor> indices = saved_list(b, a);
  if (b.needs(0))
    b.set_grad(0, a.accumulate ? b.dy() : index_put(b.dy(), indices, number(int64_t{0})));
  if (b.needs(1)) b.set_grad(1, sum_to(index(b.dy(), indices), a.shape));
}
static const Rule kIndexPut{"index_put", index_put_vjp};

static bool broadcasts(Dims from, Dims to) {
  if (from.size() > to.size()) return false;
  const size_t lead = to.size() - from.size();
  for (size_t d = 0; d < from.size(); ++d)
    if (from[d] != 1 && from[d] != to[lead + d]) return false;
  return true;
}

// Whether one value goes where one mask of input's shape is true, unrecorded: a choice element by
// element, which needs no coordinates.
static bool is_choice(const Call& call, const Tensor& input, TensorSpan indices,
                      const Tensor& values) {
  if (values.ndim() != 0 || indices.size() != 1 || !indices[0].defined()) return false;
  const Tensor& mask = indices[0];
  return mask.dtype() == Dtype::kBool && input.ndim() > 0 && same(mask.shape(), input.shape()) &&
         mask.device() == input.device() && overlap(mask, input) == Overlap::kNone &&
         !call.recording() && !call.forward();
}
static Tensor put_where(Call& call, const Tensor& input, const Tensor& mask, const Tensor& values,
                        Into into) {
  const Tensor one = plain(value_like(call, "values", values, input.dtype()));
  Tensor y = changed_place(call, into, input, {&values, &mask});
  call.ready(y, kIndexPut, IndexAttr{});
  begin_change(y, input);
  if (y.numel() > 0) {
    const Tensor* const in[] = {&mask, &one, &y};
    Plan plan;
    plan.set(y, in);
    kernels::PointwiseArgs args;
    args.expression = static_cast<int32_t>(k_where.expression);
    args.compute = static_cast<int32_t>(class_of(y.dtype()));
    args.inputs = 3;
    args.host_inputs = plan.host_inputs();
    args.out = plan.view(y, 0);
    for (int k = 0; k < 3; ++k) args.in[k] = plan.view(*in[k], k + 1);
    launch_pointwise(y.device(), args);
  }
  return call.finish(std::move(y));
}

Tensor index_put_impl(const Tensor& input, TensorSpan indices, const Tensor& values,
                      bool accumulate, Into into) {
  Call call("index_put", into, {&input, &values});
  if (!accumulate && is_choice(call, input, indices, values))
    return put_where(call, input, indices[0], values, into);
  const Places x = resolve(call, into, input, indices, &values);
  if (!broadcasts(values.shape(), x.result))
    call.bad(LIBDL_ERROR_SHAPE, "values", "has shape " + to_string(values.shape()),
             "one that broadcasts to " + to_string(x.result));
  Tensor from = value_like(call, "values", values, input.dtype());
  if (from.is_number()) from = plain(from);

  Tensor y = changed_place(call, into, input, {&values});
  // Before it is expanded, when it may be one element.
  if (accumulate && adds_widely(input.dtype(), 2)) from = plain(from, summed_as(input.dtype()));
  from = expanded(from, x.result);
  const std::vector<Save> saves = call.recording() ? saves_of(x) : std::vector<Save>();
  if (call.forward())
    call.ready_jvp(y, [&] {
      const Tensor tangents[] = {call.tangent(0), call.tangent(1)};
      const Tensor t =
          tangents[0].defined() ? tangents[0] : zeros(input.shape(), input.dtype(), input.device());
      const Tensor dv = tangents[1].defined() ? tangents[1] : number(int64_t{0});
      return index_put(t, resolved_list(x), dv, accumulate);
    });
  call.ready(y, kIndexPut, IndexAttr{Shape(values.shape()), x.dims, accumulate}, std::span(saves));
  (accumulate ? add_to_places : write_places)(y, input, from, x);
  return call.finish(std::move(y));
}

}  // namespace libdl
