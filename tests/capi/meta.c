/* SPDX-License-Identifier: Apache-2.0 */

/* Tensors on meta as a C program sees them: shapes and history, but no elements to read. */
#include "tensors.h"

static const libdl_device cpu = {LIBDL_DEVICE_CPU, 0}, meta = {LIBDL_DEVICE_META, 0};

static libdl_tensor *empty(int64_t rows, int64_t columns) {
  const int64_t shape[] = {rows, columns};
  libdl_tensor *made;
  GOOD(libdl_empty(shape, 2, LIBDL_DTYPE_FLOAT32, &meta, &made));
  return made;
}

static int lies_on_meta(const libdl_tensor *x, int64_t rows, int64_t columns) {
  const int64_t *const shape = libdl_tensor_shape(x);
  const libdl_device device = libdl_tensor_device(x);
  return device.type == LIBDL_DEVICE_META && device.index == 0 && libdl_tensor_ndim(x) == 2 &&
         shape[0] == rows && shape[1] == columns;
}

static void the_device_is_there(void) {
  const libdl_device second = {LIBDL_DEVICE_META, 1};
  const int64_t one = 1;
  libdl_device_properties p;
  libdl_tensor *none = NULL;
  memset(&p, 0, sizeof p);
  p.struct_size = sizeof p;
  CHECK(libdl_device_count(LIBDL_DEVICE_META) == 1);
  CHECK(libdl_device_type_named("meta") == LIBDL_DEVICE_META);
  CHECK(strcmp(libdl_device_type_name(LIBDL_DEVICE_META), "meta") == 0);
  GOOD(libdl_device_get_properties(&meta, &p));
  CHECK(strcmp(p.name, "meta") == 0 && p.total_memory == 0);
  GOOD(libdl_device_synchronize(&meta));
  BAD_CODE(libdl_empty(&one, 1, LIBDL_DTYPE_FLOAT32, &second, &none), DEVICE);
  CHECK(none == NULL);
}

/* 4 TB each, and what operators make of them. */
static void size_costs_nothing(void) {
  const int64_t side = (int64_t)1 << 20;
  libdl_tensor *const a = empty(side, side), *const b = empty(side, side);
  libdl_tensor *product, *whole, *copied;
  GOOD(libdl_matmul(a, b, &product));
  CHECK(lies_on_meta(product, side, side));
  GOOD(libdl_clone(product, &copied));
  CHECK(lies_on_meta(copied, side, side));
  GOOD(libdl_sum(product, NULL, 0, 0, LIBDL_DTYPE_NONE, &whole));
  CHECK(libdl_tensor_ndim(whole) == 0);
  libdl_tensor_release(whole);
  libdl_tensor_release(copied);
  libdl_tensor_release(product);
  libdl_tensor_release(b);
  libdl_tensor_release(a);
}

static void gradients_have_shapes(void) {
  libdl_tensor *const x = empty(3, 4), *const weight = empty(5, 4);
  libdl_tensor *y, *loss, *gradient;
  GOOD(libdl_tensor_set_requires_grad(weight, 1));
  GOOD(libdl_linear(x, weight, NULL, &y));
  CHECK(lies_on_meta(y, 3, 5));
  GOOD(libdl_sum(y, NULL, 0, 0, LIBDL_DTYPE_NONE, &loss));
  GOOD(libdl_backward((const libdl_tensor *const *)&loss, 1, NULL, 0, NULL, 0, NULL));
  gradient = libdl_tensor_grad(weight);
  CHECK(gradient != NULL && lies_on_meta(gradient, 5, 4));
  libdl_tensor_release(gradient);
  libdl_tensor_release(loss);
  libdl_tensor_release(y);
  libdl_tensor_release(weight);
  libdl_tensor_release(x);
}

static void elements_are_refused(void) {
  float elements[12] = {0};
  double value = 7;
  void *data = elements;
  libdl_mapping *mapping = NULL;
  libdl_tensor *const x = empty(3, 4), *const one = empty(1, 1), *out = NULL;
  struct DLManagedTensorVersioned *managed = NULL;
  const char *const names[] = {"x"};
  libdl_text *text = NULL;
  BAD(libdl_item_f64(one, &value), UNSUPPORTED,
      "item_f64: Tensor.item() cannot be called on meta tensors");
  BAD(libdl_to(x, LIBDL_DTYPE_NONE, &cpu, 0, 0, &out), UNSUPPORTED,
      "to: Cannot copy out of meta tensor; no data!");
  BAD(libdl_tensor_copy_out(x, elements, sizeof elements), UNSUPPORTED,
      "tensor_copy_out: Cannot copy out of meta tensor; no data!");
  BAD(libdl_tensor_data(x, LIBDL_ACCESS_READ, &data), UNSUPPORTED,
      "tensor_data: Cannot copy out of meta tensor; no data!");
  BAD_CODE(libdl_tensor_map(x, LIBDL_ACCESS_READ, &data, &mapping), DEVICE);
  BAD_CODE(libdl_tensor_to_dlpack(x, NULL, &managed), DEVICE);
  BAD(libdl_nonzero(x, &out), UNSUPPORTED,
      "nonzero: the number of elements other than 0 is asked for, and a meta tensor has no "
      "elements");
  BAD(libdl_file_save_memory(names, (const libdl_tensor *const *)&x, 1, NULL, NULL, 0, &text),
      UNSUPPORTED, "file_save_memory: Cannot copy out of meta tensor; no data!");
  CHECK(value == 7 && data == elements && !mapping && !managed && !out && !text);
  libdl_tensor_release(one);
  libdl_tensor_release(x);
}

