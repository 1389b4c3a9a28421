// SPDX-License-Identifier: Apache-2.0

// What losses have in common: how elements become one number, and checks of their operands.
#pragma once

#include <string_view>

#include "ops/core/call.h"
#include "ops/primitive/operand.h"

namespace libdl {

using Word = std::optional<std::string_view>;

enum class Reduce { kMean, kSum, kNone };

// The word's meaning, "mean" if there is none; VALUE names argument `reduction`.
Reduce reduction_of(const char* op, Word word);
Tensor reduced(const Tensor& losses, Reduce how);
// sum(x) / divisor, of x's dtype. The sum of 16-bit elements need not be finite before it is
// divided.
Tensor divided_sum(const Tensor& x, std::optional<Dims> dims, const Tensor& divisor);

// SHAPE if the two do not broadcast, DTYPE if neither is floating or one is complex.
void check_pair(const char* op, const Operand& a, const Operand& b);
// As check_pair, for losses that also take integers.
void check_real_pair(const char* op, const Operand& a, const Operand& b);
// SHAPE if a factor does not broadcast to the losses' shape. NULL: nothing to check.
void check_factor(const char* op, const char* name, const Tensor* factor, Dims shape);
// SHAPE if the weights are not one for each loss. NULL: nothing to check.
void check_weights(const char* op, const Tensor* weight, Dims shape);
// Losses times a factor that broadcasts to them, in the losses' dtype. NULL: the losses.
Tensor weighted(const Tensor& losses, const Tensor* factor);

}  // namespace libdl
