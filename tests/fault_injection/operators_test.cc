// SPDX-License-Identifier: Apache-2.0

// Every operator with every allocation failing once: the error is OUT_OF_MEMORY, nothing leaks, and
// what the call was given, random generators among it, is as it was. Its arguments are those of
// tests/samples.
#include <algorithm>
#include <array>
#include <optional>

#include "tests/core/whole.h"
#include "tests/fault_injection/sample.h"
#include "tests/fault_injection/sweep.h"

namespace failures {
namespace {

class Call {
 public:
  explicit Call(const Sample& sample) : op_(sample.op()), arguments_(sample.arguments()) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() { clear(); }

  libdl_error* run() {
    results_.assign(static_cast<size_t>(libdl_op_result_count(op_)), {});
    return libdl_op_call(op_, arguments_.data(), static_cast<int32_t>(arguments_.size()),
                         results_.data(), static_cast<int32_t>(results_.size()));
  }
  libdl_error* run_into(const std::vector<libdl_tensor*>& dsts) const {
    return libdl_op_call_into(op_, arguments_.data(), static_cast<int32_t>(arguments_.size()),
                              dsts.data(), static_cast<int32_t>(dsts.size()));
  }
  void clear() {
    for (const libdl_value& v : results_) {
      if (v.type == LIBDL_VALUE_TENSOR) libdl_tensor_release(v.held.tensor);
      if (v.type == LIBDL_VALUE_TENSOR_LIST) libdl_tensor_list_release(v.held.list);
    }
    results_.clear();
  }
  // The tensors that it gave, those of lists, too.
  std::vector<T> results() const {
    std::vector<T> all;
    for (const libdl_value& v : results_) {
      if (v.type == LIBDL_VALUE_TENSOR) all.emplace_back(libdl_tensor_retain(v.held.tensor));
      if (v.type != LIBDL_VALUE_TENSOR_LIST) continue;
      for (int64_t i = 0; i < libdl_tensor_list_count(v.held.list); ++i)
        all.emplace_back(libdl_tensor_list_get(v.held.list, i));
    }
    return all;
  }
  bool has_generator() const {
    return std::any_of(arguments_.begin(), arguments_.end(),
                       [](const libdl_value& v) { return v.type == LIBDL_VALUE_GENERATOR; });
  }
  // From here on the default one is drawn from.
  void drop_generator() {
    for (libdl_value& v : arguments_)
      if (v.type == LIBDL_VALUE_GENERATOR) v = {};
  }
  // Another tensor stands where x stood.
  void replace(const libdl_tensor* x, libdl_tensor* by) {
    for (libdl_value& v : arguments_)
      if (v.type == LIBDL_VALUE_TENSOR && v.held.tensor == x) v.held.tensor = by;
  }

 private:
  libdl_op op_;
  std::vector<libdl_value> arguments_, results_;
};

bool succeeds(libdl_error* error) {
  libdl_error_release(error);
  return !error;
}

bool accepts(const Sample& sample) {
  Call call(sample);
  return succeeds(libdl_op_has_new(sample.op()) ? call.run()
                                                : call.run_into({sample.destination()}));
}

std::vector<Seen> seen(const std::vector<libdl_tensor*>& tensors) {
  std::vector<Seen> all;
  for (libdl_tensor* const x : tensors) all.emplace_back(T(libdl_tensor_retain(x)));
  return all;
}

// What random numbers the default generator and those among the arguments will draw.
class Generators {
 public:
  explicit Generators(const Sample& sample) {
    all_.push_back(libdl_generator_default());
    for (const libdl_value& v : sample.arguments())
      if (v.type == LIBDL_VALUE_GENERATOR) all_.push_back(libdl_generator_retain(v.held.generator));
  }
  Generators(const Generators&) = delete;
  Generators& operator=(const Generators&) = delete;
  ~Generators() {
    for (libdl_generator* const g : all_) libdl_generator_release(g);
  }
  std::vector<char> state() const {
    std::vector<char> states;
    for (const libdl_generator* const g : all_) {
      const int64_t size = libdl_generator_state_size(g);
      states.resize(states.size() + static_cast<size_t>(size));
      good(libdl_generator_get_state(g, states.data() + states.size() - size, size));
    }
    return states;
  }

