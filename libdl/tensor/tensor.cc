// SPDX-License-Identifier: Apache-2.0

#include "tensor/tensor.h"

#include <algorithm>
#include <cstring>

#include "base/slab.h"
#include "device/meta.h"
#include "tensor/handle_tracking.h"

namespace libdl {

// -- life -----------------------------------------------------------------------------------

static size_t dims_bytes(int ndim) { return 2 * sizeof(int64_t) * static_cast<size_t>(ndim); }

// Pointers to the sizes are good as long as the handle. A cell that take_data() outgrew stays
// behind one that holds any geometry and, at its end, where the first one is and its capacity.
constexpr uint8_t kOutgrown = kMaxDims + 1;

[[gnu::noinline]] static void free_dims(libdl_tensor* t) noexcept {
  if (t->max_dims == kOutgrown) {
    int64_t* const first = t->dims + 2 * kMaxDims;
    if (first[1])
      slab_free(reinterpret_cast<void*>(first[0]), dims_bytes(static_cast<int>(first[1])));
  }
  slab_free(t->dims, dims_bytes(t->max_dims));
}

[[gnu::noinline]] static void allocate_dims(libdl_tensor* t, int ndim) {
  try {
    t->dims = static_cast<int64_t*>(slab_allocate(dims_bytes(ndim)));
    t->max_dims = static_cast<uint8_t>(ndim);
  } catch (...) {
    slab_free(t, sizeof(libdl_tensor));
    throw;
  }
}

void destroy(libdl_tensor* t) {
  if (t->meta) destroy_meta(t->meta, t);
  if (t->storage && t->storage->drop()) destroy(t->storage);
  if (t->max_dims) [[unlikely]]
    free_dims(t);
  count(slab::cache.live_tensors, -1);
  if (handles_are_tracked) [[unlikely]]
    return tracking::retired(t);
  t->~libdl_tensor();
  slab_free(t, sizeof(libdl_tensor));
}

// A cell with room for the geometry; storage still NULL.
static Tensor shell(int ndim, Dtype dtype) {
  libdl_tensor* t = new (slab_allocate(sizeof(libdl_tensor))) libdl_tensor;
  t->dims = t->inline_dims;
  if (ndim > kInlineDims) [[unlikely]]
    allocate_dims(t, ndim);
  t->ndim = static_cast<uint8_t>(ndim);
  t->dtype = dtype;
  if (state().mode & kModeInference) t->flags |= kInferenceTensor;
  count(slab::cache.live_tensors, 1);
  if (handles_are_tracked) [[unlikely]]
    tracking::created(t);
  return Tensor::take(t);
}

void seal(libdl_tensor& t) {
  int64_t numel = 1;
  bool contiguous = true;
  for (int d = t.ndim; d-- > 0;) {
    contiguous &= t.dims[d] == 1 || t.dims[t.ndim + d] == numel;
    numel *= t.dims[d];
  }
  t.numel = numel;
  if (contiguous || numel == 0) t.flags |= kContiguous;
}

Tensor empty(Dims shape, Dtype dtype, Device device) {
  const int ndim = static_cast<int>(shape.size());
  const int64_t numel = checked_numel(shape, dtype, nullptr);
  Tensor t = shell(ndim, dtype);
  libdl_tensor& p = *t.get();
  int64_t stride = 1;
  for (int d = ndim; d-- > 0;) {
    p.dims[d] = shape[d];
    p.dims[ndim + d] = stride;
    stride *= std::max<int64_t>(shape[d], 1);
  }
  p.numel = numel;
  p.flags |= kContiguous;
  p.storage = allocate_storage(static_cast<size_t>(numel * size_of(dtype)), device).release();
  return t;
}

Tensor alias(const Tensor& x, Dims shape, Dims strides, int64_t offset, Dtype dtype) {
  Tensor t = unsealed_alias(x, static_cast<int>(shape.size()), dtype);
  libdl_tensor& p = *t.get();
  for (size_t d = 0; d < shape.size(); ++d) {
    p.dims[d] = shape[d];
    p.dims[shape.size() + d] = strides[d];
  }
  p.offset = offset;
  seal(p);
  return t;
}

Tensor unsealed_alias(const Tensor& x, int ndim, Dtype dtype) {
  Tensor t = shell(ndim, dtype);
  libdl_tensor& p = *t.get();
  p.offset = x.offset();
  p.flags |= x.get()->flags & (kAside | kInferenceTensor | kStandIn);
  x.storage().retain();
  p.storage = &x.storage();
  return t;
}

Tensor alias(const Tensor& x) {
  if (x.is_number()) {
    Tensor t = shell(0, x.dtype());
    std::memcpy(t.get()->inline_dims, x.get()->inline_dims, sizeof t.get()->inline_dims);
    t.get()->numel = 1;
    t.get()->flags |= kNumber | kContiguous;
    return t;
  }
  return alias(x, x.shape(), x.strides(), x.offset(), x.dtype());
}

void take_data(const Tensor& x, const Tensor& y) {
  libdl_tensor &t = *x.get(), &from = *y.get();
  if (&t == &from) return;
  if (from.ndim > (t.max_dims ? t.max_dims : kInlineDims)) {
    auto* const cell = static_cast<int64_t*>(slab_allocate(dims_bytes(kOutgrown)));
    cell[2 * kMaxDims] = t.max_dims ? reinterpret_cast<int64_t>(t.dims) : 0;
    cell[2 * kMaxDims + 1] = t.max_dims;
    t.dims = cell;
    t.max_dims = kOutgrown;
  }
  std::memcpy(t.dims, from.dims, dims_bytes(from.ndim));
  t.ndim = from.ndim;
  t.offset = from.offset;
  t.numel = from.numel;
  t.dtype = from.dtype;
  t.flags = static_cast<uint8_t>((t.flags & ~kContiguous) | (from.flags & kContiguous));
  from.storage->retain();
  Ref<Storage>::take(std::exchange(t.storage, from.storage));
}

Tensor over_storage(Ref<Storage> storage, Dims shape, Dims strides, int64_t offset, Dtype dtype,
                    const char* op, const char* name) {
  const int64_t numel = checked_numel(shape, dtype, op);
  if (numel > 0) {
    const Extent reach = extent(shape, strides, op, name);
    const int64_t capacity = static_cast<int64_t>(storage->bytes) / size_of(dtype);
    int64_t low, high;
    if (__builtin_add_overflow(offset, reach.low, &low) ||
        __builtin_add_overflow(offset, reach.high, &high) || low < 0 || high >= capacity) {
      if (name)
        fail_argument(LIBDL_ERROR_VALUE, op, name,
                      "is " + to_string(strides) + ", which with shape " + to_string(shape) +
                          " and offset " + std::to_string(offset) + " leaves the storage",
                      "steps within its " + std::to_string(capacity) + " elements");
      fail(LIBDL_ERROR_VALUE, op,
           "shape " + to_string(shape) + " with strides " + to_string(strides) + " and offset " +
               std::to_string(offset) + " leaves the storage of " + std::to_string(capacity) +
               " elements");
    }
  } else if (offset < 0) {
    fail(LIBDL_ERROR_VALUE, op, "offset " + std::to_string(offset) + " is negative");
  }
  Tensor t = shell(static_cast<int>(shape.size()), dtype);
  libdl_tensor& p = *t.get();
  std::copy(shape.begin(), shape.end(), p.sizes());
  std::copy(strides.begin(), strides.end(), p.strides());
  p.offset = offset;
  seal(p);
  p.storage = storage.release();
  return t;
}

static Tensor number_shell(Dtype dtype) {
  Tensor t = shell(0, dtype);
  t.get()->numel = 1;
  t.get()->flags |= kNumber | kContiguous;
  return t;
}
Tensor number(double value) {
  Tensor t = number_shell(Dtype::kFloat64);
  t.get()->as_double = value;
  return t;
}
Tensor number(int64_t value) {
  Tensor t = number_shell(Dtype::kInt64);
  t.get()->as_int = value;
  return t;
}
Tensor number(bool value) {
  Tensor t = number_shell(Dtype::kBool);
  t.get()->as_int = value;
  return t;
}
Tensor number(std::complex<double> value) {
  Tensor t = number_shell(Dtype::kComplex128);
  t.get()->as_complex[0] = value.real();
  t.get()->as_complex[1] = value.imag();
  return t;
}

// -- geometry -------------------------------------------------------------------------------

int64_t checked_numel(Dims shape, Dtype dtype, const char* op, const char* name) {
  const char* const teller = op ? op : "empty";
  if (shape.size() > static_cast<size_t>(kMaxDims))
    fail_argument(LIBDL_ERROR_SHAPE, teller, name,
                  "has " + std::to_string(shape.size()) + " dimensions",
                  "at most " + std::to_string(kMaxDims));
  int64_t numel = 1, bytes = size_of(dtype);
  for (const int64_t n : shape) {
    if (n < 0)
      fail_argument(LIBDL_ERROR_VALUE, teller, name, "is " + to_string(shape),
                    "sizes of 0 or more");
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(n, 1), &bytes)) {
      if (!op)
        fail_unnamed(LIBDL_ERROR_OVERFLOW, std::string("a tensor of ") + name_of(dtype) +
                                               " and shape " + to_string(shape) +
                                               " would have 2^63 bytes or more");
      fail_argument(LIBDL_ERROR_OVERFLOW, op, name, "is " + to_string(shape),
                    "fewer than 2^63 bytes");
    }
    numel *= n;
  }
  return numel;
}

