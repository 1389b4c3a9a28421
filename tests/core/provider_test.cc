// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <libdl/state.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "device/launch.h"
#include "device/provider.h"
#include "entries/copy.h"
#include "entries/creation.h"
#include "entries/linalg.h"
#include "memory/allocator.h"
#include "ops/copy/copy.h"
#include "ops/pointwise/arithmetic.h"

namespace libdl {
namespace {

using kernels::Context;
using kernels::FillArgs;
using kernels::MatmulArgs;

// Providers of fill and matmul. What they are asked and do is told here; fill writes its own mark.
struct Fake {
  std::string asked;
  bool serves = true;
  int64_t scratch = 0;
  bool fails = false;
} first, second;

template <Fake& fake, char kName>
bool serves(const Context*, const void*) {
  fake.asked += kName;
  return fake.serves;
}

template <Fake& fake, char kMark>
void fill_with_mark(Context* context, const void* arguments) {
  const auto& args = *static_cast<const FillArgs*>(arguments);
  if (fake.fails) {
    context->error = Error(LIBDL_ERROR_UNSUPPORTED, "fake: it failed").release();
    return;
  }
  const kernels::Scratch scratch(*context, fake.scratch);
  if (scratch.failed()) return;
  if (fake.scratch) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(scratch.data()) % 64, 0u);
    std::memset(scratch.data(), 1, static_cast<size_t>(fake.scratch));
  }
  static_cast<char*>(args.out.data)[0] = kMark;
}

template <Fake& fake, char kMark>
const Provider& provider(const char* name) {
  static ProvidedKernel table[kKernels] = {};
  table[static_cast<int>(KernelId::fill)] = {serves<fake, kMark>, fill_with_mark<fake, kMark>};
  static const Provider made = {sizeof(Provider), LIBDL_DEVICE_CPU, name, "", kKernels, table};
  return made;
}

class Providers : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    register_provider(provider<first, '1'>("first"));
    register_provider(provider<second, '2'>("second"));
  }
  void SetUp() override { set_both(true); }
  void TearDown() override { set_both(false); }  // other tests want the CPU's own
  static void set_both(bool on) {
    first = second = {};
    EXPECT_TRUE(set_provider_enabled("first", on));
    EXPECT_TRUE(set_provider_enabled("second", on));
  }
};

// The byte that a launch of fill with 'x' leaves.
char filled() {
  const char x = 'x';
  char byte = 0;
  launch<KernelId::fill>({}, {.out = {&byte, nullptr, nullptr, 0, LIBDL_DTYPE_UINT8}, .value = &x});
  return byte;
}

std::string message_of(libdl_error_code code, const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.message();
    return error.message();
  }
  ADD_FAILURE() << "no error";
  return "";
}

TEST_F(Providers, TheLastRegisteredIsAskedFirst) {
  EXPECT_EQ(filled(), '2');
  EXPECT_EQ(second.asked + first.asked, "2");
}

TEST_F(Providers, WhatOneDoesNotServeTheNextDoes) {
  second.serves = false;
  EXPECT_EQ(filled(), '1');
  EXPECT_EQ(second.asked + first.asked, "21");
}

TEST_F(Providers, WhatNobodyServesTheDeviceDoes) {
  first.serves = second.serves = false;
  EXPECT_EQ(filled(), 'x');
}

TEST_F(Providers, OneThatIsSwitchedOffIsNotAsked) {
  set_provider_enabled("second", false);
  EXPECT_EQ(filled(), '1');
  EXPECT_EQ(second.asked, "");
  EXPECT_FALSE(set_provider_enabled("third", false));
}

TEST_F(Providers, OperatorsReachThem) {
  const int64_t one[] = {1};
  const Tensor y = full(one, number(7.0), Dtype::kUint8, Device{});
  EXPECT_EQ(*y.read_plain<char>(), '2');
}

TEST_F(Providers, OtherKernelsAreTheDevicesOwn) {
  const int64_t shape[] = {2, 2};
  set_both(false);
  const Tensor x = full(shape, number(3.0), Dtype::kFloat32, Device{});
  set_both(true);
  EXPECT_EQ(item_f64(alias(matmul(x, x), {}, {}, 0, Dtype::kFloat32)), 18);
  EXPECT_EQ(second.asked, "");
}

TEST_F(Providers, AFailureIsRaised) {
  second.fails = true;
  EXPECT_EQ(message_of(LIBDL_ERROR_UNSUPPORTED, [] { filled(); }), "fake: it failed");
}

TEST_F(Providers, ScratchIsGivenBack) {
  second.scratch = 100'000;
  const auto before = host_allocator().statistics().allocated;
  EXPECT_EQ(filled(), '2');
  EXPECT_EQ(host_allocator().statistics().allocated, before);
}

TEST_F(Providers, ScratchThatCannotBeHadIsRaised) {
  second.scratch = -1;
  EXPECT_EQ(message_of(LIBDL_ERROR_OVERFLOW, [] { filled(); }),
            "a kernel needs more scratch memory than 64 bits count");
  second.scratch = INT64_MAX / 2;
  message_of(LIBDL_ERROR_OUT_OF_MEMORY, [] { filled(); });
}

TEST_F(Providers, RegisteringAgainDoesNothing) {
  register_provider(provider<first, '1'>("first"));
  EXPECT_EQ(filled(), '2');
}

TEST_F(Providers, ANameIsTakenOnce) {
  static const ProvidedKernel none[kKernels] = {};
  static const Provider other = {sizeof(Provider), LIBDL_DEVICE_CPU, "first", "", kKernels, none};
  EXPECT_EQ(message_of(LIBDL_ERROR_BACKEND, [] { register_provider(other); }),
            "provider first: another one has this name");
}

TEST_F(Providers, ATableThatIsNoneIsRefused) {
  static const ProvidedKernel none[kKernels] = {};
  const Provider good = {sizeof(Provider), LIBDL_DEVICE_CPU, "third", "", kKernels, none};
  for (const std::function<void(Provider&)>& spoil : std::vector<std::function<void(Provider&)>>{
           [](Provider& p) { p.struct_size = 8; }, [](Provider& p) { p.device_type = 99; },
           [](Provider& p) { p.device_type = -1; }, [](Provider& p) { p.name = nullptr; },
           [](Provider& p) { p.name = ""; }, [](Provider& p) { p.kernels = nullptr; },
           [](Provider& p) { p.kernel_count = 1; }}) {
    static Provider bad;
    bad = good;
    spoil(bad);
    message_of(LIBDL_ERROR_BACKEND, [] { register_provider(bad); });
  }
  EXPECT_FALSE(set_provider_enabled("third", true));
}

TEST_F(Providers, TheEnvironmentLeavesOneOut) {
  setenv("LIBDL_DISABLE", "one,left_out,other", 1);
  static ProvidedKernel table[kKernels] = {};
  table[static_cast<int>(KernelId::fill)] = {serves<first, '3'>, fill_with_mark<first, '3'>};
  static const Provider p = {sizeof(Provider), LIBDL_DEVICE_CPU, "left_out", "", kKernels, table};
  register_provider(p);
  unsetenv("LIBDL_DISABLE");
  EXPECT_EQ(filled(), '2');
  EXPECT_TRUE(set_provider_enabled("left_out", true));
  EXPECT_EQ(filled(), '3');
  set_provider_enabled("left_out", false);
}

}  // namespace
}  // namespace libdl
