// SPDX-License-Identifier: Apache-2.0

// LIBDL_DEBUG_HANDLES=1 for tensors (for other handles see base/handle.h): which live, who made
// them, and which were released too often. To be called if handles_are_tracked. A destroyed
// tensor's cell is not used again for a while, so that its handle is known.
#pragma once

#include <string>

struct libdl_tensor;

namespace libdl::tracking {

// The function that the host has called on this thread; a name that is never freed.
[[gnu::cold]] void entered(const char* function) noexcept;

[[gnu::cold]] void created(const libdl_tensor* tensor) noexcept;
// A tensor that was destroyed, all but its cell, which this frees when many others have followed.
[[gnu::cold]] void retired(libdl_tensor* tensor) noexcept;

// False if no such tensor lives: reported, and nothing must be done with the handle.
[[gnu::cold]] bool may_be_released(const libdl_tensor* tensor) noexcept;

// Whether it is the cell of a tensor that was destroyed.
[[gnu::cold]] bool was_released(const libdl_tensor* tensor) noexcept;

// Tells the host's log handler; without one the standard error stream: whoever set the variable
// wants to see it.
void tell(const std::string& text);

// The tensors that live, a line for those that one function made with one dtype and shape.
std::string living();

}  // namespace libdl::tracking
