// SPDX-License-Identifier: Apache-2.0

// A safetensors file that an input describes: good, or bad in one way that has a name.
#pragma once

#include <string>
#include <vector>

#include "target.h"

namespace libfuzzer {

struct MadeTensor {
  std::string name;
  libdl_dtype dtype;
  std::vector<int64_t> shape;
  size_t begin, end;  // in the data
};

struct MadeFile {
  std::string bytes;
  size_t data;        // where the data begin
  std::string fault;  // "" for a good file
  std::vector<MadeTensor> tensors;
  std::vector<std::pair<std::string, std::string>> metadata;
};

MadeFile made_file(Input& input);

}  // namespace libfuzzer
