// SPDX-License-Identifier: Apache-2.0

// Packed forms: whole tensors in a layout that suits a kernel and that strides do not show. A
// storage may hold its bytes in such a form alone ("packed only"). Code that asks for plain bytes
// gets them, made once and kept; code that knows the layout reads the form, and no byte moves.
//
// A form belongs to one contiguous geometry that covers the storage: aliases with that geometry use
// it; any other view makes the plain bytes first. Layouts may have the channels innermost, so that
// a dense [N, C, H, W] is stored as [N, H, W, C] and strides could describe it, or in blocks, with
// padding.
#pragma once

#include "base/test_hooks.h"
#include "tensor/packed.h"
#include "tensor/tensor.h"

namespace libdl {

// The strides of Layout::kChannelsInnermost for a shape, in elements.
Shape channels_innermost(Dims shape);

// The bytes of a form, padding included. Throws OVERFLOW.
size_t form_bytes(Dims shape, Dtype dtype, Layout layout);

PackedKey key_of(const Tensor& x, Layout layout);

// Whether x can have forms: at least three dimensions, contiguous, and covering the whole of a
// storage of ours in host memory.
bool may_be_packed(const Tensor& x);

// A tensor without plain bytes: the caller writes form_bytes() at `form`, with zeros as padding,
// before anyone else sees the tensor. At least three dimensions and one element. Throws OVERFLOW,
// OUT_OF_MEMORY.
Tensor empty_packed(Dims shape, Dtype dtype, Layout layout, void*& form);

// The same with `bytes` at `form`, for layouts that shapes alone do not measure.
Tensor empty_packed(Dims shape, Dtype dtype, Layout layout, size_t bytes, void*& form);

// Turns the bytes of x, which the caller wrote with the channels innermost and nobody else has seen
// yet, into that form.
void publish(const Tensor& x);

// The current form of x in this layout; empty if there is none. A deferred one (tensor/deferred.h)
// is computed first. Throws OUT_OF_MEMORY, INTERRUPTED where it is.
PackedReader form_of(const Tensor& x, Layout layout);
// As form_of, but empty unless the form alone holds the bytes.
PackedReader only_form_of(const Tensor& x, Layout layout);
// As only_form_of, of a form that will be written, as the bytes may: if a deferred result is made
// from it, x gets a copy.
PackedReader writable_form_of(const Tensor& x, Layout layout);

// As form_of, but if there is no form yet one is made from the plain bytes and kept beside them.
// Empty if it is not kept (see keep_packed), x cannot have forms or forms are left out
// (runtime/mechanism.h). Throws OUT_OF_MEMORY,
// INTERRUPTED.
PackedReader keep_form(const Tensor& x, Layout layout);

// x has plain bytes alone, unless there is no memory for them.
void unpack(const Tensor& x) noexcept;

// In the test builds: called when an operator returns x, whose bytes nobody else has seen if its
// storage is fresh. They become a form, or get one beside them, and the old bytes are poisoned.
// Does nothing in other builds.
void change_at_birth(const Tensor& x);
inline void born(const Tensor& x) {
  if constexpr (kResultsAreBornPacked) change_at_birth(x);
}

}  // namespace libdl
