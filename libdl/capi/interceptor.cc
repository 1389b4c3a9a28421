// SPDX-License-Identifier: Apache-2.0

// The host's interceptors: passing them calls as libdl_call, and taking their answers.

#include "ops/primitive/recorder.h"

#include <libdl/op.h>

#include <algorithm>
#include <utility>

#include "capi/callback.h"
#include "capi/depth.h"
#include "capi/options.h"
#include "capi/registered.h"
#include "capi/returned.h"
#include "capi/scope.h"
#include "capi/values.h"

using namespace libdl;
using namespace libdl::capi;

namespace {

// -- a call as C shows it -------------------------------------------------------------------------

// A pointwise operator's tensor where the schema has a number.
libdl_value as_declared(const libdl_value& given, const OpArgument& argument) {
  if (given.type != LIBDL_VALUE_TENSOR || argument.type != LIBDL_VALUE_FLOAT) return given;
  const libdl_tensor& number = *given.held.tensor;  // of a double, which the operator has made
  return value_of(number.as_double);
}

class Shown {
 public:
  explicit Shown(ObservedCall& call) : seen_(call), values_(call.arguments) {
    c.struct_size = sizeof c;
    c.op = call.part ? -1 : find_op(call.op);
    if (c.op >= 0 && call.names && !by_name(*find_entry(c.op))) c.op = -1;
    c.name = call.op;
    c.phase = static_cast<int32_t>(call.phase);
    c.depth = call.depth;
    c.source = call.source;
    c.arguments = values_.data();
    c.argument_count = static_cast<int32_t>(values_.size());
    c.dsts = call.dsts.empty() ? nullptr : call.dsts.data();
    c.results = call.dsts.empty() ? call.results.data() : nullptr;
    c.result_count = static_cast<int32_t>(std::max(call.dsts.size(), call.results.size()));
    c.failed = call.failed;
  }
  Shown(const Shown&) = delete;
  Shown& operator=(const Shown&) = delete;

  libdl_call c{};

  void check_answer();

 private:
  // The arguments in the order of the operator's; false if they are others.
  bool by_name(const OpEntry& entry) {
    size_t found = 0;
    std::vector<libdl_value> ordered(static_cast<size_t>(entry.argument_count), absent());
    for (size_t i = 0; i < ordered.size(); ++i) {
      const OpArgument& argument = entry.arguments[i];
      size_t k = 0;
      while (k < seen_.arguments.size() && std::string_view(seen_.names[k]) != argument.name) ++k;
      if (k < seen_.arguments.size())
        ordered[i] = as_declared(seen_.arguments[k], argument), ++found;
      else if (!argument.nullable)
        return false;
    }
    if (found != seen_.arguments.size()) return false;
    ordered_ = std::move(ordered);
    values_ = ordered_;
    return true;
  }

  ObservedCall& seen_;
  std::span<const libdl_value> values_;
  std::vector<libdl_value> ordered_;
};

// -- answers --------------------------------------------------------------------------------------

// Describes what was given in place of a value of the wanted type.
std::string found_in(const libdl_value& given, libdl_value_type wanted) {
  const void* const handle = wanted == LIBDL_VALUE_TENSOR
                                 ? static_cast<const void*>(given.held.tensor)
                                 : static_cast<const void*>(given.held.list);
  if (given.type != wanted) return "another type";
  if (!handle) return "NULL";
  return has_tag(handle, Tag::kTensor) && wanted == LIBDL_VALUE_TENSOR ? "an emptied tensor"
                                                                       : kind_of(handle);
}

bool is_good(const libdl_value& given, libdl_value_type wanted) {
  if (given.type != wanted) return false;
  if (wanted == LIBDL_VALUE_TENSOR) return has_geometry(given.held.tensor);
  if (wanted == LIBDL_VALUE_TENSOR_LIST)
    return given.held.list && has_tag(given.held.list, Tag::kTensorList);
  return true;
}

// Takes a callback's results over, or throws TYPE and releases them.
void take_answer(const Shown& shown, std::span<libdl_value> given, std::span<libdl_value> wanted) {
  for (size_t i = 0; i < given.size(); ++i) {
    if (is_good(given[i], wanted[i].type)) continue;
    const std::string found = found_in(given[i], wanted[i].type);
    release_results(given);
    const OpEntry* const entry = shown.c.op < 0 ? nullptr : find_entry(shown.c.op);
    fail(LIBDL_ERROR_TYPE, shown.c.name,
         std::string("an interceptor answered ") +
             (entry ? std::string(entry->results[i].name) : "result " + std::to_string(i + 1)) +
             " with " + found);
  }
  std::copy(given.begin(), given.end(), wanted.begin());
}

// -- the callbacks --------------------------------------------------------------------------------

class HostInterceptor final : public Interceptor {
 public:
  HostInterceptor(const libdl_interceptor_options& options, Callback&& owner)
      : options_(options), owner_(std::move(owner)) {}

