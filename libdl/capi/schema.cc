// SPDX-License-Identifier: Apache-2.0

#include "capi/schema.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.h"

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
      do schema.arguments.push_back(argument());
      while (skip(","));
      expect(")");
    }
    expect("->");
    do {
      if (type() != LIBDL_VALUE_TENSOR) bad("a result is always a tensor");
      schema.results.push_back(word("a result's name"));
    } while (skip(","));
    blanks();
    if (at_ != text_.size()) bad("wanted its end");
    return schema;
  }

 private:
  LIBDL_NORETURN void bad(const std::string& what LIBDL_SOURCE_LOCATION) {
    fail_argument(LIBDL_ERROR_VALUE, "op_register", 1, "schema",
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
    Schema::Argument made;
    made.type = type();
    made.nullable = skip("?");
    made.name = word("a parameter's name");
    if (skip("=")) {
      blanks();
      const size_t end = text_.find_first_of(",)", at_);
      if (end == at_ || end == std::string_view::npos) bad("wanted a default");
      made.default_text = text_.substr(at_, end - at_);
      at_ = end;
    }
    return made;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Schema read_schema(std::string_view text) { return Reader(text).read(); }

}  // namespace libdl::capi
