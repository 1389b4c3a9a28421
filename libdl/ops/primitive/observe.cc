// SPDX-License-Identifier: Apache-2.0

#include "ops/primitive/observe.h"

#include "ops/primitive/launch.h"

namespace libdl {

// -- frames ---------------------------------------------------------------------------------------

FrameScope::FrameScope(State& state, const Frame& frame)
    : state_(Ref<State>::share(&state)), frame_(frame) {
  frame_.outer = state.frame;
  state.frame = &frame_;
}

Frame differentiating(const State& state, const char* op) {
  const int32_t depth = state.frame ? state.frame->depth : 0;
  return {nullptr, nullptr, op, Phase::kBackward, depth, false};
}

// The frame for what a call does.
static Frame inside(const ObservedCall& call) {
  return {nullptr, call.op,      call.source ? call.source : call.op, call.phase, call.depth + 1,
          false,   call.composed};
}

Frame called_back(const State& state, bool hook) {
  Frame frame = state.frame ? *state.frame : Frame();
  if (hook) frame.phase = Phase::kHook;
  frame.from_host = true;
  return frame;
}

// -- the chain ------------------------------------------------------------------------------------

static InterceptorEntry* first_active(InterceptorEntry* at) {
  while (at && !at->interceptor) at = at->outer;
  return at;
}

void check_call_is_seen() {
  const State& current = state();
  if (first_active(current.interceptors) && !(current.frame && current.frame->op))
    fail(LIBDL_ERROR_INTERNAL, "launch", "is in no call that interceptors were shown");
}

void push_interceptor(State& state, Ref<Interceptor> interceptor) {
  state.interceptors = new InterceptorEntry{std::move(interceptor), state.interceptors};
}

Ref<Interceptor> pop_interceptor(State& state, bool& running) {
  InterceptorEntry* const last = state.interceptors;
  running = last && !last->interceptor;
  if (!last || running) return {};
  Ref<Interceptor> popped = std::move(last->interceptor);
  state.interceptors = last->outer;
  delete last;
  return popped;
}

// Down to `end`, the innermost first: the end of one may push and pop in its turn.
static void pop_until(State& state, const InterceptorEntry* end) {
  bool running = false;
  while (state.interceptors != end) pop_interceptor(state, running);
}

void release_interceptors(State& state) { pop_until(state, nullptr); }

bool interceptor_runs(const State& state) {
  const InterceptorEntry* at = state.interceptors;
  while (at && at->interceptor) at = at->outer;
  return at != nullptr;
}

constinit std::atomic<bool> interceptors_can_be_closed = false;

void drop_closed_interceptors(State& state) {
  if (interceptor_runs(state)) return;
  for (InterceptorEntry** at = &state.interceptors; *at;) {
    InterceptorEntry* const entry = *at;
    if (!entry->interceptor->is_closed()) {
      at = &entry->outer;
      continue;
    }
    *at = entry->outer;
    delete entry;
  }
}

namespace {
// Hides an interceptor and those inside of it while it runs, and ends what it pushed and did not
// pop.
class Hidden {
 public:
  Hidden(State& state, InterceptorEntry* running)
      : state_(Ref<State>::share(&state)), before_(state.interceptors), mark_{{}, running->outer} {
    state.interceptors = &mark_;
  }
  ~Hidden() {
    pop_until(*state_, &mark_);
    state_->interceptors = before_;
  }
  Hidden(const Hidden&) = delete;
  Hidden& operator=(const Hidden&) = delete;

 private:
  Ref<State> state_;  // the interceptor may switch to another state and release this one
  InterceptorEntry* before_;
  InterceptorEntry mark_;
};

// Those who were shown a call and did not answer it, for the time after it.
using Onlookers = std::vector<Ref<Interceptor>>;
}  // namespace

// True: one of them answered, and those outside of it see nothing of the call.
static bool show_before(State& state, ObservedCall& call, Onlookers& seen) {
  for (InterceptorEntry* at = first_active(state.interceptors); at; at = first_active(at->outer)) {
    if (!at->interceptor->wants(call)) continue;
    seen.push_back(at->interceptor);
    const Hidden hidden(state, at);
    if (!at->interceptor->before(call)) continue;
    seen.pop_back();
    return true;
  }
  return false;
}

// The outermost first. Who was popped meanwhile is not shown the end.
static void show_after(State& state, const ObservedCall& call, Onlookers& seen) {
  for (; !seen.empty(); seen.pop_back()) {
    InterceptorEntry* at = first_active(state.interceptors);
    while (at && at->interceptor.get() != seen.back().get()) at = first_active(at->outer);
    if (!at) continue;
    const Hidden hidden(state, at);
    seen.back()->after(call);
  }
}

// -- a call ---------------------------------------------------------------------------------------

bool observe_detail::shows(State& state) {
  if (std::exchange(state.shown, false)) return false;
  if (interceptors_can_be_closed.load(std::memory_order_relaxed)) drop_closed_interceptors(state);
  return first_active(state.interceptors) != nullptr;
}

namespace {

// What an interceptor answered, which is owned until it is accepted.
class Answers {
 public:
  explicit Answers(std::span<const libdl_value> value) : values(value.begin(), value.end()) {}
  ~Answers() {
    for (const libdl_value& value : values) {
      if (value.type == LIBDL_VALUE_TENSOR) Tensor::take(value.held.tensor);
      if (value.type == LIBDL_VALUE_TENSOR_LIST) Ref<libdl_tensor_list>::take(value.held.list);
    }
  }
  Answers(const Answers&) = delete;
  Answers& operator=(const Answers&) = delete;

