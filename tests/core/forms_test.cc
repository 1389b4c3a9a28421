// SPDX-License-Identifier: Apache-2.0

// A storage whose bytes are in a form alone: who sees the form, who makes the plain bytes, and
// which operators need none.
#include <gtest/gtest.h>
#include <libdl/libdl.h>

#include <algorithm>
#include <vector>

#include "engine/backward.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/nn.h"
#include "entries/optim.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/pointwise/pointwise.h"
#include "ops/view/view.h"
#include "tape/meta.h"
#include "tensor/forms.h"
#include "tests/core/counting.h"

namespace libdl {
namespace {

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

// A residual addition: each operand is read as it lies, and the result is as the first one.
TEST(Forms, OperandsInAFormAndPlainAreReadAsTheyLie) {
  const Tensor a = counting(), b = plain_counting();
  const int64_t before = conversions();
  const Tensor first = a + b, second = empty(kShape, Dtype::kFloat32);
  pointwise(k_add, b, a, Into(second));
  expect_in_form(first, {&a});
  EXPECT_FALSE(second.storage().packed_only());
  EXPECT_EQ(conversions(), before);
  for (int64_t i = 0; i < kAll; ++i) {
    EXPECT_EQ(first.read_plain<float>()[i], 2 * i);
    EXPECT_EQ(second.read_plain<float>()[i], 2 * i);
  }
}

TEST(Forms, OneNumberAChannelIsBroadcast) {
  const Tensor x = counting();
  const int64_t shape[] = {kC, 1, 1};
  const Tensor scale = empty(shape, Dtype::kFloat32);
  for (int c = 0; c < kC; ++c) scale.overwrite_plain<float>()[c] = static_cast<float>(10 + c);
  const int64_t before = conversions();
  const Tensor y = x * scale;
  expect_in_form(y, {&x});
  EXPECT_EQ(conversions(), before);
  for (int64_t i = 0; i < kAll; ++i)
    EXPECT_EQ(y.read_plain<float>()[i], static_cast<float>(i * (10 + i / (kH * kW) % kC)));
}

TEST(Forms, InPlaceEachStaysWhatItIs) {
  const Tensor a = counting(), b = plain_counting();
  pointwise(k_add, a, b, Into(a));
  pointwise(k_add, b, a, Into(b));
  EXPECT_TRUE(a.storage().packed_only());
  EXPECT_FALSE(b.storage().packed_only());
  for (int64_t i = 0; i < kAll; ++i) EXPECT_EQ(b.read_plain<float>()[i], 3 * i);
  for (int64_t i = 0; i < kAll; ++i) EXPECT_EQ(a.read_plain<float>()[i], 2 * i);
}

TEST(Forms, AViewOfTheDestinationIsReadBeforeItIsWritten) {
  const Tensor x = counting();
  const int64_t shape[] = {1}, strides[] = {1};
  const Tensor third = alias(x, shape, strides, 3, x.dtype());
  pointwise(k_add, x, clone(third), Into(x));
  for (int64_t i = 0; i < kAll; ++i) EXPECT_EQ(x.read_plain<float>()[i], i + 3);
}

TEST(Forms, ADestinationWhoseAddressTheHostHasKeepsIt) {
  const Tensor a = counting();
  const Tensor out = plain_counting();
  void* seen = nullptr;
  ASSERT_EQ(libdl_tensor_data(out.get(), LIBDL_ACCESS_READ, &seen), nullptr);
  pointwise(k_add, a, a, Into(out));
  for (int64_t i = 0; i < kAll; ++i) EXPECT_EQ(static_cast<float*>(seen)[i], 2 * i);
}

TEST(Forms, DropoutKeepsTheForm) {
  const Tensor x = counting();
  const int64_t before = conversions();
  const Tensor y = dropout(x, 0.5, true, nullptr);
  expect_in_form(y, {&x});
  EXPECT_EQ(conversions(), before);
  int64_t kept = 0;
  for (int64_t i = 0; i < kAll; ++i) {
    const float value = y.read_plain<float>()[i];
    EXPECT_TRUE(value == 0 || value == 2 * i) << value << " at " << i;
    kept += value != 0;
  }
  EXPECT_GT(kept, kAll / 4);
}

// -- reductions -----------------------------------------------------------------------------------

TEST(Forms, WhatDependsOnNoOrderIsReducedAsItLies) {
  const Tensor x = counting(), whole = cast(x, Dtype::kInt32);
  const int64_t before = conversions(), channel[] = {1};
  const Tensor largest = amax(x, Dims(channel), false);
  EXPECT_EQ(item_f64(max(x)), kAll - 1);
  EXPECT_EQ(item_f64(min(x)), 0);
  EXPECT_FALSE(item_bool(all(x)));
  EXPECT_TRUE(item_bool(any(x)));
  EXPECT_EQ(item_i64(sum(whole)), kAll * (kAll - 1) / 2);
  expect_in_form(x, {&whole});
  EXPECT_EQ(conversions(), before);
  EXPECT_EQ(largest.read_plain<float>()[1], (kC - 1) * kH * kW + 1);
}

// Their order is that of the logical indices.
TEST(Forms, FloatingSumsReadPlainBytes) {
  const Tensor x = counting() * number(1.1), same = clone(x);
  same.read_plain();
  EXPECT_EQ(item_f64(sum(x)), item_f64(sum(same)));
  EXPECT_FALSE(x.storage().packed_only());
}

// -- optimizers -----------------------------------------------------------------------------------

TEST(Forms, AStepGoesThroughParametersAndStateOfOneForm) {
  const Tensor p = counting(), g = counting(), m = counting(), v = counting();
  const Tensor lists[] = {plain_counting(), plain_counting(), plain_counting(), plain_counting()};
  const int64_t before = conversions();
  libdl_adam_options o{};
  o.lr = 0.1, o.beta1 = 0.9, o.beta2 = 0.999, o.eps = 1e-8, o.step = 3;
  adam_step(o, {&p, 1}, {&g, 1}, {&m, 1}, {&v, 1}, {});
  expect_in_form(p, {&g, &m, &v});
  EXPECT_EQ(conversions(), before);
  adam_step(o, {lists, 1}, {lists + 1, 1}, {lists + 2, 1}, {lists + 3, 1}, {});
  EXPECT_EQ(values(p), values(lists[0]));
  EXPECT_EQ(values(m), values(lists[2]));
  EXPECT_EQ(values(v), values(lists[3]));
}

TEST(Forms, AStepOverSeveralOrdersIsTakenPlain) {
  const Tensor p = counting(), g = counting(), buffer = plain_counting(), wanted = plain_counting();
  libdl_sgd_options o{};
  o.lr = o.momentum = 0.5;
  sgd_step(o, {&p, 1}, {&g, 1}, {&buffer, 1});
  EXPECT_FALSE(p.storage().packed_only());
  for (int64_t i = 0; i < kAll; ++i)
    EXPECT_EQ(p.read_plain<float>()[i], static_cast<float>(i - 0.5 * (1.5 * i)));
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

// Where the loss is plain, or one number for all, too.
TEST(Forms, GradientsTakeTheForwardsLayoutWhateverComesIn) {
  for (const bool expanded : {false, true}) {
    const Tensor x = counting();
    libdl::set_requires_grad(x, true);
    const Tensor y = pointwise(k_mul, x, x);
    const int64_t none[] = {0, 0, 0, 0};
    const Tensor one = full({}, number(1.0), Dtype::kFloat32);
    const Tensor dy = expanded ? alias(one, kShape, none, 0, one.dtype()) : plain_counting();
    const int64_t before = conversions();
    const Tensor grads[] = {dy}, outputs[] = {y};
    backward(outputs, grads, {}, BackwardOptions());
    expect_in_form(get_grad(x), {&x, &y});
    EXPECT_EQ(conversions(), before);
    for (int64_t i = 0; i < kAll; ++i)
      EXPECT_EQ(get_grad(x).read_plain<float>()[i], 2.0f * i * (expanded ? 1 : i));
  }
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

}  // namespace
}  // namespace libdl
