// SPDX-License-Identifier: Apache-2.0

// A rule is queued on its operator's stream, behind the work that made its saved values. When a
// pass switches streams the new one waits for the old one, so the device runs the pass in the
// host's order. At the end the caller's stream waits, so that later work on it finds the gradients.
// Different devices are ordered by the transfers between them.
#pragma once

#include "device/device.h"
#include "tape/node.h"

namespace libdl {

class PassStreams {
 public:
  PassStreams() = default;
  PassStreams(const PassStreams&) = delete;
  PassStreams& operator=(const PassStreams&) = delete;
  ~PassStreams();

  void enter(const Node& node) {
    if (memory_elsewhere()) [[unlikely]]
      go_to(node.extra ? node.extra->stream.get() : nullptr);
  }
  void leave();

 private:
  void go_to(libdl_stream* next);

  bool away_ = false;
  Stream callers_;  // the caller's, while away_
};

}  // namespace libdl
