// SPDX-License-Identifier: Apache-2.0

// Interceptors: showing calls to observers. The entry of each operator (tools/entries.py) asks
// observed() first, so every call of it, whether from C, from another operator, from a rule in a
// backward pass or from an optimizer, passes the interceptors of the thread's state: each is shown
// the operator and its arguments beforehand, may answer in its place, and is shown the results
// afterwards. Without interceptors it costs one test of the state.
//
// Autocast comes behind them (ops/entry/autocast.h): they are shown what the host passed, and the
// casts as calls of their own.
//
// Work inside operators that has no number in the operator table (a fused gradient, an optimizer's
// step) is shown in the same way, as a part: LIBDL_OBSERVED_PART("view_backward",
// part_scatter(dy, a), dy).
#pragma once

#include <array>
#include <atomic>
#include <span>

#include "device/state.h"
#include "ops/primitive/into.h"
#include "ops/primitive/values.h"

namespace libdl {

enum class Phase : int32_t { kForward = 0, kBackward = 1, kOptimizer = 2, kHook = 3 };

// The calls that a thread is currently in, the innermost first, while there are interceptors.
struct Frame {
  const Frame* outer = nullptr;
  const char* op = nullptr;      // the call that inner calls are made in; NULL: none
  const char* source = nullptr;  // the operator on whose behalf inner calls are made
  Phase phase = Phase::kForward;
  int32_t depth = 0;      // of inner calls
  bool from_host = true;  // inner calls are made by the host's code
  bool composed = false;  // `op` is made of the inner calls, each of which may be answered freely
};

class FrameScope {
 public:
  FrameScope(State& state, const Frame& frame);
  ~FrameScope() { state_->frame = frame_.outer; }
  FrameScope(const FrameScope&) = delete;
  FrameScope& operator=(const FrameScope&) = delete;

 private:
  Ref<State> state_;  // code that runs inside may switch to another state and release this one
  Frame frame_;
};
// The frame for the engine's work for a recorded operator.
Frame differentiating(const State& state, const char* op);
// The frame for a host callback: its calls are the host's own. For a hook the phase is kHook.
Frame called_back(const State& state, bool hook);

// One call; what it points to is valid while interceptors are shown it.
struct ObservedCall {
  const char* op;
  bool part = false;  // it has no number in the operator table
  std::span<const libdl_value> arguments = {};
  const char* const* names = nullptr;        // of the arguments; NULL: the operator's own, in order
  std::span<libdl_tensor* const> dsts = {};  // of an into form
  std::span<libdl_value> results = {};       // before: their types; after, or answered: the results
  bool begins_phase = false;                 // `phase` is its own
  Phase phase = Phase::kForward;             // this and what follows come from the frame around it
  int32_t depth = 0;
  const char* source = nullptr;
  bool from_host = true;
  bool composed = false;  // as of Frame
  bool failed = false;    // valid afterwards
};

// An interceptor, usually wrapping callbacks of the host. before and after may throw, call
// operators and push other interceptors; it is not shown the calls it makes itself.
struct Interceptor : Counted {
  Interceptor() : Counted(Tag::kOther) {}
  virtual ~Interceptor() = default;
  // True: it has answered the call, and has set the results to new values or written the dsts.
  virtual bool before(ObservedCall& call) = 0;
  virtual void after(const ObservedCall& call) = 0;
  // Whether it wants to be shown this call.
  virtual bool wants(const ObservedCall& call) const = 0;
  // Whether another thread has closed it: then its own thread takes it out of the chain.
  virtual bool is_closed() const { return false; }
};
inline void destroy(Interceptor* interceptor) { delete interceptor; }

// An entry in a state's chain of interceptors, the innermost first. While an interceptor runs, it
// and those inside it are replaced by a mark, an entry without an interceptor.
struct Watch {
  Ref<Interceptor> interceptor;
  Watch* outer = nullptr;
};
void push_interceptor(State& state, Ref<Interceptor> interceptor);
// Removes the innermost and returns it; empty if there is none, or if the innermost is a mark: then
// `running` is set.
Ref<Interceptor> pop_interceptor(State& state, bool& running);
void release_interceptors(State& state);
// Whether an interceptor is running: then the chain has marks, and none may come or go.
bool interceptor_runs(const State& state);
// Takes out those that another thread has closed.
void drop_closed_interceptors(State& state);
// Set before the first interceptor that can be closed is put into a chain, and never cleared.
extern constinit std::atomic<bool> interceptors_can_be_closed;

// -- the line -------------------------------------------------------------------------------------

namespace observe_detail {

// Whether the calling operator is to be shown: there are interceptors, and it was not shown
// already.
bool shows(State& state);
using Run = void (*)(void* closure);
// Shows `call`, runs closure unless an interceptor answered, and shows the result. True: answered.
bool observe(ObservedCall& call, Run run, void* closure);
template <class F>
bool observe(ObservedCall& call, F run) {
  return observe(call, [](void* closure) { (*static_cast<F*>(closure))(); }, &run);
}

// The arguments as values, with the destinations kept separately.
template <class... A>
struct Packed {
  static constexpr size_t kDestinations = (size_t{0} + ... + std::is_same_v<A, Into>);
  static constexpr size_t kArguments = sizeof...(A) - kDestinations;
  std::array<libdl_value, kArguments + 1> arguments;
  std::array<libdl_tensor*, kDestinations + 1> dsts;
  size_t given = 0, written = 0;

