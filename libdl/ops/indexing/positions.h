// SPDX-License-Identifier: Apache-2.0

// The places of a tensor that a list of indices names: reading them, writing to them, and adding to
// them, where several elements may meet in one place. Nothing here is recorded.
#pragma once

#include <vector>

#include "ops/core/call.h"

namespace libdl {

struct IndexedPositions {
  Shape dims;                   // of the tensor, that are indexed, ascending
  std::vector<Tensor> indices;  // one for each, all of `shape`, checked
  Shape shape;                  // of the index tensors together
  int at = 0;                   // where shape stands among the dimensions of values
  Shape result;                 // of values
};

// values, of the result's shape with any strides, take what base has there.
void read_positions(const Tensor& base, const Tensor& values, const IndexedPositions& positions);
// y becomes `before` with values there (the last of those that meet), or with values added there,
// in the order of the indices or, if they are many to a place, of runs of them. before: y itself,
// or what it is to be made of. Elements of 16 bits are added in float32 and rounded once; values
// may be float32 then.
void write_positions(const Tensor& y, const Tensor& before, const Tensor& values,
                     const IndexedPositions& positions);
void add_at_positions(const Tensor& y, const Tensor& before, const Tensor& values,
                      const IndexedPositions& positions);

// Whether so many updates of so few places are added in runs of run_of(places), whose sums are then
// added pairwise.
bool is_crowded(Dtype dtype, int64_t updates, int64_t positions);
int64_t run_of(int64_t positions);
// For add_at_positions of other kinds of places: whether `updates` elements of this dtype are to be
// added in a wider one,
bool adds_widely(Dtype dtype, int64_t updates);
// and for each of two or more places, numbers without dimensions of their own in int64, a number
// below their count that is the same for the same places.
Tensor numbered(const Tensor& positions);
// index, into a dimension of this size, without negative values; int64.
Tensor from_start(const Tensor& index, int64_t size);

}  // namespace libdl
