// SPDX-License-Identifier: Apache-2.0

// Attention by a kernel, without the matrix of all weights (kernels/args/attention.h).
#pragma once

#include "ops/attention/composed.h"

namespace libdl {

// Whether the kernel takes such a call: the others are composed.
bool goes_in_one_pass(const Attention& a, const Tensor& query, const Tensor& key,
                      const Tensor& value, const Tensor* mask);

Tensor attention_in_one_pass(const Attention& a, const Tensor& query, const Tensor& key,
                             const Tensor& value, const Tensor* mask);

}  // namespace libdl
