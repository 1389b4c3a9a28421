// SPDX-License-Identifier: Apache-2.0

// Where a check stands in the sources. Here it is nothing. The library that tests/checks builds is
// told it with every error and goes on behind the one check that is to be left out.
//
//   LIBDL_NORETURN    before a function that ends in an error
//   LIBDL_SOURCE_LOCATION       behind the parameters of fail() and of what hands through to it
//   LIBDL_GIVEN_SOURCE_LOCATION the same in a definition that was declared before
//   LIBDL_SAME_SOURCE_LOCATION  behind the arguments of a call that hands its own caller's place
//   through
#pragma once

#ifdef LIBDL_SWITCHABLE_CHECKS

namespace libdl {
// tests/checks/left_out.cc
bool left_out(const char* file, int line);
}  // namespace libdl

#define LIBDL_NORETURN
#define LIBDL_SOURCE_LOCATION \
  , const char *source_file = __builtin_FILE(), int source_line = __builtin_LINE()
#define LIBDL_GIVEN_SOURCE_LOCATION , const char *source_file, int source_line
#define LIBDL_SAME_SOURCE_LOCATION , source_file, source_line
#define LIBDL_LEAVE_OUT() \
  if (::libdl::left_out(source_file, source_line)) return

#else

#define LIBDL_NORETURN [[noreturn]]
#define LIBDL_SOURCE_LOCATION
#define LIBDL_GIVEN_SOURCE_LOCATION
#define LIBDL_SAME_SOURCE_LOCATION
#define LIBDL_LEAVE_OUT() static_cast<void>(0)

#endif
