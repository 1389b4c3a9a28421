// SPDX-License-Identifier: Apache-2.0

#include "c_program.h"

#include <cmath>
#include <cstdio>

namespace fuzz {
namespace {

const char* const kTypes[kKinds + 1] = {"libdl_tensor *",
                                        "libdl_tensor_list *",
                                        "libdl_error *",
                                        "libdl_generator *",
                                        "libdl_state *",
                                        "libdl_stream *",
                                        "libdl_event *",
                                        "libdl_file *",
                                        "libdl_node *",
                                        "libdl_hook *",
                                        "libdl_text *",
                                        "libdl_mapping *",
                                        "struct DLManagedTensorVersioned *",
                                        "struct DLManagedTensor *",
                                        "libdl_op ",
                                        "void *"};

std::string number(int64_t i) {
  if (i == INT64_MIN) return "INT64_MIN";
  if (i == INT64_MAX) return "INT64_MAX";
  return std::to_string(i);
}

std::string number(double f) {
  if (std::isnan(f)) return "NAN";
  if (std::isinf(f)) return f < 0 ? "-INFINITY" : "INFINITY";
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", f);
  return text;
}

std::string quoted(const std::string& text) {
  std::string s = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') s += '\\';
    s += c;
  }
  return s + '"';
}

std::string name_of(int64_t variable) { return "v" + std::to_string(variable); }

std::string spelled(const Operand& operand, const std::string& type);

std::string spelled_value(const Operand& value) {
  static const char* const members[] = {"",        "tensor", "tensors", "boolean",
                                        "integer", "",       "number",  "integers",
                                        "string",  "dtype",  "device",  "generator"};
  std::string s = "{.type = " + std::to_string(value.i);
  if (value.items.empty()) return s + "}";
  s += std::string(", .held.") + members[value.i] + " = ";
  const std::string first = spelled(value.items[0], "void *");
  if (value.items.size() > 1)
    s += "{" + first + ", " + spelled(value.items[1], "int64_t") + "}";
  else if (value.i == LIBDL_VALUE_DEVICE)
    s += "*" + spelled(value.items[0], "libdl_device *");
  else
    s += first;
  return s + "}";
}

template <class List, class F>
std::string joined(const List& list, F&& spell) {
  std::string s;
  for (const auto& item : list) s += (s.empty() ? "" : ", ") + spell(item);
  return s.empty() ? "0" : s;
}

std::string spelled(const Operand& operand, const std::string& type) {
  const std::string cast = "(" + type + ")";
  const std::string k = std::to_string(operand.i);
  switch (operand.is) {
    case Is::null: return type.back() == '*' || type.back() == ')' ? "NULL" : "0";
    case Is::integer: return number(operand.i);
    case Is::real: return number(operand.f);
    case Is::variable: return (type == "libdl_op" ? "" : cast) + name_of(operand.i);
    case Is::out: return operand.i < 0 ? cast + "place" : "&" + name_of(operand.i);
    case Is::integers:
      return "(int64_t[]){" + joined(operand.ints, [](int64_t i) { return number(i); }) + "}";
    case Is::reals: return "(double[]){" + number(operand.f) + "}";
    case Is::list:
      return cast + "(void *[]){" +
             joined(operand.items, [](const Operand& item) { return spelled(item, "void *"); }) +
             "}";
    case Is::text: return cast + quoted(operand.text);
    case Is::device:
      return "&(libdl_device){" + joined(operand.ints, [](int64_t i) { return number(i); }) + "}";
    case Is::options: return "fixture_options(" + k + ")";
    case Is::callback: return operand.text;
    case Is::made: return operand.text + "(&fixtures[" + k + "])";
    case Is::place: return operand.text + "()";
    case Is::fixture: return "&fixtures[" + k + "]";
    case Is::op: return "fixture_op(" + quoted(operand.text) + ")";
    case Is::descriptor: return "fixture_descriptor()";
    case Is::values: return "(libdl_value[]){" + joined(operand.items, spelled_value) + "}";
    case Is::value: break;
    case Is::results: return "results";
  }
  return "";
}

// The kinds of a generic call's results, from the operator's own function.
std::vector<Kind> results_of(const Library& library, const Statement& statement) {
  std::vector<Kind> kinds;
  const Operand& op = statement.arguments[0];
  for (int32_t k : library.plain)
    if (op.is == Is::op && library[k].op == op.text)
      for (const Parameter& parameter : library[k].parameters)
        if (parameter.good[0].kind == "out") kinds.push_back(parameter.good[0].handle);
  return kinds.empty() ? std::vector<Kind>{kTensor} : kinds;
}

std::string declared(Kind kind, int64_t variable) {
  return std::string("  ") + kTypes[kind] + name_of(variable) +
         (kind == kOp ? " = 0;\n" : " = NULL;\n");
}

// A call and what it makes; a failed one must have written nothing.
std::string printed(const Library& library, const Statement& statement,
                    std::vector<std::pair<Kind, int64_t>>* made) {
  const Info& f = library[statement.function];
  std::string before, after, arguments, places;
  int count = 0;
  const auto place = [&](const std::string& name, bool array) {
    places += (places.empty() ? "{" : ", {") + std::string(array ? "" : "&") + name + ", sizeof " +
              name + "}";
    ++count;
  };
  const auto declare = [&](Kind kind, int64_t variable) {
    made->emplace_back(kind, variable);
    before += declared(kind, variable);
  };
  for (size_t k = 0; k < statement.arguments.size(); ++k) {
    const Operand& operand = statement.arguments[k];
    const Parameter& parameter = f.parameters[k];
    arguments += (k ? ", " : "") + spelled(operand, parameter.type);
    if (operand.is == Is::out && operand.i >= 0) {
      declare(parameter.good[0].handle, operand.i);
      place(name_of(operand.i), false);
    } else if (operand.is == Is::out) {
      before += "  memset(place, 0, sizeof place);\n";
      place("place", true);
    }
    if (operand.is != Is::results) continue;
    before += "  memset(results, 0, sizeof results);\n";
    place("results", true);
    const std::vector<Kind> kinds = results_of(library, statement);
    for (size_t j = 0; j < operand.ints.size() && j < kinds.size(); ++j) {
      if (kinds[j] != kTensor && kinds[j] != kList) continue;
      declare(kinds[j], operand.ints[j]);
      after += "  " + name_of(operand.ints[j]) + " = results[" + std::to_string(j) + "].held." +
               (kinds[j] == kList ? "list" : "tensor") + ";\n";
    }
  }
  std::string call = f.name + "(" + arguments + ")";
  if (f.gives_up && statement.arguments[0].is == Is::variable)
    after += "  " + name_of(statement.arguments[0].i) + " = NULL;\n";
  if (!f.fallible && statement.result < 0) return before + "  (void)" + call + ";\n" + after;
  std::string error = "error";
  if (statement.result >= 0) {
    error = name_of(statement.result);
    declare(f.fallible ? kError : f.result, statement.result);
  }
  call = "  " + error + " = " + call + ";\n";
  if (!f.fallible) return before + call + after;
  call += "  fixture_ends(" + error + ", " + (count ? "(Place[]){" + places + "}" : "NULL") + ", " +
          std::to_string(count) + ");\n";
  if (statement.result < 0) call += "  libdl_error_release(error);\n";
  return before + call + after;
}

void fixtures_of(const Operand& operand, std::vector<int64_t>* fixtures) {
  if (operand.is == Is::fixture) fixtures->push_back(operand.i);
}

}  // namespace

std::string c_program(const Library& library, const Program& program, const std::string& told,
                      const std::string& fixtures) {
  std::string s = "/* " + told + " */\n#include <math.h>\n" + fixtures;
  s += "\nint main(void) {\n  static char place[256];\n  static libdl_value results[16];\n";
  s += "  libdl_error *error = NULL;\n  (void)place, (void)results, (void)error;\n  "
       "fixture_begin();\n";
  std::vector<std::pair<Kind, int64_t>> made;
  std::vector<int64_t> expected;
  for (const Statement& statement : program) {
    s += printed(library, statement, &made);
    for (const Operand& operand : statement.arguments) fixtures_of(operand, &expected);
  }
  s += "  fixture_end();\n  fixture_end_process();\n";
  for (const auto& [kind, variable] : made)
    if (library.release[kind] >= 0)
      s += "  " + library[library.release[kind]].name + "(" + name_of(variable) + ");\n";
  s += "  const int expected[] = {" +
       joined(expected, [](int64_t k) { return std::to_string(k); }) + "};\n";
  s += "  return fixture_is_clean(expected, " + std::to_string(expected.size()) + ") ? 0 : 1;\n}\n";
  return s;
}

}  // namespace fuzz