 private:
  std::vector<libdl_generator*> all_;
};

// The arguments, none of which a call that fails changes, and one that succeeds only those that it
// is to update.
class Unchanged {
 public:
  explicit Unchanged(const Sample& sample) : sample_(sample), before_(seen(sample.tensors())) {}
  void check(bool failed) {
    const std::vector<libdl_tensor*> tensors = sample_.tensors();
    const std::vector<Seen> now = seen(tensors);
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (failed || !sample_.is_updated(tensors[i])) {
        EXPECT_EQ(now[i], before_[i]) << "of tensor " << i << " of the arguments";
      }
    }
    before_ = now;
  }

 private:
  const Sample& sample_;
  std::vector<Seen> before_;
};

class Operators : public ::testing::TestWithParam<libdl_op> {
 protected:
  void SetUp() override { good(libdl_set_threads(1)); }
  // But for arguments that the operator has no gradient for, as it tells itself.
  void require_grad(Sample& of) const {
    of.require_grad(true);
    for (bool refused = true; refused;) {
      Call call(of);
      libdl_error* const error = libdl_op_has_new(op) ? call.run() : nullptr;
      refused = error && libdl_error_get_code(error) == LIBDL_ERROR_AUTOGRAD &&
                of.never_requires_grad(libdl_error_get_argument(error) - 1);
      libdl_error_release(error);
    }
  }

  const libdl_op op = GetParam();
  const std::string name = libdl_op_name(op);
  Sample sample{op, accepts};
};

class NewForm : public Operators {};
TEST_P(NewForm, FailsWhollyOrNotAtAll) {
  const Generators generators(sample);
  const auto sweep_once = [&](Call& call, const std::string& what) {
    Unchanged arguments(sample);
    std::vector<char> state = generators.state();
    sweep(
        what, [&] { return call.run(); },
        [&](bool failed) {
          call.clear();
          arguments.check(failed);
          if (failed) {
            EXPECT_EQ(generators.state(), state) << "random numbers are gone";
          }
          state = generators.state();
        });
  };
  Call call(sample);
  sweep_once(call, name);
  if (!call.has_generator()) return;
  call.drop_generator();
  sweep_once(call, name + " of the default generator");
}

class Recorded : public Operators {};
TEST_P(Recorded, AndDifferentiated) {
  require_grad(sample);
  Call call(sample);
  Unchanged arguments(sample);
  sweep(
      name + " recorded", [&] { return call.run(); },
      [&](bool failed) {
        call.clear();
        arguments.check(failed);
      });
  good(call.run());
  std::vector<T> owned = call.results();
  call.clear();
  std::erase_if(owned, [](const T& x) { return !libdl_tensor_requires_grad(x.get()); });
  ASSERT_FALSE(owned.empty()) << "no result has a history: " << libdl_op_schema(op);
  std::vector<const libdl_tensor*> outputs, weights;
  for (size_t i = 0, count = owned.size(); i < count; ++i) {
    T ones;
    good(libdl_ones_like(owned[i].get(), LIBDL_DTYPE_NONE, nullptr, ones.out()));
    outputs.push_back(owned[i].get()), weights.push_back(ones.get());
    owned.push_back(std::move(ones));
  }
  const std::vector<const libdl_tensor*> inputs(sample.differentiable().begin(),
                                                sample.differentiable().end());
  libdl_backward_options options = {};
  options.struct_size = sizeof options;
  options.retain_graph = options.allow_unused = 1;
  arguments.check(false);
  for (const libdl_bool create : {0, 1}) {
    options.create_graph = create;
    libdl_tensor_list* out = nullptr;
    sweep(
        name + " differentiated",
        [&] {
          out = nullptr;
          return libdl_grad(outputs.data(), static_cast<int64_t>(outputs.size()), inputs.data(),
                            static_cast<int64_t>(inputs.size()), weights.data(),
                            static_cast<int64_t>(weights.size()), &options, &out);
        },
        [&](bool failed) {
          libdl_tensor_list_release(out);
          arguments.check(failed);
        });
  }
}

// Into tensors like the ones that the new form gives, with gaps between their elements, and of
// another dtype.
class IntoForm : public Operators {
 protected:
  enum Kind { kLike, kWithGaps, kConverted };

