// SPDX-License-Identifier: Apache-2.0

// What the entry of an operator asks before it calls the operator: a test of the thread's state.
#pragma once

#include "device/state.h"

namespace libdl {

// Whether there are interceptors, of which one may want to be shown the call
// (ops/primitive/observe.h); a state that is yet to be made may be born with one.
inline bool intercepted() { return !current_state || current_state->watch; }
inline bool autocasting() { return current_state && (current_state->mode & kModeAutocast) != 0; }

}  // namespace libdl
