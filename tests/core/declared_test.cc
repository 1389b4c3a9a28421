// SPDX-License-Identifier: Apache-2.0

// What the doors are compiled against tells a function from one that looks like it.
#include "capi/declared.h"

#include <gtest/gtest.h>

#include "tensor/tensor.h"

namespace libdl::planted {

Tensor one(const Tensor&, Dims);
Tensor two(const Tensor&, std::optional<Dims>, Into = {});
Tensor two(double);

}  // namespace libdl::planted

namespace libdl::capi {
namespace {

TEST(Declared, AFunctionOfTheTypeIsFound) {
  EXPECT_TRUE((LIBDL_IS_DECLARED(planted::one, Tensor(const Tensor&, Dims))));
  EXPECT_TRUE((LIBDL_IS_DECLARED(planted::two, Tensor(const Tensor&, std::optional<Dims>, Into))));
  EXPECT_TRUE((LIBDL_IS_DECLARED(planted::two, Tensor(double))));
}

TEST(Declared, AnIntoThatIsNotOfferedMayBeThere) {
  EXPECT_TRUE((LIBDL_IS_DECLARED(planted::two, Tensor(const Tensor&, std::optional<Dims>))));
}

TEST(Declared, WhatConvertsIsAnother) {
  EXPECT_FALSE((LIBDL_IS_DECLARED(planted::one, Tensor(const Tensor&, std::optional<Dims>))));
  EXPECT_FALSE((LIBDL_IS_DECLARED(planted::one, double(const Tensor&, Dims))));
  EXPECT_FALSE((LIBDL_IS_DECLARED(planted::one, Tensor(const Tensor&))));
  EXPECT_FALSE((LIBDL_IS_DECLARED(planted::two, Tensor(const Tensor&, Dims, Into))));
  EXPECT_FALSE((LIBDL_IS_DECLARED(planted::two, Tensor(float))));
}

}  // namespace
}  // namespace libdl::capi
