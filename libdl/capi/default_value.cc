// SPDX-License-Identifier: Apache-2.0

#include "capi/default_value.h"

#include <charconv>

namespace libdl::capi {

namespace {

// All of the text as a number of that type, which must hold it. Not by way of another type, and
// the same in every locale.
template <class T>
std::optional<T> whole(std::string_view text) {
  T number{};
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [stop, error] = std::from_chars(begin, end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

std::optional<libdl_value> tensor_default(std::string_view text, Tensor& owner) {
  if (const auto integer = whole<int64_t>(text))
    owner = number(*integer);
  else if (const auto real = whole<double>(text))
    owner = number(*real);
  else
    return std::nullopt;
  return value_of(owner);
}

std::optional<libdl_value> string_default(std::string_view text) {
  const bool quoted = text.size() >= 2 && (text[0] == '\'' || text[0] == '"');
  if (!quoted || text.find(text[0], 1) != text.size() - 1) return std::nullopt;
  return value_of(text.substr(1, text.size() - 2));
}

template <class T>
std::optional<libdl_value> as_value(std::optional<T> number) {
  if (!number) return std::nullopt;
  return value_of(*number);
}

}  // namespace

std::optional<libdl_value> read_default(libdl_value_type type, std::string_view text,
                                        Tensor& owner) {
  if (text == "None") return absent();
  switch (type) {
    case LIBDL_VALUE_BOOL:
      if (text != "True" && text != "False") return std::nullopt;
      return value_of(text == "True");
    case LIBDL_VALUE_INT: return as_value(whole<int64_t>(text));
    case LIBDL_VALUE_FLOAT: return as_value(whole<double>(text));
    case LIBDL_VALUE_STRING: return string_default(text);
    case LIBDL_VALUE_TENSOR: return tensor_default(text, owner);
    default: return std::nullopt;
  }
}

}  // namespace libdl::capi
