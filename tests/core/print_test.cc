// SPDX-License-Identifier: Apache-2.0

// Expected texts are PyTorch's own, with libdl for torch in dtypes.
#include "tensor/print.h"

#include <gtest/gtest.h>

#include <cinttypes>
#include <clocale>
#include <complex>
#include <cstdio>
#include <cstring>
#include <limits>
#include <vector>

#include "io/safetensors.h"

namespace libdl {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

template <class T>
Tensor tensor(Shape shape, Dtype dtype, const std::vector<T>& values) {
  Tensor x = empty(Dims(shape.data(), shape.size()), dtype);
  EXPECT_EQ(static_cast<size_t>(x.numel()), values.size());
  if (!values.empty()) std::memcpy(x.overwrite_plain(), values.data(), values.size() * sizeof(T));
  return x;
}
Tensor floats(Shape shape, const std::vector<float>& values) {
  return tensor(shape, Dtype::kFloat32, values);
}
Tensor row(const std::vector<float>& values) {
  return floats({static_cast<int64_t>(values.size())}, values);
}
Tensor range(Shape shape, Dtype dtype = Dtype::kInt64) {
  int64_t n = 1;
  for (const int64_t size : shape) n *= size;
  std::vector<int64_t> integers;
  std::vector<float> reals;
  for (int64_t i = 0; i < n; ++i) {
    integers.push_back(i);
    reals.push_back(static_cast<float>(i));
  }
  return dtype == Dtype::kInt64 ? tensor(shape, dtype, integers) : tensor(shape, dtype, reals);
}

std::string text(const Tensor& x, const PrintOptions& options = {}) {
  return to_string(x, options);
}

TEST(Print, WholeNumbersHaveAPointOnly) {
  EXPECT_EQ(text(row({1, 2, 3})), "tensor([1., 2., 3.])");
  EXPECT_EQ(text(row({1, -20, 0})), "tensor([  1., -20.,   0.])");
  EXPECT_EQ(text(row({-0.0f, 1})), "tensor([-0., 1.])");
  EXPECT_EQ(text(floats({}, {7})), "tensor(7.)");
  EXPECT_EQ(text(floats({}, {0})), "tensor(0.)");
}

TEST(Print, FractionsHaveFourDigits) {
  EXPECT_EQ(text(row({0.1f, 2, -3.14159f})), "tensor([ 0.1000,  2.0000, -3.1416])");
  EXPECT_EQ(text(floats({}, {3.14159f})), "tensor(3.1416)");
  EXPECT_EQ(text(row({0.5f, 1.5f, 2.5f, 100.25f})),
            "tensor([  0.5000,   1.5000,   2.5000, 100.2500])");
  EXPECT_EQ(text(row({0.00011f, 0.00014f})), "tensor([0.0001, 0.0001])");
}

TEST(Print, WideRangesAreScientific) {
  EXPECT_EQ(text(row({1e-5f, 1})), "tensor([1.0000e-05, 1.0000e+00])");
  EXPECT_EQ(text(row({1e10f, 1})), "tensor([1.0000e+10, 1.0000e+00])");
  EXPECT_EQ(text(row({1, 1000})), "tensor([   1., 1000.])");
  EXPECT_EQ(text(row({1, 1001})), "tensor([1.0000e+00, 1.0010e+03])");
  EXPECT_EQ(text(row({0.5f, 501})), "tensor([5.0000e-01, 5.0100e+02])");
  EXPECT_EQ(text(row({1e8f})), "tensor([100000000.])");
  EXPECT_EQ(text(row({2e8f})), "tensor([2.0000e+08])");
  EXPECT_EQ(text(row({0, 1e-5f})), "tensor([0.0000e+00, 1.0000e-05])");
  EXPECT_EQ(text(floats({}, {1e-10f})), "tensor(1.0000e-10)");
}

TEST(Print, NotFinite) {
  EXPECT_EQ(text(row({kNan, kInf, -kInf, 1})), "tensor([nan, inf, -inf, 1.])");
  EXPECT_EQ(text(row({1.5f, kInf})), "tensor([1.5000,    inf])");
  EXPECT_EQ(text(row({-kNan, 0.25f})), "tensor([   nan, 0.2500])");
  EXPECT_EQ(text(row({1e-6f, -kInf})), "tensor([1.0000e-06,       -inf])");
  EXPECT_EQ(text(row({kNan, kNan})), "tensor([nan, nan])");
  EXPECT_EQ(text(row({kInf, 100})), "tensor([ inf, 100.])");
}

TEST(Print, IntegersAndBools) {
  EXPECT_EQ(text(tensor<int64_t>({3}, Dtype::kInt64, {1, -10, 100})), "tensor([  1, -10, 100])");
  EXPECT_EQ(text(tensor<int32_t>({2}, Dtype::kInt32, {1, 2})), "tensor([1, 2], dtype=libdl.int32)");
  EXPECT_EQ(text(tensor<uint8_t>({2}, Dtype::kUint8, {1, 255})),
            "tensor([  1, 255], dtype=libdl.uint8)");
  EXPECT_EQ(text(tensor<int8_t>({1}, Dtype::kInt8, {-128})), "tensor([-128], dtype=libdl.int8)");
  EXPECT_EQ(text(tensor<uint64_t>({1}, Dtype::kUint64, {~uint64_t{0}})),
            "tensor([18446744073709551615], dtype=libdl.uint64)");
  EXPECT_EQ(text(tensor<int64_t>({}, Dtype::kInt64, {5})), "tensor(5)");
  EXPECT_EQ(text(tensor<uint8_t>({2}, Dtype::kBool, {1, 0})), "tensor([ True, False])");
  EXPECT_EQ(text(tensor<uint8_t>({}, Dtype::kBool, {1})), "tensor(True)");
}

TEST(Print, OtherFloatingDtypes) {
  EXPECT_EQ(text(tensor<double>({2}, Dtype::kFloat64, {1, 0.5})),
            "tensor([1.0000, 0.5000], dtype=libdl.float64)");
  // 1, 65504, the smallest subnormal, infinity
  EXPECT_EQ(text(tensor<uint16_t>({2}, Dtype::kFloat16, {0x3c00, 0x7bff})),
            "tensor([1.0000e+00, 6.5504e+04], dtype=libdl.float16)");
  EXPECT_EQ(text(tensor<uint16_t>({3}, Dtype::kFloat16, {0x0001, 0x7c00, 0xfe00})),
            "tensor([5.9605e-08,        inf,        nan], dtype=libdl.float16)");
  EXPECT_EQ(text(tensor<uint16_t>({2}, Dtype::kBfloat16, {0x3f80, 0xc049})),
            "tensor([ 1.0000, -3.1406], dtype=libdl.bfloat16)");
  PrintOptions options;
  options.default_dtype = Dtype::kFloat64;
  EXPECT_EQ(text(tensor<double>({1}, Dtype::kFloat64, {1}), options), "tensor([1.])");
  EXPECT_EQ(text(row({1}), options), "tensor([1.], dtype=libdl.float32)");
}

TEST(Print, Complex) {
  using C = std::complex<float>;
  EXPECT_EQ(text(tensor<C>({2}, Dtype::kComplex64, {{1, 2}, {-1.5f, -0.5f}})),
            "tensor([ 1.0000+2.0000j, -1.5000-0.5000j])");
  EXPECT_EQ(text(tensor<C>({2}, Dtype::kComplex64, {{1, 0}, {0, 1}})), "tensor([1.+0.j, 0.+1.j])");
  EXPECT_EQ(text(tensor<C>({}, Dtype::kComplex64, {{1.5f, -2}})), "tensor(1.5000-2.j)");
  EXPECT_EQ(text(tensor<std::complex<double>>({1}, Dtype::kComplex128, {{1, 1}})),
            "tensor([1.+1.j], dtype=libdl.complex128)");
}

TEST(Print, Empty) {
  EXPECT_EQ(text(floats({0}, {})), "tensor([])");
  EXPECT_EQ(text(floats({0, 3}, {})), "tensor([], size=(0, 3))");
  EXPECT_EQ(text(tensor<int64_t>({0}, Dtype::kInt64, {})), "tensor([], dtype=libdl.int64)");
  EXPECT_EQ(text(tensor<int64_t>({2, 0}, Dtype::kInt64, {})),
            "tensor([], size=(2, 0), dtype=libdl.int64)");
}

TEST(Print, Brackets) {
  EXPECT_EQ(text(range({2, 3})),
            "tensor([[0, 1, 2],\n"
            "        [3, 4, 5]])");
  EXPECT_EQ(text(range({2, 2, 2})),
            "tensor([[[0, 1],\n"
            "         [2, 3]],\n"
            "\n"
            "        [[4, 5],\n"
            "         [6, 7]]])");
  EXPECT_EQ(text(range({1, 1, 1, 2})), "tensor([[[[0, 1]]]])");
  const Tensor x = range({2, 3});
  EXPECT_EQ(text(alias(x, Shape{3, 2}, Shape{1, 3}, 0, x.dtype())),
            "tensor([[0, 3],\n"
            "        [1, 4],\n"
            "        [2, 5]])");
}

TEST(Print, LongLinesAreBroken) {
  EXPECT_EQ(text(range({20}, Dtype::kFloat32)),
            "tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13.,\n"
            "        14., 15., 16., 17., 18., 19.])");
  EXPECT_EQ(text(range({30})),
            "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n"
            "        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])");
}

TEST(Print, ManyElementsAreSummarized) {
  EXPECT_EQ(text(range({1000})).find("..."), std::string::npos);
  EXPECT_EQ(text(range({1001})), "tensor([   0,    1,    2,  ...,  998,  999, 1000])");
  EXPECT_EQ(text(range({2000}, Dtype::kFloat32)),
            "tensor([0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 1.9970e+03, 1.9980e+03,\n"
            "        1.9990e+03])");
  EXPECT_EQ(text(range({100, 100})),
            "tensor([[   0,    1,    2,  ...,   97,   98,   99],\n"
            "        [ 100,  101,  102,  ...,  197,  198,  199],\n"
            "        [ 200,  201,  202,  ...,  297,  298,  299],\n"
            "        ...,\n"
            "        [9700, 9701, 9702,  ..., 9797, 9798, 9799],\n"
            "        [9800, 9801, 9802,  ..., 9897, 9898, 9899],\n"
            "        [9900, 9901, 9902,  ..., 9997, 9998, 9999]])");
  EXPECT_EQ(text(range({2, 600})),
            "tensor([[   0,    1,    2,  ...,  597,  598,  599],\n"
            "        [ 600,  601,  602,  ..., 1197, 1198, 1199]])");
}

TEST(Print, SummariesAreAsSmallAsTheyLook) {
  const Tensor one = floats({1}, {1});
  const Tensor wide = alias(one, Shape{int64_t{1} << 40}, Shape{0}, 0, one.dtype());
  EXPECT_EQ(text(wide), "tensor([1., 1., 1.,  ..., 1., 1., 1.])");
}

TEST(Print, Options) {
  PrintOptions options;
  options.precision = 2;
  EXPECT_EQ(text(row({0.125f, 3}), options), "tensor([0.12, 3.00])");
  options = {};
  options.scientific = Scientific::kOn;
  EXPECT_EQ(text(row({1, 2.5f}), options), "tensor([1.0000e+00, 2.5000e+00])");
  options.scientific = Scientific::kOff;
  EXPECT_EQ(text(row({1e-5f, 1}), options), "tensor([0.0000, 1.0000])");
  options = {};
  options.threshold = 5;
  options.edgeitems = 1;
  EXPECT_EQ(text(range({3, 3}), options),
            "tensor([[0,  ..., 2],\n"
            "        ...,\n"
            "        [6,  ..., 8]])");
  options.edgeitems = 0;
  EXPECT_EQ(text(range({3, 3}), options), "tensor([...], size=(3, 3))");
  EXPECT_EQ(text(range({9}), options), "tensor([...], size=(9,))");
  EXPECT_EQ(text(range({2}), options), "tensor([0, 1], size=(2,))");
  options = {};
  options.linewidth = 20;
  EXPECT_EQ(text(range({6}), options),
            "tensor([0, 1, 2, 3,\n"
            "        4, 5])");
  options.linewidth = 0;
  EXPECT_EQ(text(range({2}), options),
            "tensor([0,\n"
            "        1])");
  options = {};
  options.dtype_prefix = "torch.";
  EXPECT_EQ(text(tensor<int32_t>({1}, Dtype::kInt32, {1}), options),
            "tensor([1], dtype=torch.int32)");
}

TEST(Print, Suffixes) {
  PrintOptions options;
  options.requires_grad = true;
  EXPECT_EQ(text(row({1, 2}), options), "tensor([1., 2.], requires_grad=True)");
  options.grad_fn = "AddBackward0";
  EXPECT_EQ(text(row({1, 2}), options), "tensor([1., 2.], grad_fn=<AddBackward0>)");
  EXPECT_EQ(text(floats({}, {0.5f}), options), "tensor(0.5000, grad_fn=<AddBackward0>)");
  EXPECT_EQ(text(tensor<double>({}, Dtype::kFloat64, {0.5}), options),
            "tensor(0.5000, dtype=libdl.float64, grad_fn=<AddBackward0>)");
  EXPECT_EQ(text(range({14}, Dtype::kFloat32), options),
            "tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13.],\n"
            "       grad_fn=<AddBackward0>)");
}

// What PyTorch 2.15 wrote; print_reference.py made the file.
TEST(Print, PyTorchsOwnTexts) {
  const File file = open_file("tests/core/print_reference.safetensors", false);
  const Header& header = file->header;
  ASSERT_GT(header.tensors.size(), 300u);
  ASSERT_EQ(header.tensors.size(), header.metadata.size());
  for (const TextEntry& entry : header.metadata) {
    const std::string name = header.text.substr(entry.key, entry.key_length);
    PrintOptions options;
    options.dtype_prefix = "torch.";
    int number = 0, scientific = 0;
    ASSERT_EQ(std::sscanf(name.c_str(), "%d,%d,%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%d", &number,
                          &options.precision, &options.threshold, &options.edgeitems,
                          &options.linewidth, &scientific),
              6);
    options.scientific = static_cast<Scientific>(scientific);
    const Tensor x = read_tensor(file, header.find(name).value());
    EXPECT_EQ(text(x, options), header.text.substr(entry.value, entry.value_length)) << name;
  }
}

TEST(Print, HostNumbers) {
  EXPECT_EQ(text(number(2.5)), "tensor(2.5000, dtype=libdl.float64)");
  EXPECT_EQ(text(number(true)), "tensor(True)");
}

TEST(Print, TheHostsLocaleChangesNothing) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  bool found = false;
  for (const char* name : {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "C.UTF-8"})
    found = found || std::setlocale(LC_ALL, name);
  EXPECT_TRUE(found);
  EXPECT_EQ(text(row({1.5f})), "tensor([1.5000])");
  std::setlocale(LC_ALL, before.c_str());
}

}  // namespace
}  // namespace libdl
