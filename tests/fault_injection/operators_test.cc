// SPDX-License-Identifier: Apache-2.0

// Every operator with every allocation failing once: the error is OUT_OF_MEMORY, nothing leaks, and
// what the call was given is as it was. Arguments are found by trying: the operators themselves say
// which they take.
#include <cstring>
#include <map>
#include <random>
#include <string_view>

#include "tests/fault_injection/sweep.h"

namespace failures {
namespace {

T make(libdl_dtype dtype, std::vector<int64_t> shape, const std::vector<double>& values) {
  T x, y;
  good(libdl_empty(shape.data(), static_cast<int32_t>(shape.size()), LIBDL_DTYPE_FLOAT64, nullptr,
                   x.out()));
  std::vector<double> all(static_cast<size_t>(libdl_tensor_numel(x.get())));
  for (size_t i = 0; i < all.size(); ++i) all[i] = values[i % values.size()];
  good(libdl_tensor_copy_in(x.get(), all.data(), static_cast<int64_t>(all.size() * 8)));
  good(libdl_to(x.get(), dtype, nullptr, 0, 1, y.out()));
  return y;
}

// The pool that tensor arguments are chosen from. More than 64 bytes each where possible, so that
// storages come from the allocator, too.
struct Samples {
  std::vector<T> tensors;
  // Of operators whose arguments depend on each other too much to be found by trying: these, and no
  // others, by operator and argument; arguments that are not listed are absent if they may be.
  std::map<std::string, std::map<std::string, T>, std::less<>> fixed;
  std::vector<std::vector<libdl_tensor*>> lists;
  std::vector<std::vector<int64_t>> ints = {{1},     {0},  {1, 0}, {0, 1}, {2, 3},      {3, 4, 5},
                                            {12, 5}, {12}, {2, 6}, {},     {2, 2, 3, 3}};

