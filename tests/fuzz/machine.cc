// SPDX-License-Identifier: Apache-2.0

#include "machine.h"

#include <algorithm>
#include <cstring>

namespace fuzz {
namespace {

constexpr unsigned char kUntouched = 0xA5;
constexpr size_t kPlace = 256;     // holds every struct that the library fills in
constexpr int32_t kFixtures = 64;  // FIXTURE_MOST

template <class List>
auto find_named(const List& list, const std::string& name) {
  const auto* entry = list;
  while (entry->name && name != entry->name) ++entry;
  if (!entry->name) stop("host_fixtures.h has no " + name);
  return entry;
}

int64_t op_named(const std::string& name) {
  static std::map<std::string, libdl_op> numbers;
  const auto found = numbers.find(name);
  if (found != numbers.end()) return found->second;
  libdl_op op = -1;
  libdl_error_release(libdl_op_find(name.c_str(), -1, &op));
  if (op >= 0) numbers[name] = op;
  return op;
}

bool of_the_process(const std::string& name) {
  static const char* const names[] = {"libdl_memory_set_limit",    "libdl_memory_set_allocator",
                                      "libdl_memory_set_pressure", "libdl_set_site_hook",
                                      "libdl_set_warning_handler", "libdl_set_log_handler",
                                      "libdl_set_executor",        "libdl_set_interruption",
                                      "libdl_set_threads",         "libdl_interruption_add"};
  return std::any_of(std::begin(names), std::end(names), [&](const char* n) { return name == n; });
}

}  // namespace

void Machine::begin() {
  for (int32_t k = 0; k < kFixtures; ++k) *fuzz_destroyed(k) = 0;
  variables_.clear(), expected_.clear(), possible_.clear();
  for (std::vector<int32_t>& list : alive_) list.clear();
  fixtures_ = 0, state_ = -1, process_ = false, wrong_.clear();
  libdl_memory_get_live(before_, before_ + 1, before_ + 2, before_ + 3);
}

void Machine::fail(const std::string& why) {
  if (wrong_.empty()) wrong_ = why;
}

int32_t Machine::variable() {
  variables_.emplace_back();
  return static_cast<int32_t>(variables_.size()) - 1;
}

int32_t Machine::fixture() { return fixtures_ < kFixtures ? fixtures_++ : -1; }

void Machine::live(int32_t variable, Raw value) {
  Variable& v = variables_[at(variable)];
  v.value = value;
  if (!value.p && v.kind != kOp) return;
  v.alive = true;
  alive_[v.kind].push_back(variable);
}

void Machine::dead(int64_t variable) {
  Variable& v = variables_[at(variable)];
  v.alive = false;
  std::erase(alive_[v.kind], static_cast<int32_t>(variable));
}

// -- parameters -----------------------------------------------------------------------------------

// Each in a block of its own, so that a sanitizer sees whoever reads behind it.
void* Machine::block(const void* data, size_t bytes) {
  memory_.push_back(std::make_unique_for_overwrite<char[]>(bytes ? bytes : 1));
  if (bytes) std::memcpy(memory_.back().get(), data, bytes);
  return memory_.back().get();
}

void* Machine::output(int64_t variable, size_t bytes) {
  memory_.push_back(std::make_unique_for_overwrite<char[]>(bytes));
  std::memset(memory_.back().get(), kUntouched, bytes);
  slots_.push_back({variable, memory_.back().get()});
  return memory_.back().get();
}

bool Machine::build_list(const Operand& operand, Raw* out) {
  std::vector<void*> entries;
  for (const Operand& item : operand.items) {
    Raw raw = {};
    if (!build(item, &raw)) return false;
    entries.push_back(raw.p);
  }
  out->p = block(entries.data(), entries.size() * sizeof(void*));
  return true;
}

bool Machine::build_values(const Operand& operand, Raw* out) {
  std::vector<libdl_value> values(operand.items.size());
  for (size_t k = 0; k < values.size(); ++k) {
    const Operand& told = operand.items[k];
    libdl_value& value = values[k];
    value = {};
    value.type = static_cast<libdl_value_type>(told.i);
    Raw raw = {}, count = {};
    if (told.items.empty()) continue;
    if (!build(told.items[0], &raw)) return false;
    if (told.items.size() > 1 && !build(told.items[1], &count)) return false;
    switch (value.type) {
      case LIBDL_VALUE_TENSORS:
      case LIBDL_VALUE_INTS:
      case LIBDL_VALUE_STRING:  // a pointer and a count each
        std::memcpy(&value.held, &raw.p, sizeof raw.p);
        std::memcpy(reinterpret_cast<char*>(&value.held) + sizeof raw.p, &count.i, sizeof count.i);
        break;
      case LIBDL_VALUE_DEVICE: std::memcpy(&value.held, raw.p, sizeof(libdl_device)); break;
      default: std::memcpy(&value.held, &raw, sizeof raw);
    }
  }
  out->p = block(values.data(), values.size() * sizeof(libdl_value));
  return true;
}

bool Machine::build(const Operand& operand, Raw* out) {
  *out = {};
  switch (operand.is) {
    case Is::null: break;
    case Is::integer: out->i = operand.i; break;
    case Is::real: out->f = operand.f; break;
    case Is::variable:
      if (at(operand.i) >= variables_.size() || !is_alive(operand.i)) return false;
      *out = variables_[at(operand.i)].value;
      break;
    case Is::out: out->p = output(operand.i, operand.i < 0 ? kPlace : sizeof(void*)); break;
    case Is::integers: out->p = block(operand.ints.data(), operand.ints.size() * 8); break;
    case Is::reals: out->p = block(&operand.f, sizeof operand.f); break;
    case Is::list: return build_list(operand, out);
    case Is::text: out->p = block(operand.text.c_str(), operand.text.size() + 1); break;
    case Is::device: {
      const libdl_device device = {static_cast<int32_t>(operand.ints[0]),
                                   static_cast<int32_t>(operand.ints[1])};
      out->p = block(&device, sizeof device);
      break;
    }
    case Is::options: {
      char bytes[512] = {};
      const auto size = static_cast<uint32_t>(operand.i);
      std::memcpy(bytes, &size, sizeof size);
      out->p = block(bytes, sizeof bytes);
      break;
    }
    case Is::callback: out->fn = find_named(fuzz_callbacks, operand.text)->fn; break;
    case Is::made:
      fixtures_ = std::max(fixtures_, static_cast<int32_t>(operand.i) + 1);
      possible_.push_back(static_cast<int32_t>(operand.i));
      out->p = find_named(fuzz_made, operand.text)->make(static_cast<int32_t>(operand.i));
      break;
    case Is::place: out->p = find_named(fuzz_places, operand.text)->tell(); break;
    case Is::fixture:
      fixtures_ = std::max(fixtures_, static_cast<int32_t>(operand.i) + 1);
      expected_.push_back(static_cast<int32_t>(operand.i));
      out->p = fuzz_fixture(static_cast<int32_t>(operand.i));
      break;
    case Is::op: out->i = op_named(operand.text); break;
    case Is::descriptor: out->i = fuzz_descriptor(); break;
    case Is::values: return build_values(operand, out);
    case Is::value: return false;
    case Is::results:
      out->p = output(-2, std::max<size_t>(1, operand.ints.size()) * sizeof(libdl_value));
      break;
  }
  return true;
}

// -- calls ----------------------------------------------------------------------------------------

void Machine::take_error(const Info& f, libdl_error* error) {
  refusal_ = libdl_error_get_code(error);
  const std::string message = libdl_error_get_message(error);
  if (message.empty() || !refusal_) fail(f.name + ": an error that tells nothing");
  if (refusal_ == LIBDL_ERROR_INTERNAL) fail(f.name + ": a defect of the library: " + message);
  for (const Place& place : slots_) {
    const size_t bytes = place.variable == -1 ? kPlace : sizeof(void*);
    for (size_t k = 0; k < bytes; ++k)
      if (static_cast<unsigned char>(place.bytes[k]) != kUntouched)
        return fail(f.name + ": an output was written, and yet it failed: " + message);
  }
}

void Machine::take_outputs(const Statement& statement) {
  for (const Place& place : slots_) {
    if (place.variable < 0) continue;
    Raw value = {};
    std::memcpy(&value, place.bytes, sizeof value);
    if (variables_[at(place.variable)].kind == kOp) {
      int32_t op;
      std::memcpy(&op, place.bytes, sizeof op);
      value.i = op;
    }
    live(static_cast<int32_t>(place.variable), value);
  }
  for (const Operand& operand : statement.arguments) {
    if (operand.is != Is::results) continue;
    const auto found = std::find_if(slots_.begin(), slots_.end(),
                                    [](const Place& place) { return place.variable == -2; });
    for (size_t k = 0; k < operand.ints.size(); ++k) {
      libdl_value value;
      std::memcpy(&value, found->bytes + k * sizeof value, sizeof value);
      const bool list = value.type == LIBDL_VALUE_TENSOR_LIST;
      if (!list && value.type != LIBDL_VALUE_TENSOR) continue;
      variables_[at(operand.ints[k])].kind = list ? kList : kTensor;
      live(static_cast<int32_t>(operand.ints[k]), {.p = value.held.tensor});
    }
  }
}

// What the statement makes, before it is known whether it does.
void Machine::declare(const Statement& statement) {
  const Info& f = library_[statement.function];
  std::vector<int64_t> made;
  history_text(statement, &made);
  for (int64_t k : made)
    if (at(k) >= variables_.size()) variables_.resize(at(k) + 1);
  if (statement.result >= 0) variables_[at(statement.result)].kind = f.fallible ? kError : f.result;
  for (size_t k = 0; k < statement.arguments.size(); ++k)
    if (statement.arguments[k].is == Is::out && statement.arguments[k].i >= 0)
      variables_[at(statement.arguments[k].i)].kind = f.parameters[k].good[0].handle;
}

Ran Machine::run(const Statement& statement) {
  const Info& f = library_[statement.function];
  memory_.clear(), slots_.clear(), refusal_ = LIBDL_OK;
  std::vector<Raw> parameters(statement.arguments.size());
  const size_t expected = expected_.size(), possible = possible_.size();
  for (size_t k = 0; k < parameters.size(); ++k) {
    if (build(statement.arguments[k], &parameters[k])) continue;
    expected_.resize(expected), possible_.resize(possible);
    return Ran::skipped;
  }
  const bool gives_up = f.gives_up && statement.arguments[0].is == Is::variable;
  // A state in use is its thread's: nobody may give it up.
  if (gives_up && statement.arguments[0].i == state_) return Ran::skipped;
  declare(statement);
  process_ |= of_the_process(f.name);
  const Raw result = f.call(parameters.data());
  if (gives_up) dead(statement.arguments[0].i);
  if (f.fallible && result.p) {
    auto* const error = static_cast<libdl_error*>(result.p);
    take_error(f, error);
    if (statement.result >= 0)
      live(statement.result, result);
    else
      libdl_error_release(error);
    return Ran::refused;
  }
  if (f.name == "libdl_state_swap")
    state_ = statement.arguments[0].is == Is::variable ? statement.arguments[0].i : -1;
  if (!f.fallible && statement.result >= 0) live(statement.result, result);
  take_outputs(statement);
  return Ran::good;
}

void Machine::finish() {
  static const int32_t end = library_.find("fixture_end"),
                       end_process = library_.find("fixture_end_process");
  library_[end].call(nullptr);
  if (process_) library_[end_process].call(nullptr);
  memory_.clear();
  for (const Variable& v : variables_)
    if (v.alive && library_.release[v.kind] >= 0) library_[library_.release[v.kind]].call(&v.value);
  int64_t after[4];
  libdl_memory_get_live(after, after + 1, after + 2, after + 3);
  static const char* const of[4] = {"tensors", "storages", "nodes", "bytes"};
  for (int k = 0; k < 4; ++k)
    if (after[k] != before_[k])
      fail("left behind: " + std::to_string(after[k] - before_[k]) + " " + of[k]);
  for (int32_t k : expected_)
    if (*fuzz_destroyed(k) != 1)
      fail("a destroy ran " + std::to_string(*fuzz_destroyed(k)) + " times");
  for (int32_t k : possible_)
    if (*fuzz_destroyed(k) > 1)
      fail("a destroy ran " + std::to_string(*fuzz_destroyed(k)) + " times");
}

}  // namespace fuzz
