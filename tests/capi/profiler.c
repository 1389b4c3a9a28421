/* SPDX-License-Identifier: Apache-2.0 */

/* The profiler records what a thread does, in order, with what it was done for, and leaves results
 * and interceptors as they are. */
#include <pthread.h>
#include <stdatomic.h>

#include "tensors.h"

enum { MOST = 100 };
struct record {
  struct {
    char name[32], source[32];
    int64_t start, end, parent, allocated, live, thread;
    int32_t kind, failed, shapes;
    libdl_phase phase;
  } events[MOST];
  int count, destroyed, fails_at;
};

static libdl_error *keep(void *ctx, const libdl_profiler_event *event) {
  struct record *const record = ctx;
  const int i = record->count++;
  CHECK(event->struct_size == sizeof *event);
  if (i + 1 == record->fails_at)
    return libdl_error_new(LIBDL_ERROR_VALUE, "enough", -1, NULL, NULL);
  if (i >= MOST) return NULL;
  snprintf(record->events[i].name, 32, "%s", event->name);
  snprintf(record->events[i].source, 32, "%s", event->source ? event->source : "");
  record->events[i].start = event->start, record->events[i].end = event->end;
  record->events[i].parent = event->parent;
  record->events[i].allocated = event->allocated, record->events[i].live = event->live;
  record->events[i].kind = event->kind, record->events[i].failed = event->failed;
  record->events[i].phase = event->phase, record->events[i].thread = event->thread;
  record->events[i].shapes = event->shapes != NULL;
  CHECK(!event->shapes == !event->shape_count);
  return NULL;
}
static void forget(void *ctx) { ++((struct record *)ctx)->destroyed; }

static void start(uint32_t recorded) {
  libdl_profiler_options options = {0};
  options.struct_size = sizeof options;
  options.recorded = recorded;
  GOOD(libdl_profiler_start(&options));
}
static struct record stop(void) {
  struct record record = {0};
  GOOD(libdl_profiler_stop(keep, &record, forget));
  CHECK(record.destroyed == 1 && record.count <= MOST);
  for (int i = 0; i < record.count; ++i) {
    const int64_t parent = record.events[i].parent;
    CHECK(record.events[i].start <= record.events[i].end && parent < i);
    CHECK(i == 0 || record.events[i - 1].start <= record.events[i].start);
    if (parent < 0) continue;
    CHECK(record.events[parent].start <= record.events[i].start);
    CHECK(record.events[i].end <= record.events[parent].end);
  }
  return record;
}
static int find(const struct record *record, const char *name, libdl_phase phase) {
  for (int i = 0; i < record->count; ++i)
    if (strcmp(record->events[i].name, name) == 0 && record->events[i].phase == phase) return i;
  return -1;
}

static libdl_tensor *leaf_of(int64_t rows, int64_t columns) {
  const int64_t shape[] = {rows, columns};
  libdl_tensor *made;
  GOOD(libdl_ones(shape, 2, LIBDL_DTYPE_FLOAT32, NULL, &made));
  GOOD(libdl_tensor_set_requires_grad(made, 1));
  return made;
}

static void a_step_is_recorded(void) {
  libdl_tensor *const a = leaf_of(20, 30), *const b = leaf_of(30, 40), *c, *loss;
  const libdl_tensor *outputs[1];
  start(LIBDL_PROFILER_SHAPES);
  CHECK(libdl_profiler_count() == 0);
  GOOD(libdl_profiler_range_push("forward and more", 7));
  GOOD(libdl_mm(a, b, &c));
  libdl_profiler_range_pop();
  GOOD(libdl_sum(c, NULL, 0, 0, LIBDL_DTYPE_NONE, &loss));
  outputs[0] = loss;
  GOOD(libdl_backward(outputs, 1, NULL, 0, NULL, 0, NULL));
  CHECK(libdl_profiler_count() > 4);
  const struct record record = stop();
  const int range = find(&record, "forward", LIBDL_PHASE_FORWARD);
  const int product = find(&record, "mm", LIBDL_PHASE_FORWARD);
  const int gradient = find(&record, "mm", LIBDL_PHASE_BACKWARD);
  CHECK(range == 0 && product == 1 && gradient > 1);
  CHECK(record.events[0].kind == LIBDL_PROFILER_RANGE && record.events[0].parent == -1);
  CHECK(record.events[1].kind == LIBDL_PROFILER_CALL && record.events[1].parent == 0);
  CHECK(record.events[1].allocated == 20 * 40 * 4 && record.events[1].live == 20 * 40 * 4);
  CHECK(record.events[1].shapes && !record.events[0].shapes);
  CHECK(gradient < 0 || strcmp(record.events[gradient].source, "mm") == 0);
  libdl_tensor_release(a), libdl_tensor_release(b);
  libdl_tensor_release(c), libdl_tensor_release(loss);
}

