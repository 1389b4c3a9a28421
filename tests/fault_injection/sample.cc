// SPDX-License-Identifier: Apache-2.0

#include "tests/fault_injection/sample.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>

#include "tests/attack/lines.h"

namespace failures {

using attack::begins, attack::Line, attack::Values, attack::Words;

// Where generate.py of tests/attack has written the rows: the words of the C parameters, by
// operator.
static const std::map<std::string, Words>& words_by_operator() {
  static const std::map<std::string, Words> words = [] {
    std::map<std::string, Words> all;
    for (const Line& line : attack::read_attacks(LIBDL_ATTACKS))
      if (line.type == 'H')
        all.emplace(attack::without_into(line.function).substr(std::strlen("libdl_")), line.words);
    return all;
  }();
  return words;
}

bool has_sample(libdl_op op) { return words_by_operator().count(libdl_op_name(op)); }

// -- larger sizes ---------------------------------------------------------------------------------

// Of up to 64 bytes a storage lies in its own cell, and kernels need no scratch for a few elements,
// so with the rows' sizes some allocations would not be asked for. Sizes of one stay: they are
// broadcast, batches and heads. Numbers in lists are sizes, or steps, or dimensions.
struct Sample::Growth {
  int64_t times;
  enum { kNoInts, kAllInts, kIntsOfTwoAndMore } ints;
  std::optional<Alike> alike = std::nullopt;

