// SPDX-License-Identifier: Apache-2.0

// Views of all parts of a dimension.
#pragma once

#include <cstdint>

namespace libdl {

// Throws LIMIT for more parts than memory holds, before the first one is made: each is a handle,
// and one of a list of outputs where it is recorded. An expanded dimension has any number of them.
void check_list_length(const char* op, const char* name, int64_t parts);

}  // namespace libdl
