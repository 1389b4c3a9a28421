/* SPDX-License-Identifier: Apache-2.0 */

/* The memory of tensors as a C program sees it: figures, limit, shortage, a host's own source. */
#include <stddef.h>
#include "check.h"

static libdl_memory_statistics statistics(void) {
  libdl_memory_statistics s;
  memset(&s, 0, sizeof s);
  s.struct_size = sizeof s;
  GOOD(libdl_memory_get_statistics(NULL, &s));
  return s;
}

static libdl_error *empty(int64_t count, libdl_tensor **out) {
  return libdl_empty(&count, 1, LIBDL_DTYPE_FLOAT32, NULL, out);
}

static void figures_follow_tensors(void) {
  const libdl_memory_statistics before = statistics();
  libdl_memory_statistics during, after;
  libdl_tensor *x;
  int64_t tensors, storages, bytes, tensors_after, bytes_after;
  libdl_memory_get_live(&tensors, &storages, NULL, &bytes);
  GOOD(libdl_memory_reset_peaks(NULL));
  GOOD(empty(1000000, &x));
  during = statistics();
  CHECK(during.allocated - before.allocated >= 4000000);
  CHECK(during.allocated - before.allocated < 4010000);
  CHECK(during.reserved >= during.active && during.active >= during.allocated);
  CHECK(during.limit > 0 && during.limit == libdl_memory_get_limit());
  libdl_memory_get_live(&tensors_after, NULL, NULL, &bytes_after);
  CHECK(tensors_after == tensors + 1);
  CHECK(bytes_after == bytes + 4000000);
  libdl_tensor_release(x);
  after = statistics();
  CHECK(after.allocated == before.allocated);
  CHECK(after.peak_allocated == during.allocated);
  CHECK(after.allocations == before.allocations + 1 && after.frees == before.frees + 1);
  libdl_memory_get_live(&tensors_after, NULL, NULL, &bytes_after);
  CHECK(tensors_after == tensors && bytes_after == bytes);
}

static void arguments_are_checked(void) {
  const libdl_device none = {LIBDL_DEVICE_CPU, 3};
  const libdl_device unknown = {77, 0};
  libdl_memory_statistics s;
  int64_t freed;
  memset(&s, 0, sizeof s);
  BAD(libdl_memory_get_statistics(NULL, NULL), NULL,
      "memory_get_statistics: argument 2 (out) is NULL, wanted a place for the result");
  BAD_CODE(libdl_memory_get_statistics(NULL, &s), OPTION);
  s.struct_size = sizeof s;
  BAD(libdl_memory_get_statistics(&none, &s), DEVICE,
      "memory_get_statistics: argument 1 (device) is cpu:3, wanted cpu:0");
  BAD_CODE(libdl_memory_trim(&unknown, &freed), DEVICE);
  BAD_CODE(libdl_memory_trim(NULL, NULL), NULL);
  BAD(libdl_memory_set_limit(-1), VALUE,
      "memory_set_limit: argument 1 (bytes) is -1, wanted 0 or more");
}

/* A newer program's larger struct is filled as far as the library knows it. How far that is, a
 * program cannot know: the bytes behind the struct of its own headers may be filled, or not. */
static void larger_structs_are_taken(void) {
  struct {
    libdl_memory_statistics known;
    int64_t later;
  } s;
  memset(&s, 0, sizeof s);
  s.known.struct_size = sizeof s;
  GOOD(libdl_memory_get_statistics(NULL, &s.known));
  CHECK(s.known.struct_size == sizeof s);
  CHECK(s.known.limit > 0);
}

static libdl_tensor *kept = NULL;
static int asked = 0, destroyed = 0;

static void give_up(void *ctx, int64_t bytes) {
  CHECK(ctx == &asked);
  CHECK(bytes >= 40000000);
  ++asked;
  libdl_tensor_release(kept);
  kept = NULL;
}

static void count_destroy(void *ctx) {
  (void)ctx;
  ++destroyed;
}

static void a_shortage_is_an_error_or_relieved(void) {
  libdl_tensor *x = NULL;
  libdl_memory_statistics s;
  int64_t freed;
  libdl_error *error;
  GOOD(libdl_memory_trim(NULL, &freed));
  s = statistics();
  GOOD(libdl_memory_set_limit(s.reserved + 64000000));
  CHECK(libdl_memory_get_limit() == s.reserved + 64000000);
  GOOD(empty(10000000, &kept));
  error = empty(10000000, &x);
  CHECK(libdl_error_get_code(error) == LIBDL_ERROR_OUT_OF_MEMORY);
  CHECK(strstr(libdl_error_get_message(error), "wanted 38.15 MB") != NULL);
  CHECK(x == NULL);
  libdl_error_release(error);
  CHECK(statistics().out_of_memory == s.out_of_memory + 1);

  GOOD(libdl_memory_set_pressure(give_up, &asked, count_destroy));
  GOOD(empty(10000000, &x));
  CHECK(asked == 1 && kept == NULL && destroyed == 0);
  GOOD(libdl_memory_set_pressure(NULL, NULL, NULL));
  CHECK(destroyed == 1);
  libdl_tensor_release(x);
  GOOD(libdl_memory_set_limit(0));
}

/* A weight that is multiplied by again and again is kept in a second form, until memory runs out.
 */
