// SPDX-License-Identifier: Apache-2.0

#include "library.h"

#include <cstdlib>
#include <fstream>

namespace fuzz {

namespace {

using words::dtype_of, words::integers, words::split;

const char* const kNames[kKinds] = {"tensor", "list",    "error",  "generator",  "state",
                                    "stream", "event",   "file",   "node",       "hook",
                                    "text",   "mapping", "dlpack", "dlpack_old", "op"};

// Words that say the same in every sequence.
bool constant(const std::string& kind, const std::string& rest, Operand* operand) {
  if (kind == "null") return *operand = {}, true;
  if (kind == "i") {
    operand->is = Is::integer, operand->i = std::strtoll(rest.c_str(), nullptr, 10);
  } else if (kind == "f" || kind == "fp") {
    operand->is = kind == "f" ? Is::real : Is::reals,
    operand->f = std::strtod(rest.c_str(), nullptr);
  } else if (kind == "ip" || kind == "ints") {
    operand->is = Is::integers, operand->ints = integers(rest);
  } else if (kind == "s") {
    operand->is = Is::text, operand->text = rest;
  } else if (kind == "dev") {
    operand->is = Is::device, operand->ints = integers(rest);
  } else if (kind == "options") {
    operand->is = Is::options, operand->i = std::strtoll(rest.c_str(), nullptr, 10);
  } else if (kind == "fn" || kind == "at") {
    operand->is = kind == "fn" ? Is::callback : Is::place, operand->text = rest;
  } else if (kind == "descriptor") {
    operand->is = Is::descriptor;
  } else {
    return false;
  }
  return true;
}

}  // namespace

Kind kind_of(const std::string& name) {
  for (int32_t k = 0; k < kKinds; ++k)
    if (name == kNames[k]) return static_cast<Kind>(k);
  return kKinds;
}

Word parsed(const std::string& text) {
  Word word;
  word.fresh = text[0] == '!';
  const std::string plain = text.substr(text[0] == '!');
  const size_t colon = plain.find(':');
  word.kind = plain.substr(0, colon);
  word.rest = colon == std::string::npos ? "" : plain.substr(colon + 1);
  word.constant = constant(word.kind, word.rest, &word.operand);
  if (word.constant) return word;
  if (word.kind == "list") {
    for (const std::string& entry : split(word.rest, '|')) word.items.push_back(parsed(entry));
  } else if (word.kind == "t" || word.kind == "leaf" || word.kind == "sparse") {
    const std::vector<std::string> parts = split(split(word.rest, '#')[0], ':');
    word.dtype = dtype_of(parts[0]);
    if (parts.size() > 1) word.shape = integers(parts[1]);
  } else if (word.kind == "like") {
    word = parsed(word.rest.substr(0, word.rest.find('/')));
    if (text.find('/') != std::string::npos) word = parsed("dst:0" + text.substr(text.find('/')));
  } else if (word.kind == "h" || word.kind == "out") {
    word.handle = kind_of(word.rest);
  }
  return word;
}

Library::Library(const std::string& path) {
  for (int32_t k = 0; fuzz_functions[k].name; ++k) {
    numbers_[fuzz_functions[k].name] = k;
    functions.emplace_back();
    functions.back().name = fuzz_functions[k].name;
    functions.back().call = fuzz_functions[k].call;
  }
  read(path);
  for (int32_t k = 0; k < static_cast<int32_t>(functions.size()); ++k) {
    const Info& f = functions[static_cast<size_t>(k)];
    if (!f.op.empty()) (f.is_into() ? into : plain).push_back(k);
  }
  for (int32_t k = 0; k < kKinds; ++k) {
    const std::string name = kNames[k];
    release[k] = k == kOp                          ? -1
                 : k == kList                      ? find("libdl_tensor_list_release")
                 : k == kMapping                   ? find("libdl_tensor_unmap")
                 : k == kDlpack || k == kDlpackOld ? find("fixture_" + name + "_release")
                                                   : find("libdl_" + name + "_release");
  }
}

int32_t Library::find(const std::string& name) const {
  const auto found = numbers_.find(name);
  if (found == numbers_.end()) stop("no function " + name);
  return found->second;
}

void Library::read(const std::string& path) {
  std::ifstream in(path);
  if (!in) stop("cannot read " + path);
  Info* f = nullptr;
  for (std::string text; std::getline(in, text);) {
    const std::vector<std::string> part = split(text, '\t');
    switch (text[0]) {
      case 'F':
        f = &functions[static_cast<size_t>(find(part[1]))];
        f->fallible = part[2] == "fallible";
        f->result = kind_of(part[2]);
        f->gives_up = part[3] == "1";
        f->seldom = std::atoi(part[4].c_str());
        if (part.size() > 5) f->wants = find(part[5]);
        break;
      case 'P':
        f->parameters.push_back({part[1], kind_of(part[2]), part[3] == "1", {}});
        f->faults.emplace_back();
        break;
      case 'W':
        for (size_t k = 1; k < part.size(); ++k)
          for (const std::string& word : split(part[k], '~'))
            f->parameters[k - 1].good.push_back(parsed(word));
        break;
      case 'B': {
        Fault fault;
        for (size_t k = 1; k < part.size(); ++k) {
          const size_t equals = part[k].find('=');
          fault.emplace_back(std::stoul(part[k]), parsed(part[k].substr(equals + 1)));
        }
        f->faults[fault[0].first].push_back(fault);
        break;
      }
      case 'R': f->op = part[1], f->results = std::stoul(part[2]); break;
      default: f->spelled.emplace_back(part[1], std::stoul(part[2]));
    }
  }
}

}  // namespace fuzz
