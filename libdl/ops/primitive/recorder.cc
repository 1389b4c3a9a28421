// SPDX-License-Identifier: Apache-2.0

#include "ops/primitive/recorder.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>

#include "base/slab.h"
#include "tensor/storage.h"

namespace libdl {

static int64_t now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

// Of this thread alone: what it frees for another counts as less.
static int64_t live_bytes() { return slab::cache.live_bytes.load(std::memory_order_relaxed); }

Recorder::Recorder(bool with_shapes, bool joined)
    : joined_(joined),
      thread_(syscall(SYS_gettid)),
      with_shapes_(with_shapes),
      live_at_start_(live_bytes()) {}

Recorder::~Recorder() {
  if (ends) ends();
}

const char* Recorder::kept(std::string_view text) {
  const auto found = names_.find(text);
  return (found != names_.end() ? found : names_.emplace(text).first)->c_str();
}

// -- begin and end --------------------------------------------------------------------------------

RecordedEvent& Recorder::begin(std::string_view name) {
  if (count_ == static_cast<int64_t>(chunks_.size()) * kChunk)
    chunks_.push_back(std::make_unique<Chunk>());
  RecordedEvent& event = at(count_);
  event = {};
  event.name = kept(name);
  event.parent = open_.empty() ? -1 : open_.back();
  open_.push_back(count_++);
  event.live = live_bytes();
  event.conversions = conversions();
  event.start = now();
  return event;
}

void Recorder::end(int64_t i, bool failed) {
  RecordedEvent& event = at(i);
  event.end = now();
  event.failed = failed;
  const int64_t live = live_bytes();
  event.allocated = live - event.live;
  event.live = live - live_at_start_;
  event.conversions = conversions() - event.conversions;
}

bool Recorder::before(ObservedCall& call) {
  const std::lock_guard lock(mutex_);
  if (is_closed()) return false;
  const char* const source = call.source ? kept(call.source) : nullptr;
  RecordedEvent& event = begin(call.op);
  event.source = source;
  event.phase = call.phase;
  return false;
}

// Ranges that the call left open end with it.
void Recorder::after(const ObservedCall& call) {
  const std::lock_guard lock(mutex_);
  while (!open_.empty()) {
    const int64_t i = open_.back();
    open_.pop_back();
    end(i, call.failed);
    RecordedEvent& event = at(i);
    if (event.range) continue;
    if (!with_shapes_ || call.failed) return;
    event.shapes = shapes_.size();
    event.argument_count = static_cast<int32_t>(call.arguments.size());
    for (const libdl_value& argument : call.arguments) note(argument);
    for (const libdl_value& result : call.results) note(result);
    for (const libdl_tensor* dst : call.dsts) note(dst);
    event.shape_count = shapes_.size() - event.shapes;
    return;
  }
}

void Recorder::begin_range(std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (is_closed()) return;
  const State& current = state();
  RecordedEvent& event = begin(name);
  event.range = true;
  event.phase = current.frame ? current.frame->phase : static_cast<Phase>(current.phase);
}

void Recorder::end_range() {
  const std::lock_guard lock(mutex_);
  if (open_.empty() || !at(open_.back()).range) return;
  const int64_t i = open_.back();
  open_.pop_back();
  end(i, false);
}

void Recorder::close() {
  const std::lock_guard lock(mutex_);
  closed_.store(true, std::memory_order_release);
  for (; !open_.empty(); open_.pop_back()) end(open_.back(), true);
}

// -- shapes ---------------------------------------------------------------------------------------

void Recorder::note(const libdl_tensor* tensor) {
  if (!tensor) {
    shapes_.push_back(-1);
    return;
  }
  const Dims shape = reinterpret_cast<const Tensor&>(tensor).shape();
  shapes_.push_back(static_cast<int64_t>(shape.size()));
  shapes_.push_back(static_cast<int64_t>(reinterpret_cast<const Tensor&>(tensor).dtype()));
  shapes_.insert(shapes_.end(), shape.begin(), shape.end());
}

void Recorder::note(const libdl_value& value) {
  if (value.type == LIBDL_VALUE_TENSOR) {
    note(value.held.tensor);
  } else if (value.type == LIBDL_VALUE_TENSORS) {
    shapes_.insert(shapes_.end(), {-2, value.held.tensors.count});
    for (int64_t i = 0; i < value.held.tensors.count; ++i) note(value.held.tensors.items[i]);
  } else if (value.type == LIBDL_VALUE_TENSOR_LIST && value.held.list) {
    shapes_.insert(shapes_.end(), {-2, static_cast<int64_t>(value.held.list->tensors.size())});
    for (const Tensor& item : value.held.list->tensors) note(item.get());
  } else {
    shapes_.push_back(-1);
  }
}

// -- in the chain ---------------------------------------------------------------------------------

static bool is_recorder(const Watch& watch) {
  return dynamic_cast<const Recorder*>(watch.interceptor.get()) != nullptr;
}

Recorder* find_recorder(const State& state) {
  for (Watch* at = state.watch; at; at = at->outer)
    if (is_recorder(*at)) return static_cast<Recorder*>(at->interceptor.get());
  return nullptr;
}

bool is_innermost_recorder(const State& state) { return state.watch && is_recorder(*state.watch); }

// Outermost, so that the host's interceptors are pushed and popped as without it.
void put_recorder(State& state, Ref<Recorder> recorder) {
  auto* const made = new Watch{Ref<Interceptor>::take(recorder.release()), nullptr};
  Watch** place = &state.watch;
  while (*place) place = &(*place)->outer;
  *place = made;
}

Ref<Recorder> take_recorder(State& state) {
  Watch** place = &state.watch;
  while (*place && !is_recorder(**place)) place = &(*place)->outer;
  Watch* const found = *place;
  if (!found) return {};
  Ref<Recorder> taken = Ref<Recorder>::share(static_cast<Recorder*>(found->interceptor.get()));
  *place = found->outer;
  delete found;
  return taken;
}

}  // namespace libdl
