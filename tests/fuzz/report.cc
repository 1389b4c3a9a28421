// SPDX-License-Identifier: Apache-2.0

#include "report.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <set>
#include <sstream>

#include "../core/whole.h"
#include "shrink.h"

namespace fuzz {

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  if (!in) stop("cannot read " + path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

namespace {

// Functions that may succeed less often, each with its reason.
std::set<std::string> read_rare(const std::string& path) {
  std::set<std::string> names;
  std::istringstream in(text_of(path));
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t space = line.find(' ');
    if (space == std::string::npos) stop("no reason in: " + line);
    names.insert(line.substr(0, space));
  }
  return names;
}

int64_t total(const Library& library, const int64_t* counts) {
  return std::accumulate(counts, counts + library.functions.size(), int64_t{0});
}

double hostile_percent() {
  return 100.0 * static_cast<double>(shared->hostile) /
         static_cast<double>(std::max<int64_t>(1, shared->arguments));
}

// The library's functions by how often they succeeded, the rarest first.
std::vector<std::pair<int64_t, std::string>> by_successes(const Library& library) {
  std::vector<std::pair<int64_t, std::string>> all;
  for (size_t k = 0; k < library.functions.size(); ++k)
    if (library.functions[k].name.starts_with("libdl_"))
      all.emplace_back(shared->good[k], library.functions[k].name);
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

void tell_figure(const Library& library, const Options& options, size_t findings) {
  const auto [times, rarest] = by_successes(library).front();
  char hostile[32];
  std::snprintf(hostile, sizeof hostile, "%.1f %%", hostile_percent());
  libdl::test::figure(
      "random sequences of calls",
      std::to_string(shared->sequences) + " of seed " + std::to_string(options.seed) + ", " +
          std::to_string(total(library, shared->calls)) + " calls, " + hostile +
          " of the arguments hostile, the rarest success " + rarest + " " + std::to_string(times) +
          " times, " + std::to_string(findings) + " findings");
}

bool print_table(const Library& library, const Options& options, double seconds) {
  const std::set<std::string> rare = read_rare(options.rare);
  const std::vector<std::pair<int64_t, std::string>> all = by_successes(library);
  bool enough = true;
  std::printf("\n%9s %9s  function\n", "succeeded", "called");
  for (size_t k = 0; k < all.size(); ++k) {
    const auto& [times, name] = all[k];
    const bool few = times < options.least && !rare.count(name);
    enough &= !few;
    if (k < 12 || few)
      std::printf("%9lld %9lld  %s%s\n", static_cast<long long>(times),
                  static_cast<long long>(shared->calls[library.find(name)]), name.c_str(),
                  few                ? "  <- too few"
                  : rare.count(name) ? "  (listed)"
                                     : "");
  }
  std::printf("and %zu functions that succeeded more often\n",
              all.size() - std::min<size_t>(12, all.size()));
  std::printf(
      "%lld sequences of seed %llu, %lld calls, %lld of them good; %.1f %% of the arguments "
      "hostile; %.0f s, %.0f us a sequence and process\n",
      static_cast<long long>(shared->sequences), static_cast<unsigned long long>(options.seed),
      static_cast<long long>(total(library, shared->calls)),
      static_cast<long long>(total(library, shared->good)), hostile_percent(), seconds,
      1e6 * seconds * static_cast<double>(options.jobs) /
          static_cast<double>(std::max<int64_t>(1, shared->sequences)));
  return enough;
}

}  // namespace fuzz
