// SPDX-License-Identifier: Apache-2.0

// A storage whose bytes are in a form alone: who sees the form, who makes the plain bytes, and what
// becomes of both.
#include "tensor/forms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "engine/backward.h"
#include "ops/arithmetic.h"
#include "ops/comparison.h"
#include "ops/copy.h"
#include "ops/pointwise.h"
#include "ops/view.h"
#include "tape/meta.h"

namespace libdl {
namespace {

constexpr int64_t kN = 2, kC = 3, kH = 5, kW = 7, kAll = kN * kC * kH * kW;

// Element i, counted in rows, is i; channels innermost, and no plain bytes.
Tensor counting() {
  const int64_t shape[] = {kN, kC, kH, kW};
  const Tensor x = empty(shape, Dtype::kFloat32);
  float* const out = x.overwrite_plain<float>();
  const Shape strides = channels_innermost(shape);
  float next = 0;
  for (int64_t n = 0; n < kN; ++n)
    for (int64_t c = 0; c < kC; ++c)
      for (int64_t h = 0; h < kH; ++h)
        for (int64_t w = 0; w < kW; ++w)
          out[n * strides[0] + c * strides[1] + h * strides[2] + w * strides[3]] = next++;
  publish(x, Layout::kChannelsInnermost);
  return x;
}

std::vector<float> values(const Tensor& x) {
  const float* const first = x.read_plain<float>();
  return {first, first + x.numel()};
}
std::vector<float> counted() {
  std::vector<float> all(kAll);
  for (int64_t i = 0; i < kAll; ++i) all[i] = static_cast<float>(i);
  return all;
}
bool has_form(const Tensor& x) {
  return form_of(x, Layout::kChannelsInnermost).data() != nullptr;
}

TEST(Forms, ChannelsAreInnermost) {
  const int64_t image[] = {2, 3, 5, 7}, sequence[] = {2, 3, 5};
  EXPECT_EQ(to_string(channels_innermost(image)), "[105, 1, 21, 3]");
  EXPECT_EQ(to_string(channels_innermost(sequence)), "[15, 1, 3]");
}

TEST(Forms, PlainBytesAreMadeOnceAndTheFormStays) {
  const Tensor x = counting();
  EXPECT_TRUE(x.storage().packed_only());
  const int64_t before = conversions();
  EXPECT_EQ(values(x), counted());
  EXPECT_FALSE(x.storage().packed_only());
  EXPECT_TRUE(has_form(x));
  EXPECT_EQ(values(x), counted());
  EXPECT_EQ(conversions() - before, 1);
}

TEST(Forms, AliasesOfTheSameGeometrySeeTheForm) {
  const Tensor x = counting();
  EXPECT_TRUE(has_form(alias(x)));
  const int64_t flat[] = {kAll}, one[] = {1};
  EXPECT_FALSE(has_form(alias(x, flat, one, 0, x.dtype())));
  EXPECT_FALSE(has_form(alias(x, x.shape(), x.strides(), 0, Dtype::kInt32)));
  EXPECT_TRUE(x.storage().packed_only());  // asking makes nothing
}

TEST(Forms, AViewMakesThePlainBytesFirst) {
  const Tensor x = counting();
  const int64_t shape[] = {kH, kW}, strides[] = {kW, 1};
  const Tensor last = alias(x, shape, strides, kAll - kH * kW, x.dtype());
  EXPECT_EQ(last.read_plain<float>()[0], kAll - kH * kW);
  EXPECT_FALSE(x.storage().packed_only());
}

TEST(Forms, AWriteEndsTheForm) {
  const Tensor x = counting();
  x.update_plain<float>()[1] = -1;
  written(x, "test");
  EXPECT_FALSE(has_form(x));
  std::vector<float> wanted = counted();
  wanted[1] = -1;
  EXPECT_EQ(values(x), wanted);
}

TEST(Forms, AWriteOfAPartKeepsTheRest) {
  const Tensor x = counting();
  const int64_t shape[] = {2}, strides[] = {1};
  const Tensor part = alias(x, shape, strides, 3, x.dtype());
  std::fill_n(part.overwrite_plain<float>(), 2, -1.0f);
  written(x, "test");
  std::vector<float> wanted = counted();
  wanted[3] = wanted[4] = -1;
  EXPECT_EQ(values(x), wanted);
}

TEST(Forms, OverwritingAllOfItMovesNothing) {
  const Tensor x = counting();
  const void* const form = form_of(x, Layout::kChannelsInnermost).data();
  EXPECT_NE(x.overwrite_plain(), form);
  EXPECT_FALSE(has_form(x));
}

TEST(Forms, AReaderKeepsTheFormThatAWriterDrops) {
  const Tensor x = counting();
  const PackedReader reader = form_of(x, Layout::kChannelsInnermost);
  fill_bytes(x, number(0.0));
  written(x, "test");
  EXPECT_FALSE(has_form(x));
  EXPECT_EQ(static_cast<const float*>(reader.data())[1], kH * kW);  // the second channel's first
}

// -- operators that go from element to element ----------------------------------------------------

// The result is in the form alone, and none of the operands had to be made plain.
void expect_in_form(const Tensor& y, std::initializer_list<const Tensor*> operands) {
  EXPECT_TRUE(y.storage().packed_only());
  for (const Tensor* x : operands) EXPECT_TRUE(x->storage().packed_only());
}

TEST(Forms, ElementByElementNoByteMoves) {
  const Tensor a = counting(), b = counting();
  const int64_t before = conversions();
  const Tensor sum = a + b, scaled = a * number(0.5), copied = clone(a), large = gt(a, b);
  expect_in_form(sum, {&a, &b});
  expect_in_form(scaled, {&a});
  expect_in_form(copied, {&a});
  expect_in_form(large, {&a, &b});
  expect_in_form(cast(a, Dtype::kFloat64), {&a});
  EXPECT_EQ(conversions(), before);
  EXPECT_EQ(values(copied), counted());
  for (int64_t i = 0; i < kAll; ++i) EXPECT_EQ(sum.read_plain<float>()[i], 2 * i);
}

TEST(Forms, InPlaceTheFormIsWritten) {
  const Tensor x = counting(), view = alias(x), y = counting();
  const int64_t before = conversions();
  pointwise(k_add, x, x, Into(x));
  pointwise(k_add, x, y, Into(x));
  expect_in_form(x, {&y});
  EXPECT_EQ(conversions(), before);
  for (int64_t i = 0; i < kAll; ++i) EXPECT_EQ(view.read_plain<float>()[i], 3 * i);
}

TEST(Forms, ASecondOperandWithoutTheFormMakesPlainBytes) {
  const Tensor a = counting(), ones = full(a.shape(), number(1.0), Dtype::kFloat32);
  const Tensor y = a + ones;
  EXPECT_FALSE(a.storage().packed_only());
  for (int64_t i = 0; i < kAll; ++i) EXPECT_EQ(y.read_plain<float>()[i], i + 1);
}

TEST(Forms, AFormBesidePlainBytesIsUsed) {
  const Tensor a = counting(), b = counting();
  a.read_plain();
  EXPECT_TRUE((a + b).storage().packed_only());
  a.update_plain<float>()[0] = 5;
  written(a, "test");
  EXPECT_EQ(values(a + b)[0], 5);  // its form is of before
}

TEST(Forms, ADestinationThatOthersSeeKeepsItsPlainBytes) {
  const Tensor a = counting(), out = empty(a.shape(), Dtype::kFloat32), other = alias(out);
  pointwise(k_add, a, a, Into(out));
  EXPECT_FALSE(out.storage().packed_only());
  for (int64_t i = 0; i < kAll; ++i) EXPECT_EQ(out.read_plain<float>()[i], 2 * i);
}

TEST(Forms, GradientsTakeTheForwardsLayout) {
  const Tensor x = counting();
  libdl::set_requires_grad(x, true);
  const Tensor y = pointwise(k_mul, x, x), dy = counting();
  const int64_t before = conversions();
  const Tensor grads[] = {dy}, outputs[] = {y};
  backward(outputs, grads, {}, BackwardOptions());
  expect_in_form(get_grad(x), {&x, &y, &dy});
  EXPECT_EQ(conversions(), before);
  for (int64_t i = 0; i < kAll; ++i) EXPECT_EQ(get_grad(x).read_plain<float>()[i], 2.0f * i * i);
}

TEST(Forms, OverlapIsToldWithoutBytes) {
  const Tensor x = counting(), y = counting();
  const int64_t shape[] = {4}, strides[] = {1};
  const Tensor head = alias(x, shape, strides, 0, x.dtype());
  const Tensor next = alias(x, shape, strides, 4, x.dtype());
  EXPECT_EQ(overlap(x, y), Overlap::kNone);
  EXPECT_EQ(overlap(x, alias(x)), Overlap::kFull);
  EXPECT_EQ(overlap(x, head), Overlap::kPartial);
  EXPECT_EQ(overlap(head, next), Overlap::kNone);
  EXPECT_TRUE(x.storage().packed_only());
}

TEST(Forms, ReadersOnSeveralThreadsGetOnePlainForm) {
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

TEST(Forms, MemoryIsCountedAndGoes) {
  const int64_t kept = packed_bytes();
  {
    const Tensor x = counting();
    EXPECT_EQ(packed_bytes(), kept);  // its only bytes are its own
    x.read_plain();
    EXPECT_EQ(packed_bytes() - kept, kAll * 4);
  }
  EXPECT_EQ(packed_bytes(), kept);
}

}  // namespace
}  // namespace libdl
