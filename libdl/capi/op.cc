// SPDX-License-Identifier: Apache-2.0

// Operators as data, and calls by operator number.

#include <libdl/op.h>

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <vector>

#include "capi/arguments.h"
#include "capi/default_value.h"
#include "capi/registered.h"
#include "capi/scope.h"
#include "capi/values.h"
#include "op_ids.h"

using namespace libdl;
using namespace libdl::capi;

namespace {

constexpr const char* kTypeNames[] = {
    "absent",
    "a tensor",
    "an array of tensors",
    "a bool",
    "an integer",
    "an unsigned integer",
    "a float",
    "an array of integers",
    "a string",
    "a dtype",
    "a device",
    "a generator",
    "a list of tensors",
};

const char* type_name(libdl_value_type type) {
  const bool known = type >= 0 && type <= LIBDL_VALUE_TENSOR_LIST;
  return known ? kTypeNames[type] : "of an unknown type";
}

const OpArgument* argument_of(int32_t op, int32_t argument) {
  const OpEntry* const entry = find_entry(op);
  const bool exists = entry && argument >= 0 && argument < entry->argument_count;
  return exists ? &entry->arguments[argument] : nullptr;
}

const OpResult* result_of(int32_t op, int32_t result) {
  const OpEntry* const entry = find_entry(op);
  const bool exists = entry && result >= 0 && result < entry->result_count;
  return exists ? &entry->results[result] : nullptr;
}

const OpEntry& existing(const char* function, int32_t op) {
  const OpEntry* const entry = find_entry(op);
  if (!entry)
    fail_argument(LIBDL_ERROR_VALUE, function, "op", "is " + std::to_string(op),
                  "the number of an operator");
  return *entry;
}

// What an absent argument that must not be NULL means; absent() if it has no default. A number for
// a tensor is kept by `owner`.
libdl_value default_of(const OpArgument& argument, Tensor& owner) {
  return read_default(argument.type, argument.default_text, owner).value_or(absent());
}

// `given` as the type that the parameter has, where nothing is lost by that.
libdl_value converted(const OpEntry& entry, int number, const libdl_value& given) {
  const OpArgument& wanted = entry.arguments[number];
  if (given.type == LIBDL_VALUE_INTS && given.held.integers.count > INT32_MAX)
    fail_argument(LIBDL_ERROR_VALUE, entry.name, wanted.name,
                  "has " + std::to_string(given.held.integers.count) + " entries",
                  "at most 2147483647");
  if (given.type == wanted.type) return given;
  if (given.type == LIBDL_VALUE_NONE && wanted.nullable) return absent();
  if (given.type == LIBDL_VALUE_INT && wanted.type == LIBDL_VALUE_FLOAT)
    return value_of(static_cast<double>(given.held.integer));
  if (given.type == LIBDL_VALUE_TENSOR_LIST && wanted.type == LIBDL_VALUE_TENSORS) {
    const libdl_tensor_list* const list = given.held.list;
    check_kind(entry.name, wanted.name, list, Tag::kTensorList);
    return value_of(TensorSpan(list->tensors));
  }
  fail_argument(LIBDL_ERROR_TYPE, entry.name, wanted.name,
                std::string("is ") + type_name(given.type), type_name(wanted.type));
}

// All arguments of a generic call, of their types, the absent ones filled in.
class Arguments {
 public:
  Arguments(const OpEntry& entry, const libdl_value* given, int32_t count) {
    if (count < 0 || count > entry.argument_count)
      fail(LIBDL_ERROR_VALUE, entry.name,
           "was given " + std::to_string(count) + " arguments, takes " +
               std::to_string(entry.argument_count));
    if (count && !given) fail(LIBDL_ERROR_NULL, entry.name, "the arguments are NULL");
    if (entry.argument_count > static_cast<int32_t>(few_.size())) {
      many_.resize(entry.argument_count);
      values_ = many_.data();
    }
    for (int32_t i = 0; i < entry.argument_count; ++i) {
      libdl_value value = i < count ? given[i] : absent();
      if (value.type == LIBDL_VALUE_NONE && !entry.arguments[i].nullable) [[unlikely]] {
        Tensor number;
        value = default_of(entry.arguments[i], number);
        if (number.defined()) numbers_.push_back(std::move(number));
      }
      values_[i] = converted(entry, i, value);
    }
  }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  const libdl_value* get() const { return values_; }

