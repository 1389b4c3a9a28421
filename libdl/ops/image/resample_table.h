// SPDX-License-Identifier: Apache-2.0

// Which elements of a line make up each element of a line of another size, and with what weights.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace libdl {

enum class Filter : int32_t { kNearest, kNearestExact, kLinear, kCubic, kArea };

// A line that is resampled.
struct ResampledLine {
  int64_t from, to;  // its sizes, 1 or more
  Filter filter;
  bool align_corners = false, antialias = false;
  double step = 0;  // from / to as it was given; 0: as the sizes say
};

// Element o is the sum of weight[k] times element index[k], for k from first[o] up to, but not
// including, first[o + 1].
struct ResampleTable {
  std::vector<int64_t> first, index;
  std::vector<double> weight;
};

// At most how many bytes a line's table and its transpose take together.
double table_bytes(const ResampledLine& line);
// single: places and weights are computed in float32, as for float32 images.
ResampleTable table_of(const ResampledLine& line, bool single);
// The table of the transposed map, which takes gradients back to the image.
ResampleTable transposed(const ResampleTable& table, int64_t from);
// The weights as integers with as many fractional bits as 16 bits allow, and how many.
int32_t quantise(std::vector<double>& weight);

// Whether the result is the line itself.
bool is_identity(const ResampledLine& line);

}  // namespace libdl
