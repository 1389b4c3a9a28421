// SPDX-License-Identifier: Apache-2.0

// What optimizers' steps share, and steps over the states that Python keeps.
#include <libdl/exchange.h>
#include <libdl/optim.h>

#include "steps.h"

int read_lists(PyObject* const* objects, Operands* lists, int count) {
  for (int i = 0; i < count; ++i) {
    const int result = operands(objects[i], false, &lists[i]);
    if (result == 0) continue;
    if (result > 0) PyErr_Format(PyExc_TypeError, "step: wanted sequences of tensors");
    return -1;
  }
  return 0;
}

PyObject* finish_step(libdl_error* error, Operands* lists, bool read, libdl_tensor* out) {
  for (int i = 0; i < kLists; ++i) free_operands(&lists[i]);
  pending_work = 0;
  if (error) return raise_error(error);
  if (!read) return NULL;
  if (out) return wrap(out);
  Py_RETURN_NONE;
}

// -- steps over the states that Python keeps ------------------------------------------------------

// What a step over a group's parameters reads: those that have a gradient.
typedef struct Group {
  libdl_tensor** lists[kLists];  // params, grads (owned), then means, squares, largest or momenta
  libdl_tensor** steps;
  int64_t count;
  float step;     // taken so far, by all alike
  int64_t numel;  // of all together
} Group;

static bool is_state_of(PyObject* state, PyObject* name, libdl_tensor** handle) {
  PyObject* const value = state ? PyDict_GetItemWithError(state, name) : NULL;
  if (!value || !is_tensor(value)) return false;
  *handle = handle_of(value);
  return libdl_tensor_is_contiguous(*handle);
}

static bool is_dense_step(const libdl_tensor* param, const libdl_tensor* grad) {
  const libdl_dtype dtype = libdl_tensor_dtype(param);
  if (dtype != LIBDL_DTYPE_FLOAT32 && dtype != LIBDL_DTYPE_FLOAT64) return false;
  return libdl_tensor_is_contiguous(param) && libdl_tensor_dtype(grad) == dtype;
}

// Whether the parameter at group->count and its state (NULL: none) are such that the group's step
// takes them; the state's entries join the group.
typedef bool (*Joins)(Group* group, PyObject* state, bool option);

static bool joins_sgd(Group* group, PyObject* state, bool momentum) {
  static PyObject* name;
  if (!name && !(name = PyUnicode_InternFromString("momentum_buffer"))) return false;
  return !momentum || is_state_of(state, name, &group->lists[2][group->count]);
}

static bool joins_adam(Group* group, PyObject* state, bool amsgrad) {
  static PyObject* names[4];
  static const char* const texts[4] = {"step", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"};
  for (int i = 0; i < 4; ++i)
    if (!names[i] && !(names[i] = PyUnicode_InternFromString(texts[i]))) return false;
  const int64_t at = group->count;
  libdl_tensor* step;
  if (!is_state_of(state, names[0], &step)) return false;
  for (int i = 0; i < 2 + amsgrad; ++i)
    if (!is_state_of(state, names[1 + i], &group->lists[2 + i][at])) return false;
  if (libdl_tensor_dtype(step) != LIBDL_DTYPE_FLOAT32) return false;
  if (libdl_tensor_numel(step) != 1) return false;
  float taken;
  libdl_error* const error = libdl_tensor_copy_out(step, &taken, sizeof taken);
  libdl_error_release(error);
  if (error || (at && taken != group->step)) return false;
  group->step = taken;
  group->steps[at] = step;
  return true;
}

// Gathers the group. false: Python's way, or an exception.
static bool gather(Group* group, PyObject* params, PyObject* states, Joins joins, bool option) {
  const Py_ssize_t count = PyList_Size(params);
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* const param = PyList_GetItem(params, i);
    if (!is_tensor(param)) return false;
    libdl_tensor *const handle = handle_of(param), *const grad = libdl_tensor_grad(handle);
    if (!grad) continue;
    PyObject* const state = PyDict_GetItemWithError(states, param);
    if ((state && !PyDict_Check(state)) || !is_dense_step(handle, grad) ||
        !joins(group, state, option)) {
      libdl_tensor_release(grad);
      return false;
    }
    group->numel += libdl_tensor_numel(handle);
    group->lists[0][group->count] = handle;
    group->lists[1][group->count++] = grad;
  }
  // A long step lets other threads run, and they may take the states away.
  return group->numel <= LIBDL_PYTHON_LONG_WORK;
}