  std::vector<libdl_value> values;
};

std::string describe(const Tensor& x) {
  const Dims strides(x.get()->strides(), static_cast<size_t>(x.ndim()));
  return std::string(name_of(x.dtype())) + " of shape " + to_string(x.shape()) + " and strides " +
         to_string(strides) + " on " + device_name(x.device());
}

void check_answer(const char* op, size_t result, const Tensor& answer, const Tensor& own) {
  if (describe(answer) == describe(own)) return;
  fail(LIBDL_ERROR_TYPE, op,
       "an interceptor answered result " + std::to_string(result + 1) + " with " +
           describe(answer) + ", wanted " + describe(own));
}

void check_answer(const char* op, size_t result, const libdl_value& answer,
                  const libdl_value& own) {
  if (own.type == LIBDL_VALUE_TENSOR)
    return check_answer(op, result, Tensor::share(answer.held.tensor),
                        Tensor::share(own.held.tensor));
  if (own.type == LIBDL_VALUE_INT && answer.held.integer != own.held.integer)
    fail(LIBDL_ERROR_TYPE, op,
         "an interceptor answered result " + std::to_string(result + 1) + " with " +
             std::to_string(answer.held.integer) + ", wanted " + std::to_string(own.held.integer));
  if (own.type != LIBDL_VALUE_TENSOR_LIST) return;
  const auto &answered = answer.held.list->tensors, &computed = own.held.list->tensors;
  if (answered.size() != computed.size())
    fail(LIBDL_ERROR_TYPE, op,
         "an interceptor answered with " + std::to_string(answered.size()) + " tensors, wanted " +
             std::to_string(computed.size()));
  for (size_t i = 0; i < answered.size(); ++i) {
    if (answered[i].defined() && computed[i].defined())
      check_answer(op, result, answered[i], computed[i]);
    else if (answered[i].defined() != computed[i].defined())
      fail(LIBDL_ERROR_TYPE, op,
           "an interceptor answered with another entry " + std::to_string(i) + " of a list");
  }
}

}  // namespace

// The library goes on with what it takes for its own result, as large and laid out like that.
static void check_answers(State& state, ObservedCall& call, observe_detail::Run run,
                          void* closure) {
  Answers answers(call.results);
  InterceptorEntry outermost;
  {
    const Hidden hidden(state, &outermost);
    const FrameScope frame(state, inside(call));
    run(closure);
  }
  for (size_t i = 0; i < answers.values.size(); ++i)
    check_answer(call.op, i, answers.values[i], call.results[i]);
  std::copy(answers.values.begin(), answers.values.end(), call.results.begin());
  answers.values.clear();
}

bool observe_detail::observe(ObservedCall& call, Run run, void* closure) {
  const Ref<State> current = Ref<State>::share(&state());
  const Frame* const around = current->frame;
  if (!around && !call.begins_phase) call.phase = static_cast<Phase>(current->phase);
  if (around) {
    if (!call.begins_phase) call.phase = around->phase;
    call.depth = around->depth;
    call.source = around->source;
    call.from_host = around->from_host;
    // What an operator does under its own name is a part of it.
    call.part |= around->op && !around->from_host && std::string_view(around->op) == call.op;
  }
  Onlookers seen;
  bool answered = false;
  try {
    answered = show_before(*current, call, seen);
    // What an operator is composed of is public, and no more is expected of it than by a host.
    const bool trusted = !call.part && (call.from_host || around->composed);
    if (answered && !trusted && !call.results.empty()) {
      check_answers(*current, call, run, closure);
    } else if (!answered) {
      const FrameScope frame(*current, inside(call));
      current->shown = true;
      run(closure);
    }
  } catch (...) {
    current->shown = false;
    call.failed = true;
    try {
      show_after(*current, call, seen);
    } catch (...) {  // the first error is the one that is told
    }
    throw;
  }
  show_after(*current, call, seen);
  return answered;
}

}  // namespace libdl
