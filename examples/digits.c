/* SPDX-License-Identifier: Apache-2.0 */

/* Trains a small network on handwritten digits, in C99: 64 pixels -> 64 -> 10 classes, with Adam.
 *
 *     digits [--device cuda] [data/digits.safetensors]
 *
 * examples/digits.py is the same program in Python; both print the same losses, to the last bit. */
#include <libdl/libdl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EPOCHS = 40, BATCH = 48, PIXELS = 64, HIDDEN = 64, CLASSES = 10, PARAMETERS = 4 };

/* Every call that can fail returns an error object; NULL is success. */
static void try(libdl_error *error) {
  if (!error) return;
  fprintf(stderr, "%s\n", libdl_error_get_message(error));
  libdl_error_release(error);
  exit(1);
}

/* *x = op(*x, number) with a host number; releases the old *x. */
typedef libdl_error *binary(const libdl_tensor *, const libdl_tensor *, libdl_tensor **);
static void apply(binary *op, libdl_tensor **x, double value) {
  libdl_tensor *number, *y;
  try(libdl_number_f64(value, &number));
  try(op(*x, number, &y));
  libdl_tensor_release(number);
  libdl_tensor_release(*x);
  *x = y;
}

/* Numbers scattered over [-bound, bound), the same in every language and library: element i is
 * 2 bound fract(43758.5453 (12.9898 i mod 3.14159265)) - bound. */
static libdl_tensor *parameter(const int64_t *shape, int32_t ndim, double bound) {
  const int64_t count = ndim == 2 ? shape[0] * shape[1] : shape[0];
  libdl_tensor *end, *shift, *x, *flat, *result;
  try(libdl_number_i64(count, &end));
  try(libdl_arange(NULL, end, NULL, LIBDL_DTYPE_FLOAT64, NULL, &x));
  apply(libdl_mul, &x, 12.9898);
  apply(libdl_remainder, &x, 3.14159265);
  apply(libdl_mul, &x, 43758.5453);
  apply(libdl_remainder, &x, 1.0);
  apply(libdl_mul, &x, 2 * bound);
  try(libdl_number_f64(bound, &shift));
  try(libdl_sub(x, shift, NULL, &flat));
  libdl_tensor_release(x);
  try(libdl_to(flat, LIBDL_DTYPE_FLOAT32, NULL, 0, 0, &x));
  try(libdl_view(x, shape, ndim, &result));
  try(libdl_tensor_set_requires_grad(result, 1));
  libdl_tensor_release(shift);
  libdl_tensor_release(flat);
  libdl_tensor_release(end);
  libdl_tensor_release(x);
  return result;
}

static libdl_tensor *forward(libdl_tensor *const p[PARAMETERS], const libdl_tensor *images) {
  libdl_tensor *hidden, *active, *logits;
  try(libdl_linear(images, p[0], p[1], &hidden));
  try(libdl_relu(hidden, &active));
  try(libdl_linear(active, p[2], p[3], &logits));
  libdl_tensor_release(hidden);
  libdl_tensor_release(active);
  return logits;
}

/* A tensor from the file, on the device. */
static libdl_tensor *load(libdl_file *file, const char *name, const libdl_device *device) {
  libdl_tensor *x, *moved;
  try(libdl_file_tensor_by_name(file, name, -1, &x));
  try(libdl_to(x, LIBDL_DTYPE_NONE, device, 0, 0, &moved));
  libdl_tensor_release(x);
  return moved;
}

/* The rows of x with these indices. */
static libdl_tensor *rows(const libdl_tensor *x, const int64_t *numbers, int64_t count) {
  libdl_tensor *index, *out;
  try(libdl_empty(&count, 1, LIBDL_DTYPE_INT64, NULL, &index));
  try(libdl_tensor_copy_in(index, numbers, count * (int64_t)sizeof *numbers));
  try(libdl_index_select(x, 0, index, &out));
  libdl_tensor_release(index);
  return out;
}

static double train_step(libdl_tensor *const p[PARAMETERS], libdl_tensor *const m[PARAMETERS],
                         libdl_tensor *const v[PARAMETERS], const libdl_tensor *images,
                         const libdl_tensor *labels, int64_t step) {
  libdl_tensor *logits = forward(p, images), *loss, *grads[PARAMETERS];
  try(libdl_cross_entropy(logits, labels, NULL, -100, NULL, 0, 0.0, &loss));
  try(libdl_backward((const libdl_tensor *const *)&loss, 1, NULL, 0, NULL, 0, NULL));
  for (int i = 0; i < PARAMETERS; ++i) grads[i] = libdl_tensor_grad(p[i]);

  libdl_adam_options adam;
  libdl_adam_options_init(&adam);
  adam.lr = 3e-3;
  adam.step = step;
  try(libdl_adam_step(&adam, p, PARAMETERS, (const libdl_tensor *const *)grads, PARAMETERS, m,
                      PARAMETERS, v, PARAMETERS, NULL, 0));
  for (int i = 0; i < PARAMETERS; ++i) {
    libdl_tensor_release(grads[i]);
    try(libdl_tensor_set_grad(p[i], NULL));
  }
  double value;
  try(libdl_item_f64(loss, &value));
  libdl_tensor_release(loss);
  libdl_tensor_release(logits);
  return value;
}