 private:
  std::array<libdl_value, 12> few_;
  std::vector<libdl_value> many_;
  std::vector<Tensor> numbers_;  // defaults of tensors
  libdl_value* values_ = few_.data();
};

void check_outputs(const OpEntry& entry, const void* places, int32_t count, const char* what) {
  if (count != entry.result_count)
    fail(LIBDL_ERROR_VALUE, entry.name,
         "was given " + std::to_string(count) + " " + what + ", wanted " +
             std::to_string(entry.result_count) + ", one for each result");
  if (!places) fail(LIBDL_ERROR_NULL, entry.name, std::string("the ") + what + " are NULL");
}

struct Told {
  OpId op;
  const char* name;
};
constexpr Told kTold[] = {
    {OpId::fill, "fill_"},
    {OpId::zero, "zero_"},
    {OpId::copy, "copy_"},
    {OpId::uniform, "uniform_"},
    {OpId::normal, "normal_"},
    {OpId::exponential, "exponential_"},
    {OpId::geometric, "geometric_"},
    {OpId::cauchy, "cauchy_"},
    {OpId::log_normal, "log_normal_"},
    {OpId::bernoulli_fill, "bernoulli_"},
    {OpId::embedding_renorm, "embedding_renorm_"},
    {OpId::max_dim, "max"},
    {OpId::min_dim, "min"},
};

int32_t find_builtin(std::string_view name) {
  static const auto* const numbers = [] {
    auto* const made = new std::unordered_map<std::string_view, int32_t>;
    for (int32_t op = 0; op < kOperatorCount; ++op) made->emplace(kOperators[op].name, op);
    for (const Told& told : kTold) made->emplace(told.name, static_cast<int32_t>(told.op));
    return made;  // lives as long as the process: callers may be exiting
  }();
  const auto at = numbers->find(name);
  return at == numbers->end() ? -1 : at->second;
}

}  // namespace

namespace libdl::capi {

const OpEntry* find_entry(int32_t op) {
  if (op < 0) return nullptr;
  return op < kOperatorCount ? &kOperators[op] : find_registered(op - kOperatorCount);
}

const char* told_name(const OpEntry& entry) {
  for (const Told& told : kTold)
    if (&entry == &entry_of(told.op)) return told.name;
  return entry.name;
}

int32_t find_op(std::string_view name) {
  const int32_t op = find_builtin(name);
  if (op >= 0) return op;
  const int32_t registered = find_registered(name);
  return registered < 0 ? -1 : kOperatorCount + registered;
}

}  // namespace libdl::capi

int32_t libdl_op_count(void) { return kOperatorCount + registered_count(); }

const char* libdl_op_name(libdl_op op) {
  const OpEntry* const entry = find_entry(op);
  return entry ? entry->name : nullptr;
}

libdl_error* libdl_op_find(const char* name, int64_t name_length, libdl_op* out) {
  constexpr const char* function = "op_find";
  return door(function, [&] {
    const std::string_view wanted = in_text(function, "name", name, name_length);
    if (!out) fail_argument(LIBDL_ERROR_NULL, function, "out", "is NULL", "a place for the result");
    const int32_t op = find_op(wanted);
    if (op < 0)
      fail_argument(LIBDL_ERROR_VALUE, function, "name", "is '" + std::string(wanted) + "'",
                    "an operator's name");
    *out = op;
  });
}

