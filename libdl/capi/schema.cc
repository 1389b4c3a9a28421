// SPDX-License-Identifier: Apache-2.0

#include "capi/schema.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "capi/default_value.h"

namespace libdl::capi {

namespace {

constexpr std::pair<std::string_view, libdl_value_type> kTypes[] = {
    {"tensor", LIBDL_VALUE_TENSOR}, {"tensors", LIBDL_VALUE_TENSORS},
    {"bool", LIBDL_VALUE_BOOL},     {"int", LIBDL_VALUE_INT},
    {"float", LIBDL_VALUE_FLOAT},   {"ints", LIBDL_VALUE_INTS},
    {"string", LIBDL_VALUE_STRING}, {"dtype", LIBDL_VALUE_DTYPE},
    {"device", LIBDL_VALUE_DEVICE}, {"generator", LIBDL_VALUE_GENERATOR},
};

bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Schema read() {
    Schema schema;
    schema.name = word("the operator's area");
    expect("::");
    schema.name += "::" + word("the operator's name");
    expect("(");
    if (!skip(")")) {
      do {
        Schema::Argument next = argument();
        for (const Schema::Argument& other : schema.arguments)
          if (other.name == next.name) bad("two parameters are called '" + next.name + "'");
        schema.arguments.push_back(std::move(next));
      } while (skip(","));
      expect(")");
    }
    expect("->");
    do {
      if (type() != LIBDL_VALUE_TENSOR) bad("a result is always a tensor");
      std::string name = word("a result's name");
      if (std::ranges::find(schema.results, name) != schema.results.end())
        bad("two results are called '" + name + "'");
      schema.results.push_back(std::move(name));
    } while (skip(","));
    blanks();
    if (at_ != text_.size()) bad("wanted its end");
    return schema;
  }

 private:
  LIBDL_NORETURN void bad(const std::string& what LIBDL_SOURCE_LOCATION) {
    fail_argument(LIBDL_ERROR_VALUE, "op_register", "schema",
                  "cannot be read at byte " + std::to_string(at_) + ": " + what,
                  "" LIBDL_SAME_SOURCE_LOCATION);
  }

  void blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  bool skip(std::string_view mark) {
    blanks();
    if (!text_.substr(at_).starts_with(mark)) return false;
    at_ += mark.size();
    return true;
  }

  void expect(std::string_view mark) {
    if (!skip(mark)) bad("wanted '" + std::string(mark) + "'");
  }

  std::string word(const char* what) {
    blanks();
    const size_t first = at_;
    while (at_ < text_.size() && in_word(text_[at_])) ++at_;
    if (at_ == first) bad(std::string("wanted ") + what);
    return std::string(text_.substr(first, at_ - first));
  }

  libdl_value_type type() {
    const std::string name = word("a type");
    const auto* const known = std::find_if(std::begin(kTypes), std::end(kTypes),
                                           [&](const auto& t) { return t.first == name; });
    if (known == std::end(kTypes)) bad("'" + name + "' is no type");
    return known->second;
  }

  Schema::Argument argument() {
    Schema::Argument parsed;
    parsed.type = type();
    parsed.nullable = skip("?");
    parsed.name = word("a parameter's name");
    if (skip("=")) {
      blanks();
      parsed.default_text = default_text();
      Tensor number;
      const auto value = read_default(parsed.type, parsed.default_text, number);
      if (!value) bad("'" + parsed.default_text + "' is no default of '" + parsed.name + "'");
      if (value->type == LIBDL_VALUE_NONE && !parsed.nullable)
        bad("'" + parsed.name + "' may be None only with a '?' behind its type");
    }
    return parsed;
  }

  // Up to the next comma or parenthesis that is not in quotes.
  std::string default_text() {
    size_t end = at_;
    for (char quote = 0; end < text_.size(); ++end) {
      const char c = text_[end];
      if (!quote && (c == ',' || c == ')')) break;
      if (c == quote)
        quote = 0;
      else if (!quote && (c == '\'' || c == '"'))
        quote = c;
    }
    size_t last = end;
    while (last > at_ && text_[last - 1] == ' ') --last;
    if (last == at_ || end == text_.size()) bad("wanted a default");
    std::string found(text_.substr(at_, last - at_));
    at_ = end;
    return found;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Schema read_schema(std::string_view text) { return Reader(text).read(); }

}  // namespace libdl::capi
