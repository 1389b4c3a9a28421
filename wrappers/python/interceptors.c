// SPDX-License-Identifier: Apache-2.0

// Python's onlookers: each call of an operator, of a gradient and of an optimizer's step as a
// tuple.
#include <libdl/op.h>
#include <libdl/state.h>

#include "objects.h"

// -- a call as Python sees it ---------------------------------------------------------------------

static PyObject* list_object(const libdl_tensor_list* list) {
  const int64_t count = libdl_tensor_list_count(list);
  PyObject* tuple = PyTuple_New((Py_ssize_t)count);
  for (int64_t i = 0; tuple && i < count; ++i) {
    PyObject* const item = wrap_optional(libdl_tensor_list_get(list, i));
    if (!item || PyTuple_SetItem(tuple, (Py_ssize_t)i, item)) Py_CLEAR(tuple);
  }
  return tuple;
}

static PyObject* none(void) {
  Py_INCREF(Py_None);
  return Py_None;
}

static PyObject* text_object(const char* text, int64_t length) {
  if (!text) return none();
  return PyUnicode_FromStringAndSize(text,
                                     (Py_ssize_t)(length < 0 ? (int64_t)strlen(text) : length));
}

static PyObject* value_object(const libdl_value* value) {
  switch (value->type) {
    case LIBDL_VALUE_TENSOR: return wrap_optional(libdl_tensor_retain(value->held.tensor));
    case LIBDL_VALUE_TENSORS:
      return tensors_object(value->held.tensors.items, value->held.tensors.count);
    case LIBDL_VALUE_BOOL: return PyBool_FromLong(value->held.boolean);
    case LIBDL_VALUE_INT: return PyLong_FromLongLong(value->held.integer);
    case LIBDL_VALUE_UINT: return PyLong_FromUnsignedLongLong(value->held.unsigned_integer);
    case LIBDL_VALUE_FLOAT: return PyFloat_FromDouble(value->held.number);
    case LIBDL_VALUE_INTS:
      return integers_object(value->held.integers.items, (int32_t)value->held.integers.count);
    case LIBDL_VALUE_STRING: return text_object(value->held.string.text, value->held.string.length);
    case LIBDL_VALUE_DTYPE: {
      PyObject* const dtype = dtype_object(value->held.dtype);
      Py_INCREF(dtype);
      return dtype;
    }
    case LIBDL_VALUE_DEVICE: return device_object(value->held.device);
    case LIBDL_VALUE_GENERATOR: {
      libdl_generator* const held = libdl_generator_retain(value->held.generator);
      PyObject* const kept =
          capsule(held, "libdl_generator", (void (*)(void*))libdl_generator_release);
      PyObject* const result =
          kept ? PyObject_CallMethod(registered.generator, "_of", "O", kept) : NULL;
      Py_XDECREF(kept);
      return result;
    }
    case LIBDL_VALUE_TENSOR_LIST: return list_object(value->held.list);
    default: return none();
  }
}

static PyObject* values_object(const libdl_value* values, int32_t count) {
  PyObject* tuple = PyTuple_New(count);
  for (int32_t i = 0; tuple && i < count; ++i) {
    PyObject* const item = value_object(&values[i]);
    if (!item || PyTuple_SetItem(tuple, i, item)) Py_CLEAR(tuple);
  }
  return tuple;
}

// (name, is an operator, phase, depth, source, arguments, destinations, results, failed)
static PyObject* call_object(const libdl_call* call, bool over) {
  PyObject* const arguments = values_object(call->arguments, call->argument_count);
  PyObject* const destinations =
      call->dsts ? tensors_object((const libdl_tensor* const*)call->dsts, call->result_count)
                 : none();
  PyObject* const results =
      over && call->results ? values_object(call->results, call->result_count) : none();
  if (arguments && destinations && results)
    return Py_BuildValue("(sOiizNNNO)", call->name, call->op >= 0 ? Py_True : Py_False,
                         (int)call->phase, (int)call->depth, call->source, arguments, destinations,
                         results, call->failed ? Py_True : Py_False);
  Py_XDECREF(arguments);
  Py_XDECREF(destinations);
  Py_XDECREF(results);
  return NULL;
}

