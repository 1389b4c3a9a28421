// SPDX-License-Identifier: Apache-2.0

#include "capi/argument_number.h"

#include <algorithm>
#include <new>

namespace libdl::capi {

int32_t argument_number(const OpEntry& entry, std::string_view name) {
  for (int32_t i = 0; i < entry.argument_count; ++i)
    if (name == entry.arguments[i].name) return i + 1;
  for (int32_t i = 0; i < entry.result_count; ++i) {
    const std::string result = entry.results[i].name;
    const std::string destination = entry.result_count > 1 ? result + "_dst" : "dst";
    if (name == result || name == destination) return entry.argument_count + 1 + i;
  }
  return 0;
}

// The place of a name in "options|lr|eps params grads", counted from 1.
static int32_t position_in(std::string_view parameters, std::string_view name) {
  int32_t number = 1;
  for (size_t i = 0; i < parameters.size();) {
    const size_t end = std::min(parameters.find_first_of(" |", i), parameters.size());
    if (parameters.substr(i, end - i) == name) return number;
    number += end < parameters.size() && parameters[end] == ' ';
    i = end + 1;
  }
  return 0;
}

int32_t argument_number(std::string_view function, std::string_view name) {
  const auto* const end = kFunctions + kFunctionCount;
  const auto* const at =
      std::lower_bound(kFunctions, end, function,
                       [](const FunctionParameters& f, std::string_view n) { return f.name < n; });
  return at != end && at->name == function ? position_in(at->parameters, name) : 0;
}

template <class NumberOf>
static std::string numbered(const std::string& text, const NumberOf& number_of) {
  constexpr std::string_view kBefore = "argument (";
  std::string result;
  size_t from = 0;
  for (size_t at; (at = text.find(kBefore, from)) != std::string::npos;) {
    const size_t name = at + kBefore.size();
    const size_t end = std::min(text.find(')', name), text.size());
    const int32_t number = number_of(std::string_view(text).substr(name, end - name));
    result.append(text, from, name - 1 - from);
    if (number) result += std::to_string(number) + " ";
    result.append(text, name - 1, end - name + 1);
    from = end;
  }
  return result.append(text, from);
}

template <class NumberOf>
static void number_all(libdl_error& error, const NumberOf& number_of) noexcept {
  try {
    std::string message = numbered(error.message, number_of);
    std::string found = numbered(error.found, number_of);
    std::string wanted = numbered(error.wanted, number_of);
    error.argument = number_of(error.argument_name);
    error.message = std::move(message);
    error.found = std::move(found);
    error.wanted = std::move(wanted);
  } catch (const std::bad_alloc&) {
    // The name alone will do.
  }
}

// Errors of the host's callbacks keep their own words.
static bool is_numbered(const libdl_error& error) {
  return error.argument != 0 || error.is_static || error.payload;
}

void number_arguments(libdl_error& error, const OpEntry& entry) noexcept {
  if (is_numbered(error)) return;
  number_all(error, [&](std::string_view name) { return argument_number(entry, name); });
}

void number_arguments(libdl_error& error) noexcept {
  if (is_numbered(error)) return;
  // A device error names the operator in its message alone.
  const std::string_view message = error.message;
  for (const std::string_view op : {message.substr(0, message.find(": ")), {error.op}})
    if (const OpEntry* const entry = find_entry(find_op(op)))
      return number_arguments(error, *entry);
  number_all(error, [&](std::string_view name) { return argument_number(error.op, name); });
}

}  // namespace libdl::capi
