// SPDX-License-Identifier: Apache-2.0

#include <libdl/threads.h>

#include <memory>
#include <mutex>
#include <vector>

#include "capi/callback.h"
#include "capi/device_arguments.h"
#include "capi/scope.h"
#include "runtime/thread_pool.h"

using namespace libdl;
using namespace libdl::capi;

static_assert(LIBDL_MAX_THREADS == kMaxThreads);

libdl_error* libdl_set_threads(int32_t threads) {
  constexpr const char* function = "set_threads";
  return door(function, [&] {
    if (threads < 1 || threads > kMaxThreads) {
      fail_argument(LIBDL_ERROR_VALUE, function, "threads", "is " + std::to_string(threads),
                    "1 to " + std::to_string(kMaxThreads));
    }
    set_threads(threads);
  });
}

int32_t libdl_get_threads(void) { return threads(); }

static Executor checked(const char* function, const libdl_executor* executor) {
  const libdl_executor e = take_sized(function, "executor", executor, sizeof(libdl_executor));
  if (!e.run) {
    fail_argument(LIBDL_ERROR_NULL, function, "executor", "has no run", "a function");
  }
  if (e.concurrency < 1) {
    fail_argument(LIBDL_ERROR_VALUE, function, "executor",
                  "has concurrency " + std::to_string(e.concurrency), "1 or more");
  }
  return {e.ctx, e.run, e.concurrency, e.destroy};
}

libdl_error* libdl_set_executor(const libdl_executor* executor) {
  constexpr const char* function = "set_executor";
  Callback owner = callback_of(executor);
  return door(function, [&] {
    if (!executor) return set_executor(nullptr);
    const Executor checked_one = checked(function, executor);
    owner.let_go();
    set_executor(&checked_one);
  });
}

// -- interruptions ------------------------------------------------------------------------------

namespace {

struct Interrupter {
  libdl_interruption ask;
  Callback owner;
  int64_t number;  // 0: the one that libdl_set_interruption set
};
using Asking = std::vector<std::shared_ptr<const Interrupter>>;

struct Interruptions {
  std::mutex mutex;
  Asking asking;
  int64_t last = 0;
};
Interruptions& interruptions() {
  static auto* const instance = new Interruptions;  // threads may compute while the process exits
  return *instance;
}

// An exception from a callback also ends the operator.
int32_t ask_all(void* ctx) {
  for (const auto& interrupter : *static_cast<const Asking*>(ctx)) try {
      int32_t stop = 0;
      apart([&] { stop = interrupter->ask(interrupter->owner.ctx()); });
      if (stop) return 1;
    } catch (...) {
      return 1;
    }
  return 0;
}

// Puts `instance` in the place of number `number`; NULL: that one goes. False if there was none.
bool exchange(int64_t number, std::shared_ptr<const Interrupter> replacement) {
  Interruptions& all = interruptions();
  Asking before;  // goes last: a destroy may come back here
  const std::lock_guard lock(all.mutex);
  before = all.asking;
  Asking next = before;
  const bool erased = std::erase_if(next, [&](const auto& a) { return a->number == number; }) > 0;
  if (replacement) next.push_back(std::move(replacement));
  if (next.empty()) {
    set_interruption(nullptr);
  } else {
    auto* const shared = new Asking(next);
    const Interruption interrupter = {shared, ask_all,
                                      [](void* p) { delete static_cast<Asking*>(p); }};
    set_interruption(&interrupter);
  }
  all.asking.swap(next);
  return erased;
}

}  // namespace

libdl_error* libdl_set_interruption(libdl_interruption ask, void* ctx, void (*destroy)(void* ctx)) {
  Callback owner(ctx, destroy);
  return door("set_interruption", [&] {
    exchange(0, ask ? std::make_shared<const Interrupter>(Interrupter{ask, std::move(owner), 0})
                    : nullptr);
  });
}

libdl_error* libdl_interruption_add(libdl_interruption ask, void* ctx, void (*destroy)(void* ctx),
                                    int64_t* out) {
  constexpr const char* function = "interruption_add";
  Callback owner(ctx, destroy);
  return door(function, [&] {
    if (!ask) fail_argument(LIBDL_ERROR_NULL, function, "ask", "is NULL", "a function");
    output(function, "out", out);
    Interruptions& all = interruptions();
    std::unique_lock lock(all.mutex);
    const int64_t number = ++all.last;
    lock.unlock();
    exchange(number,
             std::make_shared<const Interrupter>(Interrupter{ask, std::move(owner), number}));
    *out = number;
  });
}

// -- of a state -----------------------------------------------------------------------------------

namespace {

struct OwnInterruption final : Attachment {
  OwnInterruption(libdl_interruption asks, Callback&& callback)
      : ask(asks), owner(std::move(callback)) {}
  libdl_interruption ask;
  Callback owner;
};

constexpr int64_t kOfStates = -1;  // the number of the callback that asks the thread's state

int32_t ask_state(void*) {
  // Held: the callback may set another one.
  const auto own = current_state ? current_state->interruption : nullptr;
  if (!own) return 0;
  const auto& interrupter = static_cast<const OwnInterruption&>(*own);
  return interrupter.ask(interrupter.owner.ctx());
}

// Once for the process: what asks a state stays, and a state without a callback answers no.
void ask_states() {
  static const bool registered = [] {
    exchange(kOfStates, std::make_shared<const Interrupter>(
                            Interrupter{ask_state, Callback(nullptr, nullptr), kOfStates}));
    return true;
  }();
  static_cast<void>(registered);
}

}  // namespace

libdl_error* libdl_state_set_interruption(libdl_state* handle, libdl_interruption ask, void* ctx,
                                          void (*destroy)(void* ctx)) {
  constexpr const char* function = "state_set_interruption";
  Callback owner(ctx, destroy);
  return door(function, [&] {
    State& s = state_or_current(function, handle);
    std::shared_ptr<Attachment> next;
    if (ask) {
      ask_states();
      next = std::make_shared<OwnInterruption>(ask, std::move(owner));
    }
    s.interruption.swap(next);  // the former one's destroy runs at the end
  });
}

libdl_error* libdl_interruption_remove(int64_t interruption) {
  constexpr const char* function = "interruption_remove";
  return door(function, [&] {
    if (interruption < 1 || !exchange(interruption, nullptr))
      fail_argument(LIBDL_ERROR_VALUE, function, "interruption",
                    "is " + std::to_string(interruption),
                    "a number that libdl_interruption_add gave and nobody has removed");
  });
}
