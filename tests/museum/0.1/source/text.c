/* SPDX-License-Identifier: Apache-2.0 */

/* Tensors as text, with what only the door knows: history and the default dtype. */
#include "check.h"

static void prints(const libdl_tensor *x, const libdl_print_options *options, const char *wanted,
                   int line) {
  libdl_text *text = NULL;
  good(libdl_tensor_to_string(x, options, &text), __FILE__, line);
  if (strcmp(libdl_text_data(text), wanted) != 0 ||
      libdl_text_length(text) != (int64_t)strlen(wanted)) {
    fprintf(stderr, "text.c:%d: printed %s, wanted %s\n", line, libdl_text_data(text), wanted);
    ++failures;
  }
  libdl_text_release(text);
}
#define PRINTS(x, options, wanted) prints((x), (options), (wanted), __LINE__)

int main(void) {
  static float elements[2] = {1, 2.5f};
  const int64_t shape[1] = {2};
  libdl_tensor *x = NULL, *y = NULL, *z = NULL, *one = NULL;
  libdl_text *text = NULL;
  libdl_print_options options = {0};
  options.struct_size = sizeof options;
  GOOD(libdl_tensor_from_memory(elements, sizeof elements, shape, 1, NULL, 0, 0,
                                LIBDL_DTYPE_FLOAT32, 0, NULL, NULL, &x));
  PRINTS(x, NULL, "tensor([1.0000, 2.5000])");
  GOOD(libdl_tensor_set_requires_grad(x, 1));
  PRINTS(x, NULL, "tensor([1.0000, 2.5000], requires_grad=True)");
  GOOD(libdl_number_f64(1, &one));
  GOOD(libdl_add(x, one, NULL, &y));
  PRINTS(y, NULL, "tensor([2.0000, 3.5000], grad_fn=<AddBackward0>)");
  GOOD(libdl_log_softmax(x, 0, LIBDL_DTYPE_NONE, &z));
  PRINTS(z, NULL, "tensor([-1.7014, -0.2014], grad_fn=<LogSoftmaxBackward0>)");
  options.precision = 1;
  options.grad_fn = "Mine";
  PRINTS(y, &options, "tensor([2.0, 3.5], grad_fn=<Mine>)");
  options.precision = -1;
  options.threshold = -1;
  options.edgeitems = -1;
  PRINTS(y, &options, "tensor([...], size=(2,), grad_fn=<Mine>)");

  options.precision = 1001;
  BAD_CODE(libdl_tensor_to_string(x, &options, &text), VALUE);
  options.precision = 0;
  options.sci_mode = 2;
  BAD_CODE(libdl_tensor_to_string(x, &options, &text), VALUE);
  options.sci_mode = 0;
  options.linewidth = -2;
  BAD_CODE(libdl_tensor_to_string(x, &options, &text), VALUE);
  BAD_CODE(libdl_tensor_to_string(x, NULL, NULL), NULL);
  BAD_CODE(libdl_tensor_to_string(NULL, NULL, &text), NULL);
  libdl_text_release(NULL);
  libdl_tensor_release(x);
  libdl_tensor_release(y);
  libdl_tensor_release(z);
  libdl_tensor_release(one);
  return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
