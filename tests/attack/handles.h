// SPDX-License-Identifier: Apache-2.0

// Handles of every kind, as calls want them: "tensor", "file", "dlpack", as in
// tests/samples/rows.py.
#pragma once

#include <string>

#include "values.h"

namespace attack {

bool is_handle(const std::string& kind);
// A new one, which is the caller's to release or to give up.
void* made_handle(const std::string& kind, Values* values);
void release_handle(const std::string& kind, void* handle);

libdl_op registered_op();  // one more, without a kernel
std::string fresh_schema();

}  // namespace attack
