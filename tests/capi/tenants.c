/* SPDX-License-Identifier: Apache-2.0 */

/* A host that gives each tenant a state bounds his memory, and can stop him alone. */
#include <pthread.h>

#include "check.h"

#define MEGABYTE (1 << 20)

static libdl_tensor *zeros(int64_t bytes) {
  libdl_tensor *made;
  GOOD(libdl_zeros(&bytes, 1, LIBDL_DTYPE_UINT8, NULL, &made));
  return made;
}

static libdl_error *no_room(int64_t bytes) {
  libdl_tensor *made = NULL;
  libdl_error *const error = libdl_zeros(&bytes, 1, LIBDL_DTYPE_UINT8, NULL, &made);
  CHECK(!made);
  return error;
}

static libdl_state *serve(libdl_state *tenant) {
  libdl_state *previous;
  GOOD(libdl_state_swap(tenant, &previous));
  return previous;
}

/* -- memory ------------------------------------------------------------------------------------ */

static void a_tenant_has_his_limit_and_others_have_theirs(void) {
  libdl_state *first, *second;
  libdl_tensor *x, *y, *view;
  const int64_t half = MEGABYTE / 2;
  GOOD(libdl_state_new(&first));
  GOOD(libdl_state_new(&second));
  CHECK(libdl_state_get_memory_limit(first) == 0 && libdl_state_memory(first) == 0);
  GOOD(libdl_state_set_memory_limit(first, MEGABYTE));
  GOOD(libdl_state_set_memory_limit(second, 2 * MEGABYTE));
  CHECK(libdl_state_get_memory_limit(first) == MEGABYTE);

  serve(first);
  x = zeros(half);
  CHECK(libdl_state_memory(NULL) == half);
  GOOD(libdl_narrow(x, 0, 1, 5, &view)); /* shares the memory */
  CHECK(libdl_state_memory(NULL) == half);
  BAD(no_room(half + 1), OUT_OF_MEMORY,
      "zeros: out of memory of this state: wanted 512.00 KB; holds 512.00 KB, limit 1.00 MB");
  CHECK(libdl_state_memory(NULL) == half); /* what is refused does not count */
  y = zeros(half);                         /* to the last byte */
  BAD_CODE(no_room(1), OUT_OF_MEMORY);

  serve(second);
  CHECK(libdl_state_memory(NULL) == 0);
  libdl_tensor_release(zeros(MEGABYTE + 1));
  libdl_tensor_release(x); /* the first one's, by whoever holds it */
  CHECK(libdl_state_memory(first) == MEGABYTE);
  libdl_tensor_release(view);
  CHECK(libdl_state_memory(first) == half);

  serve(NULL);
  libdl_tensor_release(zeros(4 * MEGABYTE));
  libdl_state_release(first); /* before its tensor */
  libdl_state_release(second);
  libdl_tensor_release(y);
}

static void small_tensors_count_for_their_handles(void) {
  libdl_state *tenant;
  libdl_tensor *held[5];
  const int64_t one = 1;
  int n = 0;
  GOOD(libdl_state_new(&tenant));
  GOOD(libdl_state_set_memory_limit(tenant, 4 * 256));
  serve(tenant);
  while (n < 4) held[n++] = zeros(1);
  BAD_CODE(no_room(1), OUT_OF_MEMORY);
  libdl_tensor_release(held[--n]);
  GOOD(libdl_ones(&one, 1, LIBDL_DTYPE_FLOAT64, NULL, &held[n++]));
  while (n) libdl_tensor_release(held[--n]);
  CHECK(libdl_state_memory(NULL) == 0);
  serve(NULL);
  libdl_state_release(tenant);
}

