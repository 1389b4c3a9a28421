// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <functional>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/slab.h"
#include "device/device.h"
#include "device/meta.h"
#include "device/transfer.h"
#include "entries/arithmetic.h"
#include "entries/copy.h"
#include "memory/account.h"
#include "ops/copy/copy.h"
#include "ops/pointwise/arithmetic.h"
#include "tensor/dlpack.h"
#include "tensor/row_major.h"
#include "tensor/storage.h"
#include "tests/core/code_of.h"

namespace libdl {
namespace {

using test::code_of;

constexpr Device kMeta{LIBDL_DEVICE_META, 0};
constexpr int64_t kPetabyte[] = {int64_t{1} << 50};

Tensor on_meta(Dims shape) { return empty(shape, Dtype::kUint8, kMeta); }

TEST(Meta, TensorsHaveAddressesOfTheirOwn) {
  const Tensor a = on_meta(kPetabyte), b = on_meta(kPetabyte);
  EXPECT_EQ(overlap(a, b), Overlap::kNone);
  EXPECT_NE(a.read_plain(), b.read_plain());
  EXPECT_EQ(overlap(a, alias(a)), Overlap::kFull);
  const int64_t half[] = {int64_t{1} << 49}, one[] = {1};
  const Tensor part = alias(a, half, one, 7, Dtype::kUint8);
  EXPECT_EQ(overlap(a, part), Overlap::kPartial);
  EXPECT_EQ(code_of([&] { add(part, part, {}, Into(alias(a, half, one, 8, Dtype::kUint8))); }),
            LIBDL_ERROR_OVERLAP);
}

TEST(Meta, TheirBytesAreCountedNowhere) {
  const int64_t before = slab::cache.live_bytes.load();
  Account* const account = new Account;
  account->set_limit(4096);
  state().account = account;
  {
    const Tensor a = on_meta(kPetabyte), b = add(a, a);
    EXPECT_EQ(slab::cache.live_bytes.load(), before);
    EXPECT_EQ(account->taken(), 2 * Account::kLeast);
    EXPECT_EQ(allocator_for(kMeta).statistics().reserved, 0);
  }
  EXPECT_EQ(account->taken(), 0);
  EXPECT_EQ(slab::cache.live_bytes.load(), before);
  state().account = nullptr;
  account->release();
}

TEST(Meta, NobodyReadsElements) {
  const Tensor x = on_meta(kPetabyte);
  const int64_t none[] = {0};
  char byte = 5;
  const auto refused = [](const std::function<void()>& call) {
    return code_of(call) == LIBDL_ERROR_UNSUPPORTED;
  };
  EXPECT_TRUE(refused([&] { row_major_copy(x); }));
  EXPECT_TRUE(refused([&] { read_elements(on_meta(none), &byte); }));
  EXPECT_TRUE(refused([&] { on_device(x, {}); }));
  EXPECT_TRUE(refused([&] { to(x, Dtype::kNone, Device{}, false, false); }));
  EXPECT_TRUE(refused([&] { copy_bytes(empty(none, Dtype::kUint8), on_meta(none)); }));
  EXPECT_TRUE(refused([&] { read_bytes(&byte, kMeta, x.read_plain(), 1); }));
  EXPECT_TRUE(refused([&] { copy_bytes(&byte, {}, x.read_plain(), kMeta, 1, nullptr); }));
  EXPECT_EQ(byte, 5);
}

TEST(Meta, WhatIsWrittenIsDropped) {
  const Tensor x = on_meta(kPetabyte);
  char byte = 5;
  write_elements(x, &byte);
  write_bytes(kMeta, x.overwrite_plain(), &byte, 1);
  clear_bytes(kMeta, x.overwrite_plain(), size_t{1} << 50);
  copy_bytes(x.overwrite_plain(), kMeta, &byte, {}, 1, nullptr);
  fill_bytes(x, number(int64_t{1}));
}

TEST(Meta, IsNoDeviceOfDlpack) {
  const Tensor x = on_meta(kPetabyte);
  EXPECT_EQ(code_of([&] { borrow_dlpack(x, false); }), LIBDL_ERROR_DEVICE);
  EXPECT_EQ(code_of([&] { to_dlpack(x, {}); }), LIBDL_ERROR_DEVICE);
  int64_t shape[] = {4};
  char bytes[4] = {};
  dlpack::ManagedVersioned given{};
  given.version = {1, 0};
  given.tensor = {.data = bytes,
                  .device_type = LIBDL_DEVICE_META,
                  .device_id = 0,
                  .ndim = 1,
                  .dtype = {dlpack::kUint, 8, 1},
                  .shape = shape,
                  .strides = nullptr,
                  .byte_offset = 0};
  EXPECT_EQ(code_of([&] { from_dlpack(&given, CopyPolicy::kIfNeeded); }), LIBDL_ERROR_DEVICE);
}

TEST(Meta, ItsTableIsNotReplaced) {
  Backend other = meta_backend();
  EXPECT_EQ(code_of([&] { register_backend(other); }), LIBDL_ERROR_DEVICE);
  EXPECT_EQ(&backend(LIBDL_DEVICE_META), &meta_backend());
  EXPECT_EQ(device_name(kMeta), "meta");
}

TEST(Meta, ThreadsMakeTensorsAtOnce) {
  std::vector<std::vector<Tensor>> made(4);
  std::vector<std::thread> threads;
  for (auto& mine : made)
    threads.emplace_back([&mine] {
      for (int i = 0; i < 100; ++i) mine.push_back(on_meta(kPetabyte));
    });
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < 4; ++i)
    for (size_t k = 0; k < 10; ++k)
      EXPECT_EQ(overlap(made[0][0], made[i][k]), i + k ? Overlap::kNone : Overlap::kFull);
}

}  // namespace
}  // namespace libdl
