// SPDX-License-Identifier: Apache-2.0

// A sequence as a C program that needs the library's headers alone.
#pragma once

#include "library.h"

namespace fuzz {

// `told` is the comment above, `fixtures` the text of host_fixtures.h and of what belongs to it.
std::string c_program(const Library& library, const Program& program, const std::string& told,
                      const std::string& fixtures);

}  // namespace fuzz
