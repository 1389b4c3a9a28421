/* SPDX-License-Identifier: Apache-2.0 */

/* Sparse gradients from C: their rows, what keeps and what ends them, and the step that wants
 * them. */
#include <math.h>

#include "check.h"

static libdl_tensor *matrix(const double *elements, int64_t rows, int64_t columns) {
  const int64_t shape[] = {rows, columns};
  libdl_tensor *x;
  GOOD(libdl_empty(shape, 2, LIBDL_DTYPE_FLOAT64, NULL, &x));
  GOOD(libdl_tensor_copy_in(x, elements, (size_t)(rows * columns) * sizeof *elements));
  return x;
}

static libdl_tensor *list(const int64_t *elements, int64_t count) {
  libdl_tensor *x;
  GOOD(libdl_empty(&count, 1, LIBDL_DTYPE_INT64, NULL, &x));
  GOOD(libdl_tensor_copy_in(x, elements, (size_t)count * sizeof *elements));
  return x;
}

/* Rows 3 and 1 of four, row 3 given twice. */
static libdl_tensor *example(void) {
  const int64_t numbers[] = {3, 1, 3};
  const double elements[] = {1, 2, 3, 4, 5, 6};
  libdl_tensor *const rows = list(numbers, 3), *const values = matrix(elements, 3, 2), *x;
  GOOD(libdl_sparse_from_rows(rows, values, 4, &x));
  libdl_tensor_release(rows);
  libdl_tensor_release(values);
  return x;
}

static void holds(const libdl_tensor *x, int64_t count, const int64_t *wanted,
                  const double *elements) {
  libdl_tensor *rows, *values;
  int64_t numbers[4];
  double found[8];
  CHECK(libdl_tensor_is_sparse(x));
  GOOD(libdl_sparse_rows(x, &rows, &values));
  CHECK(libdl_tensor_numel(rows) == count && libdl_tensor_shape(values)[0] == count);
  GOOD(libdl_tensor_copy_out(rows, numbers, sizeof numbers[0] * (size_t)count));
  GOOD(libdl_tensor_copy_out(values, found, sizeof found[0] * 2 * (size_t)count));
  for (int64_t i = 0; i < count; ++i) CHECK(numbers[i] == wanted[i]);
  for (int64_t i = 0; i < 2 * count; ++i) CHECK(fabs(found[i] - elements[i]) < 1e-6);
  libdl_tensor_release(rows);
  libdl_tensor_release(values);
}

static const int64_t kBoth[] = {1, 3};

static void a_matrix_like_others(void) {
  const double whole[] = {0, 0, 3, 4, 0, 0, 6, 8};
  double found[8];
  libdl_tensor *const x = example();
  holds(x, 2, kBoth, (const double[]){3, 4, 6, 8});
  GOOD(libdl_tensor_copy_out(x, found, sizeof found));
  CHECK(memcmp(found, whole, sizeof whole) == 0);
  holds(x, 2, kBoth, (const double[]){3, 4, 6, 8}); /* reading has changed nothing */
  libdl_tensor *row, *dense;
  GOOD(libdl_select(x, 0, 1, &row));
  CHECK(!libdl_tensor_is_sparse(row));
  libdl_tensor_release(row);
  GOOD(libdl_square(x, &dense));
  CHECK(!libdl_tensor_is_sparse(dense) && libdl_tensor_is_sparse(x));
  BAD(libdl_sparse_rows(dense, &row, &row), VALUE,
      "sparse_rows: argument 1 (input) is dense, wanted a sparse matrix, as the gradient of "
      "embedding(sparse=True)");
  libdl_tensor_release(dense);
  libdl_tensor_release(x);
}