  std::string sizes(const std::string& text, bool ones) const {
    if (alike == Alike::kNoDimensions) return "";
    std::string grown;
    for (int64_t n : attack::integers(text)) {
      if (n > !ones) n *= times;
      if (alike) n = alike == Alike::kOne ? 1 : 3;
      grown += (grown.empty() ? "" : ",") + std::to_string(n);
    }
    return grown;
  }
  std::string of(const std::string& word) const {
    if (begins(word, "list:")) {
      std::string grown;
      for (const std::string& item : attack::split(word.substr(5), '|'))
        grown += (grown.empty() ? "list:" : "|") + of(item);
      return grown;
    }
    if (begins(word, "ints:"))
      return ints == kNoInts ? word : "ints:" + sizes(word.substr(5), ints == kAllInts);
    const bool is_tensor = begins(word, "t:") || begins(word, "!t:") || begins(word, "sparse:");
    if (!is_tensor) return word;
    const size_t colon = word.find(':', word.find(':') + 1) + 1;
    const size_t name = std::min(word.find('#'), word.size());
    return word.substr(0, colon) + sizes(word.substr(colon, name - colon), false) +
           word.substr(name);
  }
};

Sample::Sample(libdl_op op, const Works& works) : op_(op) {
  constexpr int64_t kMostElements = 4096;  // a sweep makes each call some hundred times
  for (const int64_t times : {5, 2})
    for (const auto ints : {Growth::kIntsOfTwoAndMore, Growth::kAllInts, Growth::kNoInts}) {
      make({times, ints});
      const std::vector<libdl_tensor*> all = tensors();
      is_grown_ = std::all_of(all.begin(), all.end(), [](const libdl_tensor* x) {
        return libdl_tensor_numel(x) <= kMostElements;
      });
      is_grown_ = is_grown_ && works(*this);
      if (is_grown_) return;
    }
  make({1, Growth::kNoInts});
}

Sample::Sample(libdl_op op, Alike sizes, bool lists, bool flags) : op_(op) {
  make({1, lists ? Growth::kAllInts : Growth::kNoInts, sizes});
  for (libdl_value& v : arguments_)
    if (flags && v.type == LIBDL_VALUE_BOOL) v.held.boolean = 1;
}

// -- words as values ------------------------------------------------------------------------------

void Sample::make(const Growth& growth) {
  values_ = std::make_unique<Values>();
  arguments_.clear(), differentiable_.clear(), updated_.clear(), destination_ = nullptr;
  Words words = words_by_operator().at(libdl_op_name(op_));
  std::transform(words.begin(), words.end(), words.begin(),
                 [&](const std::string& word) { return growth.of(word); });
  size_t at = 0;
  for (int32_t k = 0; k < libdl_op_argument_count(op_); ++k)
    arguments_.push_back(argument(k, words, &at));
  if (begins(words.at(at), "like:"))
    destination_ = static_cast<libdl_tensor*>(
        values_->make(growth.of(words[at].substr(std::strlen("like:")))).p);
}

static bool may_require_grad(const libdl_tensor* x) {
  return !libdl_tensor_is_number(x) && libdl_tensor_dtype(x) >= LIBDL_DTYPE_FLOAT16;
}

// A list is two parameters, and so is a string.
libdl_value Sample::argument(int32_t k, const Words& words, size_t* at) {
  const std::string& word = words.at((*at)++);
  libdl_value v = {};
  const libdl_value_type type = libdl_op_argument_type(op_, k);
  const bool counted =
      type == LIBDL_VALUE_TENSORS || type == LIBDL_VALUE_INTS || type == LIBDL_VALUE_STRING;
  const int64_t count = counted ? values_->make(words.at((*at)++)).i : 0;
  if (word == "null" && type != LIBDL_VALUE_TENSORS) return v;
  v.type = type;
  const Raw raw = values_->make(word);
  const bool is_pointer = begins(word, "ip:") || begins(word, "fp:");
  switch (type) {
    case LIBDL_VALUE_TENSOR: v.held.tensor = static_cast<libdl_tensor*>(raw.p); break;
    case LIBDL_VALUE_TENSORS:
      v.held.tensors = {static_cast<const libdl_tensor* const*>(raw.p), count};
      break;
    case LIBDL_VALUE_BOOL: v.held.boolean = static_cast<libdl_bool>(raw.i); break;
    case LIBDL_VALUE_INT:
      v.held.integer = is_pointer ? *static_cast<const int64_t*>(raw.p) : raw.i;
      break;
    case LIBDL_VALUE_FLOAT:
      v.held.number = is_pointer ? *static_cast<const double*>(raw.p) : raw.f;
      break;
    case LIBDL_VALUE_INTS: v.held.integers = {static_cast<const int64_t*>(raw.p), count}; break;
    case LIBDL_VALUE_STRING: v.held.string = {static_cast<const char*>(raw.p), count}; break;
    case LIBDL_VALUE_DTYPE: v.held.dtype = static_cast<libdl_dtype>(raw.i); break;
    case LIBDL_VALUE_DEVICE: v.held.device = *static_cast<const libdl_device*>(raw.p); break;
    case LIBDL_VALUE_GENERATOR: v.held.generator = static_cast<libdl_generator*>(raw.p); break;
    default: attack::stop(std::string("no word of ") + libdl_op_name(op_) + " is " + word);
  }
  // Of the order of an incomplete gamma function there is none, which only the gradient tells.
  const bool is_order = begins(libdl_op_name(op_), "igamma") && k == 0;
  if (word[0] == '!') updated_.insert(v.held.tensor);
  const auto add = [&](libdl_tensor* x) {
    if (!is_updated(x) && !is_order && may_require_grad(x)) differentiable_.push_back(x);
  };
  if (type == LIBDL_VALUE_TENSOR) add(v.held.tensor);
  for (int64_t i = 0; type == LIBDL_VALUE_TENSORS && i < count; ++i)
    add(static_cast<libdl_tensor* const*>(raw.p)[i]);
  return v;
}

std::vector<libdl_tensor*> Sample::tensors() const {
  std::vector<libdl_tensor*> all;
  for (libdl_tensor* const x : values_->tensors())
    if (!libdl_tensor_is_number(x)) all.push_back(x);
  return all;
}

void Sample::require_grad(bool on) {
  for (libdl_tensor* const x : differentiable_)
    attack::need(libdl_tensor_set_requires_grad(x, on), "a tensor that requires grad");
}

bool Sample::never_requires_grad(int32_t argument) {
  const libdl_value& v = arguments_.at(static_cast<size_t>(argument));
  if (v.type != LIBDL_VALUE_TENSOR || !std::erase(differentiable_, v.held.tensor)) return false;
  attack::need(libdl_tensor_set_requires_grad(v.held.tensor, 0), "a tensor without grad");
  return true;
}

}  // namespace failures
