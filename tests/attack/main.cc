// SPDX-License-Identifier: Apache-2.0

// Calls every function once as it is meant, then with one bad argument after the other: each is
// refused with that argument's name, or stands in legal.txt; nothing else changes. A child process
// does it, so that a call that dies is counted, named and passed over.
//
//     attack ATTACKS LEGAL [KIB]    the files of generate.py and legal.txt; the stack to do it on
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "../core/folder.h"
#include "../core/whole.h"
#include "call.h"

namespace attack {
namespace {

// -- the files ------------------------------------------------------------------------------------

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

// -- what is known of the calls, also to a parent whose child has died ----------------------------

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

// -- one call -------------------------------------------------------------------------------------

// What all errors of a function call it: its name without "libdl_", and PyTorch's where an operator
// has one besides its own: "fill_" where it overwrites, "max" for max_dim, "bernoulli_". Programs
// of version 0.1 compare what gradcheck and tensor_detach_in_place say.
std::string shown_name(const std::string& function) {
  if (function == "libdl_gradcheck") return function;
  if (function == "libdl_tensor_detach_in_place") return "detach_";
  if (function == "libdl_op_call_into") return "op_call_into";
  const std::string plain = without_into(function).substr(6);
  if (plain == "max_dim" || plain == "min_dim") return plain.substr(0, 3);
  if (plain == "bernoulli_fill") return "bernoulli_";
  libdl_op op = 0;
  libdl_error* const error = libdl_op_find(plain.c_str(), -1, &op);
  const bool overwrites = !error && libdl_op_has_into(op) && !libdl_op_has_new(op);
  libdl_error_release(error);
  return overwrites ? plain + "_" : plain;
}

// An operator is found by it as well.
bool finds_its_operator(const std::string& told, const std::string& function) {
  libdl_op own = 0, op = 0;
  libdl_error* const none = libdl_op_find(without_into(function).substr(6).c_str(), -1, &own);
  libdl_error_release(none);
  if (none) return true;
  libdl_error* const error = libdl_op_find(told.c_str(), -1, &op);
  libdl_error_release(error);
  return !error && (op == own || told == libdl_op_name(op));
}

// What errors call a handle of each kind.
const std::map<std::string, std::string> kKinds = {
    {"tensor", "a tensor"}, {"list", "a list of tensors"},
    {"error", "an error"},  {"generator", "a generator"},
    {"state", "a state"},   {"stream", "a stream"},
    {"event", "an event"},  {"file", "a file"},
    {"node", "a node"},     {"hook", "a hook"},
    {"text", "a text"},     {"mapping", "a mapping"}};

bool ends(const std::string& text, const std::string& with) {
  return text.size() >= with.size() &&
         text.compare(text.size() - with.size(), with.size(), with) == 0;
}

bool tells_kind(const libdl_error* error, const std::string& found) {
  return ends(libdl_error_get_found(error), kKinds.at(found)) && *libdl_error_get_wanted(error);
}

// The log's lines while a function without an error is asked.
struct Heard {
  std::string function, kind;
  int64_t right = 0, all = 0;
};

void hear(void* ctx, libdl_log_level level, const char* message, int64_t) {
  auto* const heard = static_cast<Heard*>(ctx);
  const std::string text = message;
  heard->all += level == LIBDL_LOG_WARNING;
  heard->right += level == LIBDL_LOG_WARNING && begins(text, (heard->function + ": ").c_str()) &&
                  text.find(heard->kind) != std::string::npos;
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
  const size_t live = line.fault.find("live-");
  if (live != std::string::npos && code != LIBDL_ERROR_KIND) return "not the code KIND" + told;
  if (live != std::string::npos && !tells_kind(error, line.fault.substr(live + 5)))
    return "does not tell which kind it found and wanted" + told;
  const std::string op = libdl_error_get_operator(error);
  // A generic call is the operator's, and its lists are none of the operator's arguments.
  if (begins(line.function, "libdl_op_call") && op == "neg") return "";
  if (op != shown_name(line.function)) return "tells of '" + op + "'" + told;
  if (!finds_its_operator(op, line.function)) return "op_find does not know '" + op + "'";
  // What the operating system or a file's bytes are to blame for, or both numbers of a version.
  if (name.empty() && (code == LIBDL_ERROR_IO || code == LIBDL_ERROR_FORMAT)) return "";
  if (name.empty() && line.function == "libdl_check_abi") return "";
  if (name == line.argument)
    return line.number && libdl_error_get_argument(error) != line.number ? "another number" + told
                                                                         : "";
  *partner = line.others.count(name);
  return *partner ? "" : "blames '" + name + "'" + told;
}

std::string strike(const Line& line, Call* call, bool* refused, bool* partner) {
  const std::string before = call->seen();
  libdl_error* const error = call->run();
  *refused = error != nullptr;
  if (!error) return "";
  std::string wrong = line.type == 'H'
                          ? std::string("the good call failed: ") + libdl_error_get_message(error)
                          : wrong_with(line, error, partner);
  libdl_error_release(error);
  if (wrong.empty() && call->wrote()) wrong = "an output was written";
  if (wrong.empty() && call->seen() != before) wrong = "something changed";
  return wrong;
}

int64_t tensors_alive() {
  int64_t tensors;
  libdl_memory_get_live(&tensors, nullptr, nullptr, nullptr);
  return tensors;
}

// What a function makes inside an owning scope is that scope's, and goes with it.
std::string wrong_in_a_scope(const Line& happy, const Models& models) {
  if (begins(happy.function, "libdl_scope_")) return "";
  Call call(happy, happy.words, models);
  if (!call.possible() || !call.makes_tensors()) return "";
  const int64_t before = tensors_alive();
  need(libdl_scope_push_owner(), "owning scope");
  libdl_error* const error = call.run();
  if (!error) call.leave_results();
  libdl_error_release(error);
  need(libdl_scope_pop(), "its end");
  const int64_t left = tensors_alive() - before;
  return left ? "an owning scope leaves " + std::to_string(left) + " tensors" : "";
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
  ++tally->asked;
  std::string wrong;
  const bool told = begins(line.fault, "told-live-");
  Heard heard = {line.function, told ? kKinds.at(line.fault.substr(10)) : ""};
  {
    Call call(line, line.words, {});
    const std::string before = call.seen();
    if (told) need(libdl_set_log_handler(hear, &heard, nullptr), "log handler");
    heard.all = 0;
    libdl_error_release(call.run());
    if (told) need(libdl_set_log_handler(nullptr, nullptr, nullptr), "no log handler");
    if (line.type == 'G' && call.seen() != before) wrong = "something changed";
  }
  if (wrong.empty() && told && (heard.right != 1 || heard.all != 1))
    wrong = "the log was not told once which kind it found";
  if (wrong.empty() && wrongly_destroyed()) wrong = "its destroy did not run once";
  if (wrong.empty()) return;
  ++tally->failures;
  report(line, wrong);
}

void attack_one(const Line& line, const Line& happy, const Models& models,
                const std::vector<std::string>& legal, Tally* tally) {
  Words words = happy.words;
  for (const auto& [k, word] : line.changes) words[k] = word;
  bool refused = false, partner = false;
  std::string wrong;
  {
    Call call(happy, words, models);
    if (!call.possible()) {
      ++tally->impossible;
      return;
    }
    if (line.type == 'A') ++tally->attacks;
    wrong = strike(line, &call, &refused, &partner);
  }
  if (wrong.empty() && wrongly_destroyed()) wrong = "its destroy did not run once";
  if (wrong.empty() && line.type == 'H') wrong = wrong_in_a_scope(happy, models);
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
  Models models;
  for (size_t i = happy; i < lines.size(); ++i) {
    if (lines[i].type == 'H') {
      happy = i;
      keep = std::make_unique<Values>();
      models = models_of(lines[i], keep.get());
    }
    if (i < first) continue;
    shared->next = i;
    Tally* const tally = shared->tally + tally_of(lines, lines[i].header);
    if (lines[i].type == 'G' || lines[i].type == 'Q')
      where_it_belongs(lines[i], [&] { ask_one(lines[i], tally); });
    else
      where_it_belongs(lines[happy],
                       [&] { attack_one(lines[i], lines[happy], models, legal, tally); });
  }
  shared->next = lines.size();
}

// -- the table ------------------------------------------------------------------------------------

int64_t functions_of(const std::vector<Line>& lines, const std::string& header) {
  return std::count_if(lines.begin(), lines.end(), [&](const Line& line) {
    return (line.type == 'H' || line.type == 'Q') && (header.empty() || line.header == header);
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

// A thread with so much stack; 0: the main thread.
void on_stack(size_t bytes, const std::function<void()>& f) {
  if (!bytes) return f();
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (pthread_attr_setstacksize(&attributes, bytes)) stop("no thread can have such a stack");
  pthread_t thread;
  const auto enter = [](void* p) -> void* {
    (*static_cast<const std::function<void()>*>(p))();
    return nullptr;
  };
  if (pthread_create(&thread, &attributes, enter, const_cast<std::function<void()>*>(&f)))
    stop("no thread");
  pthread_join(thread, nullptr);
}

int run(const std::vector<Line>& lines, const std::vector<std::string>& legal, size_t stack) {
  if (legal.size() > kLegal) stop("legal.txt is too long");
  shared = static_cast<Shared*>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (shared == MAP_FAILED) stop("no shared memory");
  int64_t deaths = 0;
  const libdl::test::Folder folder;  // for files that calls write
  for (size_t first = 0; first < lines.size();) {
    std::fflush(nullptr);
    const pid_t pid = fork();
    if (!pid) {
      std::filesystem::current_path(folder.file("."));
      on_stack(stack, [&] { child(lines, first, legal); });
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
  char legal_share[64];
  std::snprintf(legal_share, sizeof legal_share, "%lld legal (%.2f %%)",
                static_cast<long long>(all.legal),
                100.0 * static_cast<double>(all.legal) / static_cast<double>(all.attacks));
  libdl::test::figure("bad arguments, one at a time",
                      std::to_string(functions_of(lines, "")) + " functions, " +
                          std::to_string(all.attacks) + " attacks, " + std::to_string(all.refused) +
                          " refused, " + legal_share + ", " +
                          std::to_string(all.failures + deaths) + " findings");
  return good && all.legal * 20 <= all.attacks ? 0 : 1;
}

}  // namespace
}  // namespace attack

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) attack::stop("attack ATTACKS LEGAL [KIB]");
  const size_t stack = argc == 4 ? std::strtoul(argv[3], nullptr, 10) << 10 : 0;
  return attack::run(attack::read_attacks(argv[1]), attack::read_legal(argv[2]), stack);
}
