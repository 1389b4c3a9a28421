// SPDX-License-Identifier: Apache-2.0

// What simulated libraries do on a stream of the simulated driver.
#pragma once

#include <cuda.h>

#include <functional>

// Queues it behind the stream's work; device memory is open while it runs.
void run_later(CUstream stream, std::function<void()> work);
