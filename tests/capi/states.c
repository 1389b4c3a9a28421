/* SPDX-License-Identifier: Apache-2.0 */

/* What belongs to a state goes with it, and what a process has as many of as it wants. */
#include "check.h"

static libdl_tensor *leaf(void) {
  const int64_t size = 2;
  libdl_tensor *made;
  GOOD(libdl_ones(&size, 1, LIBDL_DTYPE_FLOAT32, NULL, &made));
  GOOD(libdl_tensor_set_requires_grad(made, 1));
  return made;
}

/* -- saved-tensor hooks ------------------------------------------------------------------------ */

static int packed, destroyed;

static libdl_error *pack(void *ctx, const libdl_tensor *value, void **out) {
  (void)ctx;
  ++packed;
  *out = libdl_tensor_retain((libdl_tensor *)value);
  return NULL;
}
static libdl_error *unpack(void *ctx, void *object, libdl_tensor **value) {
  (void)ctx;
  *value = libdl_tensor_retain(object);
  return NULL;
}
static void forget(void *ctx, void *object) {
  (void)ctx;
  libdl_tensor_release(object);
}
static void destroy(void *ctx) { (void)ctx, ++destroyed; }

static int packs_of(libdl_tensor *x) {
  libdl_tensor *y;
  packed = 0;
  GOOD(libdl_exp(x, &y));
  libdl_tensor_release(y);
  return packed;
}

static void hooks_of_a_state(void) {
  libdl_saved_hooks hooks = {0};
  libdl_state *state, *copy, *previous;
  libdl_tensor *const x = leaf();
  hooks.struct_size = sizeof hooks;
  hooks.pack = pack, hooks.unpack = unpack, hooks.forget = forget, hooks.destroy = destroy;
  GOOD(libdl_state_new(&state));

  GOOD(libdl_saved_hooks_push(&hooks));
  CHECK(packs_of(x) == 1);
  GOOD(libdl_state_swap(state, &previous)); /* another task on this thread */
  CHECK(packs_of(x) == 0);
  BAD_CODE(libdl_saved_hooks_pop(), STATE);
  GOOD(libdl_state_swap(NULL, &previous));
  CHECK(packs_of(x) == 1);
  GOOD(libdl_state_copy_current(&copy)); /* a task begins without them */
  GOOD(libdl_state_swap(copy, &previous));
  CHECK(packs_of(x) == 0);
  GOOD(libdl_state_swap(NULL, &previous));
  GOOD(libdl_saved_hooks_pop());
  CHECK(destroyed == 1 && packs_of(x) == 0);

  /* A state that ends takes its hooks along. */
  GOOD(libdl_state_swap(state, &previous));
  GOOD(libdl_saved_hooks_push(&hooks));
  CHECK(packs_of(x) == 1);
  GOOD(libdl_state_swap(NULL, &previous));
  CHECK(packs_of(x) == 0 && destroyed == 1);
  libdl_state_release(state);
  CHECK(destroyed == 2);
  libdl_state_release(copy);
  libdl_tensor_release(x);
}

/* -- runtimes ---------------------------------------------------------------------------------- */

static void many_hosts(void) {
  enum { HOSTS = 40 };
  int32_t numbers[HOSTS];
  int objects[HOSTS];
  libdl_tensor *const x = leaf();
  BAD_CODE(libdl_tensor_set_host_object(x, 1000, objects), VALUE);
  for (int k = 0; k < HOSTS; ++k) {
    GOOD(libdl_host_new(&numbers[k]));
    CHECK(numbers[k] > 3 && (k == 0 || numbers[k] != numbers[k - 1]));
    GOOD(libdl_tensor_set_host_object(x, numbers[k], &objects[k]));
  }
  for (int k = 0; k < HOSTS; ++k) CHECK(libdl_tensor_host_object(x, numbers[k]) == &objects[k]);
  GOOD(libdl_tensor_set_host_object(x, numbers[0], NULL));
  CHECK(libdl_tensor_host_object(x, numbers[0]) == NULL);
  CHECK(libdl_tensor_host_object(x, 2) == NULL && libdl_tensor_host_object(x, -1) == NULL);
  libdl_tensor_release(x);
}

/* -- generators -------------------------------------------------------------------------------- */

