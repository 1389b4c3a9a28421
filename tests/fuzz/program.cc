// SPDX-License-Identifier: Apache-2.0

#include "program.h"

#include <cstring>

namespace fuzz {
namespace {

template <class T>
void put(std::string* to, const T& value) {
  to->append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T>
T get(const char** at) {
  T value;
  std::memcpy(&value, *at, sizeof value);
  *at += sizeof value;
  return value;
}

void put_operand(std::string* to, const Operand& operand) {
  put(to, operand.is);
  put(to, operand.i);
  put(to, operand.f);
  put(to, operand.ints.size());
  for (int64_t value : operand.ints) put(to, value);
  put(to, operand.text.size());
  *to += operand.text;
  put(to, operand.items.size());
  for (const Operand& item : operand.items) put_operand(to, item);
}

Operand get_operand(const char** at) {
  Operand operand;
  operand.is = get<Is>(at);
  operand.i = get<int64_t>(at);
  operand.f = get<double>(at);
  operand.ints.resize(get<size_t>(at));
  for (int64_t& value : operand.ints) value = get<int64_t>(at);
  const auto length = get<size_t>(at);
  operand.text.assign(*at, length);
  *at += length;
  operand.items.resize(get<size_t>(at));
  for (Operand& item : operand.items) item = get_operand(at);
  return operand;
}

}  // namespace

void read_by(const Operand& operand, std::vector<int64_t>* variables) {
  if (operand.is == Is::variable) variables->push_back(operand.i);
  for (const Operand& item : operand.items) read_by(item, variables);
}

void history_text(const Statement& statement, std::vector<int64_t>* variables) {
  if (statement.result >= 0) variables->push_back(statement.result);
  for (const Operand& operand : statement.arguments) {
    if (operand.is == Is::out && operand.i >= 0) variables->push_back(operand.i);
    if (operand.is != Is::results) continue;
    for (int64_t k : operand.ints)
      if (k >= 0) variables->push_back(k);
  }
}

std::string written(const Statement& statement) {
  std::string s;
  put(&s, statement.function);
  put(&s, statement.result);
  put(&s, statement.hostile);
  put(&s, statement.arguments.size());
  for (const Operand& operand : statement.arguments) put_operand(&s, operand);
  return s;
}

Statement read(const char** at) {
  Statement statement;
  statement.function = get<int32_t>(at);
  statement.result = get<int32_t>(at);
  statement.hostile = get<bool>(at);
  statement.arguments.resize(get<size_t>(at));
  for (Operand& operand : statement.arguments) operand = get_operand(at);
  return statement;
}

}  // namespace fuzz
