// SPDX-License-Identifier: Apache-2.0
// The profiler in C++: what it records, of one thread or of several, and how it ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <libdl.hpp>
#include <thread>

using libdl::Profiler;
using libdl::ProfilerEvent;
using libdl::ProfilerRange;
using libdl::Tensor;

namespace {

const ProfilerEvent* find(const std::vector<ProfilerEvent>& events, const char* name) {
  const auto named = [&](const ProfilerEvent& event) { return event.name == name; };
  const auto found = std::find_if(events.begin(), events.end(), named);
  return found == events.end() ? nullptr : &*found;
}

Tensor product() { return libdl::ones({2, 3}).matmul(libdl::ones({3, 4})); }

void compute(const char* name) {
  const ProfilerRange range(name);
  product();
}

TEST(CppProfiler, ItRecordsCallsRangesAndPasses) {
  const Tensor x = libdl::ones({2, 2}).set_requires_grad();
  Profiler profiler(true);
  compute("range");
  x.exp().sum().backward();
  const std::vector<ProfilerEvent> events = profiler.stop();
  const ProfilerEvent* const range = find(events, "range");
  const ProfilerEvent* const matmul = find(events, "matmul");
  ASSERT_TRUE(range && matmul);
  EXPECT_TRUE(range->range && !range->failed && range->shapes.empty());
  EXPECT_EQ(&events[static_cast<size_t>(matmul->parent)], range);
  EXPECT_LE(range->start, matmul->start);
  EXPECT_LE(matmul->end, range->end);
  const std::vector<int64_t> result(matmul->shapes.end() - 2, matmul->shapes.end());
  EXPECT_EQ(result, (std::vector<int64_t>{2, 4}));
  EXPECT_TRUE(std::any_of(events.begin(), events.end(), [](const ProfilerEvent& event) {
    return event.phase == LIBDL_PHASE_BACKWARD && event.source == "exp";
  }));
}

TEST(CppProfiler, OtherThreadsAreRecordedIfAskedFor) {
  for (const bool all : {false, true}) {
    Profiler profiler(false, all);
    compute("mine");
    std::thread(compute, "theirs").join();
    const std::vector<ProfilerEvent> events = profiler.stop();
    const ProfilerEvent* const theirs = find(events, "theirs");
    ASSERT_EQ(theirs != nullptr, all);
    if (all) {
      EXPECT_NE(theirs->thread, find(events, "mine")->thread);
    }
  }
}

TEST(CppProfiler, ItEndsOnceAndAtTheLatestWithItsObject) {
  {
    const Profiler profiler;
    EXPECT_THROW(Profiler(), libdl::Error);
    EXPECT_EQ(libdl_profiler_count(), 0);
  }
  EXPECT_EQ(libdl_profiler_count(), -1);
  Profiler profiler;
  profiler.stop();
  EXPECT_THROW(profiler.stop(), libdl::Error);
  const ProfilerRange nobody("records it");
}

}  // namespace
