// SPDX-License-Identifier: Apache-2.0

// Checkers are shown planted errors: a check that cannot fail is none.
#pragma once

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <functional>

namespace libdl::planted {

// How many expectations fail while f runs on this thread; none of them counts for the test.
inline int failures_of(const std::function<void()>& f) {
  ::testing::TestPartResultArray results;
  {
    const ::testing::ScopedFakeTestPartResultReporter reporter(
        ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    f();
  }
  int failures = 0;
  for (int i = 0; i < results.size(); ++i) failures += results.GetTestPartResult(i).failed();
  return failures;
}

}  // namespace libdl::planted
