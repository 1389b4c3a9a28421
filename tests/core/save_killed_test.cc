// SPDX-License-Identifier: Apache-2.0

// A process that dies while it saves leaves the old file or the new one, each of them whole.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>

#include "entries/view.h"
#include "io/safetensors.h"
#include "tensor/row_major.h"
#include "tests/core/folder.h"
#include "tests/core/whole.h"

namespace libdl {
namespace {

using test::content;

class KilledWhileSaving : public testing::Test {
 protected:
  void SetUp() override {
    for (const int value : {1, 2}) {
      const int64_t count = 50'000;
      Tensor x = empty({&count, 1}, Dtype::kInt32);
      std::memset(x.update_plain<char>(), value, static_cast<size_t>(byte_count(x)));
      save_file(path, {{"x", &x}}, {});
      whole[value - 1] = content(path);
      tensors[value - 1] = std::move(x);
    }
    ASSERT_NE(whole[0], whole[1]);
  }
  // In a child: saves one tensor.
  void save(int which) { save_file(path, {{"x", &tensors[which]}}, {}); }
  // Which tensor the file holds; -1: neither of them.
  int held() const {
    const std::string bytes = content(path);
    return bytes == whole[0] ? 0 : bytes == whole[1] ? 1 : -1;
  }

  test::Folder folder;
  std::string path = folder.file("model.safetensors");
  std::string whole[2];
  Tensor tensors[2];
};

int calls_to_live;
bool dies_behind_it;  // the call is made before the process dies
FileCalls real;

template <class Call>
auto then_die(Call call) {
  if (calls_to_live-- > 0) return call();
  if (dies_behind_it) call();
  raise(SIGKILL);
  return call();
}

void die_at(int call, bool behind) {
  calls_to_live = call;
  dies_behind_it = behind;
  real = file_calls;
  file_calls.open_folder = [](const char* p) {
    return then_die([=] { return real.open_folder(p); });
  };
  file_calls.create = [](const char* p) { return then_die([=] { return real.create(p); }); };
  file_calls.create_unnamed = [](const char* p) {
    return then_die([=] { return real.create_unnamed(p); });
  };
  file_calls.give_name = [](int d, const char* p) {
    return then_die([=] { return real.give_name(d, p); });
  };
  file_calls.write_at = [](int d, const void* from, size_t bytes, int64_t offset) {
    return then_die([=] { return real.write_at(d, from, bytes, offset); });
  };
  file_calls.write = [](int d, const void* from, size_t bytes) {
    return then_die([=] { return real.write(d, from, std::min<size_t>(bytes, 30'000)); });
  };
  file_calls.copy_mode = [](const char* p, int d) {
    return then_die([=] { return real.copy_mode(p, d); });
  };
  file_calls.sync = [](int d) { return then_die([=] { return real.sync(d); }); };
  file_calls.rename = [](const char* a, const char* b) {
    return then_die([=] { return real.rename(a, b); });
  };
}

TEST_F(KilledWhileSaving, BeforeAndBehindEveryCall) {
  bool seen[2] = {false, false};
  size_t left = 0;
  for (const bool behind : {false, true}) {
    for (int call = 0;; ++call) {
      test::write(path, whole[0]);
      const pid_t child = fork();
      if (child == 0) {
        die_at(call, behind);
        save(1);
        _exit(0);
      }
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      const int after = held();
      ASSERT_NE(after, -1) << "call " << call;
      if (WIFEXITED(status)) {
        EXPECT_EQ(WEXITSTATUS(status), 0);
        EXPECT_EQ(after, 1);
        // folder, create, mode, 7 or more writes, header, sync, name, rename, sync
        EXPECT_GE(call, 14);
        break;
      }
      ASSERT_EQ(WTERMSIG(status), SIGKILL);
      seen[after] = true;
      // Only between naming and renaming it has a name of its own.
      EXPECT_LE(folder.count(), 2u);
      left += folder.count() - 1;
      folder.remove_others("model.safetensors");
    }
  }
  EXPECT_TRUE(seen[0] && seen[1]);
  EXPECT_LE(left, 2u);  // behind the naming, and before the renaming
}

TEST_F(KilledWhileSaving, AThousandTimesAtAnyMoment) {
  const int64_t kills = test::of_whole(1000);
  std::mt19937 random(11);
  int64_t torn = 0;
  for (int64_t i = 0; i < kills; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      for (int which = 0;; which = 1 - which) save(which);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 8000));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
    torn += held() == -1;
  }
  EXPECT_EQ(torn, 0);
  test::figure("kill -9 while a file is saved",
               std::to_string(kills) + " kills, " + std::to_string(torn) + " torn files, " +
                   std::to_string(folder.count() - 1) + " unfinished ones beside it");
}

}  // namespace
}  // namespace libdl