static void an_operator_that_fails_leaves_no_charge(void) {
  libdl_state *tenant;
  libdl_tensor *a, *y = NULL;
  libdl_tensor_list *parts;
  GOOD(libdl_state_new(&tenant));
  GOOD(libdl_state_set_memory_limit(tenant, MEGABYTE));
  serve(tenant);
  a = zeros(300 * 1024);
  GOOD(libdl_to(a, LIBDL_DTYPE_FLOAT16, NULL, 0, 0, &y));
  libdl_tensor_release(a);
  CHECK(libdl_state_memory(NULL) == 600 * 1024);
  BAD_CODE(libdl_add(y, y, NULL, &a), OUT_OF_MEMORY);
  GOOD(libdl_chunk(y, 2, 0, &parts)); /* views */
  CHECK(libdl_state_memory(NULL) == 600 * 1024);
  libdl_tensor_list_release(parts);
  GOOD(libdl_state_set_memory_limit(NULL, 0)); /* counted, and not limited */
  CHECK(libdl_state_get_memory_limit(NULL) == 0);
  GOOD(libdl_add(y, y, NULL, &a));
  CHECK(libdl_state_memory(NULL) == 1200 * 1024);
  libdl_tensor_release(a);
  libdl_tensor_release(y);
  serve(NULL);
  libdl_state_release(tenant);
}

static void a_workspace_must_fit_into_what_is_left(void) {
  libdl_state *tenant;
  libdl_tensor *x, *values, *indices;
  const int64_t size = 100000;
  GOOD(libdl_state_new(&tenant));
  GOOD(libdl_rand(&size, 1, NULL, LIBDL_DTYPE_FLOAT32, NULL, &x));
  /* Values and indices fit, the pairs that sorting moves do not. */
  GOOD(libdl_state_set_memory_limit(tenant, 1210000));
  serve(tenant);
  BAD_CODE(libdl_sort(x, 0, 0, 0, &values, &indices), OUT_OF_MEMORY);
  CHECK(libdl_state_memory(NULL) == 0);
  GOOD(libdl_state_set_memory_limit(tenant, 8 * MEGABYTE));
  GOOD(libdl_sort(x, 0, 0, 0, &values, &indices));
  libdl_tensor_release(values);
  libdl_tensor_release(indices);
  serve(NULL);
  libdl_tensor_release(x);
  libdl_state_release(tenant);
}

static void *serve_a_copy(void *copy) {
  serve(copy);
  BAD_CODE(no_room(MEGABYTE / 2 + 1), OUT_OF_MEMORY);
  libdl_tensor *const x = zeros(MEGABYTE / 2);
  serve(NULL);
  libdl_state_release(copy);
  return x;
}

static void copies_share_the_limit(void) {
  libdl_state *tenant, *copy;
  libdl_tensor *x;
  void *of_the_copy;
  pthread_t thread;
  GOOD(libdl_state_new(&tenant));
  GOOD(libdl_state_set_memory_limit(tenant, MEGABYTE));
  serve(tenant);
  x = zeros(MEGABYTE / 2);
  GOOD(libdl_state_copy_current(&copy));
  CHECK(pthread_create(&thread, NULL, serve_a_copy, copy) == 0);
  CHECK(pthread_join(thread, &of_the_copy) == 0);
  CHECK(libdl_state_memory(tenant) == MEGABYTE);
  BAD_CODE(no_room(1), OUT_OF_MEMORY);
  serve(NULL);
  libdl_tensor_release(of_the_copy);
  libdl_tensor_release(x);
  CHECK(libdl_state_memory(tenant) == 0);
  libdl_state_release(tenant);
}

static void *limit_this_thread(void *unused) {
  (void)unused;
  GOOD(libdl_state_set_memory_limit(NULL, MEGABYTE)); /* ends with the thread */
  BAD_CODE(no_room(2 * MEGABYTE), OUT_OF_MEMORY);
  return zeros(7);
}

static void a_thread_has_a_limit_of_its_own(void) {
  pthread_t thread;
  void *made;
  CHECK(pthread_create(&thread, NULL, limit_this_thread, NULL) == 0);
  CHECK(pthread_join(thread, &made) == 0);
  libdl_tensor_release(zeros(2 * MEGABYTE));
  libdl_tensor_release(made);
}

/* -- interruption ------------------------------------------------------------------------------ */

static int asked, destroyed;
static int32_t stop(void *ctx) {
  ++asked;
  return *(int *)ctx;
}
static void count_destroy(void *ctx) { (void)ctx, ++destroyed; }

