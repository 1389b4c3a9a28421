// SPDX-License-Identifier: Apache-2.0

// Whole tensors in a layout that a kernel likes, which strides do not show: a storage may hold its
// bytes in such a form alone ("packed only"). Whoever asks for plain bytes gets them, made once and
// kept; who knows the layout reads the form, and no byte moves.
//
// A form belongs to one contiguous geometry that covers the storage: aliases of that geometry see
// it, every other view makes the plain bytes first. Layouts may have the channels innermost, where
// a dense [N, C, H, W] lies as [N, H, W, C] and strides could describe it, or in blocks, with
// padding.
#pragma once

#include "tensor/chance.h"
#include "tensor/packed.h"
#include "tensor/tensor.h"

namespace libdl {

// The strides of Layout::kChannelsInnermost for a shape, in elements.
Shape channels_innermost(Dims shape);

// The bytes of a form, padding included. Throws OVERFLOW.
size_t form_bytes(Dims shape, Dtype dtype, Layout layout);

// Whether x is of a geometry that has forms: at least three dimensions, contiguous, all of a
// storage of ours in the host's memory.
bool may_be_packed(const Tensor& x);

// A tensor that has no plain bytes: its maker writes form_bytes() at `form`, padding as zeros,
// before anybody else sees it. Three dimensions or more, and elements. Throws OVERFLOW,
// OUT_OF_MEMORY.
Tensor empty_packed(Dims shape, Dtype dtype, Layout layout, void*& form);

// The bytes of x, which its maker wrote with the channels innermost and nobody has seen yet, are
// that form.
void publish(const Tensor& x);

// The form of x in this layout, current; empty where there is none.
PackedReader form_of(const Tensor& x, Layout layout);
// The same where that alone holds the bytes: it may be written then, as the bytes may.
PackedReader only_form_of(const Tensor& x, Layout layout);

// The same, made of plain bytes and kept beside them where there is none yet. Empty where it is not
// kept (see keep_packed) or x has no forms. Throws OUT_OF_MEMORY, INTERRUPTED.
PackedReader keep_form(const Tensor& x, Layout layout);

// In the test builds: an operator returns x, whose bytes nobody else has seen if its storage is
// fresh. They become a form, or get one beside them, and the old ones are poison. Nothing
// elsewhere.
#ifdef LIBDL_BORN_PACKED
void born(const Tensor& x);
#else
inline void born(const Tensor&) {}
#endif

}  // namespace libdl
