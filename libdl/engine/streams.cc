// SPDX-License-Identifier: Apache-2.0

#include "engine/streams.h"

namespace libdl {

static void order(const libdl_stream& first, const libdl_stream& then) {
  const Event event = make_event(first.device, false);
  record(*event, first);
  wait(then, *event);
}

// NULL: the default stream, of the device of the other one.
void PassStreams::go_to(libdl_stream* next) {
  libdl_stream* const now = chosen_stream();
  if (now == next) return;
  const Device from = now ? now->device : next->device, to = next ? next->device : now->device;
  const Stream first = now ? Stream::share(now) : default_stream(from);
  Stream then = next ? Stream::share(next) : default_stream(to);
  if (first->native == then->native && from == to) return;
  order(*first, *then);
  Stream before = exchange_chosen_stream(std::move(then));
  if (!away_) callers_ = std::move(before);
  away_ = true;
}

void PassStreams::leave() {
  if (!away_) return;
  const Stream callers = callers_;
  go_to(callers.get());
  exchange_chosen_stream(callers);
  away_ = false;
}

PassStreams::~PassStreams() {
  if (away_) exchange_chosen_stream(std::move(callers_));
}

}  // namespace libdl
