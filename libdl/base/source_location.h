// SPDX-License-Identifier: Apache-2.0

// The source location of a check. Ordinary builds compile it away. The build in tests/mutation
// passes it to every function that raises an error, and skips the one check that is to be left out.
//
//   LIBDL_NORETURN              before a function that always raises an error
//   LIBDL_SOURCE_LOCATION       after the parameters of fail() and of functions that forward to it
//   LIBDL_PASSED_SOURCE_LOCATION the same in the definition of a function declared earlier
//   LIBDL_SAME_SOURCE_LOCATION  after the arguments of a call that passes on its caller's location
#pragma once

#ifdef LIBDL_SWITCHABLE_CHECKS

namespace libdl {
// tests/mutation/left_out.cc
bool left_out(const char* file, int line);
}  // namespace libdl

#define LIBDL_NORETURN
#define LIBDL_SOURCE_LOCATION \
  , const char *source_file = __builtin_FILE(), int source_line = __builtin_LINE()
#define LIBDL_PASSED_SOURCE_LOCATION , const char *source_file, int source_line
#define LIBDL_SAME_SOURCE_LOCATION , source_file, source_line
#define LIBDL_LEAVE_OUT() \
  if (::libdl::left_out(source_file, source_line)) return

#else

#define LIBDL_NORETURN [[noreturn]]
#define LIBDL_SOURCE_LOCATION
#define LIBDL_PASSED_SOURCE_LOCATION
#define LIBDL_SAME_SOURCE_LOCATION
#define LIBDL_LEAVE_OUT() static_cast<void>(0)

#endif
