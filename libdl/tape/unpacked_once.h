// SPDX-License-Identifier: Apache-2.0

// A rule that runs for one gradient of a batch after another reads the same saved values each time.
// Those that the host's hooks packed are unpacked once: a hook may compute a value anew, and forget
// it when it has been read.
#pragma once

#include "tape/node.h"

namespace libdl {

class UnpackedOnce {  // on this thread, while it exists
 public:
  explicit UnpackedOnce(const Node& node);
  ~UnpackedOnce();
  UnpackedOnce(const UnpackedOnce&) = delete;
  UnpackedOnce& operator=(const UnpackedOnce&) = delete;

  // Where the node's value i is kept; undefined until it was unpacked. NULL: it is not kept.
  static Tensor* position_of(const Node& node, int i);

 private:
  const Node& node_;
  UnpackedOnce* const outer_;
  std::vector<Tensor> values_;
};

}  // namespace libdl