/* looked: the plain bytes exist, too. */
static void writes(int looked) {
  libdl_tensor *const x = example(), *const y = example(), *half, *sum, *copy, *norm;
  double found[8];
  if (looked) GOOD(libdl_tensor_copy_out(x, found, sizeof found));
  GOOD(libdl_number_f64(0.5, &half));
  GOOD(libdl_mul_into(x, half, x));
  holds(x, 2, kBoth, (const double[]){1.5, 2, 3, 4});
  CHECK(libdl_tensor_version(x) == 1);
  GOOD(libdl_sub(y, x, NULL, &sum));
  holds(sum, 2, kBoth, (const double[]){1.5, 2, 3, 4});
  GOOD(libdl_clone(x, &copy));
  GOOD(libdl_zero_into(x));
  holds(x, 0, kBoth, NULL);
  GOOD(libdl_add_into(x, copy, NULL, x));
  holds(x, 2, kBoth, (const double[]){1.5, 2, 3, 4});
  GOOD(libdl_clip_grad_norm(&x, 1, 1, 2, 0, &norm));
  const double length = sqrt(1.5 * 1.5 + 4 + 9 + 16);
  holds(x, 2, kBoth, (const double[]){1.5 / length, 2 / length, 3 / length, 4 / length});
  GOOD(libdl_clip_grad_value(&x, 1, 0.1));
  holds(x, 2, kBoth, (const double[]){0.1, 0.1, 0.1, 0.1});
  GOOD(libdl_tensor_copy_out(x, found, sizeof found));
  CHECK(found[0] == 0 && found[2] == 0.1 && found[4] == 0 && found[7] == 0.1);
  GOOD(libdl_add_into(x, half, NULL, x));
  CHECK(!libdl_tensor_is_sparse(x));
  GOOD(libdl_tensor_copy_out(x, found, sizeof found));
  CHECK(found[0] == 0.5 && found[2] == 0.6);
  libdl_tensor *const all[] = {x, y, half, sum, copy, norm};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) libdl_tensor_release(all[i]);
}

static void a_gradient(void) {
  const int64_t numbers[] = {2, 0, 2};
  const double elements[] = {1, 2, 3, 4, 5, 6};
  libdl_tensor *const table = matrix(elements, 3, 2), *const at = list(numbers, 3), *y, *sum;
  GOOD(libdl_tensor_set_requires_grad(table, 1));
  for (int turn = 0; turn < 2; ++turn) {
    GOOD(libdl_embedding(at, table, NULL, 0, 1, &y));
    GOOD(libdl_sum(y, NULL, 0, 0, LIBDL_DTYPE_NONE, &sum));
    const libdl_tensor *const losses[] = {sum};
    GOOD(libdl_backward(losses, 1, NULL, 0, NULL, 0, NULL));
    libdl_tensor_release(y);
    libdl_tensor_release(sum);
  }
  libdl_tensor *const grad = libdl_tensor_grad(table);
  holds(grad, 2, (const int64_t[]){0, 2}, (const double[]){2, 2, 4, 4});
  libdl_tensor_release(grad);
  libdl_tensor_release(table);
  libdl_tensor_release(at);
}

static void the_step(void) {
  const double zeros[8] = {0};
  double found[8];
  libdl_tensor *param = matrix(zeros, 4, 2), *mean = matrix(zeros, 4, 2),
               *square = matrix(zeros, 4, 2), *dense = matrix(zeros, 4, 2);
  libdl_tensor *const x = example();
  const libdl_tensor *grads[] = {x}, *dense_grads[] = {dense};
  libdl_sparse_adam_options o = {.struct_size = sizeof o, .lr = 0.5, .beta1 = 0.5, .beta2 = 0.5};
  BAD(libdl_sparse_adam_step(&o, &param, 1, grads, 1, &mean, 1, &square, 1), VALUE,
      "sparse_adam_step: argument 1 (step) is 0, wanted 1 or more");
  o.step = 1;
  BAD(libdl_sparse_adam_step(&o, &param, 1, dense_grads, 1, &mean, 1, &square, 1), VALUE,
      "sparse_adam_step: argument 3 (grads) holds a dense gradient at position 0, wanted sparse "
      "ones, "
      "as embedding(sparse=True) has; adam takes dense ones");
  GOOD(libdl_sparse_adam_step(&o, &param, 1, grads, 1, &mean, 1, &square, 1));
  /* Of one step the moments' biases cancel: each element goes lr along the sign of its gradient. */
  GOOD(libdl_tensor_copy_out(param, found, sizeof found));
  for (int i = 0; i < 8; ++i) CHECK(fabs(found[i] + (i / 2 % 2 ? 0.5 : 0)) < 1e-12);
  GOOD(libdl_tensor_copy_out(mean, found, sizeof found));
  CHECK(found[0] == 0 && found[2] == 1.5 && found[7] == 4);
  libdl_tensor *const all[] = {param, mean, square, dense, x};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) libdl_tensor_release(all[i]);
}

int main(void) {
  a_matrix_like_others();
  writes(0);
  writes(1);
  a_gradient();
  the_step();
  if (failures) fprintf(stderr, "%d failures\n", failures);
  return failures != 0;
}
