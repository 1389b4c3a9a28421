// SPDX-License-Identifier: Apache-2.0

// Random sequences of calls, a part of whose arguments is bad on purpose. No sequence may end the
// process, hang, leave anything behind or meet an error that tells nothing; what does is cut down
// to the calls that matter and written as a C program.
//
//     fuzz TABLE FIXTURES RARE [--sequences N] [--seed S] [--jobs N] [--least N] [--only I]
//          [--seconds N] [--failures N] [--out DIR]
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "c_program.h"
#include "chooser.h"
#include "report.h"
#include "shrink.h"

namespace fuzz {
namespace {

const Library* counted;  // by fuzz_count

constexpr int64_t kTogether = 2000;  // sequences between two looks for leaks

uint64_t seed_of(const Options& options, int64_t sequence) {
  Random random(options.seed ^ (static_cast<uint64_t>(sequence) << 20));
  return random.next();
}

void run_sequence(const Library& library, const Options& options, int64_t sequence, size_t slot,
                  bool trace) {
  Machine machine(library);
  Chooser chooser(
      library, &machine, seed_of(options, sequence),
      [&](const Statement& statement) {
        shared->running[slot] = statement.function;
        if (!trace) return;
        const std::string s = written(statement);
        if (shared->traced + s.size() > kTrace) stop("the trace is too long");
        std::memcpy(shared->trace + shared->traced, s.data(), s.size());
        shared->traced += s.size();
      },
      [&](int32_t function, bool good) {
        if (trace) return;
        __atomic_fetch_add(shared->calls + function, 1, __ATOMIC_RELAXED);
        if (good) __atomic_fetch_add(shared->good + function, 1, __ATOMIC_RELAXED);
      });
  chooser.sequence();
  shared->running[slot] = -1;
  if (!machine.wrong().empty()) end_wrong(machine.wrong());
  if (trace) return;
  __atomic_fetch_add(&shared->arguments, chooser.counts().arguments, __ATOMIC_RELAXED);
  __atomic_fetch_add(&shared->hostile, chooser.counts().hostile, __ATOMIC_RELAXED);
  __atomic_fetch_add(&shared->sequences, 1, __ATOMIC_RELAXED);
}

// -- workers --------------------------------------------------------------------------------------

// Every jobs-th sequence from `first` on.
void work(const Library& library, const Options& options, size_t slot, int64_t first,
          const std::string& folder) {
  settle(library, folder);
  shared->checked[slot] = first;
  for (int64_t k = first, done = 1; k < options.sequences; k += options.jobs, ++done) {
    shared->current[slot] = k;
    alarm(seconds);
    run_sequence(library, options, k, slot, false);
    if (done % kTogether && k + options.jobs < options.sequences) continue;
    alarm(0);
    if (leaks()) _exit(kLeak);
    shared->checked[slot] = k + options.jobs;
  }
  _exit(0);
}

// The first sequence of every step-th from `from` to `to` after which memory is lost.
int64_t first_leak(const Library& library, const Options& options, int64_t from, int64_t to,
                   int64_t step, const std::string& folder) {
  while (to > from) {
    const int64_t half = from + (to - from) / step / 2 * step;
    const End end = in_child(
        [&] {
          alarm(0);
          settle(library, folder);
          for (int64_t k = from; k <= half; k += step)
            run_sequence(library, options, k, 0, true), shared->traced = 0;
          if (leaks()) _exit(kLeak);
        },
        false);
    if (end.how == "loses memory")
      to = half;
    else
      from = half + step;
  }
  return from;
}

// -- failures -----------------------------------------------------------------------------------

// Cuts the sequence down and writes it; false if it does not fail alone.
bool tell(const Library& library, const Options& options, int64_t sequence, const End& found,
          const std::string& folder) {
  std::printf("\nsequence %lld of seed %llu %s", static_cast<long long>(sequence),
              static_cast<unsigned long long>(options.seed), found.how.c_str());
  if (found.running >= 0) std::printf(", in %s", library[found.running].name.c_str());
  std::printf("\n");
  const End traced = in_child(
      [&] {
        settle(library, folder);
        shared->traced = 0;
        run_sequence(library, options, sequence, 0, true);
        if (leaks()) _exit(kLeak);
      },
      false);
  if (traced.how.empty()) {
    std::printf("  it does not alone: what the sequences before it left behind matters\n");
    return false;
  }
  Program program;
  for (const char* at = shared->trace; at < shared->trace + shared->traced;)
    program.push_back(read(&at));
  const End whole = fails(library, program, folder, false);
  if (!whole.same(traced))
    std::printf("  it ends otherwise when it is run again: %s\n", whole.how.c_str());
  if (whole.how.empty()) return false;
  program = shrunk(library, program, whole, folder);
  (void)fails(library, program, folder, true);  // and shows what a sanitizer says
  const std::string path = options.out + "/failure-" + std::to_string(options.seed) + "-" +
                           std::to_string(sequence) + ".c";
  const std::string told = "Sequence " + std::to_string(sequence) + " of seed " +
                           std::to_string(options.seed) + ": " + whole.how;
  std::ofstream(path) << c_program(library, program, told,
                                   text_of(options.fixtures + "/../capi/dlpack_structs.h") +
                                       text_of(options.fixtures + "/host_fixtures.h") +
                                       text_of(options.fixtures + "/host_fixture_places.h"));
  std::printf("  %zu calls are left, written as %s:\n", program.size(), path.c_str());
  for (const Statement& statement : program)
    std::printf("    %s\n", library[statement.function].name.c_str());
  return true;
}

// -- all of it ------------------------------------------------------------------------------------

struct Failure {
  int64_t sequence;
  End end;
};

std::vector<Failure> run_all(const Library& library, const Options& options,
                             const std::string& folder) {
  std::vector<Failure> failures;
  std::map<pid_t, size_t> workers;
  const auto start = [&](size_t slot, int64_t first) {
    if (first >= options.sequences) return;
    std::fflush(nullptr);
    const std::string own = folder + "/" + std::to_string(slot);
    std::filesystem::create_directories(own);
    const pid_t pid = fork();
    if (!pid) work(library, options, slot, first, own);
    workers[pid] = slot;
  };
  for (int64_t k = 0; k < options.jobs; ++k) start(static_cast<size_t>(k), k);
  while (!workers.empty()) {
    int status = 0;
    const pid_t pid = wait(&status);
    const size_t slot = workers[pid];
    workers.erase(pid);
    if (!status) continue;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 3) std::exit(1);  // it has said why
    failures.push_back({shared->current[slot], ended(status, shared->running[slot])});
    if (failures.back().end.how == "loses memory")
      failures.back().sequence = first_leak(library, options, shared->checked[slot],
                                            shared->current[slot], options.jobs, folder);
    if (static_cast<int64_t>(failures.size()) < options.failures)
      start(slot, shared->current[slot] + options.jobs);
  }
  return failures;
}

int run(Options options) {
  shared = static_cast<Shared*>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (shared == MAP_FAILED) stop("no shared memory");
  Library library(options.table);
  counted = &library;
  if (library.functions.size() > kMostFunctions) stop("more functions than counters");
  char pattern[] = "/tmp/libdl-fuzz-XXXXXX";
  if (!mkdtemp(pattern)) stop("no temporary folder");
  const std::string folder = pattern;
  options.out = std::filesystem::absolute(options.out).string();
  options.fixtures = std::filesystem::absolute(options.fixtures).string();
  options.rare = std::filesystem::absolute(options.rare).string();
  learn_models(&library, folder);
  std::printf("fuzz: seed %llu, %lld sequences in %lld processes\n",
              static_cast<unsigned long long>(options.seed),
              static_cast<long long>(options.sequences), static_cast<long long>(options.jobs));
  bool good = true;
  if (options.only >= 0) {
    const End end = in_child([&] { run_sequence(library, options, options.only, 0, true); }, true);
    good = end.how.empty();
    if (!good) tell(library, options, options.only, end, folder);
  } else {
    const auto start = std::chrono::steady_clock::now();
    const std::vector<Failure> failures = run_all(library, options, folder);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    for (const Failure& failure : failures)
      tell(library, options, failure.sequence, failure.end, folder);
    good = print_table(library, options, seconds.count()) && failures.empty();
    tell_figure(library, options, failures.size());
    if (!failures.empty())
      std::printf("%zu failures%s\n", failures.size(),
                  static_cast<int64_t>(failures.size()) == options.failures
                      ? ", after which it stopped"
                      : "");
  }
  std::filesystem::remove_all(folder);
  return good ? 0 : 1;
}

}  // namespace
}  // namespace fuzz

