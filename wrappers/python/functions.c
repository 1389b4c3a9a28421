// SPDX-License-Identifier: Apache-2.0

// autograd.Function: records that outputs came from inputs by a backward written in Python.
#include "objects.h"

// What backward sees of the pass: valid while the call runs, then emptied.
typedef struct Pass {
  libdl_backward_context* context;
} Pass;

static const char kPass[] = "libdl_backward_context";

static int give(PyObject* answer, libdl_tensor** input_gradients, int64_t inputs,
                const char* name) {
  const bool single = !PyTuple_Check(answer) && !PyList_Check(answer);
  const int64_t count = single ? 1 : PySequence_Size(answer);
  if (count < inputs) {
    PyErr_Format(PyExc_RuntimeError,
                 "%s: backward returned %lld gradients, wanted %lld, one for each argument of "
                 "forward",
                 name, (long long)count, (long long)inputs);
    return -1;
  }
  for (int64_t i = 0; i < count; ++i) {
    PyObject* const item = single ? answer : PySequence_GetItem(answer, (Py_ssize_t)i);
    if (!item) return -1;
    const bool absent = item == Py_None;
    const bool fits = absent || (is_tensor(item) && i < inputs);
    if (fits && !absent) input_gradients[i] = libdl_tensor_retain(handle_of(item));
    if (!single) Py_DECREF(item);
    if (!fits) {
      PyErr_Format(i < inputs ? PyExc_TypeError : PyExc_RuntimeError,
                   "%s: backward's gradient number %lld must be %s", name, (long long)i + 1,
                   i < inputs ? "a tensor or None" : "None, for forward has no such argument");
      return -1;
    }
  }
  return 0;
}

// ctx is (callable, name): callable(pass, gradients) gives one gradient for each tensor input.
static libdl_error* run(void* ctx, libdl_backward_context* context,
                        const libdl_tensor* const* output_gradients, int64_t outputs,
                        libdl_tensor** input_gradients, int64_t inputs) {
  const Callback callback = begin_callback();
  PyObject* const callable = PyTuple_GetItem(ctx, 0);
  const char* const name = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(ctx, 1), NULL);
  Pass pass = {context};
  PyObject* const held = PyCapsule_New(&pass, kPass, NULL);
  PyObject* gradients = PyTuple_New((Py_ssize_t)outputs);
  for (int64_t i = 0; gradients && i < outputs; ++i) {
    PyObject* const item = wrap_optional(libdl_tensor_retain((libdl_tensor*)output_gradients[i]));
    if (!item || PyTuple_SetItem(gradients, (Py_ssize_t)i, item)) Py_CLEAR(gradients);
  }
  PyObject* const answer =
      held && gradients ? PyObject_CallFunctionObjArgs(callable, held, gradients, NULL) : NULL;
  Py_XDECREF(gradients);
  const bool failed = !answer || give(answer, input_gradients, inputs, name ? name : "Function");
  Py_XDECREF(answer);
  libdl_error* const error = failed ? take_exception() : NULL;
  pass.context = NULL;
  if (held) PyCapsule_SetName(held, "ended");
  Py_XDECREF(held);
  end_callback(callback);
  return error;
}

static libdl_backward_context* context_of(PyObject* object) {
  if (!PyCapsule_IsValid(object, kPass)) {
    PyErr_SetString(PyExc_RuntimeError, "saved_tensors can only be read while backward runs");
    return NULL;
  }
  return ((Pass*)PyCapsule_GetPointer(object, kPass))->context;
}

// From arguments (pass, index); NULL has raised.
static libdl_backward_context* indexed(PyObject* args, int64_t* index) {
  PyObject* held;
  long long number;
  if (!PyArg_ParseTuple(args, "OL", &held, &number)) return NULL;
  *index = number;
  return context_of(held);
}

typedef libdl_error* (*TensorOfPass)(libdl_backward_context*, int64_t, libdl_tensor**);

