// SPDX-License-Identifier: Apache-2.0

#include "ops/primitive/each_dimension.h"
#include "base/error.h"

namespace libdl {

Three each_dimension(const char* op, const char* name, Dims given, int dims, int64_t otherwise,
                     int64_t least) {
  static constexpr const char* kHowMany[] = {"one", "one or two", "one or three"};
  const auto n = static_cast<size_t>(dims);
  if (given.size() != 1 && given.size() != n)
    fail_argument(LIBDL_ERROR_VALUE, op, name, "has " + std::to_string(given.size()) + " entries",
                  kHowMany[n - 1]);
  Three all{otherwise, otherwise, otherwise};
  for (size_t d = 0; d < n; ++d) {
    const int64_t x = given.size() == 1 ? given.front() : given[d];
    if (x < least || x > INT32_MAX)
      fail_argument(LIBDL_ERROR_VALUE, op, name, "is " + to_string(given),
                    std::to_string(least) + " to 2147483647");
    all[d + 3 - n] = x;
  }
  return all;
}

}  // namespace libdl