  std::vector<T> results() {
    if (sample.destination()) return {T(libdl_tensor_retain(sample.destination()))};
    Call call(sample);
    good(call.run());
    return call.results();
  }
  static T destination(const T& like, Kind kind) {
    std::vector<int64_t> shape(libdl_tensor_shape(like.get()),
                               libdl_tensor_shape(like.get()) + libdl_tensor_ndim(like.get()));
    libdl_dtype dtype = libdl_tensor_dtype(like.get());
    if (kind == kConverted && dtype == LIBDL_DTYPE_FLOAT64) dtype = LIBDL_DTYPE_FLOAT32;
    if (kind == kConverted && dtype == LIBDL_DTYPE_INT64) dtype = LIBDL_DTYPE_INT32;
    const bool gaps = kind == kWithGaps && !shape.empty();
    if (gaps) shape.back() *= 2;
    T whole, part;
    good(
        libdl_zeros(shape.data(), static_cast<int32_t>(shape.size()), dtype, nullptr, whole.out()));
    if (!gaps) return whole;
    const int64_t end = shape.back();
    good(libdl_slice(whole.get(), -1, nullptr, &end, 2, part.out()));
    return part;
  }
};
TEST_P(IntoForm, WritesAfterAllThatMayFail) {
  const Call call(sample);
  const Generators generators(sample);
  for (const Kind kind : {kLike, kWithGaps, kConverted}) {
    std::vector<T> owned;
    std::vector<libdl_tensor*> dsts;
    for (const T& x : results()) {
      owned.push_back(destination(x, kind));
      dsts.push_back(owned.back().get());
    }
    if (kind == kConverted && !succeeds(call.run_into(dsts))) return;
    std::vector<libdl_tensor*> all = sample.tensors();
    all.insert(all.end(), dsts.begin(), dsts.end());
    std::vector<Seen> before = seen(all);
    std::vector<char> state = generators.state();
    sweep(
        name + std::array{" into", " into one with gaps", " into another dtype"}[kind],
        [&] { return call.run_into(dsts); },
        [&](bool failed) {
          if (failed) {
            EXPECT_EQ(seen(all), before);
            EXPECT_EQ(generators.state(), state) << "random numbers are gone";
          }
          before = seen(all);
          state = generators.state();
        });
    if (HasFailure()) return;
  }
}

// dst is a copy of the first tensor that the operator accepts there, of its arguments or one like
// its result; if it accepts none, sizes are all alike. It has a history of its own if it is
// recorded, and then is also a view.
class InPlace : public Operators {
 protected:
  enum Kind { kPlain, kRecorded, kThroughAView };

  // A call and where it writes: made anew after each that succeeds.
  struct Written {
    T base, dst;
    std::vector<libdl_tensor*> dsts;  // dst alone: what a call allocates is the library's
    Call call;

    Written(const Sample& sample, const T& proto, Kind kind) : call(sample) {
      T copy, leaf;
      good(libdl_clone(proto.get(), copy.out()));
      good(libdl_detach(copy.get(), leaf.out()));
      if (kind != kPlain) good(libdl_tensor_set_requires_grad(leaf.get(), 1));
      good(libdl_clone(leaf.get(), base.out()));
      if (kind == kThroughAView)
        good(libdl_view(base.get(), libdl_tensor_shape(base.get()), libdl_tensor_ndim(base.get()),
                        dst.out()));
      else
        dst = base;
      dsts.push_back(dst.get());
      call.replace(proto.get(), dst.get());
    }
    libdl_error* run() const { return call.run_into(dsts); }
  };

  std::vector<T> prototypes(const Sample& from, Kind kind) const {
    std::vector<T> all;
    for (const libdl_value& v : from.arguments())
      if (v.type == LIBDL_VALUE_TENSOR && !libdl_tensor_is_number(v.held.tensor))
        all.emplace_back(libdl_tensor_retain(v.held.tensor));
    if (from.destination()) all.emplace_back(libdl_tensor_retain(from.destination()));
    Call call(from);
    if (libdl_op_has_new(op) && succeeds(call.run())) all.push_back(call.results()[0]);
    if (kind != kPlain)
      std::erase_if(all,
                    [](const T& x) { return libdl_tensor_dtype(x.get()) < LIBDL_DTYPE_FLOAT16; });
    return all;
  }

