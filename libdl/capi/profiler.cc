// SPDX-License-Identifier: Apache-2.0

#include <libdl/profiler.h>

#include "capi/callback.h"
#include "capi/door.h"
#include "capi/options.h"
#include "capi/returned.h"
#include "capi/scope.h"
#include "ops/core/recorder.h"

using namespace libdl;
using namespace libdl::capi;

static void check_idle(const char* function, const State& state) {
  if (interceptor_runs(state)) fail(LIBDL_ERROR_STATE, function, "an interceptor is running");
}

libdl_error* libdl_profiler_start(const libdl_profiler_options* options) {
  constexpr const char* function = "profiler_start";
  return door(function, [&] {
    const libdl_profiler_options given = read_options(function, 1, options, "options");
    if (given.recorded & ~static_cast<uint32_t>(LIBDL_PROFILER_SHAPES))
      fail_argument(LIBDL_ERROR_VALUE, function, 1, "options",
                    "record " + std::to_string(given.recorded), "LIBDL_PROFILER_ bits");
    State& current = state();
    check_idle(function, current);
    if (find_recorder(current)) fail(LIBDL_ERROR_STATE, function, "the profiler runs already");
    attach_to(current);
    const bool shapes = given.recorded & LIBDL_PROFILER_SHAPES;
    put_recorder(current, Ref<Recorder>::take(new Recorder(shapes)));
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
  if (!event.shape_count) return c;
  c.shapes = recorder.shapes(event);
  c.shape_count = static_cast<int64_t>(event.shape_count);
  c.argument_count = event.argument_count;
  return c;
}

libdl_error* libdl_profiler_stop(libdl_profiler_visitor visit, void* ctx,
                                 void (*destroy)(void* ctx)) {
  constexpr const char* function = "profiler_stop";
  const Callback owner(ctx, destroy);
  return door(function, [&] {
    check_idle(function, state());
    const Ref<Recorder> recorder = take_recorder(state());
    if (!recorder) fail(LIBDL_ERROR_STATE, function, "no profiler runs");
    recorder->end_all();
    for (int64_t i = 0; visit && i < recorder->count(); ++i) {
      const libdl_profiler_event event = shown(*recorder, recorder->event(i));
      check_returned(function, visit(ctx, &event));
    }
  });
}

int64_t libdl_profiler_count(void) {
  const Recorder* const recorder = find_recorder(state());
  return recorder ? recorder->count() : -1;
}

libdl_error* libdl_profiler_range_push(const char* name, int64_t name_length) {
  constexpr const char* function = "profiler_range_push";
  return door(function, [&] {
    const std::string_view text = in_text(function, 1, "name", name, name_length);
    if (Recorder* const recorder = find_recorder(state())) recorder->begin_range(text);
  });
}

void libdl_profiler_range_pop(void) {
  if (Recorder* const recorder = find_recorder(state())) recorder->end_range();
}
