/* SPDX-License-Identifier: Apache-2.0 */

/* The second forms in which matrices are kept for products: they follow every write, their number
 * follows the matrices and not the writes, and memory that others may write is compared. */
#include "check.h"

static int64_t packed(void) {
  libdl_memory_statistics s;
  memset(&s, 0, sizeof s);
  s.struct_size = sizeof s;
  GOOD(libdl_memory_get_statistics(NULL, &s));
  return s.packed;
}

static libdl_tensor *ones(int64_t first, int64_t second, int64_t third) {
  const int64_t shape[] = {first, second, third};
  const int skipped = first == 0;
  libdl_tensor *made = NULL;
  GOOD(libdl_ones(shape + skipped, 3 - skipped, LIBDL_DTYPE_FLOAT32, NULL, &made));
  return made;
}

/* The first element of the product. */
static double product(const libdl_tensor *x, const libdl_tensor *w) {
  libdl_tensor *y = NULL, *row = NULL, *element = NULL;
  double value = 0;
  GOOD(libdl_matmul(x, w, &y));
  GOOD(libdl_select(y, 0, 0, &row));
  GOOD(libdl_select(row, 0, 0, &element));
  GOOD(libdl_item_f64(element, &value));
  libdl_tensor_release(element);
  libdl_tensor_release(row);
  libdl_tensor_release(y);
  return value;
}

static void written_through_mappings(void) {
  enum { kSide = 2048 };
  libdl_tensor *x = ones(0, 32, kSide), *w = ones(0, kSide, kSide);
  const int64_t form = (int64_t)kSide * kSide * 4;
  for (int round = 0; round < 12; ++round) {
    void *data = NULL;
    libdl_mapping *mapping = NULL;
    GOOD(libdl_tensor_map(w, LIBDL_ACCESS_WRITE, &data, &mapping));
    ((float *)data)[0] = (float)round;
    libdl_tensor_unmap(mapping);
    for (int i = 0; i < 3; ++i) CHECK(product(x, w) == kSide - 1 + round);
    CHECK(packed() >= form);    /* made again for each version */
    CHECK(packed() < 2 * form); /* and those of older ones are gone */
  }
  libdl_tensor_release(x);
  libdl_tensor_release(w);
  CHECK(packed() == 0);
}

static void experts_share_a_storage(void) {
  enum { kExperts = 64, kSide = 128 };
  libdl_tensor *x = ones(0, 32, kSide), *all = ones(kExperts, kSide, kSide);
  for (int round = 0; round < 3; ++round)
    for (int i = 0; i < kExperts; ++i) {
      libdl_tensor *one = NULL, *turned = NULL;
      GOOD(libdl_select(all, 0, i, &one));
      GOOD(libdl_transpose(one, 0, 1, &turned));
      CHECK(product(x, one) == kSide);
      CHECK(product(x, turned) == kSide);
      libdl_tensor_release(turned);
      libdl_tensor_release(one);
    }
  CHECK(packed() >= 2 * (int64_t)kExperts * kSide * kSide * 4);
  libdl_tensor_release(all);
  libdl_tensor_release(x);
  CHECK(packed() == 0);
}

/* Ever new windows on one storage: neither forms nor notes gather without end. */
static void windows_have_an_end(void) {
  enum { kLong = 1 << 16, kSide = 128 };
  libdl_tensor *x = ones(0, 32, kSide), *all = ones(0, kLong, 1);
  for (int64_t i = 0; i < 6000; ++i) {
    const int64_t shape[] = {kSide, kSide}, strides[] = {kSide, 1};
    libdl_tensor *window = NULL;
    GOOD(libdl_as_strided(all, shape, 2, strides, 2, &i, &window));
    for (int k = 0; k < 2; ++k) CHECK(product(x, window) == kSide);
    libdl_tensor_release(window);
  }
  CHECK(packed() <= 4 * kLong * 4 + (1 << 20));
  libdl_tensor_release(all);
  libdl_tensor_release(x);
}

/* Whoever owns the memory writes it, whatever the tensor may do. */
static void memory_of_others(void) {
  enum { kSide = 128 };
  libdl_tensor *x = ones(0, 32, kSide);
  for (int read_only = 0; read_only < 2; ++read_only) {
    const int64_t shape[] = {kSide, kSide};
    float *const data = malloc(sizeof(float) * kSide * kSide);
    libdl_tensor *w = NULL;
    for (int i = 0; i < kSide * kSide; ++i) data[i] = 1;
    GOOD(libdl_tensor_from_memory(data, sizeof(float) * kSide * kSide, shape, 2, NULL, 0, 0,
                                  LIBDL_DTYPE_FLOAT32, read_only, NULL, NULL, &w));
    for (int round = 0; round < 4; ++round) {
      data[kSide * round] = 11;
      for (int i = 0; i < 3; ++i) CHECK(product(x, w) == kSide + 10 * (round + 1));
      CHECK(packed() > 0);
    }
    data[kSide * kSide - kSide] = 21; /* the very last row */
    CHECK(product(x, w) == kSide + 10 * 4 + 20);
    libdl_tensor_release(w);
    free(data);
  }
  libdl_tensor_release(x);
}

static void a_pointer_was_given_away(void) {
  enum { kSide = 128 };
  libdl_tensor *x = ones(0, 32, kSide), *w = ones(0, kSide, kSide);
  void *data = NULL;
  for (int i = 0; i < 3; ++i) CHECK(product(x, w) == kSide);
  GOOD(libdl_tensor_data(w, LIBDL_ACCESS_WRITE, &data));
  for (int round = 1; round < 4; ++round) {
    ((float *)data)[0] = 1 + (float)round;
    for (int i = 0; i < 3; ++i) CHECK(product(x, w) == kSide + round);
  }
  libdl_tensor_release(x);
  libdl_tensor_release(w);
}

/* While a mapping for writing lives, too; and what was kept meanwhile does not outlive it. */
static void while_a_mapping_lives(void) {
  enum { kSide = 128 };
  libdl_tensor *x = ones(0, 32, kSide), *w = ones(0, kSide, kSide);
  void *data = NULL;
  libdl_mapping *mapping = NULL;
  GOOD(libdl_tensor_map(w, LIBDL_ACCESS_WRITE, &data, &mapping));
  for (int round = 1; round < 4; ++round) {
    ((float *)data)[0] = 1 + (float)round;
    for (int i = 0; i < 3; ++i) CHECK(product(x, w) == kSide + round);
  }
  ((float *)data)[0] = 1;
  libdl_tensor_unmap(mapping);
  for (int i = 0; i < 3; ++i) CHECK(product(x, w) == kSide);
  libdl_tensor_release(x);
  libdl_tensor_release(w);
}

int main(void) {
  written_through_mappings();
  experts_share_a_storage();
  windows_have_an_end();
  memory_of_others();
  a_pointer_was_given_away();
  while_a_mapping_lives();
  return failures != 0;
}
