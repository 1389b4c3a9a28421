// SPDX-License-Identifier: Apache-2.0

// Forms and plain bytes come and go: what is counted, which version is read, and what other threads
// and forked children see.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "memory/allocator.h"
#include "ops/copy/copy.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pointwise/pointwise.h"
#include "tensor/deferred.h"
#include "tensor/mapping.h"
#include "tests/core/counting.h"
#include "tests/core/in_child.h"

namespace libdl {
namespace {

constexpr Layout kLayouts[] = {Layout::kChannelsInnermost, Layout::kChannelBlocks};

int64_t live() { return live_counts().bytes; }

// -- results that wait ----------------------------------------------------------------------------

// Another tensor's elements.
struct Copied final : Producer {
  BorrowedForm from;
  Tensor beside;  // held, too
  explicit Copied(const Tensor& x)
      : from(only_form_of(x, Layout::kChannelsInnermost)), beside(empty(kShape, Dtype::kFloat32)) {}
  void compute(const PackedKey&, void* to) const override {
    std::memcpy(to, from.data(), kAll * 4);
  }
};

TEST(Forms, ADeferredResultThatNobodyReadsLetsGoOfWhatItIsMadeFrom) {
  const int64_t before = live();
  {
    const Tensor y = defer(kShape, Dtype::kFloat32, std::make_unique<Copied>(counting()));
    EXPECT_GE(live(), before + kAll * 4);  // what lies beside; forms are not counted
  }
  EXPECT_EQ(live(), before);
}

TEST(Forms, ADeferredResultIsComputedOfWhatWasThereWhenItWasDeferred) {
  const Tensor x = counting();
  const Tensor y = defer(kShape, Dtype::kFloat32, std::make_unique<Copied>(x));
  pointwise(k_add, x, x, Into(x));
  EXPECT_TRUE(deferred_form_of(y).data());
  EXPECT_EQ(values(y), counted());
  EXPECT_FALSE(deferred_form_of(y).data());
}

// -- padding --------------------------------------------------------------------------------------

// 11 channels: one whole block of 8, and one of 3 and padding.
constexpr int64_t kPadded[] = {2, 11, 3, 4}, kPaddedAll = 2 * 11 * 3 * 4;

float* block_element(void* form, int64_t n, int64_t c, int64_t h, int64_t w) {
  return static_cast<float*>(form) + (((n * 2 + c / 8) * 3 + h) * 4 + w) * 8 + c % 8;
}

TEST(Forms, BlocksArePaddedWithZeros) {
  const Tensor x = empty(kPadded, Dtype::kFloat32);
  std::iota(x.overwrite_plain<float>(), x.overwrite_plain<float>() + kPaddedAll, 1.0f);
  const PackedReader form = keep_form(x, Layout::kChannelBlocks);
  ASSERT_NE(form.data(), nullptr);
  EXPECT_EQ(form.form()->bytes, 2u * 16 * 3 * 4 * 4);
  EXPECT_EQ(form.form()->bytes, form_bytes(kPadded, Dtype::kFloat32, Layout::kChannelBlocks));
  auto* const data = const_cast<void*>(form.data());
  float next = 1;
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t c = 0; c < 16; ++c)
      for (int64_t h = 0; h < 3; ++h)
        for (int64_t w = 0; w < 4; ++w)
          EXPECT_EQ(*block_element(data, n, c, h, w), c < 11 ? next++ : 0) << c << " " << h;
}

TEST(Forms, PlainBytesAreMadeOfBlocks) {
  void* form;
  const Tensor x = empty_packed(kPadded, Dtype::kFloat32, Layout::kChannelBlocks, form);
  std::memset(form, 0, form_bytes(kPadded, Dtype::kFloat32, Layout::kChannelBlocks));
  float next = 0;
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t c = 0; c < 11; ++c)
      for (int64_t h = 0; h < 3; ++h)
        for (int64_t w = 0; w < 4; ++w) *block_element(form, n, c, h, w) = next++;
  EXPECT_FALSE(form_of(x, Layout::kChannelsInnermost).data());
  EXPECT_TRUE(x.storage().packed_only());
  const Tensor y = x + x;  // no strides describe the form
  for (int64_t i = 0; i < kPaddedAll; ++i) {
    EXPECT_EQ(x.read_plain<float>()[i], i);
    EXPECT_EQ(y.read_plain<float>()[i], 2 * i);
  }
  EXPECT_EQ(form_of(x, Layout::kChannelBlocks).data(), form);  // stays beside them
}

TEST(Forms, OneTensorMayHaveSeveralForms) {
  const Tensor x = plain_counting();
  const PackedReader first = keep_form(x, kLayouts[0]), second = keep_form(x, kLayouts[1]);
  EXPECT_NE(first.data(), second.data());
  EXPECT_EQ(form_of(x, kLayouts[0]).data(), first.data());
  EXPECT_EQ(keep_form(x, kLayouts[1]).data(), second.data());
}

