// SPDX-License-Identifier: Apache-2.0

// Full unrolling of loops with a few, known iterations: LIBDL_UNROLL before the `for`.
#pragma once

#if defined(__clang__)
#define LIBDL_UNROLL _Pragma("clang loop unroll(full)")
#define LIBDL_UNROLL_TWICE _Pragma("clang loop unroll_count(2)")
#else
#define LIBDL_UNROLL _Pragma("GCC unroll 16")
#define LIBDL_UNROLL_TWICE _Pragma("GCC unroll 2")
#endif
