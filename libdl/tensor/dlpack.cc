// SPDX-License-Identifier: Apache-2.0

#include "tensor/dlpack.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/contained.h"
#include "device/device.h"
#include "device/meta.h"
#include "device/stream.h"
#include "device/transfer.h"
#include "tensor/export.h"
#include "tensor/row_major.h"

namespace libdl {

using dlpack::Managed;
using dlpack::ManagedVersioned;

// -- dtypes and devices ---------------------------------------------------------------------

static dlpack::DType dtype_to_dlpack(Dtype t) {
  const auto bits = static_cast<uint8_t>(8 * size_of(t));
  if (t == Dtype::kBool) return {dlpack::kBool, bits, 1};
  if (t == Dtype::kBfloat16) return {dlpack::kBfloat, bits, 1};
  if (is_complex(t)) return {dlpack::kComplex, bits, 1};
  if (is_floating(t)) return {dlpack::kFloat, bits, 1};
  return {is_signed(t) ? dlpack::kInt : dlpack::kUint, bits, 1};
}

// kNone for what libdl does not have.
static Dtype dtype_from_dlpack(dlpack::DType requested) {
  for (int32_t number = 1; number < kDtypes; ++number) {
    const dlpack::DType t = dtype_to_dlpack(static_cast<Dtype>(number));
    if (t.code == requested.code && t.bits == requested.bits && requested.lanes == 1)
      return static_cast<Dtype>(number);
  }
  return Dtype::kNone;
}

static bool host_readable(int32_t device_type) {
  return device_type == dlpack::kCpu || device_type == dlpack::kCudaHost ||
         device_type == dlpack::kRocmHost;
}

// -- export ---------------------------------------------------------------------------------

namespace {

// One cell: the struct, what it keeps alive, then sizes and strides.
template <class M>
struct Export {
  M managed{};
  Ref<Storage> storage;
  size_t bytes = 0;  // of the cell
  bool writable = false;
  WritableExport written;

