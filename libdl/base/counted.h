// SPDX-License-Identifier: Apache-2.0

// Reference counts and the tag by which a handle's kind is recognised.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace libdl {

// The first word of every object behind a handle. It reveals a handle of the wrong kind; a released
// handle cannot be detected (reading it is already a use after free).
enum class Tag : uint32_t {
  kTensor = 0x4c445431,
  kError,
  kGenerator,
  kState,
  kTensorList,
  kNode,
  kStorage,
  kStream,
  kEvent,
  kScope,
  kFunction,
  kContext,
  kHook,
  kOptimizer,
  kFile,
  kMapping,
  kOperator,
  kText,
  kOther,
  kReleased,  // its memory is kept (base/handle.h), so that it is known when it is given again
};

class Counted {
 public:
  explicit Counted(Tag tag) : tag_(tag) {}
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

  Tag tag() const { return tag_; }
  uint32_t count() const { return count_.load(std::memory_order_acquire) & ~kWeak; }
  void retain() const { count_.fetch_add(1, std::memory_order_relaxed); }

  // True when this was the last reference; the caller then destroys the object. With one reference
  // left nobody else can make another, unless weak pointers were allowed, so no atomic
  // read-modify-write is needed. A dying object's count is 0.
  bool drop() const {
    if (count_.load(std::memory_order_acquire) == 1) {
      count_.store(0, std::memory_order_relaxed);
      return true;
    }
    return (count_.fetch_sub(1, std::memory_order_acq_rel) & ~kWeak) == 1;
  }

  // Weak pointers. A holder of one, under a lock that the destructor takes to clear it, may ask for
  // a reference: false if the object is dying.
  void allow_weak() const { count_.fetch_or(kWeak, std::memory_order_relaxed); }
  bool retain_if_alive() const {
    uint32_t now = count_.load(std::memory_order_relaxed);
    while (now & ~kWeak)
      if (count_.compare_exchange_weak(now, now + 1, std::memory_order_acquire,
                                       std::memory_order_relaxed))
        return true;
    return false;
  }

 protected:
  ~Counted() = default;

 private:
  static constexpr uint32_t kWeak = 1u << 31;
  Tag tag_;
  mutable std::atomic<uint32_t> count_{1};
};

// An owning pointer to a Counted object; the last one calls destroy(T*), which is found by name.
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  Ref(const Ref& other) : p_(other.p_) {
    if (p_) p_->retain();
  }
  Ref(Ref&& other) noexcept : p_(std::exchange(other.p_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(p_, other.p_);
    return *this;
  }
  ~Ref() {
    if (p_ && p_->drop()) destroy(p_);
  }

  static Ref take(T* p) {  // takes over a reference that the caller holds
    Ref ref;
    ref.p_ = p;
    return ref;
  }
  static Ref share(T* p) {  // adds a reference
    if (p) p->retain();
    return take(p);
  }
  T* release() { return std::exchange(p_, nullptr); }

  T* get() const { return p_; }
  T* operator->() const { return p_; }
  T& operator*() const { return *p_; }
  explicit operator bool() const { return p_ != nullptr; }
  bool operator==(const Ref& other) const { return p_ == other.p_; }

 private:
  T* p_ = nullptr;
};

}  // namespace libdl
