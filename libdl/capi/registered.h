// SPDX-License-Identifier: Apache-2.0

// Operators that the host adds at run time.
#pragma once

#include <string_view>

#include "capi/op_table.h"

namespace libdl::capi {

int32_t registered_count();
const OpEntry* find_registered(int32_t number);  // from 0 among the registered; NULL: none
int32_t find_registered(std::string_view name);  // -1: none

// Runs the kernel and records the call. Only the arguments' types are checked.
void call_registered(const OpEntry& entry, const libdl_value* arguments, libdl_value* results);
// The same into destinations, one per result; in place if the only one is an operand.
void call_registered_into(const OpEntry& entry, const libdl_value* arguments,
                          libdl_tensor* const* dsts);

}  // namespace libdl::capi