static bool begin_group(Group* group, PyObject* params) {
  const size_t count = (size_t)PyList_Size(params);
  libdl_tensor** const memory = PyMem_Malloc((kLists + 1) * (count + 1) * sizeof *memory);
  *group = (Group){0};
  if (!memory) return false;
  for (size_t i = 0; i < kLists; ++i) group->lists[i] = memory + i * count;
  group->steps = memory + kLists * count;
  return true;
}

static PyObject* end_group(Group* group, bool gathered, libdl_error* error) {
  for (int64_t i = 0; i < group->count; ++i) libdl_tensor_release(group->lists[1][i]);
  PyMem_Free(group->lists[0]);
  if (error) return raise_error(error);
  return PyErr_Occurred() ? NULL : PyBool_FromLong(gathered);
}

static libdl_error* step_adam(Group* group, libdl_adam_options* options) {
  const int64_t n = group->count;
  options->step = (int64_t)group->step + 1;
  const libdl_tensor* const* const grads = (const libdl_tensor* const*)group->lists[1];
  libdl_error* error =
      libdl_adam_step(options, group->lists[0], n, grads, n, group->lists[2], n, group->lists[3], n,
                      options->amsgrad ? group->lists[4] : NULL, options->amsgrad ? n : 0);
  const float taken = (float)options->step;
  for (int64_t i = 0; !error && i < n; ++i)
    error = libdl_tensor_copy_in(group->steps[i], &taken, sizeof taken);
  return error;
}

// adam_group(params, states, lr, beta1, beta2, eps, weight_decay, decoupled, amsgrad, maximize):
// a step of all parameters that have a gradient, if all are small, plain and at the same step;
// False, and nothing done, if not.
static PyObject* adam_group(PyObject* module, PyObject* args) {
  (void)module;
  PyObject *params, *states;
  libdl_adam_options options = {.struct_size = sizeof options};
  if (!PyArg_ParseTuple(args, "O!O!dddddppp", &PyList_Type, &params, &PyDict_Type, &states,
                        &options.lr, &options.beta1, &options.beta2, &options.eps,
                        &options.weight_decay, &options.decoupled, &options.amsgrad,
                        &options.maximize))
    return NULL;
  Group group;
  if (!begin_group(&group, params)) return PyErr_NoMemory();
  const bool gathered = gather(&group, params, states, joins_adam, options.amsgrad);
  return end_group(&group, gathered, gathered && group.count ? step_adam(&group, &options) : NULL);
}

static libdl_error* step_sgd(Group* group, const libdl_sgd_options* options) {
  const int64_t n = group->count;
  const bool momentum = options->momentum != 0;
  return libdl_sgd_step(options, group->lists[0], n, (const libdl_tensor* const*)group->lists[1], n,
                        momentum ? group->lists[2] : NULL, momentum ? n : 0);
}

// sgd_group(params, states, lr, momentum, dampening, weight_decay, nesterov, maximize): as
// adam_group; with a momentum, if all have a buffer.
static PyObject* sgd_group(PyObject* module, PyObject* args) {
  (void)module;
  PyObject *params, *states;
  libdl_sgd_options options = {.struct_size = sizeof options};
  if (!PyArg_ParseTuple(args, "O!O!ddddpp", &PyList_Type, &params, &PyDict_Type, &states,
                        &options.lr, &options.momentum, &options.dampening, &options.weight_decay,
                        &options.nesterov, &options.maximize))
    return NULL;
  Group group;
  if (!begin_group(&group, params)) return PyErr_NoMemory();
  const bool gathered = gather(&group, params, states, joins_sgd, options.momentum != 0);
  return end_group(&group, gathered, gathered && group.count ? step_sgd(&group, &options) : NULL);
}

static PyMethodDef functions[] = {
    {"adam_group", adam_group, METH_VARARGS, NULL},
    {"sgd_group", sgd_group, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

int add_steps(PyObject* module) { return PyModule_AddFunctions(module, functions); }
