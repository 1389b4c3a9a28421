// SPDX-License-Identifier: Apache-2.0

// Results that nobody has computed yet: a form (tensor/packed.h) that says what they are made from.
// An operator that knows what it reads computes them in its own pass: a relu behind a batch
// normalisation writes its result without the normalised image ever being in memory. Whoever else
// reads such a tensor gets it computed first, with the same bits.
//
// What a result is made from are forms of other tensors, which it holds. Whoever writes to those
// tensors leaves these forms alone (writable_form_of), so nobody sees that it comes late.
#pragma once

#include "kernels/cpu/nn/batch_norm.h"
#include "tensor/forms.h"

namespace libdl {

struct Deferred {
  enum class Kind : int32_t {
    kNormalised,  // (from - mean) scale + shift, and `other` added if there is one
    kGated,       // from where `other` is not <= 0, else 0: relu's gradient
  };
  Kind kind;
  // Of the normalisation, whose number no other has; kGated: of the one whose relu's result `other`
  // is.
  uint64_t serial;
  LentForm from, other;  // of the tensor's geometry and dtype, with the channels innermost
  Tensor vectors;        // kNormalised: [3, c], mean, scale and shift
};

// In LIBDL_DISABLE: "fusion". The dtypes are those in which the kernels compute.
bool may_be_deferred(Dtype dtype);
uint64_t new_serial();
kernels::cpu::Normalisation normalisation_in(const Tensor& vectors);

// A new tensor that will be computed.
Tensor defer(Dims shape, Dtype dtype, Deferred&& what);

// The only form of x where it is one; empty otherwise.
PackedReader deferred_of(const Tensor& x, Deferred::Kind kind);
const Deferred& deferred_in(const PackedReader& form);

// For what follows, x has the geometry of out, which is overwritten: x itself, or a new tensor that
// nobody has seen. Nothing happens if false is returned.
bool relu_of_deferred(const Tensor& out, const Tensor& x);
bool add_to_deferred(const Tensor& out, const Tensor& x, const Tensor& added);

// The gradient of relu, from its result y and the gradient behind it, as a deferred one; undefined
// if y is not the relu of a normalisation.
Tensor gated_later(const Tensor& dy, const Tensor& y);

}  // namespace libdl
