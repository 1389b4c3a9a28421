// SPDX-License-Identifier: Apache-2.0

#include <libdl/profiler.h>

#include <algorithm>
#include <new>
#include <unordered_map>

#include "capi/callback.h"
#include "capi/door.h"
#include "capi/options.h"
#include "capi/returned.h"
#include "capi/scope.h"
#include "device/state.h"
#include "ops/primitive/recording.h"

using namespace libdl;
using namespace libdl::capi;

static void check_idle(const char* function, const State& state) {
  if (interceptor_runs(state)) fail(LIBDL_ERROR_STATE, function, "an interceptor is running");
}

// A thread joins what others record as soon as it has a state. Without memory it stays apart.
static void join(State& state) noexcept try {
  if (!recording_is_open()) return;
  attach_to(state);
  join_recording(state);
} catch (const std::bad_alloc&) {
}

static Ref<Recorder> start_all(const char* function, bool shapes) {
  Ref<Recorder> recorder = Ref<Recorder>::take(new Recorder(shapes));
  if (!open_recording(shapes))
    fail(LIBDL_ERROR_STATE, function, "a profiler of all threads runs already");
  recorder->ends = end_recording;
  state_made.store(join, std::memory_order_release);
  return recorder;
}

libdl_error* libdl_profiler_start(const libdl_profiler_options* options) {
  constexpr const char* function = "profiler_start";
  constexpr uint32_t known = LIBDL_PROFILER_SHAPES | LIBDL_PROFILER_ALL_THREADS;
  return door(function, [&] {
    const libdl_profiler_options given = read_options(function, options, "options");
    if (given.recorded & ~known)
      fail_argument(LIBDL_ERROR_VALUE, function, "options",
                    "record " + std::to_string(given.recorded), "LIBDL_PROFILER_ bits");
    State& current = state();
    check_idle(function, current);
    drop_closed_interceptors(current);
    if (find_recorder(current)) fail(LIBDL_ERROR_STATE, function, "the profiler runs already");
    attach_to(current);
    const bool shapes = given.recorded & LIBDL_PROFILER_SHAPES;
    put_recorder(current, given.recorded & LIBDL_PROFILER_ALL_THREADS
                              ? start_all(function, shapes)
                              : Ref<Recorder>::take(new Recorder(shapes)));
  });
}

static libdl_profiler_event shown(const Recorder& recorder, const RecordedEvent& event) {
  libdl_profiler_event c = {};
  c.struct_size = sizeof c;
  c.kind = event.range ? LIBDL_PROFILER_RANGE : LIBDL_PROFILER_CALL;
  c.name = event.name;
  c.source = event.source;
  c.start = event.start;
  c.end = event.end;
  c.parent = event.parent;
  c.allocated = event.allocated;
  c.live = event.live;
  c.conversions = event.conversions;
  c.phase = static_cast<int32_t>(event.phase);
  c.failed = event.failed;
  c.thread = recorder.thread();
  if (!event.shape_count) return c;
  c.shapes = recorder.shapes(event);
  c.shape_count = static_cast<int64_t>(event.shape_count);
  c.argument_count = event.argument_count;
  return c;
}

namespace {
// The events of several threads in the order of their start.
class Merged {
 public:
  explicit Merged(std::span<const Ref<Recorder>> recorders) {
    for (const Ref<Recorder>& recorder : recorders)
      for (int64_t i = 0; i < recorder->event_count(); ++i) places_.push_back({recorder.get(), i});
    // Of one thread they stay in order, so that no event comes before the one around it.
    if (recorders.size() > 1)
      std::ranges::sort(places_, {},
                        [](const Place& place) { return std::pair(place.event().start, place.i); });
    for (size_t n = 0; n < places_.size(); ++n) {
      std::vector<int64_t>& numbers = numbers_[places_[n].recorder];
      numbers.push_back(static_cast<int64_t>(n));
    }
  }

  size_t count() const { return places_.size(); }
  libdl_profiler_event shown(size_t n) const {
    const auto& [recorder, i] = places_[n];
    libdl_profiler_event c = ::shown(*recorder, recorder->event(i));
    if (c.parent >= 0) c.parent = numbers_.at(recorder)[static_cast<size_t>(c.parent)];
    return c;
  }

 private:
  struct Place {
    const Recorder* recorder;
    int64_t i;
    const RecordedEvent& event() const { return recorder->event(i); }
  };
  std::vector<Place> places_;
  std::unordered_map<const Recorder*, std::vector<int64_t>> numbers_;
};
}  // namespace

libdl_error* libdl_profiler_stop(libdl_profiler_visitor visit, void* ctx,
                                 void (*destroy)(void* ctx)) {
  constexpr const char* function = "profiler_stop";
  const Callback owner(ctx, destroy);
  return door(function, [&] {
    check_idle(function, state());
    const Recorder* const running = find_recorder(state());
    if (!running || running->has_joined()) fail(LIBDL_ERROR_STATE, function, "no profiler runs");
    std::vector<Ref<Recorder>> recorders{take_recorder(state())};
    recorders[0]->close();
    if (recorders[0]->ends) {
      recorders[0]->ends = nullptr;
      for (Ref<Recorder> joined = close_recording(); joined;) {
        recorders.push_back(joined);
        joined = std::move(recorders.back()->next_joined);
      }
    }
    const Merged events(recorders);
    for (size_t n = 0; visit && n < events.count(); ++n) {
      const libdl_profiler_event event = events.shown(n);
      libdl_error* error = nullptr;
      apart([&] { error = visit(ctx, &event); });
      check_returned(function, error);
    }
  });
}

int64_t libdl_profiler_count(void) {
  const Recorder* const recorder = find_recorder(state());
  return recorder && !recorder->is_closed() ? recorder->event_count() : -1;
}

libdl_error* libdl_profiler_range_push(const char* name, int64_t name_length) {
  constexpr const char* function = "profiler_range_push";
  return door(function, [&] {
    const std::string_view text = in_text(function, "name", name, name_length);
    join(state());
    if (Recorder* const recorder = find_recorder(state())) recorder->begin_range(text);
  });
}

void libdl_profiler_range_pop(void) {
  if (Recorder* const recorder = find_recorder(state())) recorder->end_range();
}
