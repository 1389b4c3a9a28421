// SPDX-License-Identifier: Apache-2.0

// A rule is queued on its operator's streams, behind the work that made its saved values. When a
// pass switches a device's stream the new one waits for the old one, so the device runs the pass in
// the host's order. At the end the caller's streams wait, so that later work on them finds the
// gradients. Different devices are ordered by the transfers between them.
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
      go_to(node.extra ? node.extra->streams : Streams());
  }
  void leave();

 private:
  void go_to(const Streams& next);

  bool away_ = false;
  Streams callers_;  // the caller's, while away_
};

}  // namespace libdl
