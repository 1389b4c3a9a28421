// SPDX-License-Identifier: Apache-2.0

#include "call.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "handles.h"

namespace attack {
namespace {

constexpr unsigned char kUntouched = 0xA5;
constexpr size_t kPlace = 256;  // holds every struct that the library fills in

bool destroy_expected = false;
libdl_backward_context* context = nullptr;  // of the running pass

template <class T>
void append(std::string* s, const T& value) {
  s->append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_tensor(std::string* s, const libdl_tensor* x) {
  const int32_t ndim = libdl_tensor_ndim(x);
  const auto width = static_cast<size_t>(ndim) * sizeof(int64_t);
  append(s, ndim);
  if (ndim) s->append(reinterpret_cast<const char*>(libdl_tensor_shape(x)), width);
  if (ndim) s->append(reinterpret_cast<const char*>(libdl_tensor_strides(x)), width);
  append(s, libdl_tensor_dtype(x));
  append(s, libdl_tensor_version(x));
  append(s, libdl_tensor_storage_id(x));
  append(s, libdl_tensor_storage_offset(x));
  append(s, libdl_tensor_requires_grad(x));
  append(s, libdl_tensor_use_count(x));
  libdl_node* const node = libdl_tensor_node(x, nullptr);
  append(s, node);
  libdl_node_release(node);
  libdl_tensor* const grad = libdl_tensor_grad(x);
  append(s, grad);
  libdl_tensor_release(grad);
  if (libdl_tensor_is_emptied(x)) return;
  std::vector<char> bytes(
      static_cast<size_t>(libdl_tensor_numel(x) * libdl_dtype_size(libdl_tensor_dtype(x))) + 1);
  need(libdl_tensor_copy_out(x, bytes.data(), static_cast<int64_t>(bytes.size()) - 1), "copy_out");
  s->append(bytes.data(), bytes.size());
}

// A ctx with its destroy.
bool gives_up(const Words& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "fixture" || begins(word, "made:");
  });
}

}  // namespace

// -- outputs --------------------------------------------------------------------------------------

Raw Places::add(const std::string& kind) {
  slots_.emplace_back(kind, std::make_unique<std::vector<unsigned char>>(kPlace, kUntouched));
  return {.p = slots_.back().second->data()};
}

bool Places::touched() const {
  return std::any_of(slots_.begin(), slots_.end(), [](const auto& place) {
    return std::count(place.second->begin(), place.second->end(), kUntouched) != kPlace;
  });
}

void Places::release() {
  for (const auto& [kind, bytes] : slots_) {
    if (std::all_of(bytes->begin(), bytes->begin() + 8, [](auto b) { return b == kUntouched; }))
      continue;
    void* p;
    std::memcpy(&p, bytes->data(), sizeof p);
    if (kind == "value") {
      libdl_value value;
      std::memcpy(&value, bytes->data(), sizeof value);
      libdl_tensor_release(value.held.tensor);
    } else if (kind != "plain" && kind != "op") {
      release_handle(kind, p);
    }
  }
  slots_.clear();
}

static bool is_owned(const std::string& kind) {
  return kind == "tensor" || kind == "list" || kind == "value";
}

bool Places::are_owned() const {
  return std::any_of(slots_.begin(), slots_.end(),
                     [](const auto& place) { return is_owned(place.first); });
}

void Places::leave_owned() {
  for (const auto& [kind, bytes] : slots_)
    if (is_owned(kind)) std::fill(bytes->begin(), bytes->end(), kUntouched);
}

libdl_tensor* Places::tensor(size_t k) const {
  libdl_tensor* p;
  std::memcpy(&p, slots_[k].second->data(), sizeof p);
  return p;
}

// -- one call -------------------------------------------------------------------------------------

// Destinations are like what the new form gives for the call as it is meant ("dst:"), or like a
// tensor that is told ("like:").
Models models_of(const Line& happy, Values* keep) {
  Models models;
  size_t count = 0;
  for (const std::string& word : happy.words) {
    count += begins(word, "dst:");
    if (begins(word, "like:"))
      models.push_back(static_cast<libdl_tensor*>(keep->make(word.substr(5)).p));
  }
  if (!count) return models;
  std::vector<Raw> parameters;
  Places places;
  for (const std::string& word : happy.words)
    parameters.push_back(begins(word, "dst:") ? places.add("tensor") : keep->make(word));
  need(static_cast<libdl_error*>(
           find_function(without_into(happy.function)).call(parameters.data())),
       happy.function + " for a destination");
  for (size_t k = 0; k < count; ++k) {
    models.push_back(places.tensor(k));
    keep->own(models.back());
  }
  return models;
}