  int64_t* dims() { return reinterpret_cast<int64_t*>(this + 1); }
};

template <class M>
void end_of_export(M* managed) {
  auto* const held = reinterpret_cast<Export<M>*>(managed);
  if (held->writable) end_export(held->written, "an exporter of its memory");
  const size_t bytes = held->bytes;
  held->~Export();
  slab_free(held, bytes);
}

// meta has no number in DLPack, and nothing to exchange.
void refuse_meta(const char* op, Device device, const char* name) {
  if (is_meta(device))
    fail_argument(LIBDL_ERROR_DEVICE, op, name, "is on meta, and has no elements",
                  "a tensor that has memory");
}

void check(const ExportOptions& options, const Tensor& x) {
  refuse_meta("tensor_to_dlpack", x.device(), "tensor");
  if (options.device.type && !(options.device == x.device()))
    fail_argument(LIBDL_ERROR_DEVICE, "tensor_to_dlpack", "options",
                  "asks for device " + std::to_string(options.device.type) + ":" +
                      std::to_string(options.device.index),
                  "the tensor's own");
  if (options.stream == 0 || options.stream == -1) return;
  if (x.device().is_cpu())
    fail_argument(LIBDL_ERROR_VALUE, "tensor_to_dlpack", "options",
                  "names stream " + std::to_string(options.stream), "none for a tensor on the CPU");
  // The consumer's stream waits for what is queued on ours. 1 is the default stream's number.
  const Event done = make_event(x.device(), false);
  record(*done.get(), *current_stream(x.device()).get());
  void* const native = options.stream == 1
                           ? nullptr
                           : reinterpret_cast<void*>(static_cast<intptr_t>(options.stream));
  wait(*wrap_stream(x.device(), native).get(), *done.get());
}

template <class M>
Export<M>* make_export(const Tensor& x, bool writable) {
  static_assert(offsetof(Export<M>, managed) == 0);
  const auto ndim = static_cast<size_t>(x.ndim());
  const size_t bytes = sizeof(Export<M>) + 2 * ndim * sizeof(int64_t);
  auto* const export_ = new (slab_allocate(bytes)) Export<M>;
  export_->bytes = bytes;
  export_->storage = Ref<Storage>::share(&x.storage());
  std::memcpy(export_->dims(), x.get()->dims, 2 * ndim * sizeof(int64_t));
  M& managed = export_->managed;
  managed.tensor = borrow_dlpack(x, false);
  managed.tensor.shape = export_->dims();
  managed.tensor.strides = export_->dims() + ndim;
  managed.manager_ctx = export_;
  managed.deleter = end_of_export<M>;
  export_->writable = writable;
  if (writable) begin_export(export_->written, x);
  return export_;
}

// What is exported: x, or a copy of it.
Tensor exported(const Tensor& x, const ExportOptions& options) {
  check(options, x);
  if (options.copy == CopyPolicy::kAlways && x.device().is_cpu()) return row_major_copy(x);
  if (options.copy == CopyPolicy::kAlways)
    fail_argument(LIBDL_ERROR_UNSUPPORTED, "tensor_to_dlpack", "options", "asks for a copy",
                  "none for a tensor on " + device_name(x.device()) + ": clone it first");
  if (!x.is_number()) return x;
  if (options.copy == CopyPolicy::kNever)
    fail_argument(LIBDL_ERROR_VALUE, "tensor_to_dlpack", "tensor", "is a host number",
                  "a tensor, or leave to copy");
  return row_major_copy(x);
}

}  // namespace

ManagedVersioned* to_dlpack(const Tensor& x, const ExportOptions& options) {
  const bool any = options.max_major == 0 && options.max_minor == 0;
  if (!any && options.max_major < dlpack::kMajor)
    fail_argument(LIBDL_ERROR_UNSUPPORTED, "tensor_to_dlpack", "options",
                  "allows version " + std::to_string(options.max_major) + "." +
                      std::to_string(options.max_minor),
                  "1.0 or later, or the unversioned form");
  const Tensor source = exported(x, options);
  const bool read_only = source.storage().read_only || options.read_only;
  ManagedVersioned& managed = make_export<ManagedVersioned>(source, !read_only)->managed;
  const bool older = !any && options.max_major == dlpack::kMajor;
  managed.version = {dlpack::kMajor,
                     older ? std::min(options.max_minor, dlpack::kMinor) : dlpack::kMinor};
  managed.flags = (read_only ? uint64_t{dlpack::kReadOnly} : 0) |
                  (source.is(x) ? 0 : uint64_t{dlpack::kIsCopied});
  return &managed;
}

Managed* to_dlpack_unversioned(const Tensor& x, const ExportOptions& options) {
  const Tensor source = exported(x, options);
  if (source.storage().read_only || options.read_only)
    fail_argument(LIBDL_ERROR_READ_ONLY, "tensor_to_dlpack_unversioned", "tensor",
                  "may not be written, which the unversioned struct cannot tell",
                  "a copy or the versioned struct");
  return &make_export<Managed>(source, true)->managed;
}

dlpack::Tensor borrow_dlpack(const Tensor& x, bool for_writing) {
  if (x.is_number())
    fail_argument(LIBDL_ERROR_VALUE, "tensor_borrow_dlpack", "tensor", "is a host number",
                  "a tensor");
  refuse_meta("tensor_borrow_dlpack", x.device(), "tensor");
  if (for_writing) {
    if (x.storage().read_only)
      fail_argument(LIBDL_ERROR_READ_ONLY, "tensor_borrow_dlpack", "tensor", "may not be written",
                    "a tensor that may");
    written(x, "tensor_borrow_dlpack");
  }
  dlpack::Tensor t{};
  t.data = x.numel() ? x.update_plain() : nullptr;
  t.device_type = x.device().type;
  t.device_id = x.device().index;
  t.ndim = x.ndim();
  t.dtype = dtype_to_dlpack(x.dtype());
  t.shape = x.get()->sizes();
  t.strides = x.get()->strides();
  return t;
}

// -- import ---------------------------------------------------------------------------------

namespace {

template <class M>
void call_deleter(void* managed) {
  M* const m = static_cast<M*>(managed);
  if (m->deleter) contained([&] { m->deleter(m); });
}

template <class M>
struct CallDeleter {
  void operator()(M* managed) const { call_deleter<M>(managed); }
};
template <class M>
using Held = std::unique_ptr<M, CallDeleter<M>>;

const char* argument_of(const char* op) {
  return op == std::string("tensor_from_dlpack") ? "managed" : "prototype";
}

LIBDL_NORETURN [[gnu::cold]] void refuse(libdl_error_code code, const char* op,
                                         const std::string& found,
                                         const std::string& wanted LIBDL_SOURCE_LOCATION) {
  fail_argument(code, op, argument_of(op), found, wanted LIBDL_SAME_SOURCE_LOCATION);
}

void check_reachable(const dlpack::Tensor& t, const char* op) {
  const Device device{t.device_type, t.device_id};
  try {
    check_device(op, device);
  } catch (const Error& error) {
    refuse(LIBDL_ERROR_DEVICE, op, "is on " + device_name(device),
           "a device that libdl reaches: " + error.message());
  }
}

struct Geometry {
  Dtype dtype;
  Shape shape, strides;
};

// Everything but the bytes. No size or stride is believed before it is checked.
Geometry checked_geometry(const dlpack::Tensor& t, const char* op) {
  if (!host_readable(t.device_type)) check_reachable(t, op);
  refuse_meta(op, {t.device_type, t.device_id}, argument_of(op));
  Geometry g;
  g.dtype = dtype_from_dlpack(t.dtype);
  if (g.dtype == Dtype::kNone)
    refuse(LIBDL_ERROR_DTYPE, op,
           "has DLPack type code " + std::to_string(t.dtype.code) + " of " +
               std::to_string(t.dtype.bits) + " bits and " + std::to_string(t.dtype.lanes) +
               " lanes",
           "one of libdl's dtypes");
  if (t.ndim < 0 || t.ndim > kMaxDims)
    refuse(LIBDL_ERROR_SHAPE, op, "has " + std::to_string(t.ndim) + " dimensions",
           "0 to " + std::to_string(kMaxDims));
  if (t.ndim > 0 && !t.shape) refuse(LIBDL_ERROR_NULL, op, "has no shape", "one");
  const auto ndim = static_cast<size_t>(t.ndim);
  g.shape.assign({t.shape, ndim});
  const int64_t numel = checked_numel({g.shape.data(), ndim}, g.dtype, op, argument_of(op));
  g.strides = contiguous_strides({g.shape.data(), ndim});
  if (!t.strides) return g;
  // No step is longer than the address space. Strides of single elements, and of none, are not used
  // for anything, and some producers leave garbage there.
  constexpr int64_t kFar = int64_t{1} << 48;
  int64_t behind = 1;  // the step that follows from the next dimension's
  for (size_t d = ndim; d-- > 0;) {
    const int64_t stride = t.strides[d];
    const bool used = g.shape[d] > 1 && numel > 0;
    if (used && (stride < -kFar || stride > kFar))
      refuse(LIBDL_ERROR_OVERFLOW, op, "has stride " + std::to_string(stride),
             "strides within the address space");
    g.strides[d] = used || (stride >= 0 && stride <= kFar) ? stride : behind;
    const bool long_way =
        __builtin_mul_overflow(g.strides[d], std::max<int64_t>(g.shape[d], 1), &behind);
    if (long_way || behind < 0) behind = 1;
  }
  return g;
}

// The bytes that a geometry reaches.
struct Window {
  char* data = nullptr;
  size_t bytes = 0;
  int64_t offset = 0;  // of the first element, in elements
};

Window window_of(const dlpack::Tensor& t, const Geometry& g) {
  const char* const op = "tensor_from_dlpack";
  for (const int64_t n : g.shape)
    if (n == 0) return {};
  if (!t.data) refuse(LIBDL_ERROR_NULL, op, "has no data", "some, as it has elements");
  const Extent reach =
      extent({g.shape.data(), g.shape.size()}, {g.strides.data(), g.strides.size()}, op);
  const int64_t size = size_of(g.dtype);
  const auto address = reinterpret_cast<uintptr_t>(t.data);
  int64_t low, bytes;
  uintptr_t first, start, end;
  if (__builtin_mul_overflow(reach.low, size, &low) ||
      __builtin_sub_overflow(reach.high, reach.low, &bytes) ||
      __builtin_add_overflow(bytes, 1, &bytes) || __builtin_mul_overflow(bytes, size, &bytes) ||
      __builtin_add_overflow(address, t.byte_offset, &first) ||
      __builtin_add_overflow(first, low, &start) || __builtin_add_overflow(start, bytes, &end))
    refuse(LIBDL_ERROR_OVERFLOW, op, "reaches beyond the address space", "a shorter reach");
  return {reinterpret_cast<char*>(start), static_cast<size_t>(bytes), -reach.low};
}

bool is_aligned(const Window& window, Dtype dtype) {
  return reinterpret_cast<uintptr_t>(window.data) %
             static_cast<uintptr_t>(size_of(real_of(dtype))) ==
         0;
}

Tensor over(Ref<Storage> storage, const Geometry& g, int64_t offset) {
  return over_storage(std::move(storage), {g.shape.data(), g.shape.size()},
                      {g.strides.data(), g.strides.size()}, offset, g.dtype, "tensor_from_dlpack");
}

// The whole window, as it lies. The producer may release its memory as soon as this returns.
Tensor copied_on_device(const Window& window, const Geometry& g, Device device) {
  Ref<Storage> own = allocate_storage(window.bytes, device);
  void* const stream = native_stream(device);
  if (window.bytes)
    copy_bytes(own->plain.load(std::memory_order_relaxed), device, window.data, device,
               window.bytes, stream);
  synchronize(*current_stream(device));
  return over(std::move(own), g, window.offset);
}

template <class M>
Tensor import(Held<M> managed, uint64_t flags, CopyPolicy copy) {
  const Geometry g = checked_geometry(managed->tensor, "tensor_from_dlpack");
  const Window window = window_of(managed->tensor, g);
  const bool aligned = is_aligned(window, g.dtype);
  if (!aligned && copy == CopyPolicy::kNever)
    refuse(LIBDL_ERROR_VALUE, "tensor_from_dlpack",
           std::string("is not aligned to its elements (") + name_of(g.dtype) + ")",
           "aligned memory, or leave to copy");
  const bool copies = !aligned || copy == CopyPolicy::kAlways;
  const auto& from = managed->tensor;
  const Device device =
      host_readable(from.device_type) ? Device{} : Device{from.device_type, from.device_id};
  if (copies && !device.is_cpu()) return copied_on_device(window, g, device);
  if (copies) {
    const auto borrowed = adopt_storage(window.data, window.bytes, {}, true, nullptr, nullptr);
    return row_major_copy(over(borrowed, g, window.offset));
  }
  if (managed->deleter == end_of_export<M> && window.data) {
    // Our own memory come back: the same storage, so that aliases keep sharing the version.
    const Ref<Storage>& own = reinterpret_cast<Export<M>*>(managed.get())->storage;
    const auto* const start = static_cast<const char*>(own->plain.load(std::memory_order_relaxed));
    const bool read_only = flags & dlpack::kReadOnly;
    if (window.data >= start && window.data + window.bytes <= start + own->bytes &&
        (window.data - start) % size_of(g.dtype) == 0 && read_only == own->read_only)
      return over(own, g, (window.data - start) / size_of(g.dtype) + window.offset);
  }
  const bool shared = !(flags & dlpack::kIsCopied);
  Ref<Storage> storage = adopt_storage(window.data, window.bytes, device, flags & dlpack::kReadOnly,
                                       call_deleter<M>, managed.release());
  if (shared) export_for_good(*storage);  // the producer may write at any time
  return over(std::move(storage), g, window.offset);
}

}  // namespace

Tensor from_dlpack(ManagedVersioned* managed, CopyPolicy copy) {
  Held<ManagedVersioned> held(managed);
  if (managed->version.major != dlpack::kMajor)
    refuse(LIBDL_ERROR_UNSUPPORTED, "tensor_from_dlpack",
           "has DLPack version " + std::to_string(managed->version.major) + "." +
               std::to_string(managed->version.minor),
           "major version 1");
  const uint64_t flags = managed->flags;
  return import(std::move(held), flags, copy);
}

Tensor from_dlpack(Managed* managed, CopyPolicy copy) {
  return import(Held<Managed>(managed), 0, copy);
}

ManagedVersioned* allocate_dlpack(const dlpack::Tensor& prototype) {
  const Geometry g = checked_geometry(prototype, "dlpack_allocate");
  return to_dlpack(empty({g.shape.data(), g.shape.size()}, g.dtype), {});
}

}  // namespace libdl
