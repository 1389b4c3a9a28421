// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "ops/core/call.h"

namespace libdl {

using LstmResult = std::tuple<Tensor, Tensor, Tensor>;
using RnnResult = std::tuple<Tensor, Tensor>;

}  // namespace libdl
