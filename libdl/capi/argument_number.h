// SPDX-License-Identifier: Apache-2.0

// The numbers of arguments in errors. Below the door an error knows its argument by name alone:
// the number follows from the declaration.
#pragma once

#include "base/error.h"
#include "capi/op_table.h"

namespace libdl::capi {

// A function that is no operator, and its parameters in order, separated by blanks. What has one
// number is joined by bars: a pointer and what counts its elements, an options struct and its
// members: "options|lr|eps params|count". Written from the headers, in the order of the names.
struct FunctionParameters {
  const char* name;
  const char* parameters;
};
extern const FunctionParameters kFunctions[];
extern const int32_t kFunctionCount;

// The number of a parameter, counted from 1; 0 if there is none of that name.
int32_t argument_number(const OpEntry& entry, std::string_view name);
int32_t argument_number(std::string_view function, std::string_view name);

// Puts the number before each name: "argument (dim)" becomes "argument 2 (dim)". Without memory for
// the better text the error stays as it is.
void number_arguments(libdl_error& error) noexcept;
void number_arguments(libdl_error& error, const OpEntry& entry) noexcept;

}  // namespace libdl::capi