Extent extent(Dims shape, Dims strides, const char* op, const char* name) {
  Extent reach{0, 0};
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0) return {0, -1};
    int64_t span;
    int64_t& side = strides[d] < 0 ? reach.low : reach.high;
    if (__builtin_mul_overflow(shape[d] - 1, strides[d], &span) ||
        __builtin_add_overflow(side, span, &side)) {
      if (name)
        fail_argument(LIBDL_ERROR_OVERFLOW, op, name,
                      "is " + to_string(strides) + ", which with shape " + to_string(shape) +
                          " reaches further than 64 bits",
                      "smaller steps");
      fail(LIBDL_ERROR_OVERFLOW, op,
           "shape " + to_string(shape) + " with strides " + to_string(strides) +
               " reaches further than 64 bits");
    }
  }
  return reach;
}

namespace {
struct Step {
  int64_t stride, size;
};
}  // namespace

bool overlaps_itself(const Tensor& x) {
  if (x.is_number() || x.is_contiguous()) return false;
  // Sorted by stride, each dimension must step over all that the smaller ones reach. Geometries
  // that interleave without touching are called overlapping: none of the views makes one.
  Step order[kMaxDims];  // not on the heap: a list that is written in place may not fail half-way
  int n = 0;
  for (int d = 0; d < x.ndim(); ++d) {
    if (x.size(d) == 0) return false;
    if (x.size(d) > 1) order[n++] = {std::abs(x.stride(d)), x.size(d)};
  }
  std::sort(order, order + n, [](Step a, Step b) { return a.stride < b.stride; });
  int64_t reach = 0;
  for (const Step step : std::span(order, static_cast<size_t>(n))) {
    if (step.stride <= reach) return true;
    reach += step.stride * (step.size - 1);
  }
  return false;
}

