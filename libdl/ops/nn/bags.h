// SPDX-License-Identifier: Apache-2.0

// Which rows of a table lie in which bag.
#pragma once

#include "ops/core/call.h"

namespace libdl {

enum class BagMode : uint8_t { kSum, kMean, kMax };

// The arguments of embedding_bag that say it.
struct BagArguments {
  const Tensor &input, &weight;
  const Tensor* offsets;
  bool include_last_offset;
  int64_t padding;  // a row that is in no bag, or -1
};

// The readings that are in a bag, without the padding, bag by bag; int64, in the host's memory, or
// on meta if the arguments are.
struct Bags {
  int64_t count = 0;
  Tensor row;       // [readings], 0 or more
  Tensor starts;    // [count + 1]: where each bag begins in row
  Tensor position;  // [readings]: where in input; undefined: all of input, in order
};

// Throws SHAPE, DTYPE, INDEX, VALUE.
Bags bags_of(const Call& call, const BagArguments& a);

// Each reading's bag: int64 [readings], ascending.
Tensor bag_of_each(const Bags& bags);

// How many readings each bag has, at least 1: [count, 1], of the dtype and device of `like`.
Tensor bag_sizes(const Bags& bags, const Tensor& like);

// Each bag's row: the sum, mean or maximum of its readings' rows. factors: of a sum, [readings], of
// the table's dtype; undefined: ones. from: of a maximum, [count, columns] rows, -1 of empty bags.
Tensor reduce_bags(const Bags& bags, BagMode mode, const Tensor& table, const Tensor& factors,
                   Tensor& from);

// The products of each reading's row with its bag's row of dy: [readings]. differentiated: the
// result has a history.
Tensor dot_bags(const Bags& bags, const Tensor& table, const Tensor& dy, bool differentiated);

}  // namespace libdl
