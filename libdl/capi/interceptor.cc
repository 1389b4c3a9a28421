// SPDX-License-Identifier: Apache-2.0

// Calls that somebody watches: interceptors see them first, scopes keep their results.

#include "base/contained.h"
#include "capi/depth.h"
#include "capi/registered.h"
#include "capi/returned.h"
#include "capi/scope.h"
#include "capi/values.h"

using namespace libdl;
using namespace libdl::capi;

namespace libdl {

// One of a chain on the state, the innermost first. While an interceptor runs, a mark without a
// function stands on the chain in its place and in that of those before it.
struct Interceptor {
  libdl_interceptor function = nullptr;
  void* ctx = nullptr;
  void (*destroy)(void* ctx) = nullptr;
  Interceptor* outer = nullptr;
};

namespace {

Interceptor* first_active(Interceptor* at) {
  while (at && !at->function) at = at->outer;
  return at;
}

void show(State& state, Interceptor* innermost) {
  state.interceptor = innermost;
  if (first_active(innermost))
    state.mode |= kModeIntercept;
  else
    state.mode &= ~static_cast<uint32_t>(kModeIntercept);
}

void discard(Interceptor* interceptor) {
  run_destroy(interceptor->destroy, interceptor->ctx);
  delete interceptor;
}

// Hides an interceptor and those inside it while it runs, and ends what it pushed and did not pop.
class Hidden {
 public:
  Hidden(State& state, Interceptor* running)
      : state_(Ref<State>::share(&state)), before_(state.interceptor) {
    mark_.outer = running->outer;
    show(state, &mark_);
  }
  ~Hidden() {
    while (state_->interceptor != &mark_) {
      Interceptor* const left = state_->interceptor;
      state_->interceptor = left->outer;
      discard(left);
    }
    show(*state_, before_);
  }
  Hidden(const Hidden&) = delete;
  Hidden& operator=(const Hidden&) = delete;

 private:
  Ref<State> state_;  // the interceptor may switch to another state and release this one
  Interceptor* before_;
  Interceptor mark_;
};

void release_results(libdl_value* results, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    // A handle of another kind is not ours to release.
    if (results[i].type == LIBDL_VALUE_TENSOR && results[i].held.tensor &&
        has_tag(results[i].held.tensor, Tag::kTensor))
      Tensor::take(results[i].held.tensor);
    if (results[i].type == LIBDL_VALUE_TENSOR_LIST && results[i].held.list &&
        has_tag(results[i].held.list, Tag::kTensorList))
      Ref<libdl_tensor_list>::take(results[i].held.list);
    results[i] = none();
  }
}

// What stands where a value of that type is wanted.
std::string found_in(const libdl_value& given, libdl_value_type wanted) {
  const void* const handle = wanted == LIBDL_VALUE_TENSOR
                                 ? static_cast<const void*>(given.held.tensor)
                                 : static_cast<const void*>(given.held.list);
  if (given.type != wanted) return "another type";
  if (!handle) return "NULL";
  return has_tag(handle, Tag::kTensor) && wanted == LIBDL_VALUE_TENSOR ? "an emptied tensor"
                                                                        : kind_of(handle);
}

void check_answer(const OpEntry& entry, libdl_value* results) {
  for (int32_t i = 0; i < entry.result_count; ++i) {
    const libdl_value& given = results[i];
    bool good = given.type == entry.results[i].type;
    if (given.type == LIBDL_VALUE_TENSOR) good = good && is_live_tensor(given.held.tensor);
    if (given.type == LIBDL_VALUE_TENSOR_LIST)
      good = good && given.held.list && has_tag(given.held.list, Tag::kTensorList);
    if (good) continue;
    const std::string found = found_in(given, entry.results[i].type);
    release_results(results, entry.result_count);
    fail(LIBDL_ERROR_TYPE, entry.name,
         std::string("an interceptor answered ") + entry.results[i].name + " with " + found);
  }
}

// Whether an interceptor answered the call.
bool intercept(const OpEntry& entry, int32_t op, const libdl_value* arguments,
               libdl_tensor* const* dsts, libdl_value* results) {
  State& current = state();
  for (Interceptor* at = first_active(current.interceptor); at; at = first_active(at->outer)) {
    libdl_bool handled = 0;
    libdl_error* error;
    {
      const HostDepth depth(entry.name);
      const Hidden hidden(current, at);
      const ScopePause outside;
      error = at->function(at->ctx, op, arguments, entry.argument_count, dsts, results,
                           entry.result_count, &handled);
    }
    check_returned(entry.name, error);
    if (!handled) continue;
    if (!dsts) check_answer(entry, results);
    return true;
  }
  return false;
}

}  // namespace

void capi::release_interceptors(State& state) {
  while (Interceptor* const interceptor = state.interceptor) {
    state.interceptor = interceptor->outer;
    discard(interceptor);
  }
}

void capi::dispatch(const OpEntry& entry, int32_t op, const libdl_value* arguments,
                    libdl_value* results) {
  for (int32_t i = 0; i < entry.result_count; ++i) results[i] = none();
  const bool answered =
      (state().mode & kModeIntercept) && intercept(entry, op, arguments, nullptr, results);
  if (!answered) {
    if (entry.registered)
      call_registered(entry, arguments, results);
    else
      entry.call(arguments, results);
  }
  if (state().mode & kModeScope) {
    try {
      adopt_results(entry, results);
    } catch (...) {
      release_results(results, entry.result_count);
      throw;
    }
  }
}

void capi::dispatch_into(const OpEntry& entry, int32_t op, const libdl_value* arguments,
                         libdl_tensor* const* dsts) {
  const bool answered =
      (state().mode & kModeIntercept) && intercept(entry, op, arguments, dsts, nullptr);
  if (answered) return;
  try {
    entry.call_into(arguments, dsts);
  } catch (Error& error) {
    count_interrupted_writes(error.object(), {dsts, static_cast<size_t>(entry.result_count)});
    throw;
  }
}

}  // namespace libdl

libdl_error* libdl_interceptor_push(libdl_interceptor interceptor, void* ctx,
                                    void (*destroy)(void* ctx)) {
  constexpr const char* function = "interceptor_push";
  libdl_error* const error = door(function, [&] {
    if (!interceptor)
      fail_argument(LIBDL_ERROR_NULL, function, 1, "interceptor", "is NULL", "a function");
    State& current = state();
    attach_to(current);
    show(current, new Interceptor{interceptor, ctx, destroy, current.interceptor});
  });
  if (error) run_destroy(destroy, ctx);
  return error;
}

libdl_error* libdl_interceptor_pop(void) {
  constexpr const char* function = "interceptor_pop";
  return door(function, [&] {
    State& current = state();
    Interceptor* const last = current.interceptor;
    if (!last) fail(LIBDL_ERROR_STATE, function, "no interceptor was pushed");
    if (!last->function) fail(LIBDL_ERROR_STATE, function, "the interceptor is running");
    show(current, last->outer);
    discard(last);
  });
}
