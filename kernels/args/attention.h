// SPDX-License-Identifier: Apache-2.0

// Attention without the matrix of all weights: blocks of keys, one after another, with the maximum
// and the sum of the weights so far (Dao et al. 2022).
#pragma once

#include <cstdint>

#include "kernels/view.h"

namespace libdl::kernels {

// out = P value; the rows of P are the softmax of scale * query key^T + mask. Views are float32 or
// float64, the last dimensions but the mask's have unit stride. The leading dimensions agree; a
// group of g queries shares one key and value. A row whose scores are all -inf gives 0.
struct AttentionArgs {
  View out;         // [..., g, l, v]
  View query;       // [..., g, l, e]
  View key, value;  // [..., s, e] and [..., s, v]
  View mask;  // [..., g, l, s], any strides: bool (false is -inf) or as query; data NULL: none
  void* normalisers;  // of each row: its largest score, and 1 / sum(exp(score - largest));
                      // [..., g, l, 2], dense; NULL: not wanted
  double scale;
  bool causal;  // row i ends at key i
};

struct AttentionBackwardArgs {
  View dquery, dkey, dvalue;  // as query, key and value
  View dout;                  // as out
  AttentionArgs forward;      // as it was, with out and normalisers
};

}  // namespace libdl::kernels
