// SPDX-License-Identifier: Apache-2.0

// Whole tensors in a layout that a kernel likes, which strides do not show: a storage may hold its
// bytes in such a form alone ("packed only"). Whoever asks for plain bytes gets them, made once and
// kept; who knows the layout reads the form, and no byte moves.
//
// A form belongs to one contiguous geometry that covers the storage: aliases of that geometry see it,
// every other view makes the plain bytes first. The first layout has the channels innermost: a dense
// [N, C, H, W] lies as [N, H, W, C], any [N, C, ...] likewise.
#pragma once

#include "tensor/packed.h"
#include "tensor/tensor.h"

namespace libdl {

// The strides that a layout has for a shape, in elements.
Shape channels_innermost(Dims shape);

// Whether x is of a geometry that has forms: at least three dimensions, contiguous, all of a storage
// of ours in the host's memory.
bool may_be_packed(const Tensor& x);

// The bytes of x, which its maker wrote in this order and nobody has seen yet, are the form.
void publish(const Tensor& x, Layout layout);

// The form of x in this layout, current; empty where there is none.
PackedReader form_of(const Tensor& x, Layout layout);

// In the test build where results are born packed: turns x's bytes, which nobody else has seen, into
// the form and poisons the old ones. Nothing elsewhere.
#ifdef LIBDL_BORN_PACKED
void born(const Tensor& x);
#else
inline void born(const Tensor&) {}
#endif

}  // namespace libdl