// Whether distance = sum k_d stride_d has a solution with |k_d| < size_d; strides fall, and each
// exceeds what the later ones reach together, so only two k are possible a dimension.
static bool coincide(std::span<const Step> steps, int64_t distance) {
  if (steps.empty()) return distance == 0;
  int64_t rest = 0;
  for (const Step s : steps.subspan(1)) rest += (s.size - 1) * s.stride;
  const int64_t k = distance / steps[0].stride;
  for (const int64_t step : {k - 1, k, k + 1}) {
    const int64_t left = distance - step * steps[0].stride;
    if (std::abs(step) < steps[0].size && std::abs(left) <= rest &&
        coincide(steps.subspan(1), left))
      return true;
  }
  return false;
}

// Where x begins in its storage's plain bytes. Those that are not made yet lie at 0: only tensors
// of one storage are then compared.
static const char* start_of(const Tensor& x) {
  return static_cast<const char*>(x.storage().plain.load(std::memory_order_relaxed)) +
         x.offset() * size_of(x.dtype());
}

Overlap overlap(const Tensor& a, const Tensor& b) {
  if (a.is_number() || b.is_number() || a.numel() == 0 || b.numel() == 0) return Overlap::kNone;
  if (&a.storage() != &b.storage()) {
    // Foreign memory may be adopted twice, or be our own come back: compare addresses.
    if (!a.storage().release && !b.storage().release) return Overlap::kNone;
    if (is_meta(a.device())) return Overlap::kNone;  // addresses may come again
    if (a.storage().packed_only() || b.storage().packed_only()) return Overlap::kNone;
  }
  const char *const first = start_of(a), *const second = start_of(b);
  if (first == second && a.dtype() == b.dtype() && same(a.shape(), b.shape()) &&
      same(a.strides(), b.strides()))
    return Overlap::kFull;
  const auto bounds = [](const Tensor& t, const char* start) {
    const Extent reach = extent(t.shape(), t.strides(), "overlap");
    const int64_t size = size_of(t.dtype());
    return std::pair(start + reach.low * size, start + (reach.high + 1) * size);
  };
  const auto [a_low, a_high] = bounds(a, first);
  const auto [b_low, b_high] = bounds(b, second);
  if (a_high <= b_low || b_high <= a_low) return Overlap::kNone;
  // Columns of one matrix interleave without touching: with equal strides, is the distance a sum
  // of steps that both take?
  const int64_t distance = second - first;
  if (a.dtype() == b.dtype() && a.ndim() == b.ndim() && same(a.strides(), b.strides()) &&
      !overlaps_itself(a) && !overlaps_itself(b)) {
    SmallVector<Step, 8> steps;
    for (int d = 0; d < a.ndim(); ++d)
      if (const int64_t size = std::max(a.size(d), b.size(d)); size > 1)
        steps.push_back({std::abs(a.stride(d)) * size_of(a.dtype()), size});
    std::sort(steps.begin(), steps.end(), [](Step x, Step y) { return x.stride > y.stride; });
    if (!coincide({steps.data(), steps.size()}, distance)) return Overlap::kNone;
  }
  return Overlap::kPartial;
}

}  // namespace libdl
