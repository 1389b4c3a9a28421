// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <thread>

#include "engine/backward.h"
#include "entries/copy.h"
#include "entries/nn.h"
#include "entries/random.h"
#include "entries/view.h"
#include "kernels/shuffle.h"
#include "ops/copy/copy.h"
#include "tests/core/code_of.h"

namespace libdl {
namespace {

using test::code_of;

template <class T = float>
std::vector<T> values(const Tensor& x) {
  const Tensor all = plain(x);
  return {all.read_plain<T>(), all.read_plain<T>() + all.numel()};
}

constexpr int64_t kThousand[] = {1000}, kTen[] = {10}, kThree[] = {3};

// -- generators -----------------------------------------------------------------------------------

TEST(Generator, SeedsRepeatAndOffsetsAdvanceByBlocks) {
  Generator g(5);
  const auto first = values(rand(kTen, &g, Dtype::kNone, {}));
  EXPECT_EQ(g.offset, 3u);  // ten elements, four a block
  const auto second = values(rand(kTen, &g, Dtype::kNone, {}));
  EXPECT_NE(first, second);
  set_seed(g, 5);
  EXPECT_EQ(values(rand(kTen, &g, Dtype::kNone, {})), first);
  rand(kThree, &g, Dtype::kFloat64, {});
  EXPECT_EQ(g.offset, 5u);  // three elements, two a block
}

TEST(Generator, StateContinuesElsewhere) {
  Generator g(5), other(6);
  rand(kThousand, &g, Dtype::kNone, {});
  const GeneratorState state = get_state(g);
  set_state(other, state.data(), state.size());
  EXPECT_EQ(values(rand(kTen, &g, Dtype::kNone, {})), values(rand(kTen, &other, Dtype::kNone, {})));
  GeneratorState broken = state;
  broken[0] = std::byte{0};
  EXPECT_EQ(code_of([&] { set_state(g, broken.data(), broken.size()); }), LIBDL_ERROR_VALUE);
  EXPECT_EQ(code_of([&] { set_state(g, state.data(), 23); }), LIBDL_ERROR_VALUE);
}

// What a forked child draws first, by the child itself; and its key.
uint64_t key_in_child(const Generator& g, uint64_t* grandchild) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    uint64_t keys[2] = {key_of(g), 0};
    int inner[2];
    if (pipe(inner) != 0) _exit(1);
    if (fork() == 0) {
      const uint64_t key = key_of(g);
      _exit(write(inner[1], &key, 8) != 8);
    }
    if (read(inner[0], &keys[1], 8) != 8) _exit(1);
    _exit(write(ends[1], keys, 16) != 16);
  }
  uint64_t keys[2] = {0, 0};
  EXPECT_EQ(read(ends[0], keys, 16), 16);
  int status;
  waitpid(child, &status, 0);
  close(ends[0]);
  close(ends[1]);
  *grandchild = keys[1];
  return keys[0];
}

TEST(Generator, ForksDrawDifferentNumbers) {
  Generator g(5);
  uint64_t keys[5] = {key_of(g)};
  keys[1] = key_in_child(g, &keys[2]);
  keys[3] = key_in_child(g, &keys[4]);
  EXPECT_EQ(keys[0], 5u);
  EXPECT_EQ(key_of(g), 5u);
  std::sort(keys, keys + 5);
  EXPECT_EQ(std::unique(keys, keys + 5), keys + 5);
}

TEST(Generator, ThreadsNeverShareNumbers) {
  Generator g(5);
  std::vector<std::vector<int64_t>> drawn(4);
  std::vector<std::thread> crew;
  for (auto& own : drawn)
    crew.emplace_back([&own, &g] {
      for (int i = 0; i < 50; ++i)
        for (int64_t x :
             values<int64_t>(randint(INT64_MIN, INT64_MAX, kTen, &g, Dtype::kInt64, {})))
          own.push_back(x);
    });
  for (std::thread& member : crew) member.join();
  std::vector<int64_t> all;
  for (const auto& own : drawn) all.insert(all.end(), own.begin(), own.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::unique(all.begin(), all.end()), all.end());
}

// -- creation -------------------------------------------------------------------------------------

TEST(RandomOps, DtypesAndRanges) {
  Generator g(1);
  for (const Dtype t : {Dtype::kFloat16, Dtype::kBfloat16, Dtype::kFloat32, Dtype::kFloat64})
    for (const double x : values<double>(cast(rand(kThousand, &g, t, {}), Dtype::kFloat64)))
      ASSERT_TRUE(x >= 0 && x < 1) << name_of(t);
  const Tensor z = randn(kThousand, &g, Dtype::kComplex64, {});
  double power = 0;
  for (const std::complex<float> x : values<std::complex<float>>(z)) power += std::norm(x) / 1000;
  EXPECT_NEAR(power, 1, 0.16);
  for (const int64_t x : values<int64_t>(randint(-3, 2, kThousand, &g, Dtype::kNone, {})))
    ASSERT_TRUE(x >= -3 && x < 2);
}

