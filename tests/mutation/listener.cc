// SPDX-License-Identifier: Apache-2.0

// Tells left_out.cc which GoogleTest runs.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace {

struct Listener : testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& test) override {
    const std::string name = std::string(test.test_suite_name()) + "." + test.name();
    setenv("LIBDL_TEST", name.c_str(), 1);
  }
};

const bool listening = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new Listener);
  return true;
}();

}  // namespace
