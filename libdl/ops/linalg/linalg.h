// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "ops/core/call.h"

namespace libdl {

// What the dimensions before those of two operands' matrices broadcast to, if they do.
std::optional<Shape> broadcast_batch(Dims a, Dims b);

}  // namespace libdl
