// SPDX-License-Identifier: Apache-2.0

// Which check is left out, and who came to which one (base/source_location.h):
//
//   LIBDL_LEFT_OUT=libdl/ops/nn/softmax.cc:66   goes on behind this check
//   LIBDL_REACHED=FILE                       gets a line "place<tab>test" for each refusal
//
// Both are read at each refusal, for tests set them in a program that runs.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "base/source_location.h"

namespace libdl {
namespace {

// The compiler tells the file as it was given to it.
std::string number_of(std::string_view path, int line) {
  const size_t at = path.rfind("/libdl/");
  return std::string(path.substr(at == path.npos ? 0 : at + 1)) + ":" + std::to_string(line);
}

std::string running_test() {
  const char* name = std::getenv("PYTEST_CURRENT_TEST");
  if (!name) name = std::getenv("LIBDL_TEST");
  return name ? name : "";
}

void note(const char* file, const std::string& number) {
  static std::mutex mutex;
  static std::set<std::string> known;
  const std::string line = number + "\t" + running_test() + "\n";
  const std::lock_guard lock(mutex);
  if (!known.insert(line).second) return;
  const int to = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  // A log with holes would blame the tests; a program that a test forbids large files has none.
  if (to < 0 || (write(to, line.data(), line.size()) < 0 && errno != EFBIG)) std::abort();
  close(to);
}

}  // namespace

bool left_out(const char* file, int line) {
  const std::string number = number_of(file, line);
  if (const char* const log = std::getenv("LIBDL_REACHED")) note(log, number);
  const char* const wanted = std::getenv("LIBDL_LEFT_OUT");
  return wanted && number == wanted;
}

}  // namespace libdl
