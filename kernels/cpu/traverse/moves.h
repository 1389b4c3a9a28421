// SPDX-License-Identifier: Apache-2.0

// Elements on their way between an operand's places and the contiguous memory of a tile.
#pragma once

#include "kernels/cpu/traverse/geometry.h"

namespace libdl::kernels::cpu {

// Where the tile lies in one piece, or NULL.
char* piece(const Geometry& g, const Operand& x, const Tile& tile);

// Its first element.
char* address(const Geometry& g, const Operand& x, const Position& at);

void gather(const Geometry& g, const Operand& x, const Tile& tile, void* to);
void scatter(const Geometry& g, const Operand& x, const Tile& tile, const void* from);

}  // namespace libdl::kernels::cpu
