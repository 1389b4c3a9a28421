// SPDX-License-Identifier: Apache-2.0

// Who is told when a thread makes its own state, in that thread. NULL: nobody.
#pragma once

#include <atomic>

#include "device/state.h"

namespace libdl {

using StateMade = void (*)(State&) noexcept;
extern constinit std::atomic<StateMade> state_made;

}  // namespace libdl
