// SPDX-License-Identifier: Apache-2.0

#include "engine/streams.h"
#include "device/stream.h"

#include <utility>

namespace libdl {

static void order(const libdl_stream& first, const libdl_stream& then) {
  if (first.native == then.native) return;
  const Event event = make_event(first.device, false);
  record(*event, first);
  wait(then, *event);
}

static Stream stream_in(const Streams& set, Device device) {
  libdl_stream* const stream = set ? set->find(device) : nullptr;
  return stream ? Stream::share(stream) : default_stream(device);
}

void PassStreams::go_to(const Streams& next) {
  const Streams now = Streams::share(current_streams());
  if (now == next) return;
  if (now) {
    for (const Stream& from : now->streams) order(*from, *stream_in(next, from->device));
  }
  if (next) {
    for (const Stream& to : next->streams)
      if (!now || !now->find(to->device)) order(*default_stream(to->device), *to);
  }
  Streams before = exchange_current_streams(next);
  if (!away_) callers_ = std::move(before);
  away_ = true;
}

void PassStreams::leave() {
  if (!away_) return;
  go_to(callers_);
  callers_ = Streams();
  away_ = false;
}

PassStreams::~PassStreams() {
  if (away_) exchange_current_streams(std::move(callers_));
}

}  // namespace libdl
