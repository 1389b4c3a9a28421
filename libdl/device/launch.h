// SPDX-License-Identifier: Apache-2.0

// A kernel on this processor: with the pool behind it, the floating-point environment that results
// are promised for, and enough stack.
#pragma once

#include "device/device.h"
#include "device/float_environment.h"
#include "device/pool.h"
#include "device/stack.h"
#include "kernels/args.h"

namespace libdl {

// Runs body(context) with the pool behind it. Throws INTERRUPTED where the host asked to stop; the
// output is then undefined.
template <class F>
void launch(F body) {
  bool stopped = false;
  kernels::Context context{device_detail::run_chunks, &stopped, nullptr};
  const DefaultFloatEnvironment environment;
  with_enough_stack([body, &context] { body(context); });
  if (stopped) device_detail::raise_interrupted();
}

}  // namespace libdl
