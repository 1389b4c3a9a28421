// SPDX-License-Identifier: Apache-2.0

// Chooses the calls of a sequence: what is given is drawn from what the calls before have made.
#pragma once

#include <functional>

#include "machine.h"

namespace fuzz {

// The same numbers from the same seed on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {  // SplitMix64
    uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  size_t below(size_t n) { return static_cast<size_t>(next() % n); }
  bool percent(size_t p) { return below(100) < p; }
  template <class List>
  const auto& any(const List& list) {
    return list[below(std::size(list))];
  }

 private:
  uint64_t state_;
};

struct Counts {
  int64_t arguments = 0, hostile = 0;
};

class Chooser {
 public:
  // `told` is called with each statement before it runs.
  Chooser(const Library& library, Machine* machine, uint64_t seed,
          std::function<void(const Statement&)> told, std::function<void(int32_t, bool)> ran);
  // A whole sequence, up to the machine's finish.
  void sequence();
  std::vector<Word> models_of(const Info& into);
  const Counts& counts() const { return counts_; }

 private:
  int32_t pick();
  void call(int32_t function);
  Ran emit(Statement statement);
  std::vector<Operand> arguments(const Info& f, bool* hostile);
  void let_go(Kind kind, size_t most);
  // Operands of words, by what they are.
  Operand make(const Word& word, const Parameter* parameter);
  Operand tensor(const Word& word, bool leaf);
  Operand fresh_tensor(libdl_dtype dtype, const std::vector<int64_t>& shape, bool leaf);
  Operand handle(Kind kind);
  Operand handle_made(Kind kind);
  Operand foreign(const char* maker, int64_t which);
  Operand other_kind(const Parameter* parameter);
  Operand destination(const std::string& rest);
  Operand vary(const Info& f, size_t k, Operand operand);
  bool generic_call(const Info& f, Statement* statement);
  Operand value(const std::string& kind, const Operand& first, const Operand& second);
  libdl_dtype dtype(libdl_dtype told) const;

  const Library& library_;
  Machine& machine_;
  Random random_;
  uint64_t seed_;
  std::function<void(const Statement&)> told_;
  std::function<void(int32_t, bool)> ran_;
  libdl_dtype floating_ = LIBDL_DTYPE_FLOAT64;  // in place of float64, for one call
  const Info* current_ = nullptr;               // whose destinations are made
  bool as_meant_ = false;                       // nothing but what the words say
  int32_t names_ = 0;
  int depth_ = 0;
  Counts counts_;
};

// Before the first sequence of all.
void learn_models(Library* library, const std::string& folder);

}  // namespace fuzz