// What callbacks of host_fixtures.h call.
void fuzz_count(const char* name, int good) {
  const auto k = static_cast<size_t>(fuzz::counted->find(name));
  __atomic_fetch_add(fuzz::shared->calls + k, 1, __ATOMIC_RELAXED);
  if (good) __atomic_fetch_add(fuzz::shared->good + k, 1, __ATOMIC_RELAXED);
}

int main(int argc, char** argv) {
  fuzz::Options options;
  if (argc < 4) fuzz::stop("fuzz TABLE FIXTURES RARE [--sequences N] [--seed S] [--jobs N] ...");
  options.table = argv[1], options.fixtures = argv[2], options.rare = argv[3];
  for (int k = 4; k + 1 < argc; k += 2) {
    const std::string name = argv[k];
    const int64_t value = std::strtoll(argv[k + 1], nullptr, 10);
    if (name == "--sequences")
      options.sequences = value;
    else if (name == "--seed")
      options.seed = static_cast<uint64_t>(value);
    else if (name == "--jobs")
      options.jobs = value;
    else if (name == "--least")
      options.least = value;
    else if (name == "--only")
      options.only = value;
    else if (name == "--failures")
      options.failures = value;
    else if (name == "--seconds")
      fuzz::seconds = static_cast<unsigned>(value);
    else if (name == "--out")
      options.out = argv[k + 1];
    else
      fuzz::stop("no option " + name);
  }
  return fuzz::run(options);
}