static PyObject* tensor_of_pass(PyObject* args, TensorOfPass of) {
  int64_t index;
  libdl_backward_context* const context = indexed(args, &index);
  if (!context) return NULL;
  libdl_tensor* out;
  libdl_error* const error = of(context, index, &out);
  return error ? raise_error(error) : wrap(out);
}

static PyObject* pass_saved(PyObject* module, PyObject* args) {
  (void)module;
  return tensor_of_pass(args, libdl_backward_context_saved_with_history);
}

static PyObject* pass_zeros(PyObject* module, PyObject* args) {
  (void)module;
  return tensor_of_pass(args, libdl_backward_context_zeros);
}

static PyObject* pass_needs(PyObject* module, PyObject* args) {
  (void)module;
  int64_t index;
  libdl_backward_context* const context = indexed(args, &index);
  return context ? PyBool_FromLong(libdl_backward_context_needs(context, index)) : NULL;
}

static int flags_of(PyObject* object, libdl_bool* flags, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    PyObject* const item = PySequence_GetItem(object, (Py_ssize_t)i);
    const int flag = item ? PyObject_IsTrue(item) : -1;
    Py_XDECREF(item);
    if (flag < 0) return -1;
    flags[i] = flag;
  }
  return 0;
}

// record(name, callable, inputs, outputs, differentiable, saved, once): whether it was recorded
static PyObject* record(PyObject* module, PyObject* args) {
  (void)module;
  PyObject *name, *callable, *input_list, *output_list, *flag_list, *saved_list;
  int once;
  if (!PyArg_ParseTuple(args, "UOOOOOp", &name, &callable, &input_list, &output_list, &flag_list,
                        &saved_list, &once))
    return NULL;
  Operands inputs = {0}, outputs = {0}, saved = {0};
  libdl_bool* flags = NULL;
  PyObject* answer = NULL;
  if (operands(input_list, false, &inputs) == 0 && operands(output_list, false, &outputs) == 0 &&
      operands(saved_list, true, &saved) == 0 &&
      (flags = PyMem_Calloc((size_t)outputs.count + 1, sizeof *flags)) &&
      flags_of(flag_list, flags, outputs.count) == 0) {
    PyObject* const ctx = PyTuple_Pack(2, callable, name);
    const char* const text = PyUnicode_AsUTF8AndSize(name, NULL);
    const libdl_function function = {.struct_size = sizeof function,
                                     .name = text ? text : "Function",
                                     .backward = run,
                                     .ctx = ctx,
                                     .destroy = forget_object,
                                     .once_differentiable = once,
                                     .without_gradients = true};
    libdl_bool recorded = false;
    libdl_error* const error = libdl_function_record(
        &function, (const libdl_tensor* const*)inputs.items, inputs.count, outputs.items,
        outputs.count, flags, (const libdl_tensor* const*)saved.items, saved.count, &recorded);
    for (int64_t i = 0; recorded && i < outputs.count; ++i) {
      PyObject* const output = PySequence_GetItem(output_list, (Py_ssize_t)i);
      if (output && is_tensor(output)) track(output);
      Py_XDECREF(output);
    }
    answer = error ? raise_error(error) : PyBool_FromLong(recorded);
  } else if (!PyErr_Occurred()) {
    PyErr_SetString(PyExc_TypeError, "record: wanted sequences of tensors");
  }
  PyMem_Free(flags);
  free_operands(&inputs);
  free_operands(&outputs);
  free_operands(&saved);
  return answer;
}

static PyMethodDef functions[] = {
    {"record_function", record, METH_VARARGS, NULL},
    {"pass_saved", pass_saved, METH_VARARGS, NULL},
    {"pass_zeros", pass_zeros, METH_VARARGS, NULL},
    {"pass_needs", pass_needs, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

int add_functions(PyObject* module) { return PyModule_AddFunctions(module, functions); }