TEST(RandomOps, ComplexAreTwiceAsManyReals) {
  Generator g(1), h(1);
  const int64_t pairs[] = {5, 2}, five[] = {5};
  EXPECT_EQ(values(view_as_real(rand(five, &g, Dtype::kComplex64, {}))),
            values(rand(pairs, &h, Dtype::kFloat32, {})));
}

TEST(RandomOps, IntoStridesDrawsTheSame) {
  Generator g(1), h(1);
  const int64_t shape[] = {3, 4}, back[] = {4, 3};
  const Tensor strided = transpose(zeros(back, Dtype::kFloat32), 0, 1);
  rand(shape, &g, Dtype::kFloat32, {}, Into(strided));
  EXPECT_EQ(values(strided), values(rand(shape, &h, Dtype::kFloat32, {})));
}

TEST(RandomOps, Randperm) {
  Generator g(1);
  auto order = values<int64_t>(randperm(1000, &g, Dtype::kNone, {}));
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (int64_t i = 0; i < 1000; ++i) ASSERT_EQ(order[i], i);
  EXPECT_EQ(randperm(0, &g, Dtype::kNone, {}).numel(), 0);
  EXPECT_EQ(randperm(100, &g, Dtype::kUint8, {}).dtype(), Dtype::kUint8);
}

// Beyond the look ahead, a tile of words, and the length after which interruption is asked for.
TEST(RandomOps, RandpermHoldsEachNumberOnce) {
  Generator g(2);
  for (const int64_t n : {1, 2, 4, 15, 16, 17, 1023, 1025, 16385, (1 << 20) - 1, (1 << 20) + 17}) {
    std::vector<bool> seen(n);
    for (const int64_t x : values<int64_t>(randperm(n, &g, Dtype::kNone, {}))) {
      ASSERT_TRUE(x >= 0 && x < n && !seen[x]) << x << " of " << n;
      seen[x] = true;
    }
  }
}

// The chance that a correct generator fails, below 1 of 10,000: chi-square with 119 degrees of
// freedom is below 185 then.
TEST(RandomOps, RandpermGivesEveryOrderAlike) {
  Generator g(3);
  std::map<std::vector<int64_t>, int> count;
  for (int i = 0; i < 60000; ++i) ++count[values<int64_t>(randperm(5, &g, Dtype::kNone, {}))];
  ASSERT_EQ(count.size(), 120u);
  double square = 0;
  for (const auto& [order, found] : count) square += (found - 500.0) * (found - 500.0) / 500;
  EXPECT_LT(square, 185);
  // Where each number goes in a longer one: 99 * 99 degrees of freedom, deviation 140.
  std::vector<int> place(100 * 100);
  for (int i = 0; i < 20000; ++i) {
    const auto order = values<int64_t>(randperm(100, &g, Dtype::kNone, {}));
    for (int64_t k = 0; k < 100; ++k) ++place[100 * k + order[k]];
  }
  square = 0;
  for (const int found : place) square += (found - 200.0) * (found - 200.0) / 200;
  EXPECT_NEAR(square, 99 * 99, 5 * 140);
}

TEST(RandomOps, RandpermSpendsItsBlocks) {
  Generator g(4);
  randperm(10, &g, Dtype::kNone, {});
  EXPECT_EQ(g.offset.load(), 3u);
}

// Orders of more than 2^31 elements, by the same steps from words of 64 bits.
TEST(RandomOps, WideWordsShuffleAlike) {
  std::map<std::vector<uint64_t>, int> count;
  for (uint64_t i = 0; i < 24000; ++i) {
    std::vector<uint64_t> words(4);
    for (uint64_t k = 0; k < 4; ++k) {
      const auto block = kernels::philox(9, 2 * i + k / 2, 0);
      words[k] = block.word[2 * (k % 2)] | uint64_t{block.word[2 * (k % 2) + 1]} << 32;
    }
    kernels::shuffle(words.data(), 0, 3, 9, 2 * i);  // in two goes
    kernels::shuffle(words.data(), 3, 4, 9, 2 * i);
    ++count[words];
  }
  ASSERT_EQ(count.size(), 24u);
  double square = 0;
  for (const auto& [order, found] : count) square += (found - 1000.0) * (found - 1000.0) / 1000;
  EXPECT_LT(square, 57);  // 23 degrees of freedom, the same chance
}

