// SPDX-License-Identifier: Apache-2.0

// A rule is queued on the stream of its operator, behind the values that were saved there. Where a
// pass goes from one stream to another, the next waits for the one before: the device then sees the
// pass in the host's order. At the end the caller's stream waits, so that what follows on it finds
// the gradients. Different devices are ordered by the transfers between them.
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
  Stream callers_;  // meanwhile
};

}  // namespace libdl
