// SPDX-License-Identifier: Apache-2.0

// Defaults of parameters, which schemas and the operator table hold as text.
#pragma once

#include <optional>
#include <string_view>

#include "ops/primitive/values.h"
#include "tensor/tensor.h"

namespace libdl::capi {

// What the text of a default means: absent() for "None", nothing if it is not one of that type. A
// number for a tensor is kept by `owner`; a string points into the text.
std::optional<libdl_value> read_default(libdl_value_type type, std::string_view text,
                                        Tensor& owner);

}  // namespace libdl::capi