TEST(RandomOps, Errors) {
  Generator g(1);
  EXPECT_EQ(code_of([&] { randint(3, 3, kTen, &g, Dtype::kNone, {}); }), LIBDL_ERROR_VALUE);
  EXPECT_EQ(code_of([&] { randint(0, 300, kTen, &g, Dtype::kUint8, {}); }), LIBDL_ERROR_VALUE);
  EXPECT_EQ(code_of([&] { randint(0, 256, kTen, &g, Dtype::kUint8, {}); }), LIBDL_OK);
  EXPECT_EQ(code_of([&] { rand(kTen, &g, Dtype::kInt64, {}); }), LIBDL_ERROR_DTYPE);
  EXPECT_EQ(code_of([&] { randperm(-1, &g, Dtype::kNone, {}); }), LIBDL_ERROR_VALUE);
  EXPECT_EQ(code_of([&] { randperm(300, &g, Dtype::kUint8, {}); }), LIBDL_ERROR_VALUE);
  const int64_t negative[] = {2, -1};
  EXPECT_EQ(code_of([&] { randn(negative, &g, Dtype::kNone, {}); }), LIBDL_ERROR_SHAPE);
  const Tensor x = zeros(kTen, Dtype::kFloat32);
  EXPECT_EQ(code_of([&] { uniform(1, 0, &g, Into(x)); }), LIBDL_ERROR_VALUE);
  EXPECT_EQ(code_of([&] { normal(0, -1, &g, Into(x)); }), LIBDL_ERROR_VALUE);
  EXPECT_EQ(code_of([&] { bernoulli(x, 1.5, &g); }), LIBDL_ERROR_VALUE);
  EXPECT_EQ(code_of([&] { dropout(x, NAN, true, &g); }), LIBDL_ERROR_VALUE);
  fill(number(2.0), Into(x));
  EXPECT_EQ(code_of([&] { bernoulli(x, {}, &g); }), LIBDL_ERROR_VALUE);
  EXPECT_EQ(g.offset, 3u);  // the one call that succeeded: what fails draws nothing
}

// -- filling --------------------------------------------------------------------------------------

TEST(RandomOps, FillsEndHistory) {
  Generator g(1);
  const Tensor leaf = zeros(kTen, Dtype::kFloat32);
  set_requires_grad(leaf, true);
  EXPECT_EQ(code_of([&] { uniform(0, 1, &g, Into(leaf)); }), LIBDL_ERROR_AUTOGRAD);
  const Tensor x = clone(leaf);
  uniform(2, 3, &g, Into(x));
  for (const float v : values(x)) ASSERT_TRUE(v >= 2 && v < 3);
  const Tensor outputs[] = {x}, inputs[] = {leaf},
               ones[] = {full(kTen, number(1.0), Dtype::kFloat32)};
  for (const float v : values(grad(outputs, inputs, ones, {})[0])) ASSERT_EQ(v, 0);
}

TEST(RandomOps, BernoulliFill) {
  Generator g(1);
  const int64_t shape[] = {100, 3};
  const Tensor x = empty(shape, Dtype::kInt64), p = empty(kThree, Dtype::kFloat32);
  p.update_plain<float>()[0] = 0;
  p.update_plain<float>()[1] = 1;
  p.update_plain<float>()[2] = 0.5;
  bernoulli_fill(p, &g, Into(x));
  const auto v = values<int64_t>(x);
  int64_t sums[3] = {};
  for (size_t i = 0; i < v.size(); ++i) sums[i % 3] += v[i];
  EXPECT_EQ(sums[0], 0);
  EXPECT_EQ(sums[1], 100);
  EXPECT_NEAR(sums[2], 50, 25);
}

TEST(Dropout, ScalesAndDifferentiatesByTheSameNoise) {
  Generator g(1);
  const Tensor x = full(kThousand, number(1.0), Dtype::kFloat32);
  set_requires_grad(x, true);
  const Tensor y = dropout(x, 0.25, true, &g);
  int kept = 0;
  for (const float v : values(y)) {
    ASSERT_TRUE(v == 0 || v == 4.0f / 3);
    kept += v != 0;
  }
  EXPECT_NEAR(kept, 750, 70);
  const Tensor outputs[] = {y}, inputs[] = {x},
               ones[] = {full(kThousand, number(1.0), Dtype::kFloat32)};
  EXPECT_EQ(values(grad(outputs, inputs, ones, {})[0]), values(y));
  EXPECT_EQ(values(dropout(x, 0.25, false, &g)), values(x));
  for (const float v : values(dropout(x, 1, true, &g))) ASSERT_EQ(v, 0);
}

}  // namespace
}  // namespace libdl