/* The accuracy: the fraction of images whose largest logit is that of the label. */
static double accuracy(libdl_tensor *const p[PARAMETERS], const libdl_tensor *images,
                       const libdl_tensor *labels) {
  const int64_t dim = 1;
  libdl_tensor *right, *hits, *guess, *logits = forward(p, images);
  int64_t count;
  try(libdl_argmax(logits, &dim, 0, &guess));
  try(libdl_eq(guess, labels, &right));
  try(libdl_sum(right, NULL, 0, 0, LIBDL_DTYPE_NONE, &hits));
  try(libdl_item_i64(hits, &count));
  libdl_tensor_release(hits);
  libdl_tensor_release(right);
  libdl_tensor_release(guess);
  libdl_tensor_release(logits);
  return (double)count / (double)libdl_tensor_numel(labels);
}

int main(int argc, char **argv) {
  libdl_file *file;
  libdl_device device = {LIBDL_DEVICE_CPU, 0};
  try(libdl_check_abi(LIBDL_VERSION_MAJOR, LIBDL_VERSION_MINOR));
  if (argc > 2 && strcmp(argv[1], "--device") == 0) {
    if (strcmp(argv[2], "cuda") == 0) device.type = LIBDL_DEVICE_CUDA;
    argc -= 2;
    argv += 2;
  }
  try(libdl_set_default_device(&device));
  try(libdl_file_open(argc > 1 ? argv[1] : "data/digits.safetensors", -1, NULL, &file));
  libdl_tensor *images = load(file, "images", &device), *labels = load(file, "labels", &device);
  libdl_file_release(file);

  /* Image i is held out if i is divisible by 5. */
  const int64_t total = libdl_tensor_shape(images)[0];
  int64_t *train = malloc(3 * (size_t)total * sizeof *train), *test = train + total;
  int64_t *order = test + total, trains = 0, tests = 0;
  if (!train) return 1;
  for (int64_t i = 0; i < total; ++i) {
    if (i % 5)
      train[trains++] = i;
    else
      test[tests++] = i;
  }

  const int64_t shapes[PARAMETERS][2] = {
      {HIDDEN, PIXELS}, {HIDDEN, 0}, {CLASSES, HIDDEN}, {CLASSES, 0}};
  libdl_tensor *p[PARAMETERS], *m[PARAMETERS], *v[PARAMETERS];
  for (int i = 0; i < PARAMETERS; ++i) {
    p[i] = parameter(shapes[i], i % 2 ? 1 : 2, 0.125); /* 1 / sqrt(64), for both layers */
    try(libdl_zeros_like(p[i], LIBDL_DTYPE_NONE, NULL, &m[i]));
    try(libdl_zeros_like(p[i], LIBDL_DTYPE_NONE, NULL, &v[i]));
  }

  int64_t step = 0;
  for (int64_t epoch = 0; epoch < EPOCHS; ++epoch) {
    double sum = 0;
    int64_t batches = 0;
    for (int64_t k = 0; k < trains; ++k) order[k] = train[(563 * k + 97 * epoch) % trains];
    for (int64_t k = 0; k < trains; k += BATCH, ++batches) {
      const int64_t count = trains - k < BATCH ? trains - k : BATCH;
      libdl_tensor *x = rows(images, order + k, count), *y = rows(labels, order + k, count);
      sum += train_step(p, m, v, x, y, ++step);
      libdl_tensor_release(x);
      libdl_tensor_release(y);
    }
    printf("epoch %2d  loss %a  (%.6f)\n", (int)epoch, sum / (double)batches,
           sum / (double)batches);
  }

  libdl_tensor *x = rows(images, test, tests), *y = rows(labels, test, tests);
  printf("held out: %.2f %%\n", 100 * accuracy(p, x, y));
  libdl_tensor_release(x);
  libdl_tensor_release(y);
  for (int i = 0; i < PARAMETERS; ++i) {
    libdl_tensor_release(p[i]);
    libdl_tensor_release(m[i]);
    libdl_tensor_release(v[i]);
  }
  libdl_tensor_release(images);
  libdl_tensor_release(labels);
  free(train);
  return 0;
}
