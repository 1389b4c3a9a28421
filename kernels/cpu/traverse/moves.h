// SPDX-License-Identifier: Apache-2.0

// Moving elements between an operand's memory and the contiguous memory of a tile.
#pragma once

#include "kernels/cpu/traverse/geometry.h"

namespace libdl::kernels::cpu {

// The tile's address if it is contiguous in memory, else NULL.
char* piece(const Geometry& g, const Operand& x, const Tile& tile);

// The address of its first element.
char* address(const Geometry& g, const Operand& x, const Position& at);

void gather(const Geometry& g, const Operand& x, const Tile& tile, void* to);
void scatter(const Geometry& g, const Operand& x, const Tile& tile, const void* from);

}  // namespace libdl::kernels::cpu
