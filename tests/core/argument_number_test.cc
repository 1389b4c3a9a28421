// SPDX-License-Identifier: Apache-2.0

// The numbers of arguments in errors follow from the declarations.
#include "capi/argument_number.h"

#include <gtest/gtest.h>

#include <string>

namespace libdl::capi {
namespace {

const OpEntry& entry(const char* name) { return *find_entry(find_op(name)); }

Error error_of(const char* op, const char* name, const std::string& wanted) {
  try {
    fail_argument(LIBDL_ERROR_VALUE, op, name, "is 3", wanted);
  } catch (Error& error) {
    number_arguments(error.object());
    return std::move(error);
  }
}

TEST(ArgumentNumber, OfAnOperatorCountsArgumentsAndThenResults) {
  EXPECT_EQ(argument_number(entry("gather"), "input"), 1);
  EXPECT_EQ(argument_number(entry("gather"), "index"), 3);
  EXPECT_EQ(argument_number(entry("gather"), "dst"), 5);
  EXPECT_EQ(argument_number(entry("max_dim"), "indices_dst"), 5);
  EXPECT_EQ(argument_number(entry("gather"), "other"), 0);
}

TEST(ArgumentNumber, OfAFunctionCountsAPointerWithItsLength) {
  EXPECT_EQ(argument_number("tensor_from_memory", "shape"), 2);
  EXPECT_EQ(argument_number("tensor_from_memory", "ndim"), 2);
  EXPECT_EQ(argument_number("grad", "gradients"), 3);
  EXPECT_EQ(argument_number("backward", "gradients"), 2);
  EXPECT_EQ(argument_number("no_such_function", "shape"), 0);
}

TEST(ArgumentNumber, OfAMemberIsThatOfItsStruct) {
  EXPECT_EQ(argument_number("adam_step", "options"), 1);
  EXPECT_EQ(argument_number("adam_step", "beta1"), 1);
  EXPECT_EQ(argument_number("adam_step", "params"), 2);
}

TEST(ArgumentNumber, StandsBeforeEachNameInTheMessage) {
  Error error = error_of("gather", "index", "one, as argument (input) has");
  EXPECT_EQ(error.object().argument, 3);
  EXPECT_EQ(error.message(),
            "gather: argument 3 (index) is 3, wanted one, as argument 1 (input) has");
  EXPECT_EQ(error.object().wanted, "one, as argument 1 (input) has");
}

TEST(ArgumentNumber, OfADevicesComplaintFollowsFromItsMessage) {
  Error error(LIBDL_ERROR_VALUE, "floor_divide: argument (other) holds 0");
  number_arguments(error.object());
  EXPECT_EQ(error.message(), "floor_divide: argument 2 (other) holds 0");
}

TEST(ArgumentNumber, IsLeftOutWhereThereIsNone) {
  Error error = error_of("gather", "other", "none");
  EXPECT_EQ(error.object().argument, 0);
  EXPECT_EQ(error.message(), "gather: argument (other) is 3, wanted none");
}

}  // namespace
}  // namespace libdl::capi
