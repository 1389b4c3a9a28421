// SPDX-License-Identifier: Apache-2.0

// Every exported function, called as tests/attack means it, with every allocation failing once: it
// succeeds all the same, or the error is OUT_OF_MEMORY, no output is written, nothing that the
// program can see has changed, and what was given up with a ctx is destroyed once.
#include <filesystem>

#include "tests/attack/call.h"
#include "tests/core/folder.h"
#include "tests/core/whole.h"
#include "tests/fault_injection/sweep.h"

namespace failures {
namespace {

using attack::Call;
using attack::Line;

const std::vector<Line>& meant() {
  static const std::vector<Line> lines = [] {
    std::vector<Line> all = attack::read_attacks(LIBDL_ATTACKS);
    std::erase_if(all, [](const Line& line) { return line.type != 'H' && line.type != 'Q'; });
    return all;
  }();
  return lines;
}

class Functions : public ::testing::TestWithParam<size_t> {
 protected:
  // Calls write files, and the limit of host_fixtures.h holds from the first one on.
  static void SetUpTestSuite() {
    here_ = std::filesystem::current_path();
    folder_ = std::make_unique<libdl::test::Folder>();
    std::filesystem::current_path(folder_->file("."));
    attack_restore();
  }
  static void TearDownTestSuite() {
    std::filesystem::current_path(here_);
    folder_.reset();
    good(libdl_memory_set_limit(0));
  }

 private:
  static inline std::filesystem::path here_;
  static inline std::unique_ptr<libdl::test::Folder> folder_;
};

TEST_P(Functions, FailsWhollyOrNotAtAll) {
  const Line& line = meant()[GetParam()];
  attack::where_it_belongs(line, [&] {
    attack::Values keep;
    const attack::Models models = attack::models_of(line, &keep);
    std::unique_ptr<Call> call;
    std::string before;
    const auto fresh = [&] {
      call.reset();
      EXPECT_FALSE(attack::wrongly_destroyed()) << "a destroy did not run once";
      call = std::make_unique<Call>(line, line.words, models);
      before = call->seen();
    };
    fresh();
    sweep(
        line.function, [&] { return call->run(); },
        [&](bool failed) {
          if (failed) {
            EXPECT_FALSE(call->wrote()) << "an output was written";
            EXPECT_TRUE(call->seen() == before) << "something changed";
          }
          fresh();
        });
  });
}

INSTANTIATE_TEST_SUITE_P(All, Functions, ::testing::Range<size_t>(0, meant().size()),
                         [](const ::testing::TestParamInfo<size_t>& info) {
                           return meant()[info.param].function;
                         });

// What all tests of this program have done.
class Total : public ::testing::Environment {
  const int32_t operators_ = libdl_op_count();  // before any is registered
  void TearDown() override {
    libdl::test::figure(
        "every n-th allocation fails, once and for good",
        std::to_string(meant().size()) + " functions, " + std::to_string(operators_) +
            " operators and training steps: " + std::to_string(failed_allocations()) +
            " failures, " +
            std::to_string(::testing::UnitTest::GetInstance()->failed_test_count()) + " findings");
  }
};
const auto* const total = ::testing::AddGlobalTestEnvironment(new Total);

}  // namespace
}  // namespace failures
