// SPDX-License-Identifier: Apache-2.0

#include <libdl/dtype.h>

#include "capi/door.h"

using namespace libdl;
using namespace libdl::capi;

namespace {

Dtype checked(const char* function, const char* name, libdl_dtype dtype) {
  if (!is_dtype(dtype))
    fail_argument(LIBDL_ERROR_DTYPE, function, name, "is " + std::to_string(dtype),
                  "a LIBDL_DTYPE_ constant other than NONE");
  return static_cast<Dtype>(dtype);
}

void checked_output(const char* function, const void* out) {
  if (!out) fail_argument(LIBDL_ERROR_NULL, function, "out", "is NULL", "a place for the result");
}

}  // namespace

const char* libdl_dtype_name(libdl_dtype dtype) {
  return is_dtype(dtype) ? name_of(static_cast<Dtype>(dtype)) : "?";
}

int64_t libdl_dtype_size(libdl_dtype dtype) {
  return is_dtype(dtype) ? size_of(static_cast<Dtype>(dtype)) : 0;
}

libdl_error* libdl_dtype_promote(libdl_dtype a, libdl_dtype b, libdl_dtype* out) {
  constexpr const char* name = "dtype_promote";
  return door(name, [&] {
    checked_output(name, out);
    *out = static_cast<libdl_dtype>(promote(checked(name, "a", a), checked(name, "b", b)));
  });
}

libdl_error* libdl_dtype_can_cast(libdl_dtype from, libdl_dtype to, libdl_bool* out) {
  constexpr const char* name = "dtype_can_cast";
  return door(name, [&] {
    checked_output(name, out);
    *out = can_cast(checked(name, "from", from), checked(name, "to", to));
  });
}
