// SPDX-License-Identifier: Apache-2.0

#include "ops/product.h"

#include "device/allocator.h"
#include "kernels/cpu/matmul.h"
#include "ops/launch.h"

namespace libdl {

namespace {

// [batch, rows, cols] over the operand's own strides.
struct Matrices {
  int64_t sizes[3], strides[3];
  kernels::View view;

  explicit Matrices(Factor f) {
    const Tensor& x = *f.x;
    const int r = x.ndim() - (f.transposed ? 1 : 2), c = x.ndim() - (f.transposed ? 2 : 1);
    const bool batched = x.ndim() == 3;
    sizes[0] = batched ? x.size(0) : 1;
    strides[0] = batched ? x.stride(0) : 0;
    sizes[1] = x.size(r);
    strides[1] = x.stride(r);
    sizes[2] = x.size(c);
    strides[2] = x.stride(c);
    view = {x.data(), sizes, strides, 3, static_cast<int32_t>(x.dtype())};
  }
};

struct Scratch {
  explicit Scratch(size_t n) : bytes(n), data(n ? host_allocator().allocate(n) : nullptr) {}
  ~Scratch() {
    if (data) host_allocator().deallocate(data, bytes);
  }
  size_t bytes;
  void* data;
};

constexpr int32_t kGemmPanels = 1;

bool matches(const Packed& form, const Matrices& b, int64_t offset, uint64_t version) {
  return form.version == version && form.layout == kGemmPanels && form.rows == b.sizes[1] &&
         form.cols == b.sizes[2] && form.row_stride == b.strides[1] &&
         form.col_stride == b.strides[2] && form.offset == offset;
}

Packed* make_form(const Matrices& b, int64_t offset, uint64_t version, size_t bytes) {
  Packed* const form = slab_new<Packed>();
  *form = {version, kGemmPanels, b.sizes[1], b.sizes[2], b.strides[1], b.strides[2], offset,
           bytes,   nullptr,     nullptr};
  return form;
}

// Forms wait for the storage's next exclusive writer, so a storage that is only read, in many
// geometries or between exports, must not gather them without end.
constexpr int kMostForms = 16;

// What is known of this geometry: its panels, or a note that it was multiplied by once.
const Packed* find_form(const Packed* newest, const Matrices& b, int64_t offset, uint64_t version,
                        int* count) {
  const Packed* note = nullptr;
  for (const Packed* form = newest; form; form = form->next) {
    ++*count;
    if (!matches(*form, b, offset, version)) continue;
    if (form->data) return form;
    note = form;
  }
  return note;
}

// The kept panels of a matrix that is multiplied by again and again. The first product only leaves a
// note of the geometry, the second one packs: a matrix that is used once costs nothing extra.
const void* kept_panels(const Tensor& x, const Matrices& b) {
  Storage& storage = x.storage();
  if (x.ndim() != 2 || storage.writable_exports.load(std::memory_order_relaxed) > 0) return nullptr;
  const uint64_t version = storage.version.load(std::memory_order_relaxed);
  Packed* const known = storage.packed.load(std::memory_order_acquire);
  int forms = 0;
  const Packed* const noted = find_form(known, b, x.offset(), version, &forms);
  if (noted && noted->data) return noted->data;
  if (forms >= kMostForms) return nullptr;
  const int64_t bytes = kernels::cpu::packed_size(b.sizes[2], b.sizes[1]);
  if (bytes <= 0) return nullptr;
  Packed* const form =
      make_form(b, x.offset(), version, noted ? static_cast<size_t>(bytes) : 0);
  if (noted) {
    try {
      form->data = host_allocator().allocate(form->bytes);
    } catch (const Error&) {  // the product itself does not need it
      slab_delete(form);
      return nullptr;
    }
    launch([&](kernels::Context& c) { kernels::cpu::pack_b(c, form->data, b.view); });
    count_conversion(storage, "matmul");
  }
  // Readers of the former one may still be at work: it waits for the exclusive writer.
  form->next = known;
  Packed* expected = known;
  if (storage.packed.compare_exchange_strong(expected, form, std::memory_order_acq_rel))
    return form->data;
  if (form->data) host_allocator().deallocate(form->data, form->bytes);
  slab_delete(form);
  return nullptr;
}

}  // namespace

Tensor product(Factor a, Factor b, const Tensor* bias) {
  const int64_t n = a.rows(), m = b.cols(), k = a.cols();
  const bool batched = a.x->ndim() == 3;
  const int64_t shape[] = {batched ? a.x->size(0) : 1, n, m};
  Tensor y = empty(Dims(shape).subspan(batched ? 0 : 1), a.x->dtype(), a.x->device());
  if (y.numel() == 0) return y;
  const Matrices left(a), right(b), out({&y});
  kernels::MatmulArgs args{};
  args.out = out.view;
  args.a = left.view;
  args.b = right.view;
  args.bias = bias ? view_of(*bias) : no_view();
  if (kernels::cpu::matmul_reads_packed(args.b.dtype, n, m, k))
    args.packed_b = kept_panels(*b.x, right);
  const int64_t bytes = kernels::cpu::matmul_scratch(args);
  if (bytes < 0) fail(LIBDL_ERROR_OVERFLOW, "matmul", "needs more scratch memory than 64 bits count");
  const Scratch scratch(static_cast<size_t>(bytes));
  args.scratch = scratch.data;
  args.scratch_bytes = bytes;
  launch_matmul(y.device(), args);
  return y;
}

}  // namespace libdl
