// SPDX-License-Identifier: Apache-2.0

// When few_channels.h is faster. Apart, for whoever prepares the operands.
#pragma once

#include <cstdint>

namespace libdl::kernels::cpu {

constexpr int64_t kMostFewChannels = 8;

inline bool few_channels_pay(int64_t inputs, int64_t outputs) {
  return outputs <= kMostFewChannels && inputs >= 16;
}

}  // namespace libdl::kernels::cpu
