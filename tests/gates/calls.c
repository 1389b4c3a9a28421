/* SPDX-License-Identifier: Apache-2.0 */

/* The hot calls, for counting their instructions: calls --list | calls NAME COUNT */
#include <libdl/libdl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(libdl_error *error) {
  if (error != NULL) {
    fprintf(stderr, "calls: %s\n", libdl_error_get_message(error));
    exit(1);
  }
}

static libdl_tensor *ones(int64_t size) {
  libdl_tensor *tensor;
  check(libdl_ones(&size, 1, LIBDL_DTYPE_FLOAT32, NULL, &tensor));
  return tensor;
}

static libdl_tensor *leaf(void) {
  libdl_tensor *tensor = ones(1);
  check(libdl_tensor_set_requires_grad(tensor, 1));
  return tensor;
}

static void number(int64_t calls) {
  for (int64_t i = 0; i < calls; ++i) {
    libdl_tensor *tensor;
    check(libdl_number_f64(2.0, &tensor));
    libdl_tensor_release(tensor);
  }
}

static void add_sized(int64_t calls, libdl_tensor *a, libdl_tensor *b) {
  for (int64_t i = 0; i < calls; ++i) {
    libdl_tensor *sum;
    check(libdl_add(a, b, NULL, &sum));
    libdl_tensor_release(sum);
  }
  libdl_tensor_release(a);
  libdl_tensor_release(b);
}

static void add(int64_t calls) { add_sized(calls, ones(1), ones(1)); }
static void add_1000(int64_t calls) { add_sized(calls, ones(1000), ones(1000)); }
static void add_recorded(int64_t calls) { add_sized(calls, leaf(), ones(1)); }

static void add_into(int64_t calls) {
  libdl_tensor *a = ones(1), *b = ones(1);
  for (int64_t i = 0; i < calls; ++i) check(libdl_add_into(a, b, NULL, a));
  libdl_tensor_release(a);
  libdl_tensor_release(b);
}

static void view(int64_t calls) {
  const int64_t shape[2] = {2, 3};
  libdl_tensor *a = ones(6);
  for (int64_t i = 0; i < calls; ++i) {
    libdl_tensor *out;
    check(libdl_view(a, shape, 2, &out));
    libdl_tensor_release(out);
  }
  libdl_tensor_release(a);
}

static void select_first(int64_t calls) {
  libdl_tensor *a = ones(6);
  for (int64_t i = 0; i < calls; ++i) {
    libdl_tensor *out;
    check(libdl_select(a, 0, 0, &out));
    libdl_tensor_release(out);
  }
  libdl_tensor_release(a);
}

/* A chain as long as the count: a node recorded, run backward and freed. */
static void backward_node(int64_t calls) {
  libdl_tensor *start = leaf(), *b = ones(1), *at = libdl_tensor_retain(start);
  for (int64_t i = 0; i < calls; ++i) {
    libdl_tensor *next;
    check(libdl_add(at, b, NULL, &next));
    libdl_tensor_release(at);
    at = next;
  }
  const libdl_tensor *outputs[1] = {at};
  check(libdl_backward(outputs, 1, NULL, 0, NULL, 0, NULL));
  libdl_tensor_release(at);
  libdl_tensor_release(b);
  libdl_tensor_release(start);
}

static const struct {
  const char *name;
  void (*run)(int64_t calls);
} kCalls[] = {
    {"number", number},       {"add", add},
    {"add_1000", add_1000},   {"add_recorded", add_recorded},
    {"add_into", add_into},   {"view", view},
    {"select", select_first}, {"backward_node", backward_node},
};

int main(int argc, char **argv) {
  const size_t count = sizeof(kCalls) / sizeof(kCalls[0]);
  for (size_t i = 0; i < count; ++i) {
    if (argc == 2 && strcmp(argv[1], "--list") == 0) puts(kCalls[i].name);
    if (argc == 3 && strcmp(argv[1], kCalls[i].name) == 0) {
      kCalls[i].run(strtoll(argv[2], NULL, 10));
      return 0;
    }
  }
  return argc == 2 ? 0 : 2;
}