Call::Call(const Line& happy, const Words& words, const Models& models)
    : function_(function_of(happy)) {
  *attack_destroyed(0) = 0, destroy_expected = false;
  if (!happy.before.empty()) {
    const Words first(happy.before.begin() + 1, happy.before.end());
    std::vector<Raw> parameters;
    Places places;
    for (const std::string& word : first)
      parameters.push_back(begins(word, "out:") ? places.add(word.substr(4)) : values_.make(word));
    need(static_cast<libdl_error*>(find_function(happy.before[0]).call(parameters.data())),
         happy.before[0]);
    given_up_ = gives_up(first);
  }
  size_t k = 0;
  libdl_tensor* operand = nullptr;
  for (const std::string& word : words) {
    Raw raw = {.p = nullptr};
    if (begins(word, "out:")) {
      raw = slots_.add(word.substr(4));
    } else if (begins(word, "dst:") || begins(word, "like:")) {
      const size_t slash = word.find('/');
      const std::string fault = slash == std::string::npos ? "" : word.substr(slash + 1);
      if (!values_.destination(fault, models.at(k++), operand, &raw)) possible_ = false;
    } else if (word == "context") {
      raw = {.p = context};
    } else {
      raw = values_.make(word);
      if (!operand && begins(word, "t:")) operand = static_cast<libdl_tensor*>(raw.p);
      if (word == "h:generator") generators_.push_back(static_cast<libdl_generator*>(raw.p));
    }
    parameters_.push_back(raw);
  }
  given_up_ |= gives_up(words);
  generators_.push_back(libdl_generator_default());
}

Call::~Call() {
  slots_.release();
  libdl_generator_release(generators_.back());
  if (!context) attack_restore();
}

libdl_error* Call::run() {
  destroy_expected = given_up_;
  values_.given_up();
  void* const result = function_.call(parameters_.data());
  if (function_.fallible) return static_cast<libdl_error*>(result);
  if (result) release_handle(function_.result, result);
  return nullptr;
}

std::string Call::seen() const {
  std::string s;
  for (const libdl_tensor* x : values_.tensors()) append_tensor(&s, x);
  for (libdl_generator* g : generators_) {
    std::vector<char> state(static_cast<size_t>(libdl_generator_state_size(g)));
    need(libdl_generator_get_state(g, state.data(), static_cast<int64_t>(state.size())),
         "get_state");
    s.append(state.data(), state.size());
  }
  int64_t live[4];
  libdl_memory_get_live(live, live + 1, live + 2, live + 3);
  append(&s, live);
  append(&s, libdl_default_dtype());
  append(&s, libdl_default_device());
  append(&s, libdl_grad_enabled());
  append(&s, libdl_inference_mode());
  append(&s, libdl_anomaly_mode());
  append(&s, libdl_anomaly_check_nan());
  append(&s, libdl_autocast_enabled(LIBDL_DEVICE_CPU));
  append(&s, libdl_autocast_dtype(LIBDL_DEVICE_CPU));
  append(&s, libdl_autocast_cache_enabled());
  append(&s, libdl_get_threads());
  append(&s, libdl_op_count());
  return s;
}

bool wrongly_destroyed() {
  return std::exchange(destroy_expected, false) && *attack_destroyed(0) != 1;
}

// -- inside a pass --------------------------------------------------------------------------------

namespace {

libdl_error* run_in_pass(void* ctx, libdl_backward_context* running, const libdl_tensor* const*,
                         int64_t, libdl_tensor**, int64_t) {
  context = running;
  (*static_cast<const std::function<void()>*>(ctx))();
  context = nullptr;
  return nullptr;
}

}  // namespace

void where_it_belongs(const Line& line, const std::function<void()>& f) {
  if (std::find(line.words.begin(), line.words.end(), "context") == line.words.end()) return f();
  Values values;
  auto* const leaf = static_cast<libdl_tensor*>(values.make("leaf:f64:2,3").p);
  auto* const output = static_cast<libdl_tensor*>(values.make("t:f64:2,3").p);
  libdl_function function = {};
  function.struct_size = sizeof function;
  function.name = "pass";
  function.backward = run_in_pass;
  function.ctx = const_cast<std::function<void()>*>(&f);
  const libdl_tensor* const inputs[] = {leaf};
  libdl_tensor* const outputs[] = {output};
  need(libdl_function_record(&function, inputs, 1, outputs, 1, nullptr, inputs, 1, nullptr),
       "record");
  libdl_tensor* sum = nullptr;
  need(libdl_sum(output, nullptr, 0, 0, LIBDL_DTYPE_NONE, &sum), "sum");
  values.own(sum);
  const libdl_tensor* const losses[] = {sum};
  need(libdl_backward(losses, 1, nullptr, 0, nullptr, 0, nullptr), "backward");
}

}  // namespace attack