  bool wants(const ObservedCall& call) const override {
    return (options_.wanted & LIBDL_INTERCEPT_PARTS) || (call.from_host && !call.part);
  }

  bool before(ObservedCall& call) override {
    if (!options_.before) return false;
    Shown shown(call);
    std::vector<libdl_value> places(call.dsts.empty() ? call.results.size() : 0);
    if (shown.c.results) shown.c.results = places.data();
    libdl_bool handled = 0;
    run(shown, places, [&] { return options_.before(options_.ctx, &shown.c, &handled); });
    if (handled) take_answer(shown, places, call.results);
    return handled != 0;
  }

  void after(const ObservedCall& call) override {
    if (!options_.after) return;
    Shown shown(const_cast<ObservedCall&>(call));
    if (call.failed) shown.c.results = nullptr;
    run(shown, {}, [&] { return options_.after(options_.ctx, &shown.c); });
  }

 private:
  template <class F>
  void run(const Shown& shown, std::span<const libdl_value> answer, F callback) {
    libdl_error* error;
    {
      const HostDepth depth(shown.c.name);
      const ScopePause outside;
      error = callback();
      outside.returned(answer);
    }
    check_returned(shown.c.name, error);
  }

  libdl_interceptor_options options_;
  Callback owner_;
};

// What libdl_interceptor_push was given: one that sees the host's calls, before them.
struct Plain {
  libdl_interceptor function;
  Callback owner;
};
libdl_error* see(void* ctx, const libdl_call* call, libdl_bool* handled) {
  const Plain& plain = *static_cast<const Plain*>(ctx);
  return plain.function(plain.owner.ctx(), call->op, call->arguments, call->argument_count,
                        call->dsts, call->results, call->result_count, handled);
}

void push(const libdl_interceptor_options& options, Callback&& owner) {
  State& current = state();
  attach_to(current);
  push_interceptor(current, Ref<Interceptor>::take(new HostInterceptor(options, std::move(owner))));
}

}  // namespace

libdl_error* libdl_interceptor_push(libdl_interceptor interceptor, void* ctx,
                                    void (*destroy)(void* ctx)) {
  constexpr const char* function = "interceptor_push";
  Callback owner(ctx, destroy);
  return door(function, [&] {
    if (!interceptor)
      fail_argument(LIBDL_ERROR_NULL, function, "interceptor", "is NULL", "a function");
    auto* const plain = new Plain{interceptor, std::move(owner)};
    Callback both(plain, [](void* made) { delete static_cast<Plain*>(made); });
    libdl_interceptor_options options{};
    options.ctx = plain;
    options.before = see;
    push(options, std::move(both));
  });
}

libdl_error* libdl_interceptor_push_options(const libdl_interceptor_options* options) {
  constexpr const char* function = "interceptor_push_options";
  Callback owner = given_callback(options);
  return door(function, [&] {
    const libdl_interceptor_options given = read_options(function, options, "options");
    if (!options || (!given.before && !given.after))
      fail_argument(LIBDL_ERROR_NULL, function, "options", "have neither before nor after",
                    "a callback");
    if (given.wanted & ~static_cast<uint32_t>(LIBDL_INTERCEPT_PARTS))
      fail_argument(LIBDL_ERROR_VALUE, function, "options", "want " + std::to_string(given.wanted),
                    "LIBDL_INTERCEPT_ bits");
    push(given, std::move(owner));
  });
}

libdl_phase libdl_set_phase(libdl_phase phase) { return std::exchange(state().phase, phase); }

libdl_error* libdl_interceptor_pop(void) {
  constexpr const char* function = "interceptor_pop";
  return door(function, [&] {
    State& current = state();
    bool running = false;
    // The profiler's recorder is the library's own.
    const Ref<Interceptor> popped =
        is_innermost_recorder(current) ? Ref<Interceptor>() : pop_interceptor(current, running);
    if (running) fail(LIBDL_ERROR_STATE, function, "the interceptor is running");
    if (!popped) fail(LIBDL_ERROR_STATE, function, "no interceptor was pushed");
  });
}
