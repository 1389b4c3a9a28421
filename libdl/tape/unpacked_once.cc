// SPDX-License-Identifier: Apache-2.0

#include "tape/unpacked_once.h"

#include <utility>

namespace libdl {

static thread_local UnpackedOnce* unpacked_once = nullptr;
UnpackedOnce::UnpackedOnce(const Node& node)
    : node_(node), outer_(std::exchange(unpacked_once, this)), values_(node.saves) {}
UnpackedOnce::~UnpackedOnce() { unpacked_once = outer_; }
Tensor* UnpackedOnce::position_of(const Node& node, int i) {
  UnpackedOnce* const at = unpacked_once;
  return at && &at->node_ == &node ? &at->values_[i] : nullptr;
}

}  // namespace libdl
