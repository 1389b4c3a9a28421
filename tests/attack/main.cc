// SPDX-License-Identifier: Apache-2.0

// Calls every function once as it is meant, then with one bad argument after the other: each is
// refused with that argument's name, or stands in legal.txt; nothing else changes. A child process
// does it, so that a call that dies is counted, named and passed over.
//
//     attack ATTACKS LEGAL    the files of generate.py and legal.txt
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include "values.h"

namespace attack {
namespace {

// -- the files ------------------------------------------------------------------------------------

struct Line {
  char type;  // 'H' a call as it is meant, 'A' an attack on the one before, 'G' a getter asked
  std::string header, function;
  Words words;                   // H: its parameters
  std::string argument, fault;   // A
  int32_t number = 0;            // A: the argument's, or 0 where names alone count
  std::set<std::string> others;  // A: arguments that may be blamed as well
  std::vector<std::pair<size_t, std::string>> changes;  // A
};

std::vector<Line> read_attacks(const char* path) {
  std::ifstream in(path);
  if (!in) stop(std::string("cannot read ") + path);
  std::vector<Line> lines;
  for (std::string text; std::getline(in, text);) {
    const Words part = split(text, '\t');
    Line line;
    line.type = part[0][0];
    if (line.type == 'G') {
      line.header = part[1], line.function = part[2], line.argument = part[3];
      line.fault = part[4], line.words.assign(part.begin() + 5, part.end());
    } else if (line.type == 'H') {
      line.header = part[1], line.function = part[2];
      line.words.assign(part.begin() + 3, part.end());
    } else {
      line.header = lines.back().header, line.function = lines.back().function;
      line.argument = part[1], line.number = std::atoi(part[2].c_str()), line.fault = part[3];
      for (const std::string& name : split(part[4], ',')) line.others.insert(name);
      for (size_t k = 5; k < part.size(); ++k) {
        const size_t equals = part[k].find('=');
        line.changes.emplace_back(std::stoul(part[k]), part[k].substr(equals + 1));
      }
    }
    lines.push_back(line);
  }
  return lines;
}

std::string without_into(const std::string& name) {
  const bool into = name.size() > 5 && name.compare(name.size() - 5, 5, "_into") == 0;
  return into ? name.substr(0, name.size() - 5) : name;
}

// "function argument class", and how an into form is called is not told apart.
std::vector<std::string> read_legal(const char* path) {
  std::ifstream in(path);
  if (!in) stop(std::string("cannot read ") + path);
  std::vector<std::string> keys;
  for (std::string text; std::getline(in, text);) {
    if (text.empty() || text[0] == '#') continue;
    std::istringstream words(text);
    std::string function, argument, fault, reason;
    words >> function >> argument >> fault >> reason;
    if (reason.empty()) stop("legal.txt: no reason in: " + text);
    keys.push_back(function + " " + argument + " " + fault);
  }
  return keys;
}

// -- what is known of the calls, also to a parent whose child has died
// ------------------------------

struct Tally {
  int64_t attacks, refused, partners, legal, failures, impossible, asked;
};
constexpr size_t kHeaders = 64, kLegal = 4096;
struct Shared {
  size_t next;  // the line being worked on
  Tally tally[kHeaders];
  bool legal_used[kLegal];
};
Shared* shared;

const Function* find_function(const std::string& name) {
  for (int32_t i = 0; i < attack_function_count; ++i)
    if (name == attack_functions[i].name) return attack_functions + i;
  return nullptr;
}

// -- what a failed call must leave as it was
// --------------------------------------------------------

template <class T>
void append(std::string* s, const T& value) {
  s->append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string seen(const Values& values, const std::vector<libdl_generator*>& generators) {
  std::string s;
  for (const libdl_tensor* x : values.tensors()) {
    const int32_t ndim = libdl_tensor_ndim(x);
    const auto width = static_cast<size_t>(ndim) * sizeof(int64_t);
    append(&s, ndim);
    if (ndim) s.append(reinterpret_cast<const char*>(libdl_tensor_shape(x)), width);
    if (ndim) s.append(reinterpret_cast<const char*>(libdl_tensor_strides(x)), width);
    append(&s, libdl_tensor_dtype(x));
    append(&s, libdl_tensor_version(x));
    append(&s, libdl_tensor_storage_id(x));
    append(&s, libdl_tensor_storage_offset(x));
    append(&s, libdl_tensor_requires_grad(x));
    append(&s, libdl_tensor_use_count(x));
    libdl_node* const node = libdl_tensor_node(x, nullptr);
    append(&s, node);
    libdl_node_release(node);
    libdl_tensor* const grad = libdl_tensor_grad(x);
    append(&s, grad);
    libdl_tensor_release(grad);
    if (libdl_tensor_is_emptied(x)) continue;
    std::vector<char> bytes(
        static_cast<size_t>(libdl_tensor_numel(x) * libdl_dtype_size(libdl_tensor_dtype(x))) + 1);
    need(libdl_tensor_copy_out(x, bytes.data(), static_cast<int64_t>(bytes.size()) - 1),
         "copy_out");
    s.append(bytes.data(), bytes.size());
  }
  for (libdl_generator* g : generators) {
    char state[LIBDL_GENERATOR_STATE_BYTES];
    need(libdl_generator_get_state(g, state, sizeof state), "get_state");
    s.append(state, sizeof state);
  }
  int64_t live[4];
  libdl_memory_get_live(live, live + 1, live + 2, live + 3);
  append(&s, live);
  append(&s, libdl_default_dtype());
  append(&s, libdl_default_device());
  append(&s, libdl_grad_enabled());
  return s;
}

// -- outputs
// ----------------------------------------------------------------------------------------

constexpr unsigned char kUntouched = 0xA5;

class Places {
 public:
  Raw add(const std::string& kind) {
    places_.emplace_back(kind, std::make_unique<std::vector<unsigned char>>(256, kUntouched));
    return {.p = places_.back().second->data()};
  }
  bool touched() const {
    return std::any_of(places_.begin(), places_.end(), [](const auto& place) {
      return std::count(place.second->begin(), place.second->end(), kUntouched) != 256;
    });
  }
  void release() {
    for (const auto& [kind, bytes] : places_) {
      void* p;
      std::memcpy(&p, bytes->data(), sizeof p);
      if (std::all_of(bytes->begin(), bytes->begin() + 8, [](auto b) { return b == kUntouched; }))
        continue;
      if (kind == "libdl_tensor") libdl_tensor_release(static_cast<libdl_tensor*>(p));
      if (kind == "libdl_tensor_list")
        libdl_tensor_list_release(static_cast<libdl_tensor_list*>(p));
      if (kind == "libdl_generator") libdl_generator_release(static_cast<libdl_generator*>(p));
      if (kind == "libdl_state") libdl_state_release(static_cast<libdl_state*>(p));
      if (kind == "libdl_stream") libdl_stream_release(static_cast<libdl_stream*>(p));
      if (kind == "libdl_event") libdl_event_release(static_cast<libdl_event*>(p));
      if (kind == "libdl_file") libdl_file_release(static_cast<libdl_file*>(p));
      if (kind == "libdl_text") libdl_text_release(static_cast<libdl_text*>(p));
      if (kind == "libdl_hook") libdl_hook_release(static_cast<libdl_hook*>(p));
      if (kind == "libdl_mapping") libdl_tensor_unmap(static_cast<libdl_mapping*>(p));
    }
    places_.clear();
  }
  libdl_tensor* tensor(size_t k) const {
    libdl_tensor* p;
    std::memcpy(&p, places_[k].second->data(), sizeof p);
    return p;
  }

 private:
  std::vector<std::pair<std::string, std::unique_ptr<std::vector<unsigned char>>>> places_;
};

bool begins(const std::string& text, const char* with) {
  return text.compare(0, std::strlen(with), with) == 0;
}

// -- one call
// -----------------------------------------------------------------------------------------

struct Prepared {
  Values values;
  Places places;
  std::vector<Raw> parameters;
  std::vector<libdl_generator*> generators;
};

// Destinations are like what the new form gives for the call as it is meant ("dst:"), or like a
// tensor that is told ("like:").
std::vector<libdl_tensor*> models_of(const Line& happy, Values* keep) {
  std::vector<libdl_tensor*> models;
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
    parameters.push_back(begins(word, "dst:") ? places.add("libdl_tensor") : keep->make(word));
  const Function* const plain = find_function(without_into(happy.function));
  need(plain->call(parameters.data()), happy.function + " for a destination");
  for (size_t k = 0; k < count; ++k) {
    models.push_back(places.tensor(k));
    keep->own(models.back());
  }
  return models;
}

// False where the fault cannot be made of such a result.
bool prepare(const Words& words, const std::vector<libdl_tensor*>& models, Prepared* to) {
  size_t k = 0;
  libdl_tensor* operand = nullptr;
  for (const std::string& word : words) {
    Raw raw;
    if (begins(word, "out:")) {
      raw = to->places.add(word.substr(4));
    } else if (begins(word, "dst:") || begins(word, "like:")) {
      raw = {.p = nullptr};
      const size_t slash = word.find('/');
      const std::string fault = slash == std::string::npos ? "" : word.substr(slash + 1);
      if (!to->values.destination(fault, models.at(k++), operand, &raw)) return false;
    } else {
      raw = to->values.make(word);
      if (!operand && begins(word, "t:")) operand = static_cast<libdl_tensor*>(raw.p);
      if (word == "gen") to->generators.push_back(static_cast<libdl_generator*>(raw.p));
    }
    to->parameters.push_back(raw);
  }
  return true;
}

// An error's operator is the function's name, or begins it ("max" for max_dim); "fill_" overwrites.
bool names(const std::string& op, const std::string& function) {
  const std::string plain = op.substr(0, op.size() - (!op.empty() && op.back() == '_'));
  return !op.empty() && (op == function || begins(function.substr(6), plain.c_str()));
}

// What is wrong with an error as the answer to an attack; "" if nothing is.
std::string wrong_with(const Line& line, const libdl_error* error, bool* partner) {
  const std::string name = libdl_error_get_argument_name(error);
  const libdl_error_code code = libdl_error_get_code(error);
  const std::string told = std::string(": ") + libdl_error_get_message(error);
  if (line.fault == "huge" && code == LIBDL_ERROR_OUT_OF_MEMORY) return "";
  if (code == LIBDL_ERROR_INTERNAL) return "a defect of the library" + told;
  if (line.fault == "null" && code != LIBDL_ERROR_NULL) return "not the code NULL" + told;
  if (line.fault == "kind" && code != LIBDL_ERROR_KIND) return "not the code KIND" + told;
  if (line.fault == "emptied" && code != LIBDL_ERROR_EMPTIED) return "not the code EMPTIED" + told;
  const std::string op = libdl_error_get_operator(error);
  if (!names(op, line.function)) return "tells of '" + op + "'" + told;
  if (name == line.argument)
    return line.number && libdl_error_get_argument(error) != line.number ? "another number" + told
                                                                         : "";
  *partner = line.others.count(name);
  return *partner ? "" : "blames '" + name + "'" + told;
}

std::string strike(const Line& line, const Function& function, Prepared* call, bool* refused,
                   bool* partner) {
  call->generators.push_back(libdl_generator_default());
  const std::string before = seen(call->values, call->generators);
  libdl_error* const error = function.call(call->parameters.data());
  *refused = error != nullptr;
  std::string wrong;
  if (error) {
    wrong = line.type == 'H'
                ? std::string("the good call failed: ") + libdl_error_get_message(error)
                : wrong_with(line, error, partner);
    libdl_error_release(error);
    if (wrong.empty() && call->places.touched()) wrong = "an output was written";
    if (wrong.empty() && seen(call->values, call->generators) != before)
      wrong = "something changed";
  }
  call->places.release();
  libdl_generator_release(call->generators.back());
  return wrong;
}

size_t tally_of(const std::vector<Line>& lines, const std::string& header) {
  std::set<std::string> names;
  for (const Line& line : lines) names.insert(line.header);
  return static_cast<size_t>(std::distance(names.begin(), names.find(header)));
}

void report(const Line& line, const std::string& wrong) {
  std::printf("%s %s %s: %s\n", line.function.c_str(), line.argument.c_str(), line.fault.c_str(),
              wrong.c_str());
  std::fflush(stdout);
}

// A function without an error: it answers, and changes nothing.
void ask_one(const Line& line, Tally* tally) {
  Prepared call;
  prepare(line.words, {}, &call);
  ++tally->asked;
  const std::string before = seen(call.values, {});
  libdl_error* const none = find_function(line.function)->call(call.parameters.data());
  libdl_error_release(none);
  if (seen(call.values, {}) == before) return;
  ++tally->failures;
  report(line, "something changed");
}

void attack_one(const Line& line, const Line& happy, const std::vector<libdl_tensor*>& models,
                const std::vector<std::string>& legal, Tally* tally) {
  Words words = happy.words;
  for (const auto& [k, word] : line.changes) words[k] = word;
  Prepared call;
  if (!prepare(words, models, &call)) {
    ++tally->impossible;
    return;
  }
  if (line.type == 'A') ++tally->attacks;
  bool refused = false, partner = false;
  std::string wrong = strike(line, *find_function(line.function), &call, &refused, &partner);
  if (line.type == 'A' && !refused) {
    const auto found =
        std::find(legal.begin(), legal.end(),
                  without_into(line.function) + " " + line.argument + " " + line.fault);
    if (found == legal.end()) wrong = "was not refused";
    if (found != legal.end()) shared->legal_used[found - legal.begin()] = true, ++tally->legal;
  }
  if (!wrong.empty()) {
    ++tally->failures;
    report(line, wrong);
  } else if (refused) {
    ++tally->refused;
    tally->partners += partner;
  }
}

// From line `first` to the end.
void child(const std::vector<Line>& lines, size_t first, const std::vector<std::string>& legal) {
  need(libdl_set_threads(1), "threads");
  size_t happy = first;
  while (lines[happy].type == 'A') --happy;
  std::unique_ptr<Values> keep;
  std::vector<libdl_tensor*> models;
  for (size_t i = happy; i < lines.size(); ++i) {
    if (lines[i].type == 'H') {
      happy = i;
      keep = std::make_unique<Values>();
      models = models_of(lines[i], keep.get());
    }
    if (i < first) continue;
    shared->next = i;
    Tally* const tally = shared->tally + tally_of(lines, lines[i].header);
    if (lines[i].type == 'G')
      ask_one(lines[i], tally);
    else
      attack_one(lines[i], lines[happy], models, legal, tally);
  }
  shared->next = lines.size();
}

// -- the table
// ----------------------------------------------------------------------------------------

int64_t functions_of(const std::vector<Line>& lines, const std::string& header) {
  return std::count_if(lines.begin(), lines.end(), [&](const Line& line) {
    return line.type == 'H' && (header.empty() || line.header == header);
  });
}

void print_row(const char* name, int64_t functions, const Tally& t) {
  std::printf("%-12s %9lld %8lld %8lld %9lld %6lld %9lld\n", name,
              static_cast<long long>(functions), static_cast<long long>(t.attacks),
              static_cast<long long>(t.refused), static_cast<long long>(t.partners),
              static_cast<long long>(t.legal), static_cast<long long>(t.failures));
}

Tally print_table(const std::vector<Line>& lines) {
  std::printf("%-12s %9s %8s %8s %9s %6s %9s\n", "header", "functions", "attacks", "refused",
              "(partner)", "legal", "failures");
  std::set<std::string> headers;
  for (const Line& line : lines) headers.insert(line.header);
  Tally all = {};
  for (const std::string& header : headers) {
    const Tally& t = shared->tally[tally_of(lines, header)];
    print_row(header.c_str(), functions_of(lines, header), t);
    all.attacks += t.attacks, all.refused += t.refused, all.partners += t.partners;
    all.legal += t.legal, all.failures += t.failures, all.impossible += t.impossible;
    all.asked += t.asked;
  }
  print_row("all", functions_of(lines, ""), all);
  return all;
}

int run(const std::vector<Line>& lines, const std::vector<std::string>& legal) {
  if (legal.size() > kLegal) stop("legal.txt is too long");
  shared = static_cast<Shared*>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (shared == MAP_FAILED) stop("no shared memory");
  int64_t deaths = 0;
  for (size_t first = 0; first < lines.size();) {
    std::fflush(nullptr);
    const pid_t pid = fork();
    if (!pid) {
      child(lines, first, legal);
      std::exit(0);  // not _Exit: leaks are looked for there
    }
    int status = 0;
    waitpid(pid, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 3) return 1;  // it could not go on, and said so
    first = shared->next;
    if (!status) break;
    ++deaths;
    if (first == lines.size()) {
      std::printf("the process died at its end\n");
      break;
    }
    ++shared->tally[tally_of(lines, lines[first].header)].failures;
    report(lines[first], "the process died");
    ++first;
  }
  const Tally all = print_table(lines);
  std::printf("%lld questions without an error, to NULL, other kinds and emptied tensors\n",
              static_cast<long long>(all.asked));
  bool good = !all.failures && !deaths;
  for (size_t i = 0; i < legal.size(); ++i) {
    if (shared->legal_used[i]) continue;
    std::printf("legal.txt: never met: %s\n", legal[i].c_str());
    good = false;
  }
  std::printf(
      "%.2f %% of the attacks are legal, at most 5 %% may be; %lld faults do not exist for a "
      "result of that kind\n",
      100.0 * static_cast<double>(all.legal) / static_cast<double>(all.attacks),
      static_cast<long long>(all.impossible));
  return good && all.legal * 20 <= all.attacks ? 0 : 1;
}

}  // namespace
}  // namespace attack

int main(int argc, char** argv) {
  if (argc != 3) attack::stop("attack ATTACKS LEGAL");
  return attack::run(attack::read_attacks(argv[1]), attack::read_legal(argv[2]));
}
