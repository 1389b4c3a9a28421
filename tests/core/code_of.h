// SPDX-License-Identifier: Apache-2.0

// The error that a call ends with.
#pragma once

#include <libdl/error.h>

#include <new>

#include "base/error.h"

namespace libdl::test {

template <class F>
libdl_error_code code_of(F&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  } catch (const std::bad_alloc&) {
    return LIBDL_ERROR_OUT_OF_MEMORY;
  }
  return LIBDL_OK;
}

}  // namespace libdl::test