/* Values that come are dropped, and devices do not mix. */
static void values_go_nowhere(void) {
  const float elements[12] = {1};
  const int64_t four = 4;
  libdl_tensor *x, *moved, *out = NULL, *scaled, *const host = filled(1, 4), *const two = number(2);
  GOOD(libdl_empty(&four, 1, LIBDL_DTYPE_FLOAT32, &meta, &x));
  GOOD(libdl_tensor_copy_in(x, elements, 16));
  GOOD(libdl_copy_into(host, 0, x));
  GOOD(libdl_to(host, LIBDL_DTYPE_NONE, &meta, 0, 0, &moved));
  CHECK(libdl_tensor_device(moved).type == LIBDL_DEVICE_META);
  GOOD(libdl_mul(x, two, &scaled));
  CHECK(libdl_tensor_device(scaled).type == LIBDL_DEVICE_META &&
        libdl_tensor_shape(scaled)[0] == 4);
  BAD(libdl_add(x, host, NULL, &out), DEVICE,
      "add: argument 2 (other) is on cpu, wanted meta, as argument 1 (input): all tensors on the "
      "same device");
  BAD(libdl_copy_into(x, 0, host), UNSUPPORTED, "copy_: Cannot copy out of meta tensor; no data!");
  CHECK(out == NULL && total(host) == 4);
  libdl_tensor_release(scaled);
  libdl_tensor_release(two);
  libdl_tensor_release(moved);
  libdl_tensor_release(host);
  libdl_tensor_release(x);
}

static void streams_have_nothing_to_do(void) {
  libdl_stream *stream;
  libdl_event *first, *second;
  libdl_bool done = 0;
  double milliseconds = -1;
  GOOD(libdl_stream_new(&meta, 0, &stream));
  GOOD(libdl_event_new(&meta, 1, &first));
  GOOD(libdl_event_new(&meta, 1, &second));
  GOOD(libdl_event_record(first, stream));
  GOOD(libdl_event_record(second, stream));
  GOOD(libdl_stream_wait(stream, first));
  GOOD(libdl_stream_query(stream, &done));
  GOOD(libdl_stream_synchronize(stream));
  GOOD(libdl_event_elapsed(first, second, &milliseconds));
  CHECK(done == 1 && milliseconds == 0);
  libdl_event_release(second);
  libdl_event_release(first);
  libdl_stream_release(stream);
}

/* What takes several tensors beside the operators, too. */
static void devices_do_not_meet(void) {
  const int64_t four = 4;
  libdl_tensor *here, *there, *y, *dual = NULL;
  libdl_tensor_list *gradients = NULL;
  libdl_sgd_options options;
  libdl_sgd_options_init(&options);
  options.lr = 0.1;
  GOOD(libdl_ones(&four, 1, LIBDL_DTYPE_FLOAT32, &cpu, &here));
  GOOD(libdl_ones(&four, 1, LIBDL_DTYPE_FLOAT32, &meta, &there));
  BAD_CODE(libdl_sgd_step(&options, &here, 1, LIBDL_READ_ONLY(&there), 1, NULL, 0), DEVICE);
  {
    libdl_tensor *both[2];
    both[0] = there, both[1] = here;
    BAD_CODE(libdl_sgd_step(&options, both, 2, LIBDL_READ_ONLY(both), 2, NULL, 0), DEVICE);
  }
  BAD_CODE(libdl_bernoulli_fill_into(there, NULL, here), DEVICE);
  GOOD(libdl_forward_enter(NULL));
  BAD_CODE(libdl_forward_make_dual(here, there, &dual), DEVICE);
  CHECK(dual == NULL);
  GOOD(libdl_forward_exit());
  GOOD(libdl_tensor_set_requires_grad(here, 1));
  GOOD(libdl_neg(here, &y));
  BAD_CODE(libdl_backward(LIBDL_READ_ONLY(&y), 1, LIBDL_READ_ONLY(&there), 1, NULL, 0, NULL),
           DEVICE);
  BAD_CODE(libdl_grad(LIBDL_READ_ONLY(&y), 1, LIBDL_READ_ONLY(&here), 1, LIBDL_READ_ONLY(&there), 1,
                      NULL, &gradients),
           DEVICE);
  CHECK(gradients == NULL);
  libdl_tensor_release(y);
  libdl_tensor_release(there);
  libdl_tensor_release(here);
}

int main(void) {
  the_device_is_there();
  size_costs_nothing();
  gradients_have_shapes();
  elements_are_refused();
  values_go_nowhere();
  streams_have_nothing_to_do();
  devices_do_not_meet();
  return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