const char* libdl_op_schema(libdl_op op) {
  const OpEntry* const entry = find_entry(op);
  return entry ? entry->schema : nullptr;
}
int32_t libdl_op_argument_count(libdl_op op) {
  const OpEntry* const entry = find_entry(op);
  return entry ? entry->argument_count : -1;
}
const char* libdl_op_argument_name(libdl_op op, int32_t argument) {
  const OpArgument* const found = argument_of(op, argument);
  return found ? found->name : nullptr;
}
libdl_value_type libdl_op_argument_type(libdl_op op, int32_t argument) {
  const OpArgument* const found = argument_of(op, argument);
  return found ? found->type : static_cast<libdl_value_type>(LIBDL_VALUE_NONE);
}
libdl_bool libdl_op_argument_is_nullable(libdl_op op, int32_t argument) {
  const OpArgument* const found = argument_of(op, argument);
  return found && found->nullable;
}
const char* libdl_op_argument_default(libdl_op op, int32_t argument) {
  const OpArgument* const found = argument_of(op, argument);
  return found ? found->default_text : "";
}
libdl_error* libdl_op_argument_get_default(libdl_op op, int32_t argument, libdl_value* out) {
  constexpr const char* function = "op_argument_get_default";
  return door(function, [&] {
    const OpEntry& entry = existing(function, op);
    const OpArgument* const asked = argument_of(op, argument);
    if (!asked)
      fail_argument(LIBDL_ERROR_VALUE, function, "argument", "is " + std::to_string(argument),
                    "0 to " + std::to_string(entry.argument_count - 1));
    output(function, "out", out);
    Tensor number;
    const libdl_value value = default_of(*asked, number);
    if (value.type == LIBDL_VALUE_NONE && !asked->nullable)
      fail_argument(LIBDL_ERROR_VALUE, function, "argument",
                    std::string("is ") + asked->name + ", which must be given",
                    "one with a default");
    hand_out(std::move(number));
    *out = value;
  });
}
int32_t libdl_op_result_count(libdl_op op) {
  const OpEntry* const entry = find_entry(op);
  return entry ? entry->result_count : -1;
}
const char* libdl_op_result_name(libdl_op op, int32_t result) {
  const OpResult* const found = result_of(op, result);
  return found ? found->name : nullptr;
}
libdl_value_type libdl_op_result_type(libdl_op op, int32_t result) {
  const OpResult* const found = result_of(op, result);
  return found ? found->type : static_cast<libdl_value_type>(LIBDL_VALUE_NONE);
}
libdl_bool libdl_op_is_differentiable(libdl_op op) {
  const OpEntry* const entry = find_entry(op);
  return entry && entry->differentiable;
}
libdl_bool libdl_op_has_new(libdl_op op) {
  const OpEntry* const entry = find_entry(op);
  return entry && (entry->call || entry->registered);
}
libdl_bool libdl_op_has_into(libdl_op op) {
  const OpEntry* const entry = find_entry(op);
  return entry && (entry->call_into || entry->registered);
}

libdl_error* libdl_op_call(libdl_op op, const libdl_value* arguments, int32_t argument_count,
                           libdl_value* results, int32_t result_count) {
  constexpr const char* function = "op_call";
  return door(function, [&] {
    const OpEntry& entry = existing(function, op);
    if (!entry.call && !entry.registered)
      fail(LIBDL_ERROR_VALUE, entry.name, "has only an into form");
    check_outputs(entry, results, result_count, "places");
    const Arguments all(entry, arguments, argument_count);
    // The caller's places are written once nothing can fail any more.
    std::array<libdl_value, 4> few;
    std::vector<libdl_value> many(result_count > 4 ? static_cast<size_t>(result_count) : 0);
    libdl_value* const made = many.empty() ? few.data() : many.data();
    std::fill_n(made, result_count, absent());
    if (entry.registered) {
      try {
        call_registered(entry, all.get(), made);
      } catch (...) {
        throw Error::take(caught(entry.name));  // a kernel may throw anything: it is the operator's
      }
      if (scoped()) adopt_results({made, static_cast<size_t>(result_count)});
    } else if (libdl_error* error = entry.call(all.get(), made)) {
      throw Error::take(error);
    }
    std::copy_n(made, result_count, results);
  });
}

libdl_error* libdl_op_call_into(libdl_op op, const libdl_value* arguments, int32_t argument_count,
                                libdl_tensor* const* dsts, int32_t dst_count) {
  constexpr const char* function = "op_call_into";
  return door(function, [&] {
    const OpEntry& entry = existing(function, op);
    if (!entry.call_into && !entry.registered)
      fail(LIBDL_ERROR_VALUE, entry.name, "has no into form");
    check_outputs(entry, dsts, dst_count, "destinations");
    const Arguments all(entry, arguments, argument_count);
    if (!entry.registered) {
      if (libdl_error* error = entry.call_into(all.get(), dsts)) throw Error::take(error);
      return;
    }
    try {
      call_registered_into(entry, all.get(), dsts);
    } catch (...) {
      libdl_error* const error = caught(entry.name);
      count_interrupted_writes(*error, {dsts, static_cast<size_t>(dst_count)});
      throw Error::take(error);
    }
  });
}
