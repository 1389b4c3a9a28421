// SPDX-License-Identifier: Apache-2.0

// How kernels see operands of one broadcast shape: expanded with zero strides, without size-1
// dimensions, and with adjacent dimensions merged wherever the strides of every operand allow it.
#pragma once

#include "device/device.h"
#include "kernels/args.h"
#include "tensor/tensor.h"

namespace libdl {

class Plan {
 public:
  static constexpr int kOperands = 9;

  // Operand 0 is `out`, which will be overwritten; the others are read and follow in order.
  // Afterwards all of them have plain bytes.
  void set(const Tensor& out, std::span<const Tensor* const> in) {
    if (memory_is_special()) [[unlikely]]
      make_ready(out, in);
    walk(out, in);
  }

  // The two steps of set().
  void make_ready(const Tensor& out, std::span<const Tensor* const> in);
  void walk(const Tensor& out, std::span<const Tensor* const> in) {
    if (!flat(out, in)) general(out, in);
  }
  // The same for a new out: if operands are not row-major, order() may give it other strides.
  template <class F>
  void walk_new(const Tensor& out, std::span<const Tensor* const> in, F&& order) {
    if (flat(out, in)) return;
    order();
    general(out, in);
  }

  kernels::View view(const Tensor& x, int operand) const { return view(x, operand, x.plain()); }
  kernels::View view(const Tensor& x, int operand, void* data) const {
    return {data, sizes_, strides_[operand], ndim_, static_cast<int32_t>(x.dtype())};
  }

  // In place of walk: the dimensions one by one, outermost first, each with one stride per operand.
  void clear() { ndim_ = 0; }
  void add(int64_t size, std::span<const int64_t> strides);

  // Bit k: in[k] is a number in the host's memory while out is on another device.
  uint32_t host_inputs() const { return host_inputs_; }

 private:
  bool flat(const Tensor& out, std::span<const Tensor* const> in) {
    bool flat = out.is_contiguous();
    for (const Tensor* x : in)
      flat &= x->numel() == 1 || (x->is_contiguous() && x->numel() == out.numel());
    if (!flat) return false;
    // A size-1 operand, or the same number of elements: equal shapes, up to ones.
    ndim_ = 1;
    sizes_[0] = out.numel();
    strides_[0][0] = 1;
    for (size_t k = 0; k < in.size(); ++k) strides_[k + 1][0] = in[k]->numel() != 1;
    if (out.numel() == 1) ndim_ = 0;
    return true;
  }
  void general(const Tensor& out, std::span<const Tensor* const> in);

  int32_t ndim_ = 0;
  uint32_t host_inputs_ = 0;
  int64_t sizes_[kMaxDims];
  int64_t strides_[kOperands][kMaxDims];
};

}  // namespace libdl
