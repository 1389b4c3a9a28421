// SPDX-License-Identifier: Apache-2.0

#include "ops/linalg/product.h"

#include "entries/copy.h"
#include "kernels/cpu/gemm/matmul.h"
#include "memory/allocator.h"
#include "ops/copy/copy.h"
#include "ops/primitive/launch.h"
#include "runtime/mechanism.h"
#include "tensor/packed.h"

namespace libdl {

namespace {

// [batch, rows, cols] over the operand's own strides.
struct Matrices {
  int64_t sizes[3], strides[3];
  kernels::View view;

  Matrices(Factor f, Access access) {
    const Tensor& x = *f.x;
    const int r = x.ndim() - (f.transposed ? 1 : 2), c = x.ndim() - (f.transposed ? 2 : 1);
    const bool batched = x.ndim() == 3;
    sizes[0] = batched ? x.size(0) : 1;
    strides[0] = batched ? x.stride(0) : 0;
    sizes[1] = x.size(r);
    strides[1] = x.stride(r);
    sizes[2] = x.size(c);
    strides[2] = x.stride(c);
    view = {kernel_data(x, access), sizes, strides, 3, static_cast<int32_t>(x.dtype())};
  }
};

// Room for panels; keep_packed may take it over.
struct Panels {
  explicit Panels(size_t bytes) : bytes(bytes), data(host_allocator().allocate(bytes)) {}
  ~Panels() {
    if (data) host_allocator().deallocate(data, bytes);
  }
  Panels(const Panels&) = delete;
  Panels& operator=(const Panels&) = delete;
  size_t bytes;
  void* data;
};

// NULL if there is no memory for them: no product needs them.
std::unique_ptr<Panels> packed(const kernels::View& b, bool widened = false) {
  const int64_t bytes = kernels::cpu::packed_size(b.dtype, b.sizes[2], b.sizes[1], widened);
  if (bytes <= 0) return nullptr;
  std::unique_ptr<Panels> panels;
  try {
    panels = std::make_unique<Panels>(static_cast<size_t>(bytes));
  } catch (const Error&) {
    return nullptr;
  }
  launch([&](kernels::Context& c) { kernels::cpu::pack_b(c, panels->data, b, widened); });
  return panels;
}

// The cached panels of a matrix that is used repeatedly. Unless this is known (at_once), the first
// product only notes the geometry, and the second one packs: a matrix that is used once costs
// nothing extra.
PackedReader kept_panels(const Tensor& x, const kernels::View& b, bool at_once = false) {
  if (x.ndim() != 2 || left_out(Mechanism::kPanels)) return {};
  Storage& storage = x.storage();
  const Extent reach = extent(x.shape(), x.strides(), "matmul");
  const int64_t size = size_of(x.dtype());
  const PackedSource source{
      storage,
      {Layout::kGemmPanels, x.dtype(), x.offset(), {b.sizes + 1, 2}, {b.strides + 1, 2}},
      {x.read_plain<std::byte>() + reach.low * size,
       static_cast<size_t>((reach.high - reach.low + 1) * size)},
      storage.version.load(std::memory_order_acquire)};
  bool noted;
  if (PackedReader found = find_packed(source, noted); found.data()) return found;
  if (!noted && !at_once) {
    note_packed(source);
    return {};
  }
  const std::optional<uint64_t> fingerprint = packed_fingerprint(source);
  const std::unique_ptr<Panels> panels = packed(b);
  if (!panels) return {};
  PackedReader kept = keep_packed(source, fingerprint, panels->data, panels->bytes);
  if (!panels->data) count_conversion(storage, "matmul");
  return kept;
}

}  // namespace

Tensor product(Factor a, Factor b, const Tensor* bias, const Tensor* base, double alpha,
               double beta) {
  const int64_t n = a.rows(), m = b.cols(), k = a.cols();
  const bool batched = a.x->ndim() == 3;
  const int64_t shape[] = {batched ? a.x->size(0) : 1, n, m};
  Tensor y = empty(Dims(shape).subspan(batched ? 0 : 1), a.x->dtype(), a.x->device());
  if (y.numel() == 0) return y;
  if (base) copy_bytes(y, *base);  // may give y another form: no pointer lasts over it
  const Matrices left(a, Access::kRead), right(b, Access::kRead),
      out({&y}, base ? Access::kUpdate : Access::kOverwrite);
  kernels::MatmulArgs args{};
  args.out = out.view;
  args.a = left.view;
  args.b = right.view;
  args.bias = bias ? reads(*bias) : no_view();
  args.alpha = alpha;
  if (base) args.beta = beta;
  if (!y.device().is_cpu()) {
    launch_matmul(y.device(), args);
    return y;
  }
  PackedReader panels;
  // Those of 16 bits are for factors of 16 bits: beside float32 they would be read as other
  // numbers.
  const bool widens = args.a.dtype != args.b.dtype;
  if (!widens && kernels::cpu::matmul_reads_packed(args.b.dtype, n, m, k))
    panels = kept_panels(*b.x, right.view);
  args.packed_b = panels.data();
  launch_matmul(y.device(), args);
  return y;
}

bool product_widens(Device device, int64_t rows, int64_t columns, int64_t inner) {
  return device.is_cpu() && kernels::cpu::matmul_widens(rows, columns, inner);
}

RepeatedProduct::RepeatedProduct(Factor b, int64_t rows, int64_t times) : device_(b.x->device()) {
  const Matrices right(b, Access::kRead);
  std::copy_n(right.sizes, 3, sizes_);
  std::copy_n(right.strides, 3, strides_);
  b_ = right.view;
  b_.sizes = sizes_, b_.strides = strides_;
  if (!device_.is_cpu()) return;
  if (size_of(b.x->dtype()) > 2) {
    if (kernels::cpu::matmul_reads_packed(b_.dtype, rows, b.cols(), b.rows()))
      panels_ = kept_panels(*b.x, b_, times > 1);
  } else if (times > 1 && product_widens(device_, rows, b.cols(), b.rows()) &&
             !left_out(Mechanism::kPanels)) {
    const std::shared_ptr<Panels> own = packed(b_, true);
    if (own) own_panels_ = std::shared_ptr<void>(own, own->data);
  }
}

void RepeatedProduct::operator()(const kernels::View& out, const kernels::View& a, bool add,
                                 const Tensor* bias) const {
  struct Batch {  // of one matrix
    int64_t sizes[3], strides[3];
    kernels::View view;
    explicit Batch(const kernels::View& v)
        : sizes{1, v.sizes[0], v.sizes[1]},
          strides{0, v.strides[0], v.strides[1]},
          view{v.data, sizes, strides, 3, v.dtype} {}
  };
  const Batch left(a), to(out);
  kernels::MatmulArgs args{};
  args.out = to.view;
  args.a = left.view;
  args.b = b_;
  args.bias = bias ? reads(*bias) : no_view();
  args.packed_b = own_panels_ ? own_panels_.get() : panels_.data();
  if (add) args.beta = 1;
  launch_matmul(device_, args);
}

}  // namespace libdl
