// SPDX-License-Identifier: Apache-2.0
// libdl.hpp and what does not last: temporaries, what was moved from, and what fits no memory or no
// number of C's.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <libdl.hpp>
#include <limits>
#include <regex>
#include <sstream>

#include "values.h"

using libdl::Dims;
using libdl::Dtype;
using libdl::ErrorCode;
using libdl::Operand;
using libdl::Tensor;
using libdl::Tensors;

namespace {

template <class F>
std::string refused(ErrorCode code, F f) {
  try {
    f();
  } catch (const libdl::Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

static_assert(std::is_same_v<decltype(std::declval<const Tensor&>().relu_()), const Tensor&>);
static_assert(std::is_same_v<decltype(std::declval<Tensor>().relu_()), Tensor>);
static_assert(std::is_same_v<decltype(std::declval<const Tensor>().relu_()), Tensor>);
static_assert(std::is_same_v<decltype(std::declval<Tensor>().set_requires_grad()), Tensor>);

TEST(CppTemporaries, AMethodOfATemporaryGivesATensorThatLasts) {
  const Tensor& x = tensor({-1, 2}).relu_().mul_(3);
  const Tensor& leaf = tensor({1}).set_requires_grad();
  const auto& filled = libdl::empty({2}, Dtype::float64).fill_(7);
  const Tensor other = tensor({9, 9});  // memory that would be used again
  EXPECT_EQ(values(x), (Values{0, 6}));
  EXPECT_TRUE(leaf.requires_grad());
  EXPECT_EQ(values(filled), (Values{7, 7}));
  EXPECT_EQ(&other.relu_(), &other);
}

// Every method that gives a reference is bound to an object that stays, or to an optimizer that
// does.
TEST(CppTemporaries, NoMethodGivesAReferenceIntoATemporary) {
  std::ifstream header(LIBDL_HPP_PATH);
  std::stringstream text;
  text << header.rdbuf();
  std::istringstream lines(text.str());
  const std::regex method(R"(^  (const )?(Tensor|std::\w+<.*>|libdl_\w+)& \w+\(.*\).*)");
  int seen = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!std::regex_match(line, method) || says(line, "operator=")) continue;
    ++seen;
    EXPECT_TRUE(says(line, "const & {") || says(line, "state(size_t")) << line;
  }
  EXPECT_GT(seen, 90);
}

TEST(CppTemporaries, ArgumentsKeepTemporaries) {
  const Operand number = tensor({1, 2}).mul(2);
  const Dims braces = {2, 3}, nine = {1, 1, 1, 1, 1, 1, 1, 1, 2}, none = {},
             empty(std::vector<int64_t>{});
  const Dims moved(std::vector<int64_t>{3, 2}), copied = braces;
  const Tensors list = {tensor({1}), tensor({2})}, of_vector(std::vector<Tensor>{tensor({5})});
  const Tensors copies = list;
  const Tensor other = tensor({9, 9}), another = tensor({8});
  EXPECT_EQ(values(other.add(number)), (Values{11, 13}));
  EXPECT_EQ(libdl::zeros(braces).shape(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(libdl::zeros(copied).shape(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(libdl::zeros(moved).shape(), (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(libdl::zeros(nine).numel(), 2);
  EXPECT_EQ(libdl::zeros(empty).ndim(), 0);
  EXPECT_EQ(none.data(), nullptr);
  EXPECT_EQ(values(libdl::cat(list)), (Values{1, 2}));
  EXPECT_EQ(values(libdl::cat(copies)), (Values{1, 2}));
  EXPECT_EQ(values(libdl::cat(of_vector)), (Values{5}));
  EXPECT_EQ(values(another), Values{8});
}

TEST(CppTemporaries, AMapOutlivesItsTensor) {
  libdl::Map<const double> map(tensor({1, 2}));
  EXPECT_EQ(Values(map.begin(), map.end()), (Values{1, 2}));
  const libdl::Map<const double> taken(std::move(map));
  EXPECT_EQ(map.size(), 0u);
  EXPECT_EQ(map.begin(), map.end());
  EXPECT_EQ(map.data(), nullptr);
  EXPECT_EQ(taken[1], 2);
}

TEST(CppTemporaries, WhatWasMovedFromIsNoTensor) {
  Tensor x = tensor({1, 2});
  const Tensor y(std::move(x));
  EXPECT_FALSE(x);
  EXPECT_EQ(x.ndim(), 0);
  EXPECT_TRUE(x.shape().empty());
  EXPECT_EQ(x.numel(), 0);
  EXPECT_EQ(x.dtype(), Dtype::none);
  EXPECT_FALSE(x.requires_grad());
  EXPECT_FALSE(x.grad());
  refused(ErrorCode::dtype, [&] { x.to_vector<double>(); });
  refused(ErrorCode::dtype, [&] { x.map<double>(); });
  refused(ErrorCode::null, [&] { x.to_string(); });
  refused(ErrorCode::null, [&] { x.set_requires_grad(); });
  refused(ErrorCode::null, [&] { x.backward(); });
  refused(ErrorCode::null, [&] { x.set_grad(y); });
  EXPECT_TRUE(says(refused(ErrorCode::null, [&] { x.relu(); }), "relu: argument 1 (input)"));
  refused(ErrorCode::null, [&] { x.relu_(); });
  refused(ErrorCode::null, [&] { y.add(x); });
  refused(ErrorCode::null, [&] { x.add_hook([](const Tensor& gradient) { return gradient; }); });
  libdl::Generator used(1), given(std::move(used));
  EXPECT_EQ(used.get(), nullptr);
  EXPECT_EQ(given.seed(), 1u);
}

TEST(CppNumbers, ANumberThatCHasNotIsRefusedByItsValue) {
  const Tensor x = libdl::zeros({1}, Dtype::uint64);
  const uint64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(libdl::full({1}, most, Dtype::uint64).to_vector<uint64_t>()[0], most);
  const auto name = "18446744073709551615";
  const uint64_t large = std::numeric_limits<uint64_t>::max();
  EXPECT_TRUE(says(refused(ErrorCode::value, [&] { x.add(large); }), name));
  EXPECT_TRUE(says(refused(ErrorCode::value, [&] { x.fill_(large); }), name));
  EXPECT_TRUE(says(refused(ErrorCode::value, [&] { libdl::full({1}, large); }), name));
  EXPECT_TRUE(says(refused(ErrorCode::value, [&] { static_cast<void>(large * x); }), name));
  EXPECT_TRUE(says(refused(ErrorCode::value, [&] { static_cast<void>(x - (most + 1)); }),
                   "9223372036854775808"));
  EXPECT_EQ(x.sub(std::numeric_limits<uint32_t>::max()).numel(), 1);
  EXPECT_EQ(x.sub(std::numeric_limits<int64_t>::min()).numel(), 1);
}

TEST(CppMemory, WhatFindsNoMemoryIsALibraryError) {
  const Tensor huge = libdl::ones({1}).expand({int64_t{1} << 50});
  const std::string told = refused(ErrorCode::out_of_memory, [&] { huge.to_vector<float>(); });
  EXPECT_TRUE(says(told, "1125899906842624 elements of 4 bytes")) << told;
  const Tensor meta = libdl::empty({int64_t{1} << 50}, Dtype::float32, libdl::device("meta"));
  EXPECT_TRUE(says(refused(ErrorCode::unsupported, [&] { meta.to_vector<float>(); }), "meta"));
  const Tensor small = libdl::empty({2}, Dtype::float32, libdl::device("meta"));
  refused(ErrorCode::unsupported, [&] { small.to_vector<float>(); });
  EXPECT_EQ(libdl::ones({1}).expand({3}).to_vector<float>().size(), 3u);
}

TEST(CppFiles, ANameWithANulIsRefused) {
  const std::string path = testing::TempDir() + "libdl_cpp_nul.safetensors";
  const std::string told = refused(ErrorCode::value, [&] {
    libdl::save(path, {{"w", tensor({1})}, {std::string("a\0b", 3), tensor({1})}});
  });
  EXPECT_TRUE(says(told, "save: name 1, which begins \"a\"")) << told;
  EXPECT_FALSE(std::ifstream(path).good());
  refused(ErrorCode::value, [&] { libdl::save(std::string("/tmp/a\0b", 8), {}); });
  refused(ErrorCode::value, [&] { libdl::File(std::string("/tmp/a\0b", 8)); });
}

TEST(CppOptimizers, AnAverageIsATensorOfItsOwn) {
  const Tensor x = tensor({1}).set_requires_grad();
  libdl::Asgd steps({x});
  EXPECT_FALSE(steps.average(0));
  EXPECT_THROW(steps.average(1), std::out_of_range);
}

}  // namespace