  Samples() {
    const std::vector<double> values = {0.5, 0.25, 0.75, 0.125, 0.625};
    const libdl_dtype d = LIBDL_DTYPE_FLOAT64, i = LIBDL_DTYPE_INT64;
    tensors = {make(d, {4, 4, 5}, values),
               make(d, {12, 12}, values),
               make(d, {12}, values),
               make(i, {12}, {0, 2, 1}),
               make(d, {}, values),
               make(i, {12, 12}, {0, 2, 1}),
               make(LIBDL_DTYPE_BOOL, {12, 12}, {0, 1, 1}),
               make(d, {4, 5, 4}, values),
               make(LIBDL_DTYPE_COMPLEX128, {12, 12}, values),
               make(d, {12, 2}, values),
               make(d, {5}, values),
               make(d, {1}, values),
               make(i, {1}, {0}),
               make(d, {1, 1}, values),
               make(d, {2, 2, 3, 3}, values),
               make(d, {2, 2, 2, 2, 2}, values),
               make(d, {2}, values),
               make(d, {2, 2, 2, 2}, values),
               make(d, {2, 2, 3}, values),
               make(d, {1, 1, 1}, values),
               make(d, {2, 2, 2}, values),
               make(i, {2, 2, 2}, {0, 1}),
               make(i, {2, 2, 2, 2, 2}, {0, 1}),
               make(d, {3, 1}, values),
               make(d, {4, 1}, values)};
    tensors.emplace_back();  // for sparse_* alone: each sample more makes the others' search longer
    good(libdl_sparse_from_rows(tensors[3].get(), tensors[1].get(), 4, tensors.back().out()));
    for (const char* const op : {"multi_head_attention", "multi_head_attention_with_weights"}) {
      for (const char* const x : {"query", "key", "value"})
        fixed[op][x] = make(d, {4, 1, 4}, values);
      fixed[op]["in_proj_weight"] = make(d, {12, 4}, values);
      fixed[op]["in_proj_bias"] = make(d, {12}, values);
      fixed[op]["out_proj_weight"] = make(d, {4, 4}, values);
      fixed[op]["out_proj_bias"] = make(d, {4}, values);
    }
    fixed["grouped_mm"]["mat_a"] = make(LIBDL_DTYPE_FLOAT32, {12, 12}, values);
    fixed["grouped_mm"]["mat_b"] = make(LIBDL_DTYPE_FLOAT32, {1, 12, 12}, values);
    fixed["grouped_mm"]["offs"] = make(LIBDL_DTYPE_INT32, {1}, {12});
    const auto list = [&](std::initializer_list<int> which) {
      lists.emplace_back();
      for (const int k : which) lists.back().push_back(tensors[static_cast<size_t>(k)].get());
    };
    list({1, 1});
    list({3});
    list({3, 3});
    list({13, 13});  // recurrent: states, and weights of one, three and four gates
    list({19, 19});
    list({23, 23});
    list({24, 24});
    list({2, 2});
  }
};

using Values = std::vector<libdl_value>;

std::vector<libdl_value> candidates(libdl_op op, int32_t k, const Samples& s) {
  std::vector<libdl_value> all;
  const auto add = [&](auto&& fill) {
    libdl_value v = {};
    v.type = libdl_op_argument_type(op, k);
    fill(v);
    all.push_back(v);
  };
  const auto fixed = s.fixed.find(std::string_view(libdl_op_name(op)));
  if (fixed != s.fixed.end() && libdl_op_argument_type(op, k) == LIBDL_VALUE_TENSOR) {
    const auto x = fixed->second.find(libdl_op_argument_name(op, k));
    if (x == fixed->second.end()) return {libdl_value{}};
    add([&](libdl_value& v) { v.held.tensor = x->second.get(); });
    return all;
  }
  switch (libdl_op_argument_type(op, k)) {
    case LIBDL_VALUE_TENSOR: {
      const std::string_view name = libdl_op_name(op);
      const bool sparse = name.starts_with("sparse_");
      const bool order = name.starts_with("igamma") && k == 0;  // of which there is no gradient
      for (size_t n = 0; n < s.tensors.size() - !sparse; ++n)
        if (!order || libdl_tensor_dtype(s.tensors[n].get()) == LIBDL_DTYPE_INT64)
          add([&](libdl_value& v) { v.held.tensor = s.tensors[n].get(); });
      break;
    }
    case LIBDL_VALUE_TENSORS:
      for (const auto& list : s.lists)
        add([&](libdl_value& v) {
          v.held.tensors = {list.data(), static_cast<int64_t>(list.size())};
        });
      break;
    case LIBDL_VALUE_BOOL:
      add([](libdl_value& v) { v.held.boolean = 1; });
      add([](libdl_value& v) { v.held.boolean = 0; });
      break;
    case LIBDL_VALUE_INT:
      for (const int64_t n : {1, 0, 2, 3}) add([&](libdl_value& v) { v.held.integer = n; });
      break;
    case LIBDL_VALUE_FLOAT: add([](libdl_value& v) { v.held.number = 0.5; }); break;
    case LIBDL_VALUE_INTS:
      for (const auto& list : s.ints)
        add([&](libdl_value& v) {
          v.held.integers = {list.data(), static_cast<int64_t>(list.size())};
        });
      break;
    case LIBDL_VALUE_STRING:
      for (const char* const text : {"mean", "add", "floor", "tanh", "i", "amax", "constant",
                                     "bilinear", "zeros", "...,..."})
        add([&](libdl_value& v) { v.held.string = {text, -1}; });
      break;
    case LIBDL_VALUE_DTYPE:
      add([](libdl_value& v) { v.held.dtype = LIBDL_DTYPE_FLOAT64; });
      add([](libdl_value& v) { v.held.dtype = LIBDL_DTYPE_NONE; });
      break;
    default: break;
  }
  if (libdl_op_argument_is_nullable(op, k) &&
      libdl_op_argument_type(op, k) != LIBDL_VALUE_TENSORS) {
    // Biases of cells are absent first: with two that never fit, the search would not end. So is a
    // list that is the last argument, which varies slowest, and what a call may update.
    const bool last = k + 1 == libdl_op_argument_count(op);
    const std::string argument = libdl_op_argument_name(op, k);
    const bool first = argument.starts_with("b_") || argument.starts_with("running_") ||
                       (last && libdl_op_argument_type(op, k) == LIBDL_VALUE_INTS);
    all.insert(first ? all.begin() : all.end(), libdl_value{});
  }
  return all;
}

void release(const libdl_value& v) {
  if (v.type == LIBDL_VALUE_TENSOR) libdl_tensor_release(v.held.tensor);
  if (v.type == LIBDL_VALUE_TENSOR_LIST) libdl_tensor_list_release(v.held.list);
}

// Whether a call with these works; else which argument was blamed, -1: none.
using Works = std::function<bool(const Values& arguments, int32_t* blamed)>;

// Finds arguments that work: by other values for the argument that was blamed, and now and then for
// any; where that leads nowhere all in turn, the first varying fastest.
bool choose(libdl_op op, const Samples& s, Values* arguments, const Works& works) {
  constexpr int kBlamed = 20'000, kInTurn = 400'000;
  const auto count = static_cast<size_t>(libdl_op_argument_count(op));
  std::vector<Values> all;
  for (size_t k = 0; k < count; ++k) {
    all.push_back(candidates(op, static_cast<int32_t>(k), s));
    if (all.back().empty()) return false;
  }
  std::vector<size_t> at(count, 0);
  int32_t blamed = -1;
  const auto try_these = [&] {
    arguments->clear();
    for (size_t k = 0; k < count; ++k) arguments->push_back(all[k][at[k]]);
    return works(*arguments, &blamed);
  };
  std::mt19937 random(1);
  for (int tries = 0; tries < kBlamed; ++tries) {
    if (try_these()) return true;
    if (count == 0) return false;
    const bool any = blamed < 0 || static_cast<size_t>(blamed) >= count || random() % 3 == 0;
    const size_t k = any ? random() % count : static_cast<size_t>(blamed);
    at[k] = random() % all[k].size();
  }
  std::fill(at.begin(), at.end(), 0);
  for (int tries = 0; tries < kInTurn; ++tries) {
    if (try_these()) return true;
    size_t k = 0;
    while (k < count && ++at[k] == all[k].size()) at[k++] = 0;
    if (k == count) return false;
  }
  return false;
}

struct Call {
  libdl_op op;
  Values arguments;
  std::vector<libdl_value> results;

