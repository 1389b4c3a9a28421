// SPDX-License-Identifier: Apache-2.0

// The operators as data. The built-in ones are a constant table, generated from the headers; those
// that the host registers follow after them.
#pragma once

#include <libdl/op.h>

#include <cstdint>
#include <string_view>

namespace libdl::capi {

// The built-in operators' numbers; the enumerators are generated from the headers.
enum class OpId : int32_t;

struct OpArgument {
  const char* name;
  const char* default_text;  // "" if it must be given
  libdl_value_type type;
  bool nullable;
};

struct OpResult {
  const char* name;
  libdl_value_type type;
};

struct Registered;  // further data of a registered operator; capi/registered.cc

struct OpEntry {
  const char* name;
  const char* schema;
  const OpArgument* arguments;
  const OpResult* results;
  int32_t argument_count;
  int32_t result_count;
  bool differentiable;
  // All arguments are present and have the right types; results are empty. NULL: no such form.
  libdl_error* (*call)(const libdl_value* arguments, libdl_value* results);
  libdl_error* (*call_into)(const libdl_value* arguments, libdl_tensor* const* dsts);
  Registered* registered = nullptr;
};

extern const OpEntry kOperators[];
extern const int32_t kOperatorCount;

// NULL if there is none.
const OpEntry* find_entry(int32_t op);
// The number of the operator of that name, built-in or registered, or -1.
int32_t find_op(std::string_view name);
// What errors call the operator, which op_find knows as well: the name in PyTorch where ours tells
// overloads and forms apart ("fill_" for fill, "max" for max_dim).
const char* shown_name(const OpEntry& entry);
inline const OpEntry& entry_of(OpId op) { return kOperators[static_cast<int32_t>(op)]; }

}  // namespace libdl::capi