TEST(Forms, WideElementsAndManyDimensionsTurnInEveryLayout) {
  for (const Layout layout : kLayouts)
    for (const int64_t channels : {1, 7, 8, 17}) {
      const int64_t shape[] = {3, channels, 2, 1, 3};
      const Tensor x = empty(shape, Dtype::kComplex128);
      auto* const out = x.overwrite_plain<double>();
      std::iota(out, out + 2 * x.numel(), 0.0);
      const PackedReader form = keep_form(x, layout);
      void* data;
      const Tensor y = empty_packed(shape, Dtype::kComplex128, layout, data);
      std::memcpy(data, form.data(), form.form()->bytes);
      EXPECT_EQ(std::memcmp(y.read_plain(), x.read_plain(), x.storage().bytes), 0);
    }
}

// -- what is counted ------------------------------------------------------------------------------

TEST(Forms, LiveBytesAreThoseOfTheOnlyFormOrThePlainBytes) {
  const int64_t before = live(), kept = packed_bytes();
  {
    void* form;
    const Tensor x = empty_packed(kPadded, Dtype::kFloat32, Layout::kChannelBlocks, form);
    const auto bytes = static_cast<int64_t>(x.storage().bytes);
    const auto padded =
        static_cast<int64_t>(form_bytes(kPadded, x.dtype(), Layout::kChannelBlocks));
    std::memset(form, 0, static_cast<size_t>(padded));
    EXPECT_EQ(live() - before, padded);
    EXPECT_EQ(packed_bytes(), kept);  // its only bytes are its own
    x.read_plain();
    EXPECT_EQ(live() - before, bytes);
    EXPECT_EQ(packed_bytes() - kept, padded);  // the second form
    x.update_plain();
    written(x, "test");
    EXPECT_EQ(live() - before, bytes);
    EXPECT_EQ(packed_bytes(), kept);
  }
  EXPECT_EQ(live(), before);
  EXPECT_EQ(packed_bytes(), kept);
}

TEST(Forms, AResultThatTakesTheFormIsCountedOnce) {
  const Tensor a = counting();
  const int64_t before = live();
  {
    const Tensor y = a + a;
    EXPECT_TRUE(y.storage().packed_only());
    EXPECT_EQ(live() - before, kAll * 4);
  }
  EXPECT_EQ(live(), before);
}

TEST(Forms, PeaksCountWhatIsAllocatedAndNoMore) {
  constexpr int64_t shape[] = {4, 32, 64, 64}, bytes = 4 * 32 * 64 * 64 * 4;
  Allocator& allocator = host_allocator();
  const int64_t before = allocator.statistics().allocated;
  void* form;
  const Tensor x = empty_packed(shape, Dtype::kFloat32, Layout::kChannelsInnermost, form);
  std::memset(form, 0, bytes);
  allocator.reset_peaks();
  {
    const Tensor y = x + x;
  }
  EXPECT_LT(allocator.statistics().peak_allocated - before, 2 * bytes + bytes / 8);
  x.read_plain();
  EXPECT_LT(allocator.statistics().peak_allocated - before, 2 * bytes + bytes / 8);
  EXPECT_GE(allocator.statistics().peak_allocated - before, 2 * bytes);
}

TEST(Forms, NotesTakeNothingOfWhatFormsMayHave) {
  const Tensor x = plain_counting();
  for (int64_t i = 1; i < 4000; ++i)
    note_packed({x.storage(), {Layout::kGemmPanels, x.dtype(), i, kShape, x.strides()}, {}, 0});
  EXPECT_NE(keep_form(x, Layout::kChannelsInnermost).data(), nullptr);
  EXPECT_NE(keep_form(x, Layout::kChannelBlocks).data(), nullptr);
}

// -- versions -------------------------------------------------------------------------------------

TEST(Forms, StaleOnesGoAtTheNextLook) {
  for (const Layout layout : kLayouts) {
    const int64_t kept = packed_bytes();
    const Tensor x = plain_counting();
    keep_form(x, layout);
    {
      const libdl_mapping mapping(x, true);
      static_cast<float*>(mapping.data())[1] = -1;
    }
    EXPECT_GT(packed_bytes(),
              kept);  // the end of an export may come on any thread and frees nothing
    EXPECT_FALSE(form_of(x, layout).data());
    EXPECT_EQ(packed_bytes(), kept);
    const PackedReader now = keep_form(x, layout);
    const auto* const data = static_cast<const float*>(now.data());
    EXPECT_EQ(data[layout == Layout::kChannelsInnermost ? kC : 8], -1);
  }
}

TEST(Forms, WhileOthersMayWriteAFormIsComparedWithTheBytes) {
  const Tensor x = plain_counting();
  const libdl_mapping mapping(x, true);
  auto* const bytes = static_cast<float*>(mapping.data());
  EXPECT_NE(keep_form(x, kLayouts[0]).data(), nullptr);
  EXPECT_NE(form_of(x, kLayouts[0]).data(), nullptr);
  bytes[1] = 77;
  EXPECT_EQ(form_of(x, kLayouts[0]).data(), nullptr);
}

// -- threads --------------------------------------------------------------------------------------