/* [rows, columns] of both arguments and of the result, each behind its rank and dtype. */
static libdl_error *check_shapes(void *ctx, const libdl_profiler_event *event) {
  const int64_t f32 = LIBDL_DTYPE_FLOAT32;
  const int64_t wanted[] = {2, f32, 20, 30, 2, f32, 30, 40, 2, f32, 20, 40};
  CHECK(event->shape_count == 12 && event->argument_count == 2);
  CHECK(memcmp(event->shapes, wanted, sizeof wanted) == 0);
  ++*(int *)ctx;
  return NULL;
}
static void shapes_are_those_of_arguments_and_results(void) {
  libdl_tensor *const a = leaf_of(20, 30), *const b = leaf_of(30, 40), *c;
  int seen = 0;
  start(LIBDL_PROFILER_SHAPES);
  GOOD(libdl_mm(a, b, &c));
  GOOD(libdl_profiler_stop(check_shapes, &seen, NULL));
  CHECK(seen == 1);
  libdl_tensor_release(a), libdl_tensor_release(b), libdl_tensor_release(c);
}

static void a_failed_call_is_marked(void) {
  libdl_tensor *const a = leaf_of(2, 3), *c;
  start(0);
  BAD_CODE(libdl_mm(a, a, &c), SHAPE);
  GOOD(libdl_profiler_range_push("open", -1));
  const struct record record = stop();
  CHECK(record.count == 2 && record.events[0].failed && record.events[1].failed);
  libdl_tensor_release(a);
}

static void what_is_wrong_is_refused(void) {
  struct record record = {0};
  libdl_profiler_options options = {0};
  BAD(libdl_profiler_start(&options), OPTION,
      "profiler_start: argument 1 (options) has struct_size 0, wanted sizeof of the struct");
  options.struct_size = sizeof options, options.recorded = 4;
  BAD(libdl_profiler_start(&options), VALUE,
      "profiler_start: argument 1 (options) record 4, wanted LIBDL_PROFILER_ bits");
  CHECK(libdl_profiler_count() == -1);
  BAD(libdl_profiler_stop(keep, &record, forget), STATE, "profiler_stop: no profiler runs");
  CHECK(record.destroyed == 1);
  BAD(libdl_profiler_range_push(NULL, -1), NULL,
      "profiler_range_push: argument 1 (name) is NULL, wanted text");
  BAD_CODE(libdl_profiler_range_push("x", -2), VALUE);
  GOOD(libdl_profiler_range_push("nobody records it", -1));
  libdl_profiler_range_pop();
  GOOD(libdl_profiler_start(NULL));
  BAD(libdl_profiler_start(NULL), STATE, "profiler_start: the profiler runs already");
  libdl_profiler_range_pop(); /* none is open */
  GOOD(libdl_profiler_range_push("a", -1));
  libdl_profiler_range_pop();
  record.fails_at = 1;
  BAD(libdl_profiler_stop(keep, &record, forget), VALUE, "enough");
  CHECK(record.destroyed == 2 && libdl_profiler_count() == -1);
  GOOD(libdl_profiler_start(NULL));
  GOOD(libdl_profiler_stop(NULL, NULL, NULL));
}

/* -- beside interceptors ----------------------------------------------------------------------- */

static libdl_error *note(void *ctx, const libdl_call *call) {
  (void)call;
  ++*(int *)ctx;
  BAD(libdl_profiler_start(NULL), STATE, "profiler_start: an interceptor is running");
  BAD(libdl_profiler_stop(NULL, NULL, NULL), STATE, "profiler_stop: an interceptor is running");
  return NULL;
}
static void interceptors_come_and_go_as_without_it(void) {
  libdl_tensor *const x = leaf_of(2, 2), *y;
  int seen = 0;
  libdl_interceptor_options options = {0};
  options.struct_size = sizeof options, options.after = note, options.ctx = &seen;
  GOOD(libdl_interceptor_push_options(&options));
  start(0);
  GOOD(libdl_exp(x, &y)), libdl_tensor_release(y);
  GOOD(libdl_interceptor_pop()); /* the host's, though the profiler came later */
  BAD(libdl_interceptor_pop(), STATE, "interceptor_pop: no interceptor was pushed");
  GOOD(libdl_exp(x, &y)), libdl_tensor_release(y);
  GOOD(libdl_interceptor_push_options(&options));
  const struct record record = stop();
  GOOD(libdl_exp(x, &y)), libdl_tensor_release(y);
  GOOD(libdl_interceptor_pop());
  CHECK(record.count == 2 && seen == 2);
  libdl_tensor_release(x);
}

/* Each state has its own; one that ends with it is dropped. */
static void states_have_their_own(void) {
  libdl_state *state, *previous;
  libdl_tensor *const x = leaf_of(2, 2), *y;
  start(0);
  GOOD(libdl_state_new(&state));
  GOOD(libdl_state_swap(state, &previous));
  CHECK(libdl_profiler_count() == -1);
  GOOD(libdl_profiler_start(NULL));
  GOOD(libdl_exp(x, &y)), libdl_tensor_release(y);
  CHECK(libdl_profiler_count() == 1);
  GOOD(libdl_state_swap(previous, NULL));
  libdl_state_release(state);
  CHECK(stop().count == 0);
  libdl_tensor_release(x);
}

