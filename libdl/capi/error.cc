// SPDX-License-Identifier: Apache-2.0

#include <libdl/error.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/contained.h"
#include "capi/door.h"

using namespace libdl;
using namespace libdl::capi;

namespace {

constexpr libdl_error_code kCodes[] = {
    LIBDL_ERROR_VALUE,       LIBDL_ERROR_NULL,     LIBDL_ERROR_KIND,          LIBDL_ERROR_DTYPE,
    LIBDL_ERROR_SHAPE,       LIBDL_ERROR_INDEX,    LIBDL_ERROR_DEVICE,        LIBDL_ERROR_OVERFLOW,
    LIBDL_ERROR_OVERLAP,     LIBDL_ERROR_OPTION,   LIBDL_ERROR_TYPE,          LIBDL_ERROR_AUTOGRAD,
    LIBDL_ERROR_VERSION,     LIBDL_ERROR_EMPTIED,  LIBDL_ERROR_READ_ONLY,     LIBDL_ERROR_STATE,
    LIBDL_ERROR_INTERRUPTED, LIBDL_ERROR_DEPTH,    LIBDL_ERROR_OUT_OF_MEMORY, LIBDL_ERROR_LIMIT,
    LIBDL_ERROR_IO,          LIBDL_ERROR_FORMAT,   LIBDL_ERROR_BACKEND,       LIBDL_ERROR_CALLBACK,
    LIBDL_ERROR_UNSUPPORTED, LIBDL_ERROR_INTERNAL,
};

libdl_error_code known(libdl_error_code code) {
  const bool is_known = std::find(std::begin(kCodes), std::end(kCodes), code) != std::end(kCodes);
  return is_known ? code : static_cast<libdl_error_code>(LIBDL_ERROR_VALUE);
}

}  // namespace

libdl_error* libdl_error_new(libdl_error_code code, const char* message, int64_t message_length,
                             void* payload, void (*payload_destroy)(void* payload)) {
  try {
    size_t length = 0;
    if (message && message_length == -1) length = std::strlen(message);
    if (message && is_count(message_length)) length = static_cast<size_t>(message_length);
    Error error(known(code), length ? std::string(message, length) : std::string());
    if (!error.object().is_static) {
      error.object().payload = payload;
      error.object().payload_destroy = payload_destroy;
      return error.release();
    }
  } catch (...) {
    // No memory for the text: the static error below cannot carry the payload either.
  }
  if (payload) run_destroy(payload_destroy, payload);
  return out_of_memory_error();
}

libdl_error* libdl_error_retain(libdl_error* error) {
  if (!is_kind("libdl_error_retain", "error", error, Tag::kError)) return nullptr;
  error->retain();
  return error;
}

void libdl_error_release(libdl_error* error) {
  if (is_kind("libdl_error_release", "error", error, Tag::kError) && error->drop()) destroy(error);
}

// Getters treat handles of other kinds like NULL.
static bool is_error(const libdl_error* error) { return error && has_tag(error, Tag::kError); }

libdl_error_code libdl_error_get_code(const libdl_error* error) {
  return is_error(error) ? error->code : static_cast<libdl_error_code>(LIBDL_OK);
}
const char* libdl_error_get_message(const libdl_error* error) {
  return is_error(error) ? error->message.c_str() : "";
}
const char* libdl_error_get_operator(const libdl_error* error) {
  return is_error(error) ? error->op.c_str() : "";
}
int32_t libdl_error_get_argument(const libdl_error* error) {
  return is_error(error) ? error->argument : 0;
}
const char* libdl_error_get_argument_name(const libdl_error* error) {
  return is_error(error) ? error->argument_name.c_str() : "";
}
const char* libdl_error_get_found(const libdl_error* error) {
  return is_error(error) ? error->found.c_str() : "";
}
const char* libdl_error_get_wanted(const libdl_error* error) {
  return is_error(error) ? error->wanted.c_str() : "";
}
libdl_bool libdl_error_is_asynchronous(const libdl_error* error) {
  return is_error(error) && error->asynchronous;
}
const libdl_error* libdl_error_get_cause(const libdl_error* error) {
  return is_error(error) ? error->cause : nullptr;
}
void* libdl_error_get_payload(const libdl_error* error) {
  return is_error(error) ? error->payload : nullptr;
}
