/* SPDX-License-Identifier: Apache-2.0 */

/* LIBDL_MEMORY_KEEP: what is freed beyond it goes back to the system without a call. */
#include "tensors.h"

static int64_t reserved(void) {
  libdl_memory_statistics statistics = {.struct_size = sizeof statistics};
  const libdl_device cpu = {LIBDL_DEVICE_CPU, 0};
  GOOD(libdl_memory_get_statistics(&cpu, &statistics));
  return statistics.reserved;
}

enum { kMegabyte = 1 << 20 };

/* float64 */
static libdl_tensor *megabytes(int64_t count) { return filled(1, count * kMegabyte / 8); }

int main(void) {
  setenv("LIBDL_MEMORY_KEEP", "16M", 1);
  const int64_t before = reserved();
  libdl_tensor *const small = megabytes(2), *const large = megabytes(64);
  CHECK(reserved() - before >= 66 * (int64_t)kMegabyte);
  libdl_tensor_release(large);
  CHECK(reserved() - before < 32 * (int64_t)kMegabyte);
  CHECK(total(small) == 2 * kMegabyte / 8);
  /* Less stays, for the next tensor. */
  libdl_tensor *const middle = megabytes(8);
  const int64_t with = reserved();
  libdl_tensor_release(middle);
  CHECK(reserved() == with);
  libdl_tensor_release(megabytes(8));
  CHECK(reserved() == with);
  /* Many that are small enough go together. */
  libdl_tensor *many[8];
  for (int i = 0; i < 8; ++i) many[i] = megabytes(4);
  for (int i = 0; i < 8; ++i) libdl_tensor_release(many[i]);
  CHECK(reserved() - before < 32 * (int64_t)kMegabyte);
  libdl_tensor_release(small);
  return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
