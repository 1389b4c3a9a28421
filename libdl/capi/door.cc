// SPDX-License-Identifier: Apache-2.0

#include "capi/door.h"

#include <exception>
#include <new>
#include <string>

namespace libdl::capi {

namespace {

const char* argument_name(const OpEntry& entry, int argument) {
  if (argument <= entry.argument_count) return entry.arguments[argument - 1].name;
  return entry.call ? entry.results[argument - entry.argument_count - 1].name : "dst";
}

[[noreturn]] void refuse(OpId op, int argument, libdl_error_code code, const std::string& found,
                         const std::string& wanted) {
  const OpEntry& entry = entry_of(op);
  fail_argument(code, entry.name, argument, argument_name(entry, argument), found, wanted);
}

const char* kind_of(const void* handle) {
  switch (static_cast<const Counted*>(handle)->tag()) {
    case Tag::kTensor:
      return "a tensor";
    case Tag::kError:
      return "an error";
    case Tag::kGenerator:
      return "a generator";
    case Tag::kState:
      return "a state";
    case Tag::kTensorList:
      return "a list of tensors";
    case Tag::kStream:
      return "a stream";
    case Tag::kEvent:
      return "an event";
    default:
      return "a handle of another kind";
  }
}

libdl_error* made(libdl_error_code code, const char* op, const std::string& message) {
  Error error(code, std::string(op) + ": " + message);
  error.object().op = op;
  return error.release();
}

}  // namespace

libdl_error* caught(const char* op) noexcept {
  try {
    try {
      throw;
    } catch (Error& error) {
      return error.release();
    } catch (const std::bad_alloc&) {
      return made(LIBDL_ERROR_OUT_OF_MEMORY, op, "out of memory");
    } catch (const std::exception& exception) {
      return made(LIBDL_ERROR_INTERNAL, op, exception.what());
    } catch (...) {
      return made(LIBDL_ERROR_INTERNAL, op, "an exception of unknown type");
    }
  } catch (...) {
    return out_of_memory_error();
  }
}

libdl_error* caught(OpId op) noexcept { return caught(entry_of(op).name); }

void refuse_null(OpId op, int argument, const char* wanted) {
  refuse(op, argument, LIBDL_ERROR_NULL, "is NULL", wanted);
}

void refuse_output(OpId op, int argument) {
  refuse(op, argument, LIBDL_ERROR_NULL, "is NULL", "a place for the result");
}

void refuse_tensor(OpId op, int argument, const libdl_tensor* handle) {
  if (!handle) refuse_null(op, argument, "a tensor");
  if (!has_tag(handle, Tag::kTensor)) refuse_kind(op, argument, handle, "a tensor");
  refuse(op, argument, LIBDL_ERROR_EMPTIED, "was emptied when its scope ended", "");
}

void refuse_entry(OpId op, int argument, int64_t entry, const libdl_tensor* handle) {
  const std::string which = "has at " + std::to_string(entry);
  if (!handle) refuse(op, argument, LIBDL_ERROR_NULL, which + " NULL", "a tensor");
  if (!has_tag(handle, Tag::kTensor))
    refuse(op, argument, LIBDL_ERROR_KIND, which + " " + kind_of(handle), "a tensor");
  refuse(op, argument, LIBDL_ERROR_EMPTIED, which + " a tensor that was emptied with its scope",
         "");
}

void refuse_kind(OpId op, int argument, const void* handle, const char* wanted) {
  refuse(op, argument, LIBDL_ERROR_KIND, std::string("is ") + kind_of(handle), wanted);
}

void refuse_count(OpId op, int argument, int64_t count) {
  refuse(op, argument, LIBDL_ERROR_VALUE, "has the length " + std::to_string(count),
         "one that is not negative");
}

void refuse_dtype(OpId op, int argument, int32_t dtype) {
  refuse(op, argument, LIBDL_ERROR_DTYPE, "is " + std::to_string(dtype), "a LIBDL_DTYPE_ constant");
}

}  // namespace libdl::capi