/* -- other threads ------------------------------------------------------------------------------
 */

static void compute(const char *range) {
  libdl_tensor *const x = leaf_of(2, 2), *y;
  GOOD(libdl_profiler_range_push(range, -1));
  GOOD(libdl_exp(x, &y)), libdl_tensor_release(y);
  libdl_profiler_range_pop();
  libdl_tensor_release(x);
}

/* What a thread does between two meetings with the main one. */
static atomic_int stage;
static void meet(int next) {
  atomic_store(&stage, next);
  while (atomic_load(&stage) == next) continue;
}
static void *from_the_beginning(void *unused) {
  (void)unused;
  libdl_tensor *const x = leaf_of(2, 2), *y;
  libdl_profiler_options all = {0};
  meet(1); /* the profiler starts */
  GOOD(libdl_exp(x, &y)), libdl_tensor_release(y);
  CHECK(libdl_profiler_count() == -1); /* it has not joined yet */
  compute("with a range");
  CHECK(libdl_profiler_count() == 2); /* the leaf was made before it joined */
  BAD(libdl_profiler_stop(NULL, NULL, NULL), STATE, "profiler_stop: no profiler runs");
  BAD(libdl_profiler_start(NULL), STATE, "profiler_start: the profiler runs already");
  GOOD(libdl_profiler_range_push("still open", -1));
  meet(3); /* it stops */
  CHECK(libdl_profiler_count() == -1);
  libdl_profiler_range_pop();
  compute("for nobody");
  all.struct_size = sizeof all, all.recorded = LIBDL_PROFILER_ALL_THREADS;
  GOOD(libdl_profiler_start(&all)); /* what is left of the last one is in nobody's way */
  compute("its own");
  CHECK(stop().count == 3);
  libdl_tensor_release(x);
  return NULL;
}
static void *new_one(void *unused) {
  (void)unused;
  compute("new");
  return NULL;
}
static void *makes_its_own(void *unused) {
  libdl_profiler_options all = {0};
  (void)unused;
  all.struct_size = sizeof all, all.recorded = LIBDL_PROFILER_ALL_THREADS;
  BAD(libdl_profiler_start(&all), STATE, "profiler_start: the profiler runs already");
  return NULL;
}
static void run_thread(void *(*body)(void *)) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, body, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
}
static void wait_for(int reached) {
  while (atomic_load(&stage) != reached) continue;
}

static void threads_join(void) {
  pthread_t old;
  CHECK(pthread_create(&old, NULL, from_the_beginning, NULL) == 0);
  wait_for(1);
  start(LIBDL_PROFILER_ALL_THREADS);
  compute("main");
  run_thread(new_one);
  run_thread(makes_its_own);
  CHECK(libdl_profiler_count() == 3); /* this thread's */
  atomic_store(&stage, 2);
  wait_for(3);
  const struct record record = stop();
  atomic_store(&stage, 4);
  CHECK(pthread_join(old, NULL) == 0);
  const int main_range = find(&record, "main", 0), new_range = find(&record, "new", 0);
  const int old_range = find(&record, "with a range", 0), open = find(&record, "still open", 0);
  CHECK(main_range >= 0 && new_range > main_range && old_range > new_range && open > old_range);
  if (main_range < 0 || new_range < 0 || old_range < 0 || open < 0) return;
  CHECK(record.events[main_range].thread != record.events[new_range].thread);
  CHECK(record.events[old_range].thread != record.events[new_range].thread);
  CHECK(record.events[open].failed && !record.events[old_range].failed);
  int products = 0;
  for (int i = 0; i < record.count; ++i) {
    const int64_t parent = record.events[i].parent;
    products += strcmp(record.events[i].name, "exp") == 0;
    if (parent >= 0) CHECK(record.events[parent].thread == record.events[i].thread);
  }
  CHECK(products == 3);
}

/* Only the thread that started it records without the bit, and a state takes its recording along.
 */
static void others_are_left_out_otherwise(void) {
  libdl_state *state, *previous;
  start(0);
  run_thread(new_one);
  CHECK(stop().count == 0);
  GOOD(libdl_state_new(&state));
  GOOD(libdl_state_swap(state, &previous));
  start(LIBDL_PROFILER_ALL_THREADS);
  run_thread(new_one);
  GOOD(libdl_state_swap(previous, NULL));
  libdl_state_release(state);
  start(LIBDL_PROFILER_ALL_THREADS);
  CHECK(stop().count == 0);
}

int main(void) {
  a_step_is_recorded();
  shapes_are_those_of_arguments_and_results();
  a_failed_call_is_marked();
  what_is_wrong_is_refused();
  interceptors_come_and_go_as_without_it();
  states_have_their_own();
  threads_join();
  others_are_left_out_otherwise();
  return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
