// SPDX-License-Identifier: Apache-2.0

#include "capi/door.h"

#include <exception>
#include <new>
#include <string>

#include "capi/argument_number.h"
#include "runtime/log.h"

namespace libdl::capi {

std::string kind_of(const void* handle) {
  const Tag tag = static_cast<const Counted*>(handle)->tag();
  if (tag != Tag::kReleased) return kind_name(tag);
  return std::string(kind_name(static_cast<const Tombstone*>(handle)->was)) +
         " that was released before";
}

std::string emptied_kind(const libdl_tensor* handle) {
  return handles_are_tracked && tracking::was_released(handle)
             ? "a tensor that was released before"
             : "a tensor that was emptied when its scope ended";
}

const char* kind_name(Tag tag) {
  switch (tag) {
    case Tag::kTensor: return "a tensor";
    case Tag::kError: return "an error";
    case Tag::kGenerator: return "a generator";
    case Tag::kState: return "a state";
    case Tag::kTensorList: return "a list of tensors";
    case Tag::kStream: return "a stream";
    case Tag::kEvent: return "an event";
    case Tag::kNode: return "a node";
    case Tag::kHook: return "a hook";
    case Tag::kFile: return "a file";
    case Tag::kText: return "a text";
    case Tag::kMapping: return "a mapping";
    case Tag::kContext: return "a context";
    default: return "a handle of another kind";
  }
}

namespace {

const char* argument_name(const OpEntry& entry, int argument) {
  if (argument <= entry.argument_count) return entry.arguments[argument - 1].name;
  return entry.results[argument - entry.argument_count - 1].name;
}

LIBDL_NORETURN void refuse(OpId op, int argument, libdl_error_code code, const std::string& found,
                           const std::string& wanted LIBDL_SOURCE_LOCATION) {
  const OpEntry& entry = entry_of(op);
  fail_argument(code, shown_name(entry), argument_name(entry, argument), found,
                wanted LIBDL_SAME_SOURCE_LOCATION);
}

libdl_error* new_error(libdl_error_code code, const char* op, const std::string& message) {
  Error error(code, std::string(op) + ": " + message);
  error.object().op = op;
  return error.release();
}

}  // namespace

void note_entry(const char* function) noexcept { tracking::entered(function); }
void note_entry(OpId op) noexcept { tracking::entered(entry_of(op).name); }

// What is thrown below the operators, where nobody knows which one runs.
static void name_operator(libdl_error& error, const char* op) noexcept {
  const bool below =
      error.code == LIBDL_ERROR_OUT_OF_MEMORY || error.code == LIBDL_ERROR_INTERRUPTED;
  if ((!below && !error.unnamed) || error.is_static || !error.op.empty() || error.payload) return;
  try {
    if (below) {
      std::string message = std::string(op) + ": " + error.message;
      error.op = op;
      error.message = std::move(message);
    } else {
      error.op = op;  // the message says what it is about: a device, a library
    }
  } catch (const std::bad_alloc&) {
    // No memory for the better text.
  }
}

// A step of an optimizer is observed as "adam"; the two structs of DLPack are read by one function.
static void name_function(libdl_error& error, const char* function) noexcept {
  if (error.is_static || error.op.empty() || error.payload) return;
  const std::string_view called = function, named = error.op;
  if (!called.starts_with(named)) return;
  const std::string_view rest = called.substr(named.size());
  if (rest != "_step" && rest != "_unversioned") return;
  try {
    std::string message = error.message;
    if (message.starts_with(error.op + ": ")) message.replace(0, named.size(), called);
    std::string op(called);
    error.message = std::move(message);
    error.op = std::move(op);
  } catch (const std::bad_alloc&) {
    // No memory for the better text.
  }
}

// entry: of the operator whose door it is, which tells max_dim from max; NULL of another function.
static libdl_error* caught_by(const char* op, const OpEntry* entry) noexcept {
  try {
    try {
      throw;
    } catch (Error& error) {
      name_operator(error.object(), op);
      name_function(error.object(), op);
      if (entry && error.object().op == op) number_arguments(error.object(), *entry);
      number_arguments(error.object());
      return error.release();
    } catch (const std::bad_alloc&) {
      return new_error(LIBDL_ERROR_OUT_OF_MEMORY, op, "out of memory");
    } catch (const std::exception& exception) {
      return new_error(LIBDL_ERROR_INTERNAL, op, exception.what());
    } catch (...) {
      return new_error(LIBDL_ERROR_INTERNAL, op, "an exception of unknown type");
    }
  } catch (...) {
    return out_of_memory_error();
  }
}

libdl_error* caught(const char* op) noexcept { return caught_by(op, nullptr); }
libdl_error* caught(OpId op) noexcept { return caught_by(shown_name(entry_of(op)), &entry_of(op)); }

void count_interrupted_writes(libdl_error& error, std::span<libdl_tensor* const> dsts) noexcept {
  if (error.code != LIBDL_ERROR_INTERRUPTED || error.is_static) return;
  for (const libdl_tensor* const dst : dsts)
    if (is_live_tensor(dst) && dst->storage) written(*dst->storage, "an interrupted call");
}

void refuse_handle(const char* op, const char* name, const libdl_tensor* handle,
                   const std::string& which) {
  const std::string verb = which.empty() ? "is " : "has at " + which + " ";
  if (!handle) fail_argument(LIBDL_ERROR_NULL, op, name, verb + "NULL", "a tensor");
  if (!has_tag(handle, Tag::kTensor))
    fail_argument(LIBDL_ERROR_KIND, op, name, verb + kind_of(handle), "a tensor");
  if (handle->flags & kStandIn)
    fail_argument(LIBDL_ERROR_EMPTIED, op, name,
                  verb + "a stand-in for the slices of a batch, which has no elements of its own",
                  "");
  fail_argument(LIBDL_ERROR_EMPTIED, op, name, verb + emptied_kind(handle), "");
}

void refuse_null(OpId op, int argument, const char* wanted) {
  refuse(op, argument, LIBDL_ERROR_NULL, "is NULL", wanted);
}

void refuse_output(OpId op, int argument) {
  refuse(op, argument, LIBDL_ERROR_NULL, "is NULL", "a place for the result");
}

void refuse_tensor(OpId op, int argument, const libdl_tensor* handle) {
  const OpEntry& entry = entry_of(op);
  refuse_handle(shown_name(entry), argument_name(entry, argument), handle);
}

void refuse_destination(OpId op, const char* name, const libdl_tensor* handle) {
  refuse_handle(shown_name(entry_of(op)), name, handle);
}

void refuse_entry(OpId op, int argument, int64_t entry, const libdl_tensor* handle) {
  const OpEntry& e = entry_of(op);
  refuse_handle(shown_name(e), argument_name(e, argument), handle, std::to_string(entry));
}

// Tensors that may be in host memory wherever the others are.
static bool may_stay_on_host(const Tensor& x, std::string_view argument, bool pointwise) {
  if (!x.device().is_cpu()) return false;
  if (x.is_number() || argument == "index" || argument == "indices") return true;
  return x.ndim() == 0 && (pointwise || argument == "value" || argument == "values");
}

void check_one_device(OpId op, bool pointwise, std::initializer_list<DeviceOperand> operands) {
  const OpEntry& entry = entry_of(op);
  const Tensor* first = nullptr;
  int named = 0;
  for (const auto& [argument, tensors] : operands) {
    const char* const name = argument_name(entry, argument);
    for (const Tensor& x : tensors) {
      if (!x.defined() || may_stay_on_host(x, name, pointwise)) continue;
      if (!first) {
        first = &x;
        named = argument;
      } else if (x.device() != first->device()) {
        refuse(op, argument, LIBDL_ERROR_DEVICE, "is on " + device_name(x.device()),
               device_name(first->device()) + ", as argument " + std::to_string(named) + " (" +
                   argument_name(entry, named) + "): all tensors on the same device");
      }
    }
  }
}

void refuse_kind(OpId op, int argument, const void* handle, const char* wanted) {
  refuse(op, argument, LIBDL_ERROR_KIND, "is " + kind_of(handle), wanted);
}

void refuse_count(OpId op, int argument, int64_t count, int64_t most) {
  const bool more_than_dimensions = count > 0 && most == kMaxDims;
  refuse(op, argument, more_than_dimensions ? LIBDL_ERROR_INDEX : LIBDL_ERROR_VALUE,
         "has the length " + std::to_string(count),
         count < 0 ? "one that is not negative" : "0 to " + std::to_string(most));
}

void check_length(OpId op, int argument, int64_t count) {
  if (count < 0) refuse_count(op, argument, count);
  const OpEntry& entry = entry_of(op);
  const std::string_view name = argument_name(entry, argument);
  // A sequence has any length, and roll may turn one dimension again and again: their operators
  // compare the count with a tensor's size, or with another count.
  if (name == "batch_sizes" || entry.name == std::string_view("roll")) return;
  const int64_t most = name == "pad" ? 2 * kMaxDims : kMaxDims;  // before and behind
  if (count <= most) return;
  const bool is_shape = name == "shape" || name == "size" || name == "sizes";
  refuse(op, argument, is_shape ? LIBDL_ERROR_SHAPE : LIBDL_ERROR_VALUE,
         is_shape ? "has " + std::to_string(count) + " dimensions"
                  : "has the length " + std::to_string(count),
         "at most " + std::to_string(most));
}

void refuse_dim(OpId op, int argument, int64_t dim) {
  refuse(op, argument, LIBDL_ERROR_INDEX, "is " + std::to_string(dim), "a dimension");
}

void refuse_dtype(OpId op, int argument, int32_t dtype) {
  refuse(op, argument, LIBDL_ERROR_DTYPE, "is " + std::to_string(dtype), "a LIBDL_DTYPE_ constant");
}

std::string_view in_text(const char* function, const char* name, const char* text, int64_t length) {
  if (!text) fail_argument(LIBDL_ERROR_NULL, function, name, "is NULL", "text");
  if (length == -1) return text;
  if (!is_count(length))
    fail_argument(LIBDL_ERROR_VALUE, function, name, "has the length " + std::to_string(length),
                  length < 0 ? "one that is not negative, or -1" : "0 to 2147483647, or -1");
  return {text, static_cast<size_t>(length)};
}

void check_tensor(const char* function, const char* name, const libdl_tensor* handle) {
  if (!is_live_tensor(handle)) refuse_handle(function, name, handle);
}

void tell_kind(const char* function, const char* name, const void* handle, Tag expected) noexcept {
  try {
    const std::string text = std::string(function) + ": argument 1 (" + name + ") is " +
                             kind_of(handle) + ", wanted " + kind_name(expected) +
                             ": nothing was done";
    if (handles_are_tracked)
      tracking::tell(text);
    else
      log(LogLevel::kWarning, "%s", text.c_str());
  } catch (...) {
    // No memory to say so.
  }
}

void check_kind(const char* function, const char* name, const void* handle, Tag expected) {
  if (!handle) fail_argument(LIBDL_ERROR_NULL, function, name, "is NULL", kind_name(expected));
  if (has_tag(handle, expected)) return;
  fail_argument(LIBDL_ERROR_KIND, function, name, "is " + kind_of(handle), kind_name(expected));
}

}  // namespace libdl::capi