static void second_forms_are_counted_and_go_first(void) {
  const int64_t few[2] = {4, 1024}, weight[2] = {1024, 4096};
  libdl_tensor *x, *w, *y, *rest;
  libdl_memory_statistics s;
  int64_t freed, times;
  const int64_t before = statistics().packed;
  GOOD(libdl_ones(few, 2, LIBDL_DTYPE_FLOAT32, NULL, &x));
  GOOD(libdl_ones(weight, 2, LIBDL_DTYPE_FLOAT32, NULL, &w));
  for (times = 0; times < 3; ++times) {
    GOOD(libdl_matmul(x, w, &y));
    libdl_tensor_release(y);
  }
  s = statistics();
  CHECK(s.packed - before >= 1024 * 4096 * 4);
  GOOD(libdl_memory_trim(NULL, &freed));
  s = statistics();
  GOOD(libdl_memory_set_limit(s.reserved + 4000000));
  GOOD(empty(3000000, &rest)); /* 12 MB, where 4 are left */
  CHECK(statistics().packed == 0);
  libdl_tensor_release(rest);
  GOOD(libdl_memory_set_limit(0));
  GOOD(libdl_matmul(x, w, &y)); /* and the product does not need them */
  libdl_tensor_release(y);
  libdl_tensor_release(w);
  libdl_tensor_release(x);
}

/* A program of 0.1.0's first days knows a shorter struct. */
static void smaller_structs_are_taken(void) {
  libdl_memory_statistics s;
  memset(&s, 0, sizeof s);
  s.packed = 42;
  s.struct_size = (uint32_t)offsetof(libdl_memory_statistics, packed);
  GOOD(libdl_memory_get_statistics(NULL, &s));
  CHECK(s.packed == 42 && s.reserved >= s.allocated);
}

static void the_nth_allocation_fails_when_asked(void) {
  libdl_tensor *x = NULL;
  const libdl_memory_statistics before = statistics();
  int n;
  for (n = 0; n < 10; ++n) {
    libdl_error *error;
    libdl_memory_fail_after(n, n % 2);
    error = empty(100000, &x);
    libdl_memory_fail_after(-1, 0);
    if (!error) break;
    BAD_CODE(error, OUT_OF_MEMORY);
    CHECK(x == NULL);
  }
  CHECK(n >= 3); /* tensor, storage, bytes */
  libdl_tensor_release(x);
  CHECK(statistics().allocated == before.allocated);
}

struct host {
  int allocations, frees, destroyed;
};

static void *host_allocate(void *ctx, size_t bytes, size_t alignment) {
  ++((struct host *)ctx)->allocations;
  return aligned_alloc(alignment, bytes);
}
static void host_deallocate(void *ctx, void *data, size_t bytes, size_t alignment) {
  (void)bytes;
  (void)alignment;
  ++((struct host *)ctx)->frees;
  free(data);
}
static void host_destroy(void *ctx) { ++((struct host *)ctx)->destroyed; }

static void memory_comes_from_the_host(void) {
  struct host host = {0, 0, 0};
  libdl_allocator allocator;
  libdl_tensor *before, *x;
  int64_t freed;
  memset(&allocator, 0, sizeof allocator);
  allocator.ctx = &host;
  allocator.allocate = host_allocate;
  allocator.destroy = host_destroy;
  BAD_CODE(libdl_memory_set_allocator(&allocator), OPTION);
  CHECK(host.destroyed == 0); /* a struct of no size has no destroy */
  allocator.struct_size = sizeof allocator;
  BAD(libdl_memory_set_allocator(&allocator), NULL,
      "memory_set_allocator: argument 1 (allocator) has no deallocate, wanted both functions");
  CHECK(host.destroyed == 1);

  host.destroyed = 0;
  allocator.deallocate = host_deallocate;
  GOOD(empty(100000, &before));
  GOOD(libdl_memory_set_allocator(&allocator));
  GOOD(empty(100000, &x));
  CHECK(host.allocations == 1);
  libdl_tensor_release(before);
  GOOD(libdl_memory_set_allocator(NULL));
  CHECK(host.destroyed == 0);
  libdl_tensor_release(x);
  GOOD(libdl_memory_trim(NULL, &freed));
  CHECK(host.frees == host.allocations);
  CHECK(host.destroyed == 1);
}

struct walk {
  int64_t used, idle;
  int destroyed;
  libdl_error *answer;
};

static libdl_error *add_block(void *ctx, const libdl_memory_block *block) {
  struct walk *walk = (struct walk *)ctx;
  CHECK(block->struct_size == sizeof *block);
  CHECK(block->offset >= 0 && block->offset + block->bytes <= block->segment_bytes);
  if (block->used) {
    walk->used += block->bytes;
  } else {
    walk->idle += block->bytes;
  }
  return walk->answer;
}
static void end_walk(void *ctx) { ++((struct walk *)ctx)->destroyed; }

static void a_snapshot_shows_every_block(void) {
  struct walk walk = {0, 0, 0, NULL};
  libdl_tensor *x;
  GOOD(empty(1000000, &x));
  GOOD(libdl_memory_visit(NULL, add_block, &walk, end_walk));
  CHECK(walk.used == statistics().active);
  CHECK(walk.destroyed == 1);
  walk.answer = libdl_error_new(LIBDL_ERROR_CALLBACK, "enough", -1, NULL, NULL);
  BAD(libdl_memory_visit(NULL, add_block, &walk, end_walk), CALLBACK, "enough");
  CHECK(walk.destroyed == 2);
  BAD_CODE(libdl_memory_visit(NULL, NULL, &walk, end_walk), NULL);
  CHECK(walk.destroyed == 3);
  libdl_tensor_release(x);
}

int main(void) {
  figures_follow_tensors();
  arguments_are_checked();
  larger_structs_are_taken();
  smaller_structs_are_taken();
  second_forms_are_counted_and_go_first();
  a_shortage_is_an_error_or_relieved();
  the_nth_allocation_fails_when_asked();
  memory_comes_from_the_host();
  a_snapshot_shows_every_block();
  return failures != 0;
}
