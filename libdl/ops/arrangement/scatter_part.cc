// SPDX-License-Identifier: Apache-2.0

// Copies of a tensor in which another one is a part: what a view shows.
#include "entries/arrangement.h"
#include "entries/copy.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/view/view.h"
#include "tensor/memory_order.h"

namespace libdl {

// -- checks ---------------------------------------------------------------------------------------

static void check_src(const Call& call, const Tensor& src, const Tensor& input,
                      const Tensor& part) {
  if (!same(src.shape(), part.shape()))
    call.bad(LIBDL_ERROR_SHAPE, "src", "has shape " + to_string(src.shape()),
             "that of the part, " + to_string(part.shape()));
  if (src.is_complex() && !input.is_complex())
    call.bad(LIBDL_ERROR_DTYPE, "src", std::string("is ") + name_of(src.dtype()),
             "a real dtype, as input's " + std::string(name_of(input.dtype())));
}

static Tensor or_zeros(const Tensor& tangent, const Tensor& x) {
  return tangent.defined() ? tangent : zeros(x.shape(), x.dtype(), x.device());
}

// -- what select, slice and diagonal show ---------------------------------------------------------

namespace {
struct Part {
  enum Kind : int32_t { kSelect, kSlice, kDiagonal } kind;
  int32_t dim, dim2 = 0;
  int64_t start = 0;  // the index, where the slice begins, or the diagonal's offset
  int64_t end = 0, step = 1;
  Shape shape{};  // of what it shows
  Device src_device{};
};
}  // namespace

// lead: how many dimensions x has in front of those that the part is of.
static Tensor shown(const Part& p, const Tensor& x, int lead) {
  const int32_t dim = p.dim + lead;
  switch (p.kind) {
    case Part::kSelect: return select(x, dim, p.start);
    case Part::kSlice: return slice(x, dim, p.start, p.end, p.step);
    case Part::kDiagonal: break;
  }
  return diagonal(x, p.start, dim, p.dim2 + lead);
}

static Tensor replaced(const Part& p, const Tensor& x, const Tensor& src, int lead) {
  const int32_t dim = p.dim + lead;
  switch (p.kind) {
    case Part::kSelect: return select_scatter(x, src, dim, p.start);
    case Part::kSlice: return slice_scatter(x, src, dim, p.start, p.end, p.step);
    case Part::kDiagonal: break;
  }
  return diagonal_scatter(x, src, p.start, dim, p.dim2 + lead);
}

static void part_vjp(Backward& b) {
  const auto& p = b.attr<Part>();
  const Tensor& dy = b.dy();
  if (b.needs(0)) {
    const Tensor nothing = zeros(b.batched(p.shape), dy.dtype(), dy.device());
    b.set_grad(0, replaced(p, dy, nothing, b.lead()));
  }
  if (b.needs(1))
    b.set_grad(1, to(shown(p, dy, b.lead()), Dtype::kNone, p.src_device, false, false));
}
static const Rule kSelectScatter{.name = "select_scatter", .vjp = part_vjp, .takes_batch = true};
static const Rule kSliceScatter{.name = "slice_scatter", .vjp = part_vjp, .takes_batch = true};
static const Rule kDiagonalScatter{
    .name = "diagonal_scatter", .vjp = part_vjp, .takes_batch = true};

// p without the part's shape and src's device. names: the operator's, of what the views call so.
static Tensor with_part(const Rule& rule, const Tensor& input, const Tensor& src, Part p,
                        std::initializer_list<Renamed> names) {
  Call call(rule.name, {}, {&input, &src});
  const Tensor probe = rename_error(rule.name, names, [&] { return shown(p, detach(input), 0); });
  check_src(call, src, input, probe);
  p.shape = Shape(probe.shape());
  p.src_device = src.device();
  for (int32_t* const dim : {&p.dim, &p.dim2})
    if (*dim < 0) *dim += input.ndim();
  Tensor y = empty_as(input, input.dtype(), input.device());
  copy_bytes(y, input);
  copy_bytes(shown(p, y, 0), src);
  y = call.done(std::move(y), rule, p);
  if (call.forward())
    call.jvp(y, [&] {
      return replaced(p, or_zeros(call.tangent(0), input), or_zeros(call.tangent(1), src), 0);
    });
  return y;
}

Tensor select_scatter_impl(const Tensor& input, const Tensor& src, int32_t dim, int64_t index) {
  return with_part(kSelectScatter, input, src, {.kind = Part::kSelect, .dim = dim, .start = index},
                   {{"input", "input"}, {"dim", "dim"}, {"index", "index"}});
}

Tensor slice_scatter_impl(const Tensor& input, const Tensor& src, int32_t dim,
                          std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  const Part p{.kind = Part::kSlice,
               .dim = dim,
               .start = start.value_or(0),
               .end = end.value_or(INT64_MAX),
               .step = step};
  return with_part(kSliceScatter, input, src, p,
                   {{"input", "input"}, {"dim", "dim"}, {"step", "step"}});
}

Tensor diagonal_scatter_impl(const Tensor& input, const Tensor& src, int64_t offset, int32_t dim1,
                             int32_t dim2) {
  const Part p{.kind = Part::kDiagonal, .dim = dim1, .dim2 = dim2, .start = offset};
  return with_part(kDiagonalScatter, input, src, p,
                   {{"input", "input"}, {"dim1", "dim1"}, {"dim2", "dim2"}});
}

// -- what as_strided shows ------------------------------------------------------------------------

namespace {
// The result's memory lies like input's, from its first element to its last.
struct StridedPart {
  Geometry memory, whole, part;
  Device src_device;
};
}  // namespace

static Tensor replaced(const StridedPart& p, const Tensor& memory, const Tensor& src) {
  return as_strided_scatter(memory, src, p.part.shape, p.part.strides, p.part.offset);
}

static void strided_part_vjp(Backward& b) {
  const auto& p = b.attr<StridedPart>();
  const Tensor dm = strided_scatter(b.dy(), p.memory, p.whole);
  if (b.needs(0)) {
    const Tensor rest = replaced(p, dm, zeros(p.part.shape, dm.dtype(), dm.device()));
    b.set_grad(0, strided_scatter(rest, p.whole, p.memory));
  }
  if (b.needs(1))
    b.set_grad(1,
               to(strided_gather(dm, p.memory, p.part), Dtype::kNone, p.src_device, false, false));
}
static const Rule kStridedScatter{"as_strided_scatter", strided_part_vjp};

Tensor as_strided_scatter_impl(const Tensor& input, const Tensor& src, Dims size, Dims stride,
                               std::optional<int64_t> storage_offset) {
  Call call("as_strided_scatter", {}, {&input, &src});
  if (input.is_number()) call.bad(LIBDL_ERROR_VALUE, "input", "is a host number", "a tensor");
  const bool nothing = input.numel() == 0;
  const Shape count{nothing ? 0 : extent(input.shape(), input.strides(), call.op()).high + 1};
  const int64_t offset = storage_offset ? *storage_offset - input.offset() : 0;
  const Tensor memory = empty(count, input.dtype(), input.device());
  const Tensor place = rename_error(
      call.op(), {{"shape", "size"}, {"stride", "stride"}, {"storage_offset", "storage_offset"}},
      [&] { return as_strided(memory, size, stride, offset); });
  check_src(call, src, input, place);
  copy_bytes(memory, alias(input, count, Shape{1}, input.offset(), input.dtype()));
  copy_bytes(place, src);
  const Geometry whole{Shape(input.shape()), Shape(input.strides()), 0};
  const StridedPart p{
      {count, Shape{1}, 0}, whole, {Shape(size), Shape(stride), offset}, src.device()};
  Tensor y =
      call.done(alias(memory, whole.shape, whole.strides, 0, input.dtype()), kStridedScatter, p);
  if (call.forward())
    call.jvp(y, [&] {
      const Tensor t = strided_gather(or_zeros(call.tangent(0), input), p.whole, p.memory);
      return strided_gather(replaced(p, t, or_zeros(call.tangent(1), src)), p.memory, p.whole);
    });
  return y;
}

}  // namespace libdl
