// SPDX-License-Identifier: Apache-2.0

// Native events without timing that nobody needs any more, kept for the next need: a driver takes
// longer to make one than to record it. An event may be recorded anew as soon as the waits for it
// are queued.
#pragma once

#include "device/backend.h"

namespace libdl {

// *event is the caller's; NULL with an error.
libdl_error* take_event(const Backend& table, int32_t device, void** event);
void give_event(const Backend& table, int32_t device, void* event) noexcept;

}  // namespace libdl
