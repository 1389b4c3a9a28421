// SPDX-License-Identifier: Apache-2.0

// A training step, forward, backward and Adam, with every allocation failing once: each .grad is
// untouched or complete, and parameters and moments belong to one step, the old or the new.
#include "tests/fault_injection/sweep.h"

namespace failures {
namespace {

T randoms(std::vector<int64_t> shape, uint64_t seed) {
  libdl_generator* generator = nullptr;
  good(libdl_generator_new(seed, &generator));
  T x;
  good(libdl_randn(shape.data(), static_cast<int32_t>(shape.size()), generator, LIBDL_DTYPE_FLOAT32,
                   nullptr, x.out()));
  libdl_generator_release(generator);
  return x;
}

struct Model {
  std::vector<T> params, exp_avgs, exp_avg_sqs;
  T input, target;

  Model() {
    params = {randoms({32, 20}, 1), randoms({32}, 2), randoms({5, 32}, 3), randoms({5}, 4)};
    for (const T& p : params) {
      good(libdl_tensor_set_requires_grad(p.get(), 1));
      for (auto* const list : {&exp_avgs, &exp_avg_sqs}) {
        T zeros;
        good(libdl_zeros_like(p.get(), LIBDL_DTYPE_NONE, nullptr, zeros.out()));
        list->push_back(zeros);
      }
    }
    input = randoms({16, 20}, 5);
    const int64_t count = 16;
    good(libdl_zeros(&count, 1, LIBDL_DTYPE_INT64, nullptr, target.out()));
  }