// -- the callbacks --------------------------------------------------------------------------------
// ctx is (before, after).

// The tensors of an answer, one for each place. 0, or -1 with an exception.
static int take_answer(const libdl_call* call, PyObject* answer) {
  const bool single = is_tensor(answer) && call->result_count == 1;
  if (!single && (!PyTuple_Check(answer) || PyTuple_Size(answer) != call->result_count)) {
    PyErr_Format(PyExc_TypeError, "%s: an answer is None or a tuple of %d results, found %R",
                 call->name, (int)call->result_count, answer);
    return -1;
  }
  for (int32_t i = 0; i < call->result_count; ++i) {
    PyObject* const item = single ? answer : PyTuple_GetItem(answer, i);
    if (!is_tensor(item)) {
      PyErr_Format(PyExc_TypeError, "%s: result %d of an answer must be a tensor, found %R",
                   call->name, (int)i + 1, item);
      return -1;
    }
    call->results[i].type = LIBDL_VALUE_TENSOR;
    call->results[i].held.tensor = libdl_tensor_retain(handle_of(item));
  }
  return 0;
}

static libdl_error* before(void* ctx, const libdl_call* call, libdl_bool* handled) {
  const Callback callback = begin_callback();
  PyObject* const seen = call_object(call, false);
  PyObject* const answer =
      seen ? PyObject_CallFunctionObjArgs(PyTuple_GetItem(ctx, 0), seen, NULL) : NULL;
  Py_XDECREF(seen);
  bool failed = !answer;
  if (answer && answer != Py_None) {
    *handled = 1;  // of an into form: the destinations are written
    failed = !call->dsts && take_answer(call, answer) != 0;
  }
  Py_XDECREF(answer);
  libdl_error* const error = failed ? take_exception() : NULL;
  end_callback(callback);
  return error;
}

static libdl_error* after(void* ctx, const libdl_call* call) {
  const Callback callback = begin_callback();
  PyObject* const seen = call_object(call, true);
  PyObject* const answer =
      seen ? PyObject_CallFunctionObjArgs(PyTuple_GetItem(ctx, 1), seen, NULL) : NULL;
  Py_XDECREF(seen);
  libdl_error* const error = answer ? NULL : take_exception();
  Py_XDECREF(answer);
  end_callback(callback);
  return error;
}

// interceptor_push(before or None, after or None, parts)
static PyObject* interceptor_push(PyObject* module, PyObject* args) {
  (void)module;
  PyObject *first, *last;
  int parts;
  if (!PyArg_ParseTuple(args, "OOp", &first, &last, &parts)) return NULL;
  libdl_interceptor_options options = {.struct_size = sizeof options, .destroy = forget_object};
  options.wanted = parts ? LIBDL_INTERCEPT_PARTS : 0;
  options.before = first == Py_None ? NULL : before;
  options.after = last == Py_None ? NULL : after;
  options.ctx = PyTuple_Pack(2, first, last);
  if (!options.ctx) return NULL;
  libdl_error* const error = libdl_interceptor_push_options(&options);
  if (error) return raise_error(error);
  Py_RETURN_NONE;
}

static PyObject* interceptor_pop(PyObject* module, PyObject* unused) {
  (void)module, (void)unused;
  libdl_error* const error = libdl_interceptor_pop();
  if (error) return raise_error(error);
  Py_RETURN_NONE;
}

// is_number(tensor): whether it was a number of the program's
static PyObject* is_number(PyObject* module, PyObject* tensor) {
  (void)module;
  return PyBool_FromLong(is_tensor(tensor) && libdl_tensor_is_number(handle_of(tensor)));
}

static PyMethodDef functions[] = {
    {"interceptor_push", interceptor_push, METH_VARARGS, NULL},
    {"interceptor_pop", interceptor_pop, METH_NOARGS, NULL},
    {"is_number", is_number, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

int add_interceptors(PyObject* module) { return PyModule_AddFunctions(module, functions); }
