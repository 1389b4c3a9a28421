// SPDX-License-Identifier: Apache-2.0

// Forward mode: levels of dual numbers are opened and closed, and tensors get tangents in them.
//
// A tangent belongs to a tensor and a level. A tangent in an inner level is itself a tensor that
// may have tangents in the outer levels; that is how levels nest. Among a tensor and its views only
// one, the root, owns the tangent; ops/core/tangent.h derives those of the views.
#pragma once

#include "tape/duality.h"

namespace libdl {

// open_level opens a level in the thread's state; close_level closes the innermost, which must
// exist.
DualLevel& open_level();
void close_level(State& s = state()) noexcept;

// The tensor that owns x's tangent in the level: x, or what it is a view of.
const Tensor& tangent_root(const Tensor& x, const DualLevel& level);

// x, an alias, becomes its own root in the level; in the others it stays a view of its source.
void own_tangent(const Tensor& x, const DualLevel& level);

}  // namespace libdl
