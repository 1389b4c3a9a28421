// SPDX-License-Identifier: Apache-2.0

// Where a check stands in the sources. Here it is nothing. The library that tests/checks builds is
// told it with every error and goes on behind the one check that is to be left out.
//
//   LIBDL_NORETURN    before a function that ends in an error
//   LIBDL_PLACE       behind the parameters of fail() and of what hands through to it
//   LIBDL_GIVEN_PLACE the same in a definition that was declared before
//   LIBDL_SAME_PLACE  behind the arguments of a call that hands its own caller's place through
#pragma once

#ifdef LIBDL_SWITCHABLE_CHECKS

namespace libdl {
// tests/checks/left_out.cc
bool left_out(const char* file, int line);
}  // namespace libdl

#define LIBDL_NORETURN
#define LIBDL_PLACE , const char *place_file = __builtin_FILE(), int place_line = __builtin_LINE()
#define LIBDL_GIVEN_PLACE , const char *place_file, int place_line
#define LIBDL_SAME_PLACE , place_file, place_line
#define LIBDL_LEAVE_OUT() \
  if (::libdl::left_out(place_file, place_line)) return

#else

#define LIBDL_NORETURN [[noreturn]]
#define LIBDL_PLACE
#define LIBDL_GIVEN_PLACE
#define LIBDL_SAME_PLACE
#define LIBDL_LEAVE_OUT() static_cast<void>(0)

#endif
