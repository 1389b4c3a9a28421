// SPDX-License-Identifier: Apache-2.0

// What the words of an argument become in a sequence: something that lives already, or a statement
// more that makes it.
#include <algorithm>

#include "chooser.h"

namespace fuzz {
namespace {

bool fits(const libdl_tensor* x, libdl_dtype dtype, const std::vector<int64_t>& shape) {
  if (libdl_tensor_dtype(x) != dtype) return false;
  const auto ndim = static_cast<size_t>(libdl_tensor_ndim(x));
  return ndim == shape.size() && std::equal(shape.begin(), shape.end(), libdl_tensor_shape(x));
}

Operand variable(int32_t k) { return {.is = Is::variable, .i = k}; }
Operand integer(int64_t i) { return {.is = Is::integer, .i = i}; }

// What makes a handle where none is alive, as it is meant.
const char* maker_of(Kind kind) {
  switch (kind) {
    case kList: return "libdl_split";
    case kError: return "libdl_error_new";
    case kGenerator: return "libdl_generator_new";
    case kState: return "libdl_state_new";
    case kStream: return "libdl_stream_new";
    case kEvent: return "libdl_event_new";
    case kFile: return "libdl_file_open_memory";
    case kHook: return "libdl_tensor_add_hook";
    case kText: return "libdl_tensor_to_string";
    case kMapping: return "libdl_tensor_map";
    case kDlpack: return "fixture_dlpack";
    case kDlpackOld: return "fixture_dlpack_old";
    case kOp: return "libdl_op_register";
    default: return nullptr;
  }
}

}  // namespace

libdl_dtype Chooser::dtype(libdl_dtype told) const {
  return told == LIBDL_DTYPE_FLOAT64 ? floating_ : told;
}

Operand Chooser::make(const Word& word, const Parameter* parameter) {
  if (word.constant) return word.operand;
  if (word.kind == "t") return tensor(word, false);
  if (word.kind == "leaf") return tensor(word, true);
  if (word.kind == "h") {
    if (word.handle != kKinds) return handle(word.handle);
    return foreign(word.rest == "bad_dlpack" ? "fixture_dlpack" : "fixture_dlpack_old",
                   static_cast<int64_t>(1 + random_.below(15)));
  }
  if (word.kind == "out") {
    if (word.handle == kKinds) return {.is = Is::out, .i = -1};
    return {.is = Is::out, .i = machine_.variable()};
  }
  if (word.kind == "dst") return destination(word.rest);
  if (word.kind == "kind") return other_kind(parameter);
  if (word.kind == "list") {
    Operand list{.is = Is::list};
    for (const Word& item : word.items) list.items.push_back(make(item, parameter));
    return list;
  }
  if (word.kind == "fixture") {
    const int32_t k = machine_.fixture();
    return {.is = Is::fixture, .i = k < 0 ? 0 : k};
  }
  if (word.kind == "made") {
    const int32_t k = machine_.fixture();
    return {.is = Is::made, .i = k < 0 ? 0 : k, .text = word.rest};
  }
  if (word.kind == "op") {
    const auto& from = word.rest == "into" ? library_.into : library_.plain;
    return {.is = Is::op, .text = library_[random_.any(from)].op};
  }
  if (word.kind == "schema") {
    const std::string name = std::to_string(seed_) + "n" + std::to_string(names_++);
    return {.is = Is::text, .text = "fuzz::s" + name + "(tensor a) -> tensor out"};
  }
  if (word.kind == "values" || word.kind == "count" || word.kind == "results" ||
      word.kind == "dsts")
    return {.is = Is::values};  // generic_call fills them in
  if (word.kind == "result") return {.is = Is::results, .ints = {machine_.variable()}};
  static const std::map<std::string, std::string> numbers = {
      {"n", "libdl_number_f64"}, {"ni", "libdl_number_i64"}, {"nc", "libdl_number_c128"}};
  const std::string name = word.kind == "loss"      ? "fixture_loss"
                           : word.kind == "custom"  ? "fixture_custom"
                           : word.kind == "sparse"  ? "fixture_sparse"
                           : word.kind == "emptied" ? "fixture_emptied"
                                                    : numbers.at(word.kind);
  Statement statement;
  statement.function = library_.find(name);
  const int32_t made = machine_.variable();
  if (word.kind == "loss" || word.kind == "custom") {
    static const Word leaf = parsed("leaf:f64:2,3");
    statement.arguments = {tensor(leaf, true)};
  } else if (word.kind == "sparse") {
    statement.arguments = {fresh_tensor(word.dtype, word.shape, false)};
  } else if (word.kind == "n") {
    statement.arguments = {{.is = Is::real, .f = std::strtod(word.rest.c_str(), nullptr)}};
  } else if (word.kind == "ni") {
    statement.arguments = {integer(std::strtoll(word.rest.c_str(), nullptr, 10))};
  } else if (word.kind == "nc") {
    statement.arguments = {{.is = Is::real, .f = 1}, {.is = Is::real, .f = 1}};
  }
  statement.arguments.push_back({.is = Is::out, .i = made});
  return emit(statement) == Ran::good ? variable(made) : Operand{};
}

// -- tensors --------------------------------------------------------------------------------------

Operand Chooser::tensor(const Word& word, bool leaf) {
  const std::vector<int32_t>& alive = machine_.alive(kTensor);
  // gradcheck calls its function for each element.
  const bool any = !as_meant_ && (!current_ || current_->name != "libdl_gradcheck");
  if (any && !alive.empty() && random_.percent(word.fresh ? 5 : 20))
    return variable(random_.any(alive));
  const libdl_dtype wanted = dtype(word.dtype);
  if (!alive.empty() && random_.percent(word.fresh ? 10 : 70)) {
    const size_t first = random_.below(alive.size());
    for (size_t k = 0; k < alive.size(); ++k) {
      const int32_t found = alive[(first + k) % alive.size()];
      const auto* const x = static_cast<libdl_tensor*>(machine_.handle(found));
      if (fits(x, wanted, word.shape) && (!leaf || libdl_tensor_requires_grad(x)))
        return variable(found);
    }
  }
  return fresh_tensor(wanted, word.shape, leaf || (any && random_.percent(15)));
}

Operand Chooser::fresh_tensor(libdl_dtype dtype, const std::vector<int64_t>& shape, bool leaf) {
  Statement statement;
  statement.function = library_.find("fixture_tensor");
  const int32_t made = machine_.variable();
  statement.arguments = {integer(dtype),
                         {.is = Is::integers, .ints = shape},
                         integer(static_cast<int64_t>(shape.size())),
                         integer(leaf && dtype >= LIBDL_DTYPE_FLOAT16),
                         {.is = Is::out, .i = made}};
  return emit(statement) == Ran::good ? variable(made) : Operand{};
}

// "0" or, with what is bad about it, "0/overlap".
Operand Chooser::destination(const std::string& rest) {
  const size_t slash = rest.find('/');
  const std::string fault = slash == std::string::npos ? "" : rest.substr(slash + 1);
  const size_t k = std::stoul(rest);
  if (fault == "null") return {};
  if (fault == "kind") return other_kind(nullptr);
  if (fault == "emptied" || fault == "n:1") return make(parsed(fault), nullptr);
  static const Word usual = parsed("t:f64:2,3");
  const Word& model = current_ && k < current_->models.size() ? current_->models[k] : usual;
  if (fault == "grad") return fresh_tensor(dtype(model.dtype), model.shape, true);
  if (fault == "read-only") {
    Statement statement;
    statement.function = library_.find("fixture_read_only");
    const int32_t made = machine_.variable();
    statement.arguments = {integer(dtype(model.dtype)),
                           {.is = Is::integers, .ints = model.shape},
                           integer(static_cast<int64_t>(model.shape.size())),
                           {.is = Is::out, .i = made}};
    return emit(statement) == Ran::good ? variable(made) : Operand{};
  }
  // Of another shape or dtype, a view of an operand, overlapping itself: whatever lives.
  const std::vector<int32_t>& alive = machine_.alive(kTensor);
  if (!fault.empty() && !alive.empty()) return variable(random_.any(alive));
  const Operand found = tensor(model, false);
  return found;
}

// -- other handles --------------------------------------------------------------------------------

Operand Chooser::handle(Kind kind) {
  const std::vector<int32_t>& alive = machine_.alive(kind);
  if (!alive.empty() && random_.percent(80)) return variable(random_.any(alive));
  return handle_made(kind);
}

Operand Chooser::handle_made(Kind kind) {
  static const Word usual = parsed("t:f64:2,3"), loss = parsed("loss:x");
  if (kind == kTensor) return tensor(usual, false);
  if (depth_ > 2) return {};
  ++depth_;
  Statement statement;
  int32_t made = -1;
  if (kind == kNode) {
    statement.function = library_.find("libdl_tensor_node");
    statement.arguments = {make(loss, nullptr), {.is = Is::out, .i = -1}};
    statement.result = made = machine_.variable();
  } else {
    const Info* const outer = current_;
    statement.function = library_.find(maker_of(kind));
    current_ = &library_[statement.function];
    for (const Parameter& parameter : current_->parameters)
      statement.arguments.push_back(make(random_.any(parameter.good), &parameter));
    if (current_->result != kKinds) statement.result = machine_.variable();
    made = statement.result >= 0 ? statement.result
                                 : static_cast<int32_t>(statement.arguments.back().i);
    current_ = outer;
  }
  --depth_;
  if (emit(statement) != Ran::good || !machine_.is_alive(made)) return {};
  if (kind == kEvent && random_.percent(70)) {
    Statement record;
    record.function = library_.find("libdl_event_record");
    record.arguments = {variable(made), handle(kStream)};
    emit(record);
  }
  return variable(made);
}

Operand Chooser::foreign(const char* maker, int64_t which) {
  Statement statement;
  statement.function = library_.find(maker);
  const int32_t made = machine_.variable();
  statement.arguments = {integer(which), {.is = Is::out, .i = made}};
  return emit(statement) == Ran::good ? variable(made) : Operand{};
}

Operand Chooser::other_kind(const Parameter* parameter) {
  static const Kind kinds[] = {kTensor, kGenerator, kState, kStream, kEvent, kFile, kNode};
  const Kind own = parameter && parameter->handle != kKinds ? parameter->handle : kTensor;
  const size_t first = random_.below(std::size(kinds));
  for (size_t k = 0; k < std::size(kinds); ++k) {
    const Kind kind = kinds[(first + k) % std::size(kinds)];
    if (kind != own && !machine_.alive(kind).empty())
      return variable(random_.any(machine_.alive(kind)));
  }
  return own == kGenerator ? handle(kTensor) : handle_made(kGenerator);
}

}  // namespace fuzz
