// SPDX-License-Identifier: Apache-2.0

// The host's callbacks: (fn, ctx, destroy), where destroy runs exactly once.
#pragma once

#include <utility>

#include "base/contained.h"

namespace libdl::capi {

// Owns a ctx. Every function that takes one creates this first, so that destroy also runs when the
// function fails.
class Callback {
 public:
  Callback(void* ctx, void (*destroy)(void*)) : ctx_(ctx), destroy_(destroy) {}
  Callback(Callback&& other) noexcept
      : ctx_(other.ctx_), destroy_(std::exchange(other.destroy_, nullptr)), kept_(true) {}
  Callback& operator=(Callback&&) = delete;
  ~Callback() { kept_ ? run_destroy_in_turn(destroy_, ctx_) : run_destroy(destroy_, ctx_); }
  void* ctx() const { return ctx_; }
  void* context(void (*destroy)(void*)) const { return destroy_ == destroy ? ctx_ : nullptr; }
  // Gives up ownership: someone else runs destroy.
  void let_go() { destroy_ = nullptr; }

 private:
  void* ctx_;
  void (*destroy_)(void*);
  bool kept_ = false;  // by an object, beyond the call that was given it
};

// The callback in a sized struct. An older program's struct, or one of size 0, may end before the
// destroy member: then nothing is called.
template <class T>
Callback callback_of(const T* options) {
  const auto has = [options](const auto& field) {
    const char* const end = reinterpret_cast<const char*>(&field + 1);
    return options && end <= reinterpret_cast<const char*>(options) + options->struct_size;
  };
  if (!options || !has(options->ctx) || !has(options->destroy)) return {nullptr, nullptr};
  return {options->ctx, options->destroy};
}

}  // namespace libdl::capi
