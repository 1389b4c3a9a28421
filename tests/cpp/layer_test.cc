// SPDX-License-Identifier: Apache-2.0
// libdl.hpp as its users see it: values, forms, errors, gradients, and nothing left behind.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <libdl.hpp>
#include <typeinfo>

#include "values.h"

using libdl::Dtype;
using libdl::ErrorCode;
using libdl::Tensor;

namespace {

Tensor leaf(const Values& v) { return tensor(v).set_requires_grad(); }

std::tuple<int64_t, int64_t, int64_t, int64_t> live() {
  int64_t tensors, storages, nodes, bytes;
  libdl_memory_get_live(&tensors, &storages, &nodes, &bytes);
  return {tensors, storages, nodes, bytes};
}

// Each test also leaves nothing alive.
class CppLayer : public testing::Test {
  void SetUp() override { before_ = live(); }
  void TearDown() override { EXPECT_EQ(live(), before_); }
  std::tuple<int64_t, int64_t, int64_t, int64_t> before_;
};

TEST_F(CppLayer, EachKindOfArgumentPasses) {
  const Tensor x = tensor({3, 1, 2}), y = tensor({10, 20, 30});
  EXPECT_EQ(values(x.add(y, 2)), (Values{23, 41, 62}));
  EXPECT_EQ(x.sum().item_f64(), 6);
  EXPECT_EQ(x.sum({0}, true, Dtype::float32).shape(), std::vector<int64_t>{1});
  EXPECT_EQ(libdl::cat({x, y}).numel(), 6);
  EXPECT_EQ(libdl::stack({x, y}, 1).shape(), (std::vector<int64_t>{3, 2}));
  const auto [largest, indices] = x.topk(2);
  EXPECT_EQ(values(largest), (Values{3, 2}));
  EXPECT_EQ(indices.to_vector<int64_t>(), (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(values(tensor({7, 7}).softmax(0)), (Values{0.5, 0.5}));
  EXPECT_EQ(values(x.div(2, "floor")), (Values{1, 0, 1}));
  EXPECT_EQ(values(x.clamp(1.5)), (Values{3, 1.5, 2}));
  EXPECT_EQ(x.split(2).size(), 2u);
  EXPECT_TRUE(x.equal(x));
  EXPECT_EQ(values(x.index({Tensor::from(std::vector<int64_t>{2}, {1})})), Values{2});
  EXPECT_EQ(libdl::ones({}).ndim(), 0);
  EXPECT_EQ(values(2.0 - x * x / 2), (Values{-2.5, 1.5, 0}));
  EXPECT_EQ(libdl::arange({}, 3, {}).dtype(), Dtype::int64);
  const libdl::Generator a(5), b(5);
  EXPECT_EQ(values(libdl::randn({9}, a, Dtype::float64)),
            values(libdl::randn({9}, b, Dtype::float64)));
}

TEST_F(CppLayer, CopiesAreTheSameTensor) {
  const Tensor x = tensor({1, 2}), alias = x;
  x.add_(10).mul_(2);
  EXPECT_EQ(values(alias), (Values{22, 24}));
  const Tensor other = x.clone();
  x.sub_into(2, {}, other);
  EXPECT_EQ(values(other), (Values{20, 22}));
  x.zero_();
  EXPECT_EQ(values(alias), (Values{0, 0}));
  EXPECT_FALSE(Tensor());
}

TEST_F(CppLayer, MapsGiveTheElementsThemselves) {
  const Tensor x = tensor({1, 2, 3});
  const uint64_t before = x.version();
  for (double& element : x.map_mut<double>()) element *= 10;
  EXPECT_GT(x.version(), before);
  double sum = 0;
  for (const double element : x.map<double>()) sum += element;
  EXPECT_EQ(sum, 60);
  EXPECT_THROW(x.map<float>(), libdl::Error);
}

// The error of this header's own functions tells of them as one of the library's does.
template <typename F>
void expect_told_by(const char* op, ErrorCode code, F&& call) {
  try {
    call();
    FAIL() << op << " was not refused";
  } catch (const libdl::Error& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_STREQ(error.op(), op);
    EXPECT_EQ(std::string(error.what()).find(std::string(op) + ": "), 0u) << error.what();
    const libdl::Error copy = error;
    EXPECT_STREQ(copy.op(), op);
  }
}

TEST_F(CppLayer, ErrorsOfTheHeadersFunctionsNameThem) {
  Tensor x = libdl::zeros({2, 3});
  const auto value = ErrorCode::value;
  expect_told_by("map", ErrorCode::dtype, [&] { x.map<double>(); });
  expect_told_by("map", value, [&] { x.transpose(0, 1).map<float>(); });
  expect_told_by("to_vector", ErrorCode::dtype, [&] { x.to_vector<int64_t>(); });
  expect_told_by("save", value, [&] { libdl::save("none", {{std::string("a\0b", 3), x}}); });
  expect_told_by("device", ErrorCode::device, [] { libdl::device("nope"); });
  const Tensor taken = std::move(x);
  expect_told_by("to_vector", ErrorCode::dtype, [&] { x.to_vector<float>(); });
}

// Whatever a kernel throws is an error of its operator.
TEST_F(CppLayer, WhatAKernelThrowsIsItsOperators) {
  libdl_op op = 0;
  libdl::check(libdl_op_register("words::none(tensor x) -> tensor out", -1, &op));
  const auto kernel = [](void*, const libdl_value*, int32_t, libdl_tensor**,
                         int32_t) -> libdl_error* { throw std::bad_alloc(); };
  libdl::check(libdl_op_set_kernel(op, LIBDL_DEVICE_CPU, kernel, nullptr, nullptr));
  const Tensor x = libdl::zeros({2});
  libdl_value argument = {}, result = {};
  argument.type = LIBDL_VALUE_TENSOR;
  argument.held.tensor = x.get();
  libdl_tensor* dst = x.get();
  for (libdl_error* const raw : {libdl_op_call(op, &argument, 1, &result, 1),
                                 libdl_op_call_into(op, &argument, 1, &dst, 1)}) {
    const libdl::Error error = libdl::Error::take(raw);
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    EXPECT_STREQ(error.op(), "words::none");
    EXPECT_STREQ(error.what(), "words::none: out of memory");
  }
}

TEST_F(CppLayer, ErrorsAreExceptionsThatKeepTheirObject) {
  const Tensor x = libdl::zeros({2, 3});
  try {
    x.matmul(x);
    FAIL() << "the shapes do not fit";
  } catch (const libdl::Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::shape);
    EXPECT_STREQ(error.op(), "matmul");
    EXPECT_EQ(error.argument(), 2);
    EXPECT_STREQ(error.argument_name(), "other");
    EXPECT_NE(std::string(error.what()).find("matmul"), std::string::npos);
    const libdl::Error copy = error;
    EXPECT_STREQ(copy.wanted(), error.wanted());
  }
  try {
    Tensor().add(x);
    FAIL() << "an empty tensor is no operand";
  } catch (const libdl::Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::null);
  }
}

TEST_F(CppLayer, GradientsArrive) {
  const Tensor x = leaf({1, 2});
  (x * x).sum().backward();
  EXPECT_EQ(values(x.grad()), (Values{2, 4}));
  x.set_grad({});
  EXPECT_FALSE(x.grad());
  const Tensor y = x.pow(3).sum();
  libdl::PassOptions higher;
  higher.create_graph = true;
  const Tensor first = libdl::grad({y}, {x}, {}, higher)[0];
  EXPECT_EQ(values(libdl::grad({first.sum()}, {x})[0]), (Values{6, 12}));
  libdl::PassOptions rows;
  rows.batched = true;
  const Tensor units = Tensor::from(Values{1, 0, 0, 1}, {2, 2});
  const Tensor jacobian = libdl::grad({x * x}, {x}, {units}, rows)[0];
  EXPECT_EQ(values(jacobian.reshape({4})), (Values{2, 0, 0, 4}));
  const libdl::NoGrad guard;
  EXPECT_FALSE((x * 2).requires_grad());
}

TEST_F(CppLayer, AutocastLastsAsLongAsItsObject) {
  const Tensor x = Tensor::from(std::vector<float>{1, 2, 3, 4}, {2, 2});
  {
    const libdl::Autocast products;
    EXPECT_EQ(x.mm(x).dtype(), Dtype::bfloat16);
    const libdl::Autocast off(Dtype::bfloat16, false);
    EXPECT_EQ(x.mm(x).dtype(), Dtype::float32);
  }
  EXPECT_EQ(x.mm(x).dtype(), Dtype::float32);
  EXPECT_THROW(libdl::Autocast{Dtype::int8}, libdl::Error);
}

Tensor cube(const Tensor& x, const libdl::Backward& backward) {
  Tensor y;
  {
    const libdl::NoGrad unrecorded;
    y = x.pow(3);
  }
  libdl::record_function("cube", {x}, {y}, {x}, backward);
  return y;
}

TEST_F(CppLayer, AFunctionOfOnesOwnHasItsGradient) {
  const auto right = [](const libdl::BackwardContext& context, const std::vector<Tensor>& dy) {
    return std::vector<Tensor>{3 * context.saved(0).square() * dy[0]};
  };
  const Tensor x = leaf({-1.5, 0.25, 2});
  libdl::gradcheck([&](const std::vector<Tensor>& in) { return std::vector{cube(in[0], right)}; },
                   {x}, 1, true);
  const auto wrong = [](const libdl::BackwardContext&, const std::vector<Tensor>& dy) {
    return dy;
  };
  EXPECT_THROW(
      libdl::gradcheck(
          [&](const std::vector<Tensor>& in) { return std::vector{cube(in[0], wrong)}; }, {x}),
      libdl::Error);
}

TEST_F(CppLayer, GradcheckTakesItsOptions) {
  const Tensor x = leaf({0.5, 2});
  EXPECT_EQ(x.dim(), x.ndim());
  double largest = 0;
  const auto square = [&](const std::vector<Tensor>& in) {
    for (const double v : values(in[0].detach().sub(tensor({0.5, 2}))))
      largest = std::max(largest, std::abs(v));
    return std::vector{in[0] * in[0]};
  };
  libdl::GradcheckOptions options;
  options.forward = options.second_order = true;
  libdl::gradcheck(square, {x}, 1, options);
  EXPECT_NEAR(largest, 1e-6, 1e-9);
  options.eps = 1e-4;
  libdl::gradcheck(square, {x}, 1, options);
  EXPECT_NEAR(largest, 1e-4, 1e-9);
  options.rtol = options.atol = 1e-14;
  EXPECT_THROW(
      libdl::gradcheck([](const std::vector<Tensor>& in) { return std::vector{in[0].exp()}; }, {x},
                       1, options),
      libdl::Error);
}

TEST_F(CppLayer, CustomFunctionsAreOneNode) {
  const auto cube = [](const Tensor& x) {
    return libdl::custom_function(
        "cube", {x},
        [](const std::vector<Tensor>& in) { return std::vector{in[0] * in[0] * in[0]}; },
        [](const libdl::BackwardContext& context, const std::vector<Tensor>& dy) {
          const Tensor saved = context.saved(0);
          return std::vector{dy[0] * 3 * saved * saved};
        })[0];
  };
  const Tensor x = leaf({1, 2});
  const Tensor y = cube(x);
  EXPECT_EQ(values(y), (Values{1, 8}));
  y.sum().backward();
  EXPECT_EQ(values(x.grad()), (Values{3, 12}));
  libdl::gradcheck([&](const std::vector<Tensor>& in) { return std::vector{cube(in[0])}; }, {x}, 1,
                   true);
}

TEST_F(CppLayer, OptimizersDescend) {
  const auto loss = [](const Tensor& x) { return (x - 3).square().sum(); };
  const Tensor a = leaf({0, 9}), b = leaf({0, 9}), unused = leaf({1});
  libdl::Sgd sgd({a, unused}, 0.1);
  sgd.options.momentum = 0.5;
  libdl::Adam adam({unused, b}, 0.3);
  adam.options.amsgrad = 1;
  for (int i = 0; i < 200; ++i) {
    sgd.zero_grad();
    adam.zero_grad();
    (loss(a) + loss(b)).backward();
    sgd.step();
    adam.step();
  }
  // Both start at 45; how near they come is the rules' business, not this test's.
  EXPECT_LT(loss(a).item_f64(), 1e-3);
  EXPECT_LT(loss(b).item_f64(), 1e-1);
  EXPECT_EQ(values(unused), Values{1});
}

template <class Kind>
void expect_descent(double lr, void (*set)(Kind&) = [](Kind&) {}) {
  const Tensor x = leaf({0, 9}), late = leaf({0, 9}), unused = leaf({1});
  Kind optimizer({unused, x, late}, lr);
  set(optimizer);
  for (int i = 0; i < 300; ++i) {
    optimizer.zero_grad();
    (x - 3).square().sum().backward();
    if (i >= 100) (late - 3).square().sum().backward();
    optimizer.step();
  }
  EXPECT_LT((x - 3).square().sum().item_f64(), 1) << typeid(Kind).name();
  EXPECT_LT((late - 3).square().sum().item_f64(), 4) << typeid(Kind).name();
  EXPECT_EQ(values(unused), Values{1});
}

TEST_F(CppLayer, OtherOptimizersDescend) {
  expect_descent<libdl::Adamax>(0.3);
  expect_descent<libdl::Nadam>(0.3);
  expect_descent<libdl::Radam>(0.3);
  expect_descent<libdl::Adagrad>(2);
  expect_descent<libdl::Adadelta>(20);
  expect_descent<libdl::Asgd>(0.1);
  expect_descent<libdl::Rmsprop>(0.1);
  expect_descent<libdl::Rmsprop>(0.02, [](libdl::Rmsprop& o) {
    o.options.momentum = 0.5;
    o.options.centered = 1;
  });
  expect_descent<libdl::Rprop>(0.1);
  const Tensor table = libdl::ones({4, 1}, Dtype::float64).set_requires_grad();
  libdl::SparseAdam sparse({table}, 0.5);
  const Tensor at = Tensor::from(std::vector<int64_t>{2}, {1});
  at.embedding(table, {}, false, true).sum().backward();
  EXPECT_TRUE(table.grad().is_sparse());
  EXPECT_EQ(values(std::get<1>(table.grad().sparse_rows())), Values{1});
  sparse.step();
  EXPECT_EQ(values(table)[0], 1);
  EXPECT_NEAR(values(table)[2], 0.5, 1e-6);
  const Tensor x = leaf({0, 9});
  libdl::Asgd asgd({x}, 0.1);
  asgd.options.t0 = 0;
  for (int i = 0; i < 2; ++i) {
    x.set_grad(tensor({1, 1}));
    asgd.step();
  }
  EXPECT_LT(values(asgd.average(0))[0], 0);
}

TEST_F(CppLayer, GradientsAreClipped) {
  const Tensor x = leaf({3, 4});
  x.square().sum().backward();
  EXPECT_EQ(libdl::clip_grad_norm({x}, 1e9).item_f64(), 10);
  libdl::clip_grad_value({x}, 7);
  EXPECT_EQ(values(x.grad()), (Values{6, 7}));
  EXPECT_EQ(libdl::total_norm({tensor({3}), tensor({4})}).item_f64(), 5);
  libdl::clip_grads_with_norm({x}, 3.5, tensor({7}));
  EXPECT_NEAR(values(x.grad())[1], 3.5, 1e-5);
}

TEST_F(CppLayer, TensorsGoThroughFilesAndDlpack) {
  const Tensor x = tensor({1, 2});
  EXPECT_EQ(values(libdl::from_dlpack(libdl::to_dlpack(x))), (Values{1, 2}));
  const std::string path = testing::TempDir() + "libdl-cpp-layer.safetensors";
  libdl::save(path, {{"x", x}});
  const libdl::File file(path);
  EXPECT_EQ(file.names(), std::vector<std::string>{"x"});
  EXPECT_EQ(values(file.tensor("x")), (Values{1, 2}));
  EXPECT_THROW(file.tensor("y"), libdl::Error);
  std::remove(path.c_str());
}

struct Own {
  int number;
};

TEST_F(CppLayer, ExceptionsOfCallbacksComeOutAsThemselves) {
  const Tensor x = leaf({1});
  const auto throwing = [](const libdl::BackwardContext&,
                           const std::vector<Tensor>&) -> std::vector<Tensor> { throw Own{7}; };
  try {
    cube(x, throwing).backward();
    FAIL() << "the callback throws";
  } catch (const Own& own) {
    EXPECT_EQ(own.number, 7);
  }
  const Tensor y = x * 2;
  const auto raised = [](const Tensor&) -> Tensor { throw std::out_of_range("here"); };
  const libdl::Hook hook = y.add_hook(raised);
  EXPECT_THROW(y.backward(), std::out_of_range);
  hook.remove();
  const libdl::Hook tenfold = y.add_hook([](const Tensor& gradient) { return gradient * 10; });
  (y * 1).backward();
  EXPECT_EQ(values(x.grad()), Values{20});
  const auto none = [](const libdl::BackwardContext&, const std::vector<Tensor>&) {
    return std::vector<Tensor>{};
  };
  EXPECT_THROW(cube(x, none).backward(), libdl::Error);
}

}  // namespace