static void generator_states(void) {
  libdl_generator *one, *other;
  GOOD(libdl_generator_new(7, &one));
  GOOD(libdl_generator_new(8, &other));
  const int64_t size = libdl_generator_state_size(one);
  CHECK(size >= 24 && libdl_generator_state_size(NULL) == 0);
  unsigned char *const bytes = malloc((size_t)size + 8);
  memset(bytes, 0xA5, (size_t)size + 8);
  GOOD(libdl_generator_get_state(one, bytes, size + 8)); /* a larger buffer is no mistake */
  for (int k = 0; k < 8; ++k) CHECK(bytes[size + k] == 0xA5);
  BAD_ARGUMENT(libdl_generator_get_state(one, bytes, size - 1), VALUE, 2);
  GOOD(libdl_generator_set_state(other, bytes, size));
  CHECK(libdl_generator_get_seed(other) == 7);
  free(bytes);
  libdl_generator_release(one);
  libdl_generator_release(other);
}

/* -- interruptions ----------------------------------------------------------------------------- */

typedef struct Asked {
  int32_t answer;
  int times, destroyed;
} Asked;

static int32_t ask(void *ctx) {
  ++((Asked *)ctx)->times;
  return ((Asked *)ctx)->answer;
}
static void gone(void *ctx) { ++((Asked *)ctx)->destroyed; }

static libdl_error *long_call(void) {
  const int64_t size = 4 << 20;
  libdl_tensor *x, *y;
  GOOD(libdl_empty(&size, 1, LIBDL_DTYPE_FLOAT32, NULL, &x));
  GOOD(libdl_empty(&size, 1, LIBDL_DTYPE_FLOAT32, NULL, &y));
  libdl_error *const error = libdl_neg_into(x, y);
  libdl_tensor_release(x);
  libdl_tensor_release(y);
  return error;
}

static void several_interruptions(void) {
  GOOD(libdl_set_threads(1)); /* which asks after each piece */
  Asked set = {0, 0, 0}, first = {0, 0, 0}, second = {0, 0, 0};
  int64_t one, two;
  GOOD(libdl_set_interruption(ask, &set, gone));
  GOOD(libdl_interruption_add(ask, &first, gone, &one));
  GOOD(libdl_interruption_add(ask, &second, gone, &two));
  CHECK(one != two);
  GOOD(long_call());
  CHECK(set.times && first.times && second.times);
  first.answer = 1;
  BAD_CODE(long_call(), INTERRUPTED);
  GOOD(libdl_interruption_remove(one));
  CHECK(first.destroyed == 1);
  GOOD(long_call());
  BAD_ARGUMENT(libdl_interruption_remove(one), VALUE, 1);
  GOOD(libdl_set_interruption(NULL, NULL, NULL)); /* only its own */
  CHECK(set.destroyed == 1 && second.destroyed == 0);
  second.answer = 1;
  BAD_CODE(long_call(), INTERRUPTED);
  GOOD(libdl_interruption_remove(two));
  CHECK(second.destroyed == 1);
  BAD_ARGUMENT(libdl_interruption_add(NULL, &first, gone, &one), NULL, 1);
  CHECK(first.destroyed == 2);
  GOOD(long_call());
}

/* -- clipping names what is wrong -------------------------------------------------------------- */

static void clipping(void) {
  libdl_tensor *const x = leaf();
  libdl_tensor *norm;
  BAD(libdl_clip_grad_norm((libdl_tensor *const *)&x, 1, -1, 2, 0, &norm), VALUE,
      "clip_grad_norm: argument 2 (max_norm) is -1.000000, wanted 0 or more and finite");
  BAD(libdl_clip_grad_norm((libdl_tensor *const *)&x, 1, 1, 0, 0, &norm), VALUE,
      "clip_grad_norm: argument 3 (norm_type) is 0.000000, wanted a positive number");
  BAD(libdl_clip_grad_value((libdl_tensor *const *)&x, 1, -1), VALUE,
      "clip_grad_value: argument 2 (clip_value) is -1.000000, wanted 0 or more and finite");
  libdl_tensor_release(x);
}

int main(void) {
  hooks_of_a_state();
  many_hosts();
  generator_states();
  several_interruptions();
  clipping();
  return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