static libdl_error *long_call(libdl_tensor *x) {
  libdl_tensor *y = NULL;
  libdl_error *const error = libdl_exp(x, &y);
  libdl_tensor_release(y);
  return error;
}

static void one_tenant_is_stopped_and_not_the_others(void) {
  libdl_state *first, *second, *copy;
  const int64_t size = 4 * MEGABYTE;
  libdl_tensor *x;
  int stops = 1, goes_on = 0;
  GOOD(libdl_zeros(&size, 1, LIBDL_DTYPE_FLOAT32, NULL, &x));
  GOOD(libdl_state_new(&first));
  GOOD(libdl_state_new(&second));
  GOOD(libdl_state_set_interruption(first, stop, &stops, count_destroy));
  GOOD(libdl_state_set_interruption(second, stop, &goes_on, count_destroy));
  GOOD(long_call(x));
  CHECK(asked == 0); /* neither is this thread's state */

  serve(first);
  BAD(long_call(x), INTERRUPTED,
      "exp: interrupted by the host; what was to be written is undefined");
  CHECK(asked == 1);
  stops = 0;
  GOOD(long_call(x));
  stops = 1;
  GOOD(libdl_state_copy_current(&copy));
  serve(second);
  GOOD(long_call(x));
  serve(copy);
  BAD_CODE(long_call(x), INTERRUPTED);

  serve(NULL);
  GOOD(libdl_state_set_interruption(first, NULL, NULL, NULL));
  CHECK(destroyed == 0); /* the copy has it still */
  libdl_state_release(copy);
  CHECK(destroyed == 1);
  GOOD(libdl_state_set_interruption(second, stop, &stops, count_destroy));
  CHECK(destroyed == 2);
  serve(second);
  BAD_CODE(long_call(x), INTERRUPTED);
  serve(first);
  GOOD(long_call(x));
  serve(NULL);
  libdl_state_release(first);
  libdl_state_release(second);
  CHECK(destroyed == 3);
  libdl_tensor_release(x);
}

static int32_t replaces_itself(void *ctx) {
  (void)ctx;
  GOOD(libdl_state_set_interruption(NULL, NULL, NULL, NULL));
  CHECK(destroyed == 0); /* not before it has returned */
  return 1;
}

static void a_callback_may_remove_itself(void) {
  const int64_t size = 4 * MEGABYTE;
  libdl_tensor *x;
  destroyed = 0;
  GOOD(libdl_zeros(&size, 1, LIBDL_DTYPE_FLOAT32, NULL, &x));
  GOOD(libdl_state_set_interruption(NULL, replaces_itself, NULL, count_destroy));
  BAD_CODE(long_call(x), INTERRUPTED);
  CHECK(destroyed == 1);
  GOOD(long_call(x));
  libdl_tensor_release(x);
}

/* -- refusals ---------------------------------------------------------------------------------- */

static void wrong_arguments(void) {
  libdl_tensor *const x = zeros(1);
  libdl_state *const none = (libdl_state *)x; /* a handle of another kind */
  destroyed = 0;
  BAD(libdl_state_set_memory_limit(none, 1), KIND,
      "state_set_memory_limit: argument 1 (state) is a tensor, wanted a state");
  BAD(libdl_state_set_memory_limit(NULL, -1), VALUE,
      "state_set_memory_limit: argument 2 (bytes) is -1, wanted 0 or more");
  BAD(libdl_state_set_interruption(none, stop, NULL, count_destroy), KIND,
      "state_set_interruption: argument 1 (state) is a tensor, wanted a state");
  CHECK(destroyed == 1);
  CHECK(libdl_state_get_memory_limit(none) == 0 && libdl_state_memory(none) == 0);
  libdl_tensor_release(x);
}

int main(void) {
  a_tenant_has_his_limit_and_others_have_theirs();
  small_tensors_count_for_their_handles();
  an_operator_that_fails_leaves_no_charge();
  a_workspace_must_fit_into_what_is_left();
  copies_share_the_limit();
  a_thread_has_a_limit_of_its_own();
  GOOD(libdl_set_threads(1)); /* others may finish a call before anybody is asked */
  one_tenant_is_stopped_and_not_the_others();
  a_callback_may_remove_itself();
  wrong_arguments();
  return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