TEST(FormsThreads, ReadersGetOnePlainForm) {
  for (int round = 0; round < 50; ++round) {
    const Tensor x = counting();
    std::vector<const void*> seen(4);
    std::vector<std::thread> readers;
    for (const void*& address : seen)
      readers.emplace_back([&x, &address] { address = x.read_plain(); });
    for (std::thread& reader : readers) reader.join();
    for (const void* address : seen) EXPECT_EQ(address, x.read_plain());
    EXPECT_EQ(values(x), counted());
  }
}

// Two read, by operators that take forms and by plain bytes, while a third publishes forms and
// takes them away.
TEST(FormsThreads, TwoReadWhileAThirdPublishes) {
  const Tensor x = plain_counting(), packed = counting();
  std::atomic<bool> ends{false};
  std::thread third([&] {
    for (int i = 0; i < 400; ++i) {
      for (const Layout layout : kLayouts) keep_form(x, layout);
      drop_packed(x.storage());
    }
    ends = true;
  });
  std::atomic<int> wrong{0};
  const auto read = [&] {
    do {
      const Tensor y = packed + x;
      for (int64_t i = 0; i < kAll; ++i) wrong += y.read_plain<float>()[i] != 2 * i;
      if (const PackedReader form = form_of(x, kLayouts[0]); form.data())
        wrong += static_cast<const float*>(form.data())[1] != kH * kW;
      wrong += !is_counting(x);
    } while (!ends);
  };
  std::thread first(read), second(read);
  third.join();
  first.join();
  second.join();
  EXPECT_EQ(wrong, 0);
}

// What a writer takes from the storage lives on with its reader, and is freed by the last.
TEST(FormsThreads, AReaderIsTheLastOwnerOfAFormThatAWriterDrops) {
  for (int round = 0; round < 50; ++round) {
    const int64_t before = live(), allocated = host_allocator().statistics().allocated;
    std::atomic<int> reading{0}, wrong{0};
    std::atomic<bool> dropped{false};
    {
      const Tensor x = counting();
      const auto read = [&] {
        const PackedReader form = form_of(x, Layout::kChannelsInnermost);
        ++reading;
        while (!dropped) std::this_thread::yield();
        wrong += static_cast<const float*>(form.data())[1] != kH * kW;
      };
      std::thread first(read), second(read);
      while (reading < 2) std::this_thread::yield();
      fill_bytes(x, number(0.0));
      written(x, "test");
      EXPECT_GE(host_allocator().statistics().allocated - allocated, 2 * kAll * 4);  // still read
      dropped = true;
      first.join();
      second.join();
      EXPECT_EQ(live() - before, kAll * 4);
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(host_allocator().statistics().allocated, allocated);
    EXPECT_EQ(live(), before);
  }
}

// -- fork -----------------------------------------------------------------------------------------

// In a child: reads the form, makes the plain bytes, writes and frees.
int uses_all(Tensor x) {
  if (!x.storage().packed_only() || !has_form(x)) return 1;
  const Tensor y = x + x;
  if (!y.storage().packed_only()) return 2;
  if (!is_counting(x)) return 3;
  pointwise(k_add, x, x, Into(x));
  if (x.read_plain<float>()[1] != 2 || y.read_plain<float>()[1] != 2) return 4;
  x = Tensor();
  return 0;
}

TEST(FormsFork, AChildUsesWhatIsInAFormAlone) {
  const Tensor x = counting();
  EXPECT_EQ(in_child([&] { return uses_all(x); }), 0);
  EXPECT_TRUE(x.storage().packed_only());
  const PackedReader reader = form_of(x, Layout::kChannelsInnermost);
  EXPECT_EQ(in_child([&] { return uses_all(x); }), 0);  // while it is read here
  EXPECT_EQ(values(x), counted());
}

// The fork finds another thread anywhere in a conversion: the child waits for nobody.
TEST(FormsFork, WhileAnotherThreadConverts) {
  const Tensor shared = plain_counting(), alone = counting();
  std::atomic<bool> ends{false};
  std::thread converts([&] {
    while (!ends) {
      for (const Layout layout : kLayouts) keep_form(shared, layout);
      drop_packed(shared.storage());
      const Tensor x = counting();
      x.read_plain();
      const Tensor y = x + shared;
      y.update_plain();
    }
  });
  for (int i = 0; i < 60; ++i)
    EXPECT_EQ(in_child([&] {
                for (const Layout layout : kLayouts)
                  if (!keep_form(shared, layout).data()) return 10;
                return is_counting(shared) ? uses_all(alone) : 11;
              }),
              0)
        << "fork " << i;
  ends = true;
  converts.join();
}

TEST(FormsFork, WhatAThreadConvertsIsThereInTheChild) {
  for (int i = 0; i < 60; ++i) {
    const Tensor x = counting();
    std::thread converts([&] { x.read_plain(); });
    EXPECT_EQ(in_child([&] {
                if (!is_counting(x)) return 1;
                x.update_plain<float>()[0] = 5;
                written(x, "test");
                return values(x)[0] == 5 ? 0 : 2;
              }),
              0)
        << "fork " << i;
    converts.join();
  }
}

}  // namespace
}  // namespace libdl
