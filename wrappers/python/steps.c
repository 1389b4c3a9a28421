// SPDX-License-Identifier: Apache-2.0

// Optimizer steps over lists of tensors.
#include <libdl/optim.h>

#include "objects.h"

enum { kLists = 5 };

static int read_lists(PyObject* const* objects, Operands* lists, int count) {
  for (int i = 0; i < count; ++i) {
    const int result = operands(objects[i], false, &lists[i]);
    if (result == 0) continue;
    if (result > 0) PyErr_Format(PyExc_TypeError, "step: wanted sequences of tensors");
    return -1;
  }
  return 0;
}

static PyObject* finish(libdl_error* error, Operands* lists, bool read) {
  for (int i = 0; i < kLists; ++i) free_operands(&lists[i]);
  pending_work = 0;
  if (error) return raise_error(error);
  if (!read) return NULL;
  Py_RETURN_NONE;
}

#define BORROWED(list) ((const libdl_tensor* const*)(list).items)

// sgd_step(params, grads, buffers, lr, momentum, dampening, weight_decay, nesterov, maximize,
//          first)
static PyObject* sgd_step(PyObject* module, PyObject* args) {
  (void)module;
  PyObject* objects[3];
  libdl_sgd_options options = {.struct_size = sizeof options};
  if (!PyArg_ParseTuple(args, "OOOddddppp", &objects[0], &objects[1], &objects[2], &options.lr,
                        &options.momentum, &options.dampening, &options.weight_decay,
                        &options.nesterov, &options.maximize, &options.first))
    return NULL;
  Operands lists[kLists] = {0};
  const bool read = read_lists(objects, lists, 3) == 0;
  libdl_error* error = NULL;
  if (read) {
    PyThreadState* const thread = PyEval_SaveThread();
    error = libdl_sgd_step(&options, lists[0].items, lists[0].count, BORROWED(lists[1]),
                           lists[1].count, lists[2].count ? lists[2].items : NULL, lists[2].count);
    PyEval_RestoreThread(thread);
  }
  return finish(error, lists, read);
}

// adam_step(params, grads, means, squares, largest, lr, beta1, beta2, eps, weight_decay, step,
//           decoupled, amsgrad, maximize)
static PyObject* adam_step(PyObject* module, PyObject* args) {
  (void)module;
  PyObject* objects[kLists];
  libdl_adam_options options = {.struct_size = sizeof options};
  long long step;
  if (!PyArg_ParseTuple(args, "OOOOOdddddLppp", &objects[0], &objects[1], &objects[2], &objects[3],
                        &objects[4], &options.lr, &options.beta1, &options.beta2, &options.eps,
                        &options.weight_decay, &step, &options.decoupled, &options.amsgrad,
                        &options.maximize))
    return NULL;
  options.step = step;
  Operands lists[kLists] = {0};
  const bool read = read_lists(objects, lists, kLists) == 0;
  libdl_error* error = NULL;
  if (read) {
    PyThreadState* const thread = PyEval_SaveThread();
    error = libdl_adam_step(&options, lists[0].items, lists[0].count, BORROWED(lists[1]),
                            lists[1].count, lists[2].items, lists[2].count, lists[3].items,
                            lists[3].count, lists[4].count ? lists[4].items : NULL,
                            lists[4].count);
    PyEval_RestoreThread(thread);
  }
  return finish(error, lists, read);
}

// clip_grad_norm(grads, max_norm, norm_type, error_if_nonfinite)
static PyObject* clip_grad_norm(PyObject* module, PyObject* args) {
  (void)module;
  PyObject* object;
  double max_norm, norm_type;
  int refuse;
  if (!PyArg_ParseTuple(args, "Oddp", &object, &max_norm, &norm_type, &refuse)) return NULL;
  Operands lists[kLists] = {0};
  if (read_lists(&object, lists, 1)) return finish(NULL, lists, false);
  libdl_tensor* norm;
  libdl_error* const error =
      libdl_clip_grad_norm(lists[0].items, lists[0].count, max_norm, norm_type, refuse, &norm);
  free_operands(&lists[0]);
  pending_work = 0;
  return error ? raise_error(error) : wrap(norm);
}

// clip_grad_value(grads, clip_value)
static PyObject* clip_grad_value(PyObject* module, PyObject* args) {
  (void)module;
  PyObject* object;
  double value;
  if (!PyArg_ParseTuple(args, "Od", &object, &value)) return NULL;
  Operands lists[kLists] = {0};
  const bool read = read_lists(&object, lists, 1) == 0;
  libdl_error* const error =
      read ? libdl_clip_grad_value(lists[0].items, lists[0].count, value) : NULL;
  return finish(error, lists, read);
}

static PyMethodDef functions[] = {
    {"sgd_step", sgd_step, METH_VARARGS, NULL},
    {"adam_step", adam_step, METH_VARARGS, NULL},
    {"clip_grad_norm", clip_grad_norm, METH_VARARGS, NULL},
    {"clip_grad_value", clip_grad_value, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

int add_steps(PyObject* module) { return PyModule_AddFunctions(module, functions); }
