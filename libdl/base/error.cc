// SPDX-License-Identifier: Apache-2.0

#include "base/error.h"

#include <new>

#include "base/contained.h"

libdl_error::~libdl_error() {
  if (payload) libdl::run_destroy_in_turn(payload_destroy, payload);
  if (cause && cause->drop()) libdl::destroy(cause);
}

namespace libdl {

void destroy(libdl_error* error) {
  if (!error->is_static) delete error;
}

libdl_error* out_of_memory_error() {
  // Built before it can be needed; its count is kept above one, so drop() never destroys it.
  static libdl_error* const error = [] {
    static libdl_error object;
    object.code = LIBDL_ERROR_OUT_OF_MEMORY;
    object.message = "out of memory: not even the error message could be allocated";
    object.is_static = true;
    return &object;
  }();
  error->retain();
  return error;
}

// Forces the static object into existence when the library is loaded.
[[maybe_unused]] static libdl_error* const loaded = out_of_memory_error();

Error::Error(libdl_error_code code, std::string message) {
  try {
    auto error = Ref<libdl_error>::take(new libdl_error);
    error->code = code;
    error->message = std::move(message);
    object_ = std::move(error);
  } catch (const std::bad_alloc&) {
    object_ = Ref<libdl_error>::take(out_of_memory_error());
  }
}

// The fields of what a message says in one: "<found>, wanted <wanted>".
static void split_message(libdl_error& error, const std::string& text) {
  for (const char* const between : {", wanted ", ": wanted ", ", takes "}) {
    const size_t at = text.find(between);
    if (at == std::string::npos) continue;
    error.found = text.substr(0, at);
    error.wanted = text.substr(at + std::string(between).size());
    return;
  }
}

void fail_argument(libdl_error_code code, const char* op, const char* name,
                   const std::string& found,
                   const std::string& wanted LIBDL_PASSED_SOURCE_LOCATION) {
  LIBDL_LEAVE_OUT();
  std::string message = std::string(op) + ": argument (" + name + ") " + found;
  if (!wanted.empty()) message += ", wanted " + wanted;
  Error error(code, std::move(message));
  error.object().op = op;
  error.object().argument_name = name;
  error.object().found = found;
  error.object().wanted = wanted;
  if (wanted.empty()) split_message(error.object(), found);
  throw error;
}

void fail(libdl_error_code code, const char* op,
          const std::string& message LIBDL_PASSED_SOURCE_LOCATION) {
  LIBDL_LEAVE_OUT();
  Error error(code, std::string(op) + ": " + message);
  error.object().op = op;
  split_message(error.object(), message);
  throw error;
}

void fail_unnamed(libdl_error_code code, const std::string& message LIBDL_PASSED_SOURCE_LOCATION) {
  LIBDL_LEAVE_OUT();
  Error error(code, message);
  error.object().unnamed = !error.object().is_static;
  split_message(error.object(), message);
  throw error;
}

void rename_arguments(Error& error, const char* op, std::initializer_list<Renamed> names) {
  libdl_error& e = error.object();
  // Errors of callbacks and of calls inside them keep their own words.
  if (e.is_static || e.op.empty() || e.op == op || e.payload || e.cause) return;
  const std::string before = e.op + ": ";
  if (e.message.compare(0, before.size(), before) != 0) return;
  std::string message = std::string(op) + ": ";
  const Renamed* renamed = nullptr;
  for (const Renamed& name : names)
    if (e.argument_name == name.inner) renamed = &name;
  if (!renamed && (e.argument_name.empty() || e.argument_name.ends_with("dst"))) {
    message += e.message.substr(before.size());  // none is blamed, or op's own destination
  } else {
    if (renamed) message += std::string("argument (") + renamed->name + ") ";
    message += e.found;
    if (!e.wanted.empty()) message += ", wanted " + e.wanted;
    e.argument_name = renamed ? renamed->name : "";
  }
  e.message = std::move(message);
  e.op = op;
}

}  // namespace libdl