  explicit Packed(const A&... a) { (add(a), ...); }
  template <class T>
  void add(const T& argument) {
    if constexpr (std::is_same_v<T, Into>) {
      if (argument) dsts[written++] = argument.dst;
    } else {
      arguments[given++] = value_of(argument);
    }
  }
};

// The results of a call as values.
template <class R>
struct Results {
  libdl_value values[1] = {typed(ResultValue<R>::kType)};
  std::optional<R> made;
  Ref<libdl_tensor_list> list;
  void show() {
    if constexpr (std::is_same_v<R, std::vector<Tensor>>) {
      list = Ref<libdl_tensor_list>::take(make_tensor_list(*made));
      values[0].held.list = list.get();
    } else {
      values[0] = ResultValue<R>::shown(*made);
    }
  }
  R take(std::span<libdl_tensor* const> dsts) {
    if constexpr (std::is_same_v<R, Tensor>)
      if (!dsts.empty()) return Tensor::share(dsts[0]);
    return ResultValue<R>::taken(values[0]);
  }
};
template <class... R>
struct Results<std::tuple<R...>> {
  libdl_value values[sizeof...(R)] = {typed(ResultValue<R>::kType)...};
  std::optional<std::tuple<R...>> made;
  void show() { show(std::index_sequence_for<R...>()); }
  std::tuple<R...> take(std::span<libdl_tensor* const> dsts) {
    return take(dsts, std::index_sequence_for<R...>());
  }

 private:
  template <size_t... i>
  void show(std::index_sequence<i...>) {
    ((values[i] = ResultValue<R>::shown(std::get<i>(*made))), ...);
  }
  template <size_t... i>
  std::tuple<R...> take(std::span<libdl_tensor* const> dsts, std::index_sequence<i...>) {
    if constexpr ((std::is_same_v<R, Tensor> && ...))
      if (!dsts.empty()) return {Tensor::share(dsts[i])...};
    return {ResultValue<R>::taken(values[i])...};
  }
};

struct Name {
  const char* op;
  bool part = false;
  const char* const* arguments = nullptr;     // as ObservedCall::names
  std::optional<Phase> phase = std::nullopt;  // the phase it begins; else the surrounding frame's
  bool composed = false;                      // as of Frame
};

template <class F, class... A>
[[gnu::cold, gnu::noinline]] auto call(const Name& name, F&& f, const A&... a) {
  using R = decltype(f());
  const Packed<A...> packed(a...);
  ObservedCall seen{name.op, name.part, {packed.arguments.data(), packed.given}, name.arguments};
  if (name.phase) seen.phase = *name.phase, seen.begins_phase = true;
  seen.composed = name.composed;
  seen.dsts = {packed.dsts.data(), packed.written};
  if constexpr (std::is_void_v<R>) {
    observe(seen, f);
  } else {
    Results<R> results;
    if (seen.dsts.empty()) seen.results = results.values;
    const bool answered = observe(seen, [&] {
      results.made.emplace(f());
      if (seen.dsts.empty()) results.show();
    });
    if (answered) return results.take(seen.dsts);
    return std::move(*results.made);
  }
}

}  // namespace observe_detail

inline bool observed() {
  State& current = state();
  return current.watch && observe_detail::shows(current);
}

// The name to show, the call that does the work, and the tensors it reads (and writes, as Into).
#define LIBDL_OBSERVED_PART(name, again, ...) \
  LIBDL_OBSERVED_AS((::libdl::observe_detail::Name{name, true}), again __VA_OPT__(, ) __VA_ARGS__)
// A step of an optimizer, with its lists.
#define LIBDL_OBSERVED_STEP(name, again, ...)                                           \
  LIBDL_OBSERVED_AS(                                                                    \
      (::libdl::observe_detail::Name{name, true, nullptr, ::libdl::Phase::kOptimizer}), \
      again __VA_OPT__(, ) __VA_ARGS__)
#define LIBDL_OBSERVED_AS(name, again, ...) \
  if (::libdl::observed()) [[unlikely]]     \
  return ::libdl::observe_detail::call(name, [&] { return again; } __VA_OPT__(, ) __VA_ARGS__)

}  // namespace libdl
