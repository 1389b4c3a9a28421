// SPDX-License-Identifier: Apache-2.0

// Signatures as text: "area::name(tensor input, float eps=1e-5) -> tensor out".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "capi/op_table.h"

namespace libdl::capi {

struct Schema {
  struct Argument {
    std::string name, default_text;
    libdl_value_type type;
    bool nullable;
  };
  std::string name;
  std::vector<Argument> arguments;
  std::vector<std::string> results;  // their names; all are tensors
};

// Throws VALUE, naming the place that could not be parsed.
Schema read_schema(std::string_view text);

}  // namespace libdl::capi
