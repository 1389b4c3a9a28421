// SPDX-License-Identifier: Apache-2.0

// A tensor: a storage and a geometry (shape, strides and offset) over its bytes.
#pragma once

#include <libdl/abi.h>

#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/counted.h"
#include "base/error.h"
#include "base/small_vector.h"
#include "base/test_hooks.h"
#include "device/state.h"
#include "tensor/dtype.h"
#include "tensor/storage_life.h"
#include "tensor/tensor_cell.h"

namespace libdl {

void destroy(libdl_tensor* tensor);

// The plain bytes of a tensor whose storage has none; see tensor/forms.h.
void* make_plain(const libdl_tensor& x, Access access);
void shake(const libdl_tensor& x);  // forms come or go, where they are random

// An owning handle, the size of a pointer. Metadata are members; arithmetic is free functions.
class Tensor {
 public:
  Tensor() = default;
  static Tensor take(libdl_tensor* p) {
    Tensor t;
    t.p_ = p;
    return t;
  }
  static Tensor share(libdl_tensor* p) {
    if (p) p->retain();
    return take(p);
  }
  Tensor(const Tensor& other) : p_(other.p_) {
    if (p_) p_->retain();
  }
  Tensor(Tensor&& other) noexcept : p_(std::exchange(other.p_, nullptr)) {}
  Tensor& operator=(Tensor other) noexcept {
    std::swap(p_, other.p_);
    return *this;
  }
  ~Tensor() {
    if (p_ && p_->drop()) destroy(p_);
  }
  libdl_tensor* release() { return std::exchange(p_, nullptr); }
  libdl_tensor* get() const { return p_; }
  bool defined() const { return p_ != nullptr; }
  bool is(const Tensor& other) const { return p_ == other.p_; }

  int ndim() const { return p_->ndim; }
  int64_t numel() const { return p_->numel; }
  Dtype dtype() const { return p_->dtype; }
  Device device() const { return p_->storage ? p_->storage->device : Device{}; }
  Dims shape() const { return {p_->dims, p_->ndim}; }
  Dims strides() const { return {p_->dims + p_->ndim, p_->ndim}; }
  int64_t size(int dim) const { return p_->dims[dim]; }
  int64_t stride(int dim) const { return p_->dims[p_->ndim + dim]; }
  int64_t offset() const { return p_->offset; }
  bool is_contiguous() const { return p_->flags & kContiguous; }
  bool is_number() const { return p_->flags & kNumber; }
  bool is_complex() const { return libdl::is_complex(p_->dtype); }
  Storage& storage() const { return *p_->storage; }
  Meta* meta() const { return p_->meta; }

  // The address of the first element in the plain bytes, which strides describe, or of a number's
  // own value, to be read only. The caller says what it will do with the bytes, since they may have
  // to be made first. Throws OUT_OF_MEMORY.
  template <class T = void>
  const T* read_plain() const {
    return static_cast<const T*>(plain(Access::kRead));
  }
  template <class T = void>
  T* overwrite_plain() const {
    return static_cast<T*>(plain(Access::kOverwrite));
  }
  template <class T = void>
  T* update_plain() const {
    return static_cast<T*>(plain(Access::kUpdate));
  }
  // The same when a launch has made sure that there are plain bytes.
  void* plain() const {
    if (p_->flags & kNumber) return p_->inline_dims;
    return static_cast<char*>(p_->storage->plain.load(std::memory_order_relaxed)) +
           p_->offset * size_of(p_->dtype);
  }
  void* plain(Access access) const {
    if (p_->flags & kNumber) return p_->inline_dims;
    if constexpr (kFormsAreRandom)
      if (access == Access::kRead) shake(*p_);
    void* bytes = p_->storage->plain.load(std::memory_order_acquire);
    if (!bytes) [[unlikely]]
      bytes = make_plain(*p_, access);
    return static_cast<char*>(bytes) + p_->offset * size_of(p_->dtype);
  }

 private:
  libdl_tensor* p_ = nullptr;
};
static_assert(sizeof(Tensor) == sizeof(void*));

using TensorSpan = std::span<const Tensor>;

// The version to compare when a value of x is saved: kAside writes do not count, unless x itself is
// kAside.
inline uint64_t saved_version(const libdl_tensor& x) {
  const uint64_t all = x.storage->version.load(std::memory_order_relaxed);
  return x.flags & kAside ? all : all - x.storage->aside.load(std::memory_order_relaxed);
}
// After a successful write of x.
inline void written(const Tensor& x, const char* op) {
  if (x.get()->flags & kAside) [[unlikely]]
    x.storage().aside.fetch_add(1, std::memory_order_relaxed);
  written(x.storage(), op);
}

// A borrowed handle seen as a Tensor, without touching the count.
inline const Tensor& borrow(libdl_tensor* const& handle) {
  return reinterpret_cast<const Tensor&>(handle);
}

// -- making ---------------------------------------------------------------------------------

// Uninitialised, row-major. Throws OVERFLOW, OUT_OF_MEMORY.
Tensor empty(Dims shape, Dtype dtype, Device device = {});

// The same bytes through another geometry, which the caller has checked to lie within the storage.
// Without history or other autograd state.
Tensor alias(const Tensor& x, Dims shape, Dims strides, int64_t offset, Dtype dtype);
Tensor alias(const Tensor& x);  // same geometry

// x gets y's bytes, geometry and dtype; pointers to x's sizes and strides stay readable.
void take_data(const Tensor& x, const Tensor& y);

// An alias in two steps, without a copy of the geometry: the caller writes sizes, strides and
// offset (initially x's) in place, then seals it.
Tensor unsealed_alias(const Tensor& x, int ndim, Dtype dtype);
void seal(libdl_tensor& t);  // computes numel and whether the tensor is contiguous

// A tensor over a storage, whose geometry is checked against its size. Errors as for as_strided;
// they name the argument `name`, or none.
Tensor over_storage(Ref<Storage> storage, Dims shape, Dims strides, int64_t offset, Dtype dtype,
                    const char* op, const char* name = nullptr);

// Host numbers: 0-d, no storage.
Tensor number(double value);
Tensor number(int64_t value);
Tensor number(bool value);
Tensor number(std::complex<double> value);

// -- geometry -------------------------------------------------------------------------------

// Product of the sizes. Throws OVERFLOW if it, or the bytes, exceed 2^63 - 1, each size counted
// as at least 1 (so that strides cannot overflow either), VALUE if a size is negative. op is NULL
// for a result whose sizes follow from those of other tensors: the error then names no argument.
int64_t checked_numel(Dims shape, Dtype dtype, const char* op, const char* name = "shape");
// The smallest and largest element offsets that a geometry reaches, relative to its start.
// Throws OVERFLOW.
struct Extent {
  int64_t low, high;  // inclusive; meaningless when numel is 0
};
// name: of the argument with the strides; NULL: the error names none.
Extent extent(Dims shape, Dims strides, const char* op, const char* name = nullptr);

// Nobody else sees x or its bytes, now or later: they may be overwritten.
inline bool sole_owner(const Tensor& x) {
  return x.get()->count() == 1 && !x.meta() && !x.is_number() && x.storage().exclusive() &&
         !x.storage().release && !x.storage().read_only;
}
// Two elements may share an address.
bool overlaps_itself(const Tensor& x);
// kNone: disjoint; kFull: same geometry over the same bytes; kPartial: anything between.
enum class Overlap { kNone, kFull, kPartial };
Overlap overlap(const Tensor& a, const Tensor& b);

}  // namespace libdl
