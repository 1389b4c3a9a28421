// SPDX-License-Identifier: Apache-2.0

// A recording of several threads: each has a recorder of its own in its state, which it alone
// writes. The thread that opened the recording closes them all.
#pragma once

#include "ops/primitive/recorder.h"

namespace libdl {

// False: one is open already.
bool open_recording(bool with_shapes);
bool recording_is_open();
// Puts a recorder into the calling thread's state, unless it has one, or no recording is open.
void join_recording(State& state);
// Closes the recording. The first of the recorders of those that have joined, each closed.
Ref<Recorder> close_recording();
// Closes the recording and drops the recorders.
void end_recording();

}  // namespace libdl
