// SPDX-License-Identifier: Apache-2.0

#include "chooser.h"

#include <algorithm>

namespace fuzz {
namespace {

// Percent of the calls that are as good as they can be, and of the arguments of the others that are
// bad: 30 of all arguments, and yet functions of many arguments succeed.
constexpr size_t kClean = 45, kHostile = 60;
constexpr size_t kMostTensors = 24;  // alive at once
constexpr size_t kMostOthers = 4;    // of each other kind
constexpr int64_t kMostElements = 512;

bool counts_elements(const std::string& kind) {
  return kind == "ints" || kind == "tensors" || kind == "string";
}

}  // namespace

Chooser::Chooser(const Library& library, Machine* machine, uint64_t seed,
                 std::function<void(const Statement&)> told, std::function<void(int32_t, bool)> ran)
    : library_(library),
      machine_(*machine),
      random_(seed),
      seed_(seed),
      told_(std::move(told)),
      ran_(std::move(ran)) {}

void Chooser::sequence() {
  machine_.begin();
  const size_t calls = 20 + random_.below(9);
  for (size_t k = 0; k < calls && machine_.wrong().empty(); ++k) call(pick());
  machine_.finish();
}

int32_t Chooser::pick() {
  while (true) {
    const auto k = static_cast<int32_t>(random_.below(library_.functions.size()));
    const int32_t seldom = library_[k].seldom;
    if (seldom && !random_.below(static_cast<size_t>(seldom))) return k;
  }
}

Ran Chooser::emit(Statement statement) {
  told_(statement);
  const Ran ran = machine_.run(statement);
  const Info& f = library_[statement.function];
  // Where nothing can fail, a call has succeeded if it was meant to.
  ran_(statement.function, ran == Ran::good && (f.fallible || !statement.hostile));
  return ran;
}

void Chooser::call(int32_t function) {
  const Info& f = library_[function];
  if (f.wants >= 0 && random_.percent(70)) call(f.wants);
  static const libdl_dtype others[] = {LIBDL_DTYPE_FLOAT32,   LIBDL_DTYPE_FLOAT32,
                                       LIBDL_DTYPE_FLOAT16,   LIBDL_DTYPE_BFLOAT16,
                                       LIBDL_DTYPE_COMPLEX64, LIBDL_DTYPE_COMPLEX128};
  floating_ = random_.percent(30) ? random_.any(others) : LIBDL_DTYPE_FLOAT64;
  Statement statement;
  statement.function = function;
  const bool generic = f.name == "libdl_op_call" || f.name == "libdl_op_call_into";
  if (!generic || !generic_call(f, &statement))
    statement.arguments = arguments(f, &statement.hostile);
  // A returned handle is kept, an error now and then.
  if (f.result != kKinds || (f.fallible && random_.percent(5)))
    statement.result = machine_.variable();
  emit(statement);
  let_go(kTensor, kMostTensors);
  for (int32_t k = kList; k < kOp; ++k) let_go(static_cast<Kind>(k), kMostOthers);
}

// Large ones at once, and any where there are too many.
void Chooser::let_go(Kind kind, size_t most) {
  Statement statement;
  statement.function = library_.release[kind];
  const auto release = [&](int32_t k) {
    statement.arguments = {{.is = Is::variable, .i = k}};
    emit(statement);
  };
  if (kind == kTensor)
    for (int32_t k : std::vector<int32_t>(machine_.alive(kind)))
      if (libdl_tensor_numel(static_cast<libdl_tensor*>(machine_.handle(k))) > kMostElements)
        release(k);
  for (size_t tries = 0; machine_.alive(kind).size() > most && tries < 8; ++tries)
    release(random_.any(machine_.alive(kind)));
}

std::vector<Operand> Chooser::arguments(const Info& f, bool* hostile) {
  const Info* const outer = current_;
  current_ = &f;
  const size_t n = f.parameters.size();
  const bool clean = random_.percent(kClean);
  std::vector<const Word*> words(n, nullptr);
  for (size_t k = 0; k < n; ++k) {
    if (clean || f.faults[k].empty() || !random_.percent(kHostile)) continue;
    for (const auto& [parameter, word] : random_.any(f.faults[k])) words[parameter] = &word;
    *hostile = true;
  }
  std::vector<Operand> operands(n);
  for (size_t k = 0; k < n; ++k) {
    const Parameter& parameter = f.parameters[k];
    ++counts_.arguments;
    counts_.hostile += words[k] != nullptr;
    if (words[k]) {
      operands[k] = make(*words[k], &parameter);
      continue;
    }
    operands[k] = vary(f, k, make(random_.any(parameter.good), &parameter));
  }
  current_ = outer;
  return operands;
}

// An argument of an operator that means something else, bad or not.
Operand Chooser::vary(const Info& f, size_t k, Operand operand) {
  if (f.op.empty() || !random_.percent(12)) return operand;
  static const int64_t numbers[] = {-2, -1, 0, 1, 2, 3, 4};
  static const double reals[] = {-1, 0, 0.5, 1, 2, 1e300, -0.0};
  for (const auto& [kind, first] : f.spelled) {
    if (first != k) continue;
    if (operand.is == Is::integer)
      operand.i = kind == "dtype" ? static_cast<int64_t>(random_.below(16)) : random_.any(numbers);
    if (operand.is == Is::real || operand.is == Is::reals) operand.f = random_.any(reals);
    if (operand.is == Is::integers)
      for (int64_t& value : operand.ints) value = random_.any(numbers);
    if (f.parameters[k].nullable && !counts_elements(kind) && random_.percent(50)) return {};
  }
  return operand;
}

// -- generic calls --------------------------------------------------------------------------------

Operand Chooser::value(const std::string& kind, const Operand& first, const Operand& second) {
  static const std::map<std::string, libdl_value_type> types = {
      {"tensor", LIBDL_VALUE_TENSOR},   {"updated", LIBDL_VALUE_TENSOR},
      {"tensors", LIBDL_VALUE_TENSORS}, {"ints", LIBDL_VALUE_INTS},
      {"int", LIBDL_VALUE_INT},         {"dim", LIBDL_VALUE_INT},
      {"float", LIBDL_VALUE_FLOAT},     {"bool", LIBDL_VALUE_BOOL},
      {"dtype", LIBDL_VALUE_DTYPE},     {"device", LIBDL_VALUE_DEVICE},
      {"string", LIBDL_VALUE_STRING},   {"generator", LIBDL_VALUE_GENERATOR}};
  Operand value{.is = Is::value, .i = types.at(kind)};
  if (first.is == Is::null && !counts_elements(kind)) {
    value.i = LIBDL_VALUE_NONE;
    return value;
  }
  value.items = {first};
  // What C gives by a pointer, because it may be absent.
  if (kind == "int" && first.is == Is::integers)
    value.items[0] = {.is = Is::integer, .i = first.ints[0]};
  if (kind == "float" && first.is == Is::reals) value.items[0].is = Is::real;
  if (counts_elements(kind)) value.items.push_back(second);
  return value;
}

bool Chooser::generic_call(const Info& f, Statement* statement) {
  const bool into = f.name == "libdl_op_call_into";
  std::vector<Operand> told = arguments(f, &statement->hostile);
  if (told[0].is != Is::op) {  // no operator: any arguments will do
    told[1] = {}, told[3] = {}, told[2] = told[4] = {.is = Is::integer};
    statement->arguments = told;
    return true;
  }
  Operand values{.is = Is::values};
  Operand results{.is = into ? Is::list : Is::results};
  if (!into && !machine_.alive(kOp).empty() && random_.percent(10)) {
    told[0] = {.is = Is::variable, .i = random_.any(machine_.alive(kOp))};
    values.items.push_back(value("tensor", handle(kTensor), {}));
    results.ints.push_back(machine_.variable());
  } else {
    const Info& g = library_[random_.any(into ? library_.into : library_.plain)];
    const std::vector<Operand> all = arguments(g, &statement->hostile);
    told[0].text = g.op;
    for (const auto& [kind, first] : g.spelled)
      values.items.push_back(
          value(kind, all[first], counts_elements(kind) ? all[first + 1] : Operand{}));
    for (size_t k = 0; k < g.results; ++k) {
      if (into)
        results.items.push_back(all[all.size() - g.results + k]);
      else
        results.ints.push_back(machine_.variable());
    }
  }
  const auto count = [](size_t n) {
    return Operand{.is = Is::integer, .i = static_cast<int64_t>(n)};
  };
  // Counts and pointers that are bad stay so; a count that lies is no argument but a stray pointer.
  if (told[1].is == Is::values) told[1] = values;
  if (told[2].is == Is::values) told[2] = count(values.items.size());
  if (told[3].is == Is::values) told[3] = results;
  if (told[4].is == Is::values) told[4] = count(into ? results.items.size() : results.ints.size());
  statement->arguments = told;
  return true;
}

}  // namespace fuzz
