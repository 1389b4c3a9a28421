// SPDX-License-Identifier: Apache-2.0

// What a build for one instruction set reads once for all kernels. For several that cannot be:
// Highway's headers are then read anew for each of them.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/cpu/simd/highway_targets.h"
// foreach_target.h comes before highway.h and reads nothing again where there is one target.
#define HWY_TARGET_INCLUDE "kernels/cpu/simd/precompiled.h"
#include "hwy/foreach_target.h"
// After it.
#include "hwy/highway.h"
