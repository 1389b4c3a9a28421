// SPDX-License-Identifier: Apache-2.0

// The door: the boundary between C and C++, handles in, error out. It has the only try/catch
// between the two, and checks what C cannot: NULL, the wrong kind of handle, a handle whose scope
// has ended, a negative count. The success path allocates nothing, counts no references and builds
// no text.
#pragma once

#include <array>
#include <complex>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "base/uncancelled.h"
#include "capi/op_table.h"
#include "device/device.h"
#include "ops/core/call.h"
#include "tensor/forms.h"
#include "tensor/handle_tracking.h"
#include "tensor/stand_in.h"
#include "tensor/tensor.h"
#include "tensor/tensor_list.h"

namespace libdl {
using Generator = libdl_generator;
}

namespace libdl::capi {

// The error object for the exception currently being handled.
[[gnu::cold]] libdl_error* caught(const char* op) noexcept;
[[gnu::cold]] libdl_error* caught(OpId op) noexcept;

// LIBDL_DEBUG_HANDLES: what is made from here on is this function's.
[[gnu::cold]] void note_entry(const char* function) noexcept;
[[gnu::cold]] void note_entry(OpId op) noexcept;

// Runs the body of an operator, or of another function that never waits.
template <class Op, class F>
[[gnu::always_inline]] inline libdl_error* quick_door(Op op, F&& body) noexcept {
  if (handles_are_tracked) [[unlikely]]
    note_entry(op);
  try {
    body();
    return nullptr;
  } catch (...) {
    return caught(op);
  }
}

template <class F>
[[gnu::always_inline]] inline libdl_error* door(OpId op, F&& body) noexcept {
  return quick_door(op, std::forward<F>(body));
}
// What is no operator may wait, for a file for example: a cancellation of the thread comes after
// it.
template <class F>
libdl_error* door(const char* function, F&& body) noexcept {
  const Uncancelled whole;
  return quick_door(function, std::forward<F>(body));
}

// After an interruption the contents of the destinations are unknown: they count as written.
void count_interrupted_writes(libdl_error& error, std::span<libdl_tensor* const> dsts) noexcept;

// As door, for an operator that writes into destinations.
template <class F, class... Destinations>
[[gnu::always_inline]] inline libdl_error* door_into(OpId op, F&& body,
                                                     Destinations... dsts) noexcept {
  try {
    body();
    return nullptr;
  } catch (...) {
    libdl_error* const error = caught(op);
    count_interrupted_writes(*error, std::array{dsts...});
    return error;
  }
}

// -- refusals ---------------------------------------------------------------------------------
// Arguments are counted from 1; the outputs are numbered after the last one.

LIBDL_NORETURN [[gnu::cold]] void refuse_null(OpId op, int argument, const char* wanted);
LIBDL_NORETURN [[gnu::cold]] void refuse_output(OpId op, int argument);
// The error tells apart NULL, a handle of another kind and an emptied tensor.
LIBDL_NORETURN [[gnu::cold]] void refuse_tensor(OpId op, int argument, const libdl_tensor* handle);
LIBDL_NORETURN [[gnu::cold]] void refuse_destination(OpId op, const char* name,
                                                     const libdl_tensor* handle);
LIBDL_NORETURN [[gnu::cold]] void refuse_entry(OpId op, int argument, int64_t entry,
                                               const libdl_tensor* handle);
LIBDL_NORETURN [[gnu::cold]] void refuse_kind(OpId op, int argument, const void* handle,
                                              const char* wanted);
// The number of entries or bytes that a caller gave with a pointer: more than this are a mistake in
// the program, and are refused before the first is read.
constexpr int64_t kMostEntries = INT32_MAX;
inline bool is_count(int64_t count, int64_t most = kMostEntries) {
  return static_cast<uint64_t>(count) <= static_cast<uint64_t>(most);
}
LIBDL_NORETURN [[gnu::cold]] void refuse_count(OpId op, int argument, int64_t count,
                                               int64_t most = kMostEntries);
// Throws for a list of integers that no call could use, before any of them is read.
[[gnu::cold]] void check_length(OpId op, int argument, int64_t count);
LIBDL_NORETURN [[gnu::cold]] void refuse_dim(OpId op, int argument, int64_t dim);
LIBDL_NORETURN [[gnu::cold]] void refuse_dtype(OpId op, int argument, int32_t dtype);

// -- arguments --------------------------------------------------------------------------------

inline bool has_tag(const void* handle, Tag tag) {
  return static_cast<const Counted*>(handle)->tag() == tag;
}

inline bool is_live_tensor(const libdl_tensor* handle) {
  return handle && has_tag(handle, Tag::kTensor) && !(handle->flags & (kEmptied | kStandIn));
}

// A live tensor or a stand-in.
inline bool has_geometry(const libdl_tensor* handle) {
  return handle && has_tag(handle, Tag::kTensor) && !(handle->flags & kEmptied);
}

// A borrowed handle as a Tensor: the count is not changed, and the caller keeps it alive.
inline const Tensor& borrow(const libdl_tensor* const& handle) {
  return reinterpret_cast<const Tensor&>(handle);
}

// What a door lets in: of an operator that is composed of others stand-ins, too.
using Admits = bool (*)(const libdl_tensor*);

template <Admits admits = is_live_tensor>
const Tensor& in_tensor(OpId op, int argument, const libdl_tensor* const& handle) {
  if (!admits(handle)) [[unlikely]]
    refuse_tensor(op, argument, handle);
  return borrow(handle);
}

template <Admits admits = is_live_tensor>
const Tensor* in_optional_tensor(OpId op, int argument, const libdl_tensor* const& handle) {
  return handle ? &in_tensor<admits>(op, argument, handle) : nullptr;
}

inline const Tensor* in_updated_tensor(OpId op, int argument, libdl_tensor* const& handle) {
  if (!handle) return nullptr;
  if (!is_live_tensor(handle)) [[unlikely]]
    refuse_tensor(op, argument, handle);
  return &reinterpret_cast<const Tensor&>(handle);
}

inline Into in_destination(OpId op, libdl_tensor* const& handle, const char* name) {
  if (!is_live_tensor(handle)) [[unlikely]]
    refuse_destination(op, name, handle);
  return Into(borrow(handle), name);
}

template <Admits admits = is_live_tensor>
TensorSpan in_tensors(OpId op, int argument, const libdl_tensor* const* items, int64_t count,
                      bool nullable_entries) {
  // Entries may be missing where there is one for each dimension.
  const int64_t most = nullable_entries ? kMaxDims : kMostEntries;
  if (!is_count(count, most)) [[unlikely]]
    refuse_count(op, argument, count, most);
  if (!items && count) [[unlikely]]
    refuse_null(op, argument, "an array");
  for (int64_t i = 0; i < count; ++i) {
    if (!items[i] && nullable_entries) continue;
    if (!admits(items[i])) [[unlikely]]
      refuse_entry(op, argument, i, items[i]);
  }
  return {reinterpret_cast<const Tensor*>(items), static_cast<size_t>(count)};
}

inline Dims in_ints(OpId op, int argument, const int64_t* items, int64_t count) {
  if (static_cast<uint64_t>(count) > kMaxDims) [[unlikely]]
    check_length(op, argument, count);
  if (!items && count) [[unlikely]]
    refuse_null(op, argument, "an array");
  return {items, static_cast<size_t>(count)};
}

inline std::optional<Dims> in_optional_ints(OpId op, int argument, const int64_t* items,
                                            int64_t count) {
  if (!items) return std::nullopt;
  return in_ints(op, argument, items, count);
}

// Generic calls carry dimensions as 64-bit integers.
inline int32_t in_dim(OpId op, int argument, int64_t dim) {
  if (dim != static_cast<int32_t>(dim)) [[unlikely]]
    refuse_dim(op, argument, dim);
  return static_cast<int32_t>(dim);
}

inline Dtype in_dtype(OpId op, int argument, libdl_dtype number) {
  if (static_cast<uint32_t>(number) >= kDtypes) [[unlikely]]
    refuse_dtype(op, argument, number);
  return static_cast<Dtype>(number);
}

inline std::optional<Device> in_optional_device(const libdl_device* device) {
  if (!device) return std::nullopt;
  return Device{device->type, device->index};
}

template <class T>
std::optional<T> in_optional_number(const T* number) {
  return number ? std::optional<T>(*number) : std::nullopt;
}

inline std::string_view in_string(OpId op, int argument, const char* text, int64_t length) {
  if (!text) [[unlikely]]
    refuse_null(op, argument, "text");
  if (length == -1) return text;
  if (!is_count(length)) [[unlikely]]
    refuse_count(op, argument, length);
  return {text, static_cast<size_t>(length)};
}

inline std::optional<std::string_view> in_optional_string(OpId op, int argument, const char* text,
                                                          int64_t length) {
  if (!text) return std::nullopt;
  return in_string(op, argument, text, length);
}

inline Generator* in_optional_generator(OpId op, int argument, libdl_generator* handle) {
  if (handle && !has_tag(handle, Tag::kGenerator)) [[unlikely]]
    refuse_kind(op, argument, handle, "a generator");
  return handle;
}

// The tensors of one argument, for the check that all are on the same device.
struct DeviceOperand {
  int argument;
  std::span<const Tensor> tensors;
};
inline DeviceOperand on(int argument, const Tensor& x) { return {argument, {&x, 1}}; }
inline DeviceOperand on(int argument, const Tensor* x) { return {argument, {x, x ? 1u : 0u}}; }
inline DeviceOperand on(int argument, TensorSpan list) { return {argument, list}; }

// Throws DEVICE unless all tensors are on the device of the first. Host numbers and indices may be
// on the CPU, as may 0-d tensors if the operator is pointwise.
[[gnu::cold]] void check_one_device(OpId op, bool pointwise,
                                    std::initializer_list<DeviceOperand> operands);
// For arguments with these numbers; out of line, so that the success path does not pay for the
// list.
template <int... kNumbers, class... Operands>
[[gnu::cold, gnu::noinline]] void check_devices(OpId op, bool pointwise,
                                                const Operands&... operands) {
  check_one_device(op, pointwise, {on(kNumbers, operands)...});
}

inline void require_output(OpId op, int argument, const void* output) {
  if (!output) [[unlikely]]
    refuse_output(op, argument);
}

// -- arguments of functions that are not operators -----------------------------------------------

std::string_view in_text(const char* function, const char* name, const char* text, int64_t length);
void check_tensor(const char* function, const char* name, const libdl_tensor* handle);
// Why a handle, perhaps the entry `which` of a list, is not a live tensor.
LIBDL_NORETURN [[gnu::cold]] void refuse_handle(const char* function, const char* name,
                                                const libdl_tensor* handle,
                                                const std::string& which = "");
const char* kind_name(Tag tag);                        // "a stream"
std::string kind_of(const void* handle);               // the same of a handle
std::string emptied_kind(const libdl_tensor* handle);  // of a tensor whose memory is gone
void check_kind(const char* function, const char* name, const void* handle, Tag expected);

// For functions that cannot return an error: false for NULL, and for a handle of another kind,
// which is logged.
[[gnu::cold]] void tell_kind(const char* function, const char* name, const void* handle,
                             Tag expected) noexcept;
inline bool is_kind(const char* function, const char* name, const void* handle, Tag expected) {
  if (!handle) return false;
  if (has_tag(handle, expected)) [[likely]]
    return true;
  tell_kind(function, name, handle, expected);
  return false;
}
// -- results ----------------------------------------------------------------------------------

// Under a scope results belong to it: those that were not kept are emptied when it ends.
inline bool scoped() { return state().mode & kModeScope; }
// Whether one is open on the thread, be it around a callback of the host that runs now.
inline bool within_scope() {
  return current_state && (current_state->mode & kModeScope || current_state->outside);
}
[[gnu::cold]] void adopt(State& state, libdl_tensor* handle);
// Reserves room for this many results, so that either all or none are handed out.
[[gnu::cold]] void reserve_results(State& state, size_t results);
inline void adopted_together(size_t results) {
  if (scoped()) [[unlikely]]
    reserve_results(state(), results);
}

inline libdl_tensor* to_c(Tensor tensor) {
  born(tensor);
  if (scoped()) [[unlikely]]
    adopt(state(), tensor.get());
  return tensor.release();
}

// A result about to be returned. Once it has been handed out there is nothing left to destroy,
// which the compiler could not deduce for a Tensor.
union Leaving {
  Tensor tensor;
  ~Leaving() {}
};
inline libdl_tensor* to_c(Leaving&& result) {
  if (current_state->mode & kModeScope) [[unlikely]]  // the operator has made the thread's state
    return to_c(std::move(result.tensor));
  born(result.tensor);
  return result.tensor.release();
}
libdl_tensor_list* to_c(std::vector<Tensor> tensors);
inline libdl_bool to_c(bool truth) { return truth; }
inline int64_t to_c(int64_t number) { return number; }
inline uint64_t to_c(uint64_t number) { return number; }
inline double to_c(double number) { return number; }

}  // namespace libdl::capi
