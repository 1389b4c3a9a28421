// SPDX-License-Identifier: Apache-2.0

// Fails the n-th allocation of a call, for every n, and looks at what is left.
#pragma once

#include <gtest/gtest.h>
#include <libdl/libdl.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/core/handle.h"
#include "tests/fault_injection/failing_new.h"

namespace failures {

struct Live {
  int64_t tensors = 0, storages = 0, nodes = 0, bytes = 0;
  Live() { libdl_memory_get_live(&tensors, &storages, &nodes, &bytes); }
  bool operator==(const Live&) const = default;
};
inline std::ostream& operator<<(std::ostream& out, const Live& l) {
  return out << l.tensors << " tensors, " << l.storages << " storages, " << l.nodes << " nodes, "
             << l.bytes << " bytes";
}

// What a call that failed must not have changed about a tensor.
struct Seen {
  std::vector<char> bytes;
  uint64_t version;
  const void* node;
  libdl_bool requires_grad;
  bool operator==(const Seen&) const = default;

  explicit Seen(const T& x)
      : version(libdl_tensor_version(x.get())), requires_grad(libdl_tensor_requires_grad(x.get())) {
    libdl_node* const n = libdl_tensor_node(x.get(), nullptr);
    node = n;
    libdl_node_release(n);
    for (int64_t width = 16; width; width /= 2) {  // of an element: the right one is accepted
      bytes.assign(static_cast<size_t>(libdl_tensor_numel(x.get()) * width), 0);
      libdl_error* const error =
          libdl_tensor_copy_out(x.get(), bytes.data(), static_cast<int64_t>(bytes.size()));
      if (!error) return;
      libdl_error_release(error);
    }
  }
};

// call: makes everything it keeps; after: looks at what it left, told whether it failed; both run
// once for every n, in four ways. An absorbed failure (the call succeeds all the same) is allowed.
inline void sweep(const std::string& name, const std::function<libdl_error*()>& call,
                  const std::function<void(bool failed)>& after) {
  constexpr int64_t kMost = 5000;
  for (const Where where : {Where::kLibrary, Where::kNew})
    for (const bool all : {false, true}) {
      int64_t n = 0;
      for (bool reached = true; reached && n < kMost; ++n) {
        const Live before;
        arm(where, n, all);
        libdl_error* const error = call();
        reached = disarm();
        const std::string which =
            name + ", " + (where == Where::kNew ? "operator new" : "library") + " allocation " +
            std::to_string(n) + (all ? " and all later" : "");
        const bool failed = error != nullptr;
        if (failed) {
          EXPECT_EQ(libdl_error_get_code(error), LIBDL_ERROR_OUT_OF_MEMORY)
              << which << ": " << libdl_error_get_message(error);
          EXPECT_TRUE(reached) << which << ": " << libdl_error_get_message(error);
        }
        libdl_error_release(error);
        after(failed);
        EXPECT_EQ(Live(), before) << which << (failed ? " failed" : " went well");
        if (::testing::Test::HasFailure()) {
          ADD_FAILURE() << "in " << which;
          return;
        }
      }
      EXPECT_LT(n, kMost) << name;
    }
}

}  // namespace failures