  libdl_error* run() {
    results.assign(static_cast<size_t>(libdl_op_result_count(op)), {});
    return libdl_op_call(op, arguments.data(), static_cast<int32_t>(arguments.size()),
                         results.data(), static_cast<int32_t>(results.size()));
  }
  void clear() {
    for (const libdl_value& v : results) release(v);
    results.clear();
  }
};

class Operators : public ::testing::TestWithParam<int32_t> {
 protected:
  void SetUp() override { good(libdl_set_threads(1)); }

  const libdl_op op = GetParam();
  const std::string name = libdl_op_name(op);
  const Samples samples;

  std::vector<const T*> tensors() const {
    std::vector<const T*> all;
    for (const T& x : samples.tensors) all.push_back(&x);
    for (const auto& [op, arguments] : samples.fixed)
      for (const auto& [argument, x] : arguments) all.push_back(&x);
    return all;
  }
  std::vector<Seen> seen() const {
    std::vector<Seen> all;
    for (const T* x : tensors()) all.emplace_back(*x);
    return all;
  }
  bool find(Values* arguments, bool recorded) const {
    return choose(op, samples, arguments, [&](const Values& a, int32_t* blamed) {
      Call call{op, a, {}};
      libdl_error* const error = call.run();
      bool ok = !error;
      *blamed = error ? libdl_error_get_argument(error) - 1 : -1;
      if (ok && recorded)
        ok = call.results[0].type == LIBDL_VALUE_TENSOR &&
             libdl_tensor_requires_grad(call.results[0].held.tensor);
      libdl_error_release(error);
      call.clear();
      return ok;
    });
  }
  void require_grad(libdl_bool on) const {
    for (const T* x : tensors()) {
      const libdl_dtype dtype = libdl_tensor_dtype(x->get());
      if (dtype == LIBDL_DTYPE_FLOAT32 || dtype == LIBDL_DTYPE_FLOAT64 ||
          dtype == LIBDL_DTYPE_COMPLEX128)
        good(libdl_tensor_set_requires_grad(x->get(), on));
    }
  }
};

class NewForm : public Operators {};
TEST_P(NewForm, FailsWhollyOrNotAtAll) {
  Call call{op, {}, {}};
  ASSERT_TRUE(find(&call.arguments, false)) << "no arguments found for " << libdl_op_schema(op);
  uint64_t generator[3], now[3];
  libdl_generator* const source = libdl_generator_default();
  good(libdl_generator_get_state(source, generator, sizeof generator));
  const std::vector<Seen> before = seen();
  sweep(
      name, [&] { return call.run(); },
      [&](bool failed) {
        call.clear();
        EXPECT_EQ(seen(), before);
        good(libdl_generator_get_state(source, now, sizeof now));
        if (failed) {
          EXPECT_EQ(std::memcmp(generator, now, sizeof now), 0) << "random numbers are gone";
        }
        std::memcpy(generator, now, sizeof now);
      });
  libdl_generator_release(source);
}

class Recorded : public Operators {};
TEST_P(Recorded, AndDifferentiated) {
  require_grad(1);
  Call call{op, {}, {}};
  ASSERT_TRUE(find(&call.arguments, true)) << "no arguments found for " << libdl_op_schema(op);
  const std::vector<Seen> before = seen();
  sweep(
      name + " recorded", [&] { return call.run(); },
      [&](bool) {
        call.clear();
        EXPECT_EQ(seen(), before);
      });
  good(call.run());
  const libdl_tensor* const outputs[] = {call.results[0].held.tensor};
  T ones;
  good(libdl_ones_like(outputs[0], LIBDL_DTYPE_NONE, nullptr, ones.out()));
  const libdl_tensor* const weights[] = {ones.get()};
  std::vector<const libdl_tensor*> inputs;
  for (const T* x : tensors())
    if (libdl_tensor_requires_grad(x->get())) inputs.push_back(x->get());
  libdl_backward_options options = {};
  options.struct_size = sizeof options;
  options.retain_graph = options.allow_unused = 1;
  for (const libdl_bool create : {0, 1}) {
    options.create_graph = create;
    libdl_tensor_list* out = nullptr;
    sweep(
        name + " differentiated",
        [&] {
          out = nullptr;
          return libdl_grad(outputs, 1, inputs.data(), static_cast<int64_t>(inputs.size()), weights,
                            1, &options, &out);
        },
        [&](bool) {
          libdl_tensor_list_release(out);
          EXPECT_EQ(seen(), before);
        });
  }
  call.clear();
}

// Into tensors like the ones that the new form gives.
class IntoForm : public Operators {};
TEST_P(IntoForm, WritesAfterAllThatMayFail) {
  Call call{op, {}, {}};
  ASSERT_TRUE(find(&call.arguments, false));
  good(call.run());
  std::vector<T> owned;
  std::vector<libdl_tensor*> dsts;
  for (const libdl_value& v : call.results) {
    T dst;
    good(libdl_zeros_like(v.held.tensor, LIBDL_DTYPE_NONE, nullptr, dst.out()));
    dsts.push_back(dst.get());
    owned.push_back(dst);
  }
  call.clear();
  const auto all = [&] {
    std::vector<Seen> now;
    for (const T& dst : owned) now.emplace_back(dst);
    return now;
  };
  std::vector<Seen> before = all();
  sweep(
      name + " into",
      [&] {
        return libdl_op_call_into(op, call.arguments.data(),
                                  static_cast<int32_t>(call.arguments.size()), dsts.data(),
                                  static_cast<int32_t>(dsts.size()));
      },
      [&](bool failed) {
        if (failed) {
          EXPECT_EQ(all(), before);
        }
        before = all();
      });
}

// dst is a copy of the first tensor argument that the operator accepts there, with a history of its
// own if it is recorded, and then also a view; the others are as found.
class InPlace : public Operators {};
TEST_P(InPlace, RecordsBeforeItWrites) {
  enum Kind { kPlain, kRecorded, kThroughAView };
  int done = 0;
  for (const Kind kind : {kPlain, kRecorded, kThroughAView}) {
    require_grad(kind != kPlain);
    for (const T& proto : samples.tensors) {
      T base, dst;
      const auto fresh = [&] {
        dst = T();
        base = T();
        good(libdl_clone(proto.get(), base.out()));
        if (kind == kThroughAView)
          good(libdl_view(base.get(), libdl_tensor_shape(base.get()), libdl_tensor_ndim(base.get()),
                          dst.out()));
        else
          dst = base;
      };
      fresh();
      Values arguments, given;
      const auto with_dst = [&](const Values& found) {  // dst stands where proto stood
        Values a = found;
        for (libdl_value& v : a)
          if (v.type == LIBDL_VALUE_TENSOR && v.held.tensor == proto.get())
            v.held.tensor = dst.get();
        return a;
      };
      const auto call = [&] {
        libdl_tensor* const dsts[] = {dst.get()};
        return libdl_op_call_into(op, given.data(), static_cast<int32_t>(given.size()), dsts, 1);
      };
      int tries = 0;
      constexpr int kTries = 2000;
      if (!choose(op, samples, &arguments,
                  [&](const Values& a, int32_t* blamed) {
                    if (++tries > kTries) return true;
                    given = with_dst(a);
                    libdl_error* const error = call();
                    *blamed = error ? libdl_error_get_argument(error) - 1 : -1;
                    libdl_error_release(error);
                    if (!error) fresh();
                    return !error;
                  }) ||
          tries > kTries)
        continue;
      ++done;
      fresh();
      given = with_dst(arguments);
      Seen before(dst);
      sweep(name + (kind == kPlain      ? " in place, not recorded"
                    : kind == kRecorded ? " in place"
                                        : " in place on a view"),
            call, [&](bool failed) {
              if (failed) {
                EXPECT_EQ(Seen(dst), before);
              } else {
                fresh();
                given = with_dst(arguments);
                before = Seen(dst);
              }
            });
      if (HasFailure()) return;
      break;
    }
  }
  if (!libdl_op_has_new(op)) {
    EXPECT_GT(done, 0) << "no destination found for " << libdl_op_schema(op);
  }
}

std::vector<libdl_op> those(bool (*wanted)(libdl_op)) {
  std::vector<libdl_op> all;
  for (libdl_op op = 0; op < libdl_op_count(); ++op)
    if (wanted(op)) all.push_back(op);
  return all;
}
std::string name_of(const ::testing::TestParamInfo<libdl_op>& info) {
  return libdl_op_name(info.param);
}
bool gives_tensors(libdl_op op) { return libdl_op_result_type(op, 0) == LIBDL_VALUE_TENSOR; }

INSTANTIATE_TEST_SUITE_P(All, NewForm, ::testing::ValuesIn(those([](libdl_op op) -> bool {
                           return libdl_op_has_new(op);
                         })),
                         name_of);
INSTANTIATE_TEST_SUITE_P(All, Recorded, ::testing::ValuesIn(those([](libdl_op op) {
                           return libdl_op_has_new(op) && libdl_op_is_differentiable(op) &&
                                  gives_tensors(op);
                         })),
                         name_of);
INSTANTIATE_TEST_SUITE_P(All, IntoForm, ::testing::ValuesIn(those([](libdl_op op) {
                           return libdl_op_has_new(op) && libdl_op_has_into(op);
                         })),
                         name_of);
INSTANTIATE_TEST_SUITE_P(All, InPlace, ::testing::ValuesIn(those([](libdl_op op) {
                           return libdl_op_has_into(op) && libdl_op_result_count(op) == 1;
                         })),
                         name_of);

}  // namespace
}  // namespace failures
