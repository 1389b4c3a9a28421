// SPDX-License-Identifier: Apache-2.0

// What the host is given of a tensor that exists as a form alone.
#include <gtest/gtest.h>
#include <libdl/libdl.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "entries/copy.h"
#include "io/safetensors.h"
#include "ops/copy/copy.h"
#include "ops/pointwise/arithmetic.h"
#include "tensor/dlpack.h"
#include "tensor/mapping.h"
#include "tensor/print.h"
#include "tests/core/counting.h"

namespace libdl {
namespace {

TEST(FormsExport, Mapping) {
  for (const bool writing : {false, true}) {
    const Tensor x = counting();
    {
      const libdl_mapping mapping(x, writing);
      auto* const data = static_cast<float*>(mapping.data());
      EXPECT_EQ(data[kAll - 1], kAll - 1);
      if (writing) data[1] = -1;
    }
    const Tensor y = x + x;
    EXPECT_EQ(y.read_plain<float>()[1], writing ? -2 : 2);
  }
}

TEST(FormsExport, Data) {
  for (const libdl_access access : {LIBDL_ACCESS_READ, LIBDL_ACCESS_WRITE}) {
    const Tensor x = counting();
    void* data = nullptr;
    ASSERT_EQ(libdl_tensor_data(x.get(), access, &data), nullptr);
    EXPECT_EQ(static_cast<float*>(data)[kAll - 1], kAll - 1);
    if (access == LIBDL_ACCESS_READ) continue;
    static_cast<float*>(data)[1] = -1;
    EXPECT_EQ((x + x).read_plain<float>()[1], -2);
  }
}

TEST(FormsExport, CopiesInAndOut) {
  const Tensor x = counting();
  std::vector<float> out(kAll);
  ASSERT_EQ(libdl_tensor_copy_out(x.get(), out.data(), kAll * 4), nullptr);
  EXPECT_EQ(out, counted());
  const Tensor y = counting();
  std::reverse(out.begin(), out.end());
  ASSERT_EQ(libdl_tensor_copy_in(y.get(), out.data(), kAll * 4), nullptr);
  EXPECT_EQ(values(y), out);
}

TEST(FormsExport, DlpackAndBack) {
  const Tensor x = counting();
  {
    const Tensor back = from_dlpack(to_dlpack(x, {}), CopyPolicy::kNever);
    EXPECT_EQ(values(back), counted());
    back.update_plain<float>()[1] = -1;
    EXPECT_EQ((x + x).read_plain<float>()[1], -2);
  }
  const Tensor y = counting();
  const dlpack::Tensor borrowed = borrow_dlpack(y, false);
  EXPECT_EQ(static_cast<const float*>(borrowed.data)[kAll - 1], kAll - 1);
}

TEST(FormsExport, Text) { EXPECT_EQ(to_string(counting(), {}), to_string(plain_counting(), {})); }

TEST(FormsExport, Safetensors) {
  const Tensor x = counting(), same = plain_counting();
  EXPECT_EQ(save_text({{"x", &x}}, {}), save_text({{"x", &same}}, {}));
}

TEST(FormsExport, Item) {
  constexpr int64_t one[] = {1, 1, 1};
  void* form;
  const Tensor x = empty_packed(one, Dtype::kFloat32, Layout::kChannelBlocks, form);
  std::memset(form, 0, form_bytes(one, x.dtype(), Layout::kChannelBlocks));
  *static_cast<float*>(form) = 2.5f;
  EXPECT_EQ(item_f64(x), 2.5);
}

// As a warning tells it, for who looks for copies.
TEST(FormsExport, TheWarningSaysWhichWay) {
  std::string told;
  const auto keep = [](void* ctx, libdl_warning_code, const char* message) {
    *static_cast<std::string*>(ctx) = message;
  };
  ASSERT_EQ(libdl_set_warning_handler(keep, &told, nullptr), nullptr);
  libdl_set_check_copies(1);
  const Tensor x = counting();
  x.read_plain();
  EXPECT_EQ(told, "plain: 840 bytes were made of a layout of their own");
  keep_form(x, Layout::kChannelBlocks);
  EXPECT_EQ(told, "layout: packed 840 bytes into a layout of its own");
  libdl_set_check_copies(0);
  ASSERT_EQ(libdl_set_warning_handler(nullptr, nullptr, nullptr), nullptr);
}

}  // namespace
}  // namespace libdl