  libdl_error* loss(T* out) const {
    T hidden, active, logits;
    libdl_error* error = libdl_linear(input.get(), params[0].get(), params[1].get(), hidden.out());
    if (!error) error = libdl_tanh(hidden.get(), active.out());
    if (!error) error = libdl_linear(active.get(), params[2].get(), params[3].get(), logits.out());
    if (!error)
      error =
          libdl_cross_entropy(logits.get(), target.get(), nullptr, -100, nullptr, 0, 0, out->out());
    return error;
  }
  libdl_error* backward() const {
    T y;
    if (libdl_error* const error = loss(&y)) return error;
    const libdl_tensor* const outputs[] = {y.get()};
    return libdl_backward(outputs, 1, nullptr, 0, nullptr, 0, nullptr);
  }
  libdl_error* step() const {
    T grads[4];
    libdl_tensor *p[4], *m[4], *v[4];
    const libdl_tensor* g[4];
    for (size_t i = 0; i < 4; ++i) {
      grads[i] = T(libdl_tensor_grad(params[i].get()));
      p[i] = params[i].get();
      g[i] = grads[i].get();
      m[i] = exp_avgs[i].get();
      v[i] = exp_avg_sqs[i].get();
    }
    libdl_adam_options options = {};
    options.struct_size = sizeof options;
    options.lr = 1e-2;
    options.beta1 = 0.9;
    options.beta2 = 0.999;
    options.eps = 1e-8;
    options.step = 1;
    const libdl_bool recording = libdl_set_grad_enabled(0);
    libdl_error* const error = libdl_adam_step(&options, p, 4, g, 4, m, 4, v, 4, nullptr, 0);
    libdl_set_grad_enabled(recording);
    return error;
  }
  std::vector<std::vector<char>> bytes() const {
    std::vector<std::vector<char>> all;
    for (const auto* const list : {&params, &exp_avgs, &exp_avg_sqs})
      for (const T& x : *list) all.push_back(Seen(x).bytes);
    return all;
  }
};

std::vector<char> grad_bytes(const T& p) {
  const T grad(libdl_tensor_grad(p.get()));
  return grad ? Seen(grad).bytes : std::vector<char>();
}

TEST(Training, EachGradIsUntouchedOrComplete) {
  good(libdl_set_threads(1));
  const Model reference;
  good(reference.backward());
  for (const bool again : {false, true}) {  // first gradients, and ones that are added
    if (again) good(reference.backward());
    std::unique_ptr<Model> model;
    const auto fresh = [&] {
      model.reset();
      model = std::make_unique<Model>();
      if (again) good(model->backward());
    };
    fresh();
    std::vector<std::vector<char>> before;
    for (const T& p : model->params) before.push_back(grad_bytes(p));
    sweep(
        "backward", [&] { return model->backward(); },
        [&](bool failed) {
          for (size_t i = 0; i < 4; ++i) {
            const std::vector<char> now = grad_bytes(model->params[i]);
            const bool whole = now == grad_bytes(reference.params[i]);
            EXPECT_TRUE(whole || (failed && now == before[i])) << "parameter " << i;
          }
          fresh();
        });
  }
}

TEST(Training, AStepHappensWhollyOrNotAtAll) {
  good(libdl_set_threads(1));
  const Model reference;
  const auto old_bytes = reference.bytes();
  good(reference.backward());
  good(reference.step());
  const auto new_bytes = reference.bytes();
  ASSERT_NE(old_bytes, new_bytes);
  std::unique_ptr<Model> model;
  const auto fresh = [&] {
    model.reset();
    model = std::make_unique<Model>();
    good(model->backward());
  };
  fresh();
  sweep(
      "step", [&] { return model->step(); },
      [&](bool failed) {
        EXPECT_EQ(model->bytes(), failed ? old_bytes : new_bytes);
        fresh();
      });
}

// Of every layout and kind of number, so that a later one could fail after an earlier one was
// scaled.
std::vector<T> gradients() {
  std::vector<T> all = {randoms({12, 10}, 1), randoms({5}, 2)};
  T turned;
  good(libdl_transpose(all[0].get(), 0, 1, turned.out()));
  good(libdl_clone(turned.get(), all.emplace_back().out()));
  good(libdl_narrow(randoms({12, 20}, 3).get(), 1, 3, 15, all.emplace_back().out()));
  good(libdl_to(randoms({40}, 4).get(), LIBDL_DTYPE_FLOAT16, nullptr, 0, 1,
                all.emplace_back().out()));
  good(libdl_permute(randoms({2, 3, 2, 3, 2, 3, 2, 3, 2}, 5).get(),
                     std::vector<int64_t>{8, 0, 7, 1, 6, 2, 5, 3, 4}.data(), 9,
                     all.emplace_back().out()));
  good(libdl_to(randoms({70}, 6).get(), LIBDL_DTYPE_FLOAT64, nullptr, 0, 1,
                all.emplace_back().out()));
  all.push_back(randoms({}, 7));
  return all;
}

TEST(Training, GradientsAreClippedWhollyOrNotAtAll) {
  good(libdl_set_threads(1));
  const auto bytes = [](const std::vector<T>& grads) {
    std::vector<std::vector<char>> all;
    for (const T& g : grads) all.push_back(Seen(g).bytes);
    return all;
  };
  for (const bool by_norm : {true, false}) {
    std::vector<T> grads;
    std::vector<libdl_tensor*> handles;
    T norm;
    const auto fresh = [&] {
      norm = T(), grads = gradients(), handles.clear();
      for (const T& g : grads) handles.push_back(g.get());
    };
    const auto clip = [&] {
      const auto count = static_cast<int64_t>(handles.size());
      return by_norm ? libdl_clip_grad_norm(handles.data(), count, 0.5, 2, 0, norm.out())
                     : libdl_clip_grad_value(handles.data(), count, 0.125);
    };
    fresh();
    const auto old_bytes = bytes(grads);
    good(clip());
    const auto new_bytes = bytes(grads);
    for (size_t i = 0; i < grads.size(); ++i) ASSERT_NE(old_bytes[i], new_bytes[i]) << i;
    fresh();
    sweep(by_norm ? "clip_grad_norm" : "clip_grad_value", clip, [&](bool failed) {
      EXPECT_TRUE(bytes(grads) == (failed ? old_bytes : new_bytes));
      fresh();
    });
  }
}

TEST(Training, AWholeStepLeavesNothingBehind) {
  good(libdl_set_threads(1));
  sweep(
      "a step from nothing",
      [&]() -> libdl_error* {
        const int64_t shape[] = {24, 24};
        T x, y;
        libdl_error* error = libdl_zeros(shape, 2, LIBDL_DTYPE_FLOAT32, nullptr, x.out());
        if (!error) error = libdl_tensor_set_requires_grad(x.get(), 1);
        for (int i = 0; i < 3 && !error; ++i) {
          T z;
          error = libdl_matmul(x.get(), y ? y.get() : x.get(), z.out());
          y = std::move(z);
        }
        T all;
        if (!error) error = libdl_sum(y.get(), nullptr, 0, 0, LIBDL_DTYPE_NONE, all.out());
        const libdl_tensor* const outputs[] = {all.get()};
        if (!error) error = libdl_backward(outputs, 1, nullptr, 0, nullptr, 0, nullptr);
        return error;
      },
      [](bool) {});
}

}  // namespace
}  // namespace failures
