// SPDX-License-Identifier: Apache-2.0

#include "capi/arguments.h"

#include <string>

namespace libdl::capi {

TensorSpan live_tensors(const char* function, const char* name, const libdl_tensor* const* items,
                        int64_t count, int64_t most, bool entries_may_be_null) {
  if (!is_count(count, most))
    fail_argument(LIBDL_ERROR_VALUE, function, name, "has the length " + std::to_string(count),
                  "0 to " + std::to_string(most));
  if (count) not_null(function, name, items, "an array");
  for (int64_t i = 0; i < count; ++i)
    if (!is_live_tensor(items[i]) && (items[i] || !entries_may_be_null))
      refuse_handle(function, name, items[i], std::to_string(i));
  return {reinterpret_cast<const Tensor*>(items), static_cast<size_t>(count)};
}

void check_handles(const OpEntry& entry, const libdl_value* arguments) {
  for (int i = 0; i < entry.argument_count; ++i) {
    const libdl_value& value = arguments[i];
    const OpArgument& argument = entry.arguments[i];
    if (value.type == LIBDL_VALUE_TENSOR)
      check_tensor(entry.name, argument.name, value.held.tensor);
    if (value.type == LIBDL_VALUE_GENERATOR && value.held.generator &&
        !has_tag(value.held.generator, Tag::kGenerator))
      fail_argument(LIBDL_ERROR_KIND, entry.name, argument.name,
                    "is " + kind_of(value.held.generator), "a generator");
    if (value.type == LIBDL_VALUE_STRING)
      in_text(entry.name, argument.name, value.held.string.text, value.held.string.length);
    const bool array = value.type == LIBDL_VALUE_TENSORS || value.type == LIBDL_VALUE_INTS;
    if (!array) continue;
    const bool of_tensors = value.type == LIBDL_VALUE_TENSORS;
    const int64_t count = of_tensors ? value.held.tensors.count : value.held.integers.count;
    const void* const items =
        of_tensors ? static_cast<const void*>(value.held.tensors.items) : value.held.integers.items;
    if (!is_count(count) || (count && !items))
      fail_argument(is_count(count) ? LIBDL_ERROR_NULL : LIBDL_ERROR_VALUE, entry.name,
                    argument.name, "is no array of " + std::to_string(count), "");
    for (int64_t k = 0; of_tensors && k < count; ++k) {
      const libdl_tensor* const item = value.held.tensors.items[k];
      if (!is_live_tensor(item) && (item || !argument.nullable))
        refuse_handle(entry.name, argument.name, item, std::to_string(k));
    }
  }
}

}  // namespace libdl::capi
