// SPDX-License-Identifier: Apache-2.0

// The library's only exception type. It carries the object that the C door hands out, so that an
// error made by a callback passes through the engine unchanged.
#pragma once

#include <libdl/error.h>

#include <cstdint>
#include <initializer_list>
#include <string>

#include "base/handle.h"
#include "base/source_location.h"

struct libdl_error : libdl::Handle<libdl_error> {
  libdl_error() : Handle(libdl::Tag::kError) {}
  ~libdl_error();

  libdl_error_code code = LIBDL_ERROR_INTERNAL;
  int32_t argument = 0;  // counted from 1; set by the door: below it there are names only
  bool asynchronous = false;
  bool unnamed = false;    // whoever made it did not know for which operator
  bool is_static = false;  // the out-of-memory error: never counted, never freed
  std::string message, op, argument_name, found, wanted;
  libdl_error* cause = nullptr;  // owned
  void* payload = nullptr;
  void (*payload_destroy)(void*) = nullptr;
};

namespace libdl {

void destroy(libdl_error* error);

// Never fails: if there is no memory it returns the static out-of-memory error.
libdl_error* out_of_memory_error();

class Error {
 public:
  Error(libdl_error_code code, std::string message);
  explicit Error(Ref<libdl_error> object) : object_(std::move(object)) {}
  static Error take(libdl_error* object) { return Error(Ref<libdl_error>::take(object)); }

  libdl_error_code code() const { return object_->code; }
  const std::string& message() const { return object_->message; }
  libdl_error& object() { return *object_; }
  libdl_error* release() { return object_.release(); }

 private:
  Ref<libdl_error> object_;
};

// op: argument (name) <found>, wanted <wanted>. The door puts the argument's number before its
// name.
LIBDL_NORETURN [[gnu::cold]] void fail_argument(libdl_error_code code, const char* op,
                                                const char* name, const std::string& found,
                                                const std::string& wanted LIBDL_SOURCE_LOCATION);
// op: <message>
LIBDL_NORETURN [[gnu::cold]] void fail(libdl_error_code code, const char* op,
                                       const std::string& message LIBDL_SOURCE_LOCATION);
// <message>, without an operator's name
LIBDL_NORETURN [[gnu::cold]] void fail_unnamed(libdl_error_code code,
                                               const std::string& message LIBDL_SOURCE_LOCATION);

// -- operators made of others --------------------------------------------------------------------

// An inner operator's name for an argument, and the outer operator's argument that it corresponds
// to.
struct Renamed {
  const char* inner;
  const char* name;
};

// Rewrites an inner operator's error as `op`'s own; an argument that op does not have is left out.
[[gnu::cold]] void rename_arguments(Error& error, const char* op,
                                    std::initializer_list<Renamed> names);

template <class F>
auto rename_error(const char* op, std::initializer_list<Renamed> names, F&& body)
    -> decltype(body()) {
  try {
    return body();
  } catch (Error& error) {
    rename_arguments(error, op, names);
    throw;
  }
}

}  // namespace libdl