  // Whether there was a destination.
  bool sweep_first(const Sample& from, Kind kind) const {
    for (const T& proto : prototypes(from, kind)) {
      std::optional<Written> written(std::in_place, from, proto, kind);
      if (!succeeds(written->run())) continue;
      std::optional<Seen> before;
      const auto fresh = [&] {
        written.emplace(from, proto, kind);
        before.emplace(written->dst);
      };
      fresh();
      sweep(
          name + std::array{" in place, not recorded", " in place", " in place on a view"}[kind],
          [&] { return written->run(); },
          [&](bool failed) {
            if (failed) {
              EXPECT_EQ(Seen(written->dst), *before);
            } else {
              fresh();
            }
          });
      return true;
    }
    return false;
  }
};
TEST_P(InPlace, RecordsBeforeItWrites) {
  using enum Sample::Alike;
  for (const Kind kind : {kPlain, kRecorded, kThroughAView}) {
    if (kind == kRecorded) require_grad(sample);
    bool done = sweep_first(sample, kind);
    for (const Sample::Alike sizes : {kThree, kOne, kNoDimensions})
      for (int way = 0; !done && way < 4; ++way) {
        Sample alike(op, sizes, way & 1, way & 2);
        if (kind != kPlain) require_grad(alike);
        done = sweep_first(alike, kind);
      }
    EXPECT_TRUE(done || kind != kPlain) << "no destination found for " << libdl_op_schema(op);
    if (HasFailure()) return;
  }
}

// -- which operators -----------------------------------------------------------------------------

template <class F>
std::vector<libdl_op> those(const F& wanted) {
  std::vector<libdl_op> all;
  for (libdl_op op = 0; op < libdl_op_count(); ++op)
    if (has_sample(op) && wanted(op)) all.push_back(op);
  return all;
}
std::string name_of(const ::testing::TestParamInfo<libdl_op>& info) {
  return libdl_op_name(info.param);
}
bool gives_tensors(libdl_op op) {
  const libdl_value_type type = libdl_op_result_type(op, 0);
  return type == LIBDL_VALUE_TENSOR || type == LIBDL_VALUE_TENSOR_LIST;
}
bool is_new(libdl_op op) { return libdl_op_has_new(op); }
bool is_differentiated(libdl_op op) {
  return libdl_op_has_new(op) && libdl_op_is_differentiable(op) && gives_tensors(op);
}
bool is_into(libdl_op op) { return libdl_op_has_into(op); }
bool is_in_place(libdl_op op) { return libdl_op_has_into(op) && libdl_op_result_count(op) == 1; }

INSTANTIATE_TEST_SUITE_P(All, NewForm, ::testing::ValuesIn(those(is_new)), name_of);
INSTANTIATE_TEST_SUITE_P(All, Recorded, ::testing::ValuesIn(those(is_differentiated)), name_of);
INSTANTIATE_TEST_SUITE_P(All, IntoForm, ::testing::ValuesIn(those(is_into)), name_of);
INSTANTIATE_TEST_SUITE_P(All, InPlace, ::testing::ValuesIn(those(is_in_place)), name_of);

// Where nearly all stayed at the rows' sizes, storages would not be seen to fail.
TEST(Samples, AreOfEveryOperatorAndNearlyAllGrow) {
  const std::vector<libdl_op> all = those([](libdl_op) { return true; });
  EXPECT_EQ(all.size(), static_cast<size_t>(libdl_op_count()));
  std::string small;
  size_t grown = 0;
  for (const libdl_op op : all) {
    const bool is_grown = Sample(op, accepts).is_grown();
    grown += is_grown;
    if (!is_grown) small += std::string(" ") + libdl_op_name(op);
  }
  EXPECT_GE(grown * 10, all.size() * 9) << "at the rows' sizes:" << small;
}

}  // namespace
}  // namespace failures
