// SPDX-License-Identifier: Apache-2.0

// Errors to exceptions, and exceptions to errors: one that Python code raised inside a callback
// travels through the engine as the error's payload and comes out as itself.
#include "objects.h"

static PyObject* classes;  // {code: exception class}

// Payloads of this runtime, so that those of another one in the process are left alone.
typedef struct Travelling {
  PyObject* exception;
  struct Travelling *next, *previous;
} Travelling;

static Travelling travelling = {NULL, &travelling, &travelling};

static void forget(void* payload) {
  if (!Py_IsInitialized()) return;
  const PyGILState_STATE gil = PyGILState_Ensure();
  Travelling* const entry = payload;
  entry->next->previous = entry->previous;
  entry->previous->next = entry->next;
  Py_XDECREF(entry->exception);
  PyMem_Free(entry);
  PyGILState_Release(gil);
}

static PyObject* payload_of(const libdl_error* error) {
  for (; error; error = libdl_error_get_cause(error)) {
    void* const payload = libdl_error_get_payload(error);
    for (Travelling* entry = travelling.next; payload && entry != &travelling; entry = entry->next)
      if (entry == payload) return entry->exception;
  }
  return NULL;
}

libdl_error* take_exception(void) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback) PyException_SetTraceback(value, traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  PyObject* const text = value ? PyObject_Str(value) : NULL;
  Py_ssize_t length = 0;
  const char* message = text ? PyUnicode_AsUTF8AndSize(text, &length) : NULL;
  if (!message) {
    PyErr_Clear();
    message = "an exception in Python";
    length = -1;
  }
  const int code = value && PyErr_GivenExceptionMatches(value, PyExc_KeyboardInterrupt)
                       ? LIBDL_ERROR_INTERRUPTED
                       : LIBDL_ERROR_CALLBACK;
  Travelling* const entry = PyMem_Malloc(sizeof *entry);
  if (entry) {
    *entry = (Travelling){value, travelling.next, &travelling};
    travelling.next->previous = entry;
    travelling.next = entry;
  } else {
    Py_XDECREF(value);
  }
  libdl_error* const error = libdl_error_new(code, message, length, entry, entry ? forget : NULL);
  Py_XDECREF(text);
  return error;
}

static int set_text(PyObject* exception, const char* name, const char* text) {
  PyObject* const value = PyUnicode_FromString(text);
  const int failed = !value || PyObject_SetAttrString(exception, name, value);
  Py_XDECREF(value);
  return failed;
}

static int set_number(PyObject* exception, const char* name, long number) {
  PyObject* const value = PyLong_FromLong(number);
  const int failed = !value || PyObject_SetAttrString(exception, name, value);
  Py_XDECREF(value);
  return failed;
}

static PyObject* class_of(libdl_error_code code) {
  PyObject* const key = PyLong_FromLong(code);
  PyObject* const registered_class = key && classes ? PyDict_GetItemWithError(classes, key) : NULL;
  Py_XDECREF(key);
  if (registered_class) return registered_class;
  PyErr_Clear();
  return registered.error ? registered.error : PyExc_RuntimeError;
}

static PyObject* exception_of(const libdl_error* error) {
  PyObject* const text =
      PyUnicode_DecodeUTF8(libdl_error_get_message(error),
                           (Py_ssize_t)strlen(libdl_error_get_message(error)), "replace");
  PyObject* const exception =
      text ? PyObject_CallFunctionObjArgs(class_of(libdl_error_get_code(error)), text, NULL) : NULL;
  Py_XDECREF(text);
  if (!exception) return NULL;
  if (set_number(exception, "code", libdl_error_get_code(error)) ||
      set_text(exception, "operator", libdl_error_get_operator(error)) ||
      set_number(exception, "argument", libdl_error_get_argument(error)) ||
      set_text(exception, "argument_name", libdl_error_get_argument_name(error)) ||
      set_text(exception, "found", libdl_error_get_found(error)) ||
      set_text(exception, "wanted", libdl_error_get_wanted(error)))
    PyErr_Clear();
  const libdl_error* const cause = libdl_error_get_cause(error);
  if (cause) {
    PyObject* const inner = exception_of(cause);
    if (!inner) {
      Py_DECREF(exception);
      return NULL;
    }
    PyException_SetCause(exception, inner);
  }
  return exception;
}

PyObject* raise_error(libdl_error* error) {
  PyObject* exception = payload_of(error);
  if (exception) {
    Py_INCREF(exception);
  } else if (libdl_error_get_code(error) == LIBDL_ERROR_INTERRUPTED) {
    libdl_error_release(error);
    if (!PyErr_Occurred() && !restore_interruption()) PyErr_SetNone(PyExc_KeyboardInterrupt);
    return NULL;
  } else {
    exception = exception_of(error);
  }
  libdl_error_release(error);
  if (!exception) return NULL;
  PyObject* const type = (PyObject*)Py_TYPE(exception);
  Py_INCREF(type);
  PyErr_Restore(type, exception, PyException_GetTraceback(exception));
  return NULL;
}

PyObject* raise_error_of(libdl_error* error, const char* written) {
  raise_error(error);
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (value && registered.error && PyObject_IsInstance(value, registered.error) == 1) {
    PyObject* const done = PyObject_CallFunction(registered.message_for_slot, "Os", value, written);
    Py_XDECREF(done);
  }
  PyErr_Clear();  // the error itself is worth more than its wording
  PyErr_Restore(type, value, traceback);
  return NULL;
}

// "a list", "a numpy.ndarray"
static PyObject* kind_of_object(PyObject* object) {
  PyObject* const type = (PyObject*)Py_TYPE(object);
  PyObject* const module = PyObject_GetAttrString(type, "__module__");
  PyObject* const name = PyObject_GetAttrString(type, "__qualname__");
  PyObject* text = NULL;
  if (module && name && PyUnicode_Check(module) && PyUnicode_Check(name)) {
    const bool is_builtin = PyUnicode_CompareWithASCIIString(module, "builtins") == 0;
    const Py_UCS4 first = PyUnicode_ReadChar(is_builtin ? name : module, 0);
    const char* const article = first < 128 && strchr("aeiou", (int)first) ? "an" : "a";
    text = is_builtin ? PyUnicode_FromFormat("%s %U", article, name)
                      : PyUnicode_FromFormat("%s %U.%U", article, module, name);
  }
  Py_XDECREF(module);
  Py_XDECREF(name);
  if (text) return text;
  PyErr_Clear();
  return PyUnicode_FromFormat("a %R", type);
}

// What makes a tensor of it; "" for what is no data.
static const char* remedy_for(PyObject* object, PyObject* kind) {
  if (PyList_Check(object) || PyTuple_Check(object)) return "; tensor() makes one of it";
  const bool array = PyUnicode_CompareWithASCIIString(kind, "a numpy.ndarray") == 0;
  return array ? "; from_numpy() makes one of it" : "";
}

// "is a list, wanted a tensor; tensor() makes one of it"; of a sequence of tensors the first entry
// that is none.
static PyObject* type_message(PyObject* found, const char* wanted) {
  PyObject* culprit = found;
  Py_ssize_t at = 0;
  if (strcmp(wanted, "a sequence of tensors") == 0 && (PyList_Check(found) || PyTuple_Check(found)))
    for (; at < PySequence_Size(found) && culprit == found; ++at) {
      PyObject* const item =
          PyList_Check(found) ? PyList_GetItem(found, at) : PyTuple_GetItem(found, at);
      if (!is_tensor(item)) culprit = item;
    }
  PyObject* const kind = kind_of_object(culprit);
  if (!kind) return NULL;
  const bool tensor = strncmp(wanted, "a tensor", 8) == 0 || culprit != found;
  const char* const remedy = tensor ? remedy_for(culprit, kind) : "";
  PyObject* const text =
      culprit == found
          ? PyUnicode_FromFormat("is %U, wanted %s%s", kind, wanted, remedy)
          : PyUnicode_FromFormat("has at %zd %U, wanted a tensor%s", at - 1, kind, remedy);
  Py_DECREF(kind);
  return text;
}

PyObject* raise_type_error(const char* function, int number, const char* name, PyObject* found,
                           const char* wanted) {
  size_t length = strlen(function);
  if (length > 5 && strcmp(function + length - 5, "_into") == 0) length -= 5;
  PyObject* const device_error = type_message(found, wanted);
  PyObject* const operator = PyUnicode_FromStringAndSize(function, (Py_ssize_t)length);
  PyObject* const text =
      operator && device_error
          ? PyUnicode_FromFormat("%U: argument %d (%s) %U", operator, number, name, device_error)
          : NULL;
  PyObject* const class = class_of(LIBDL_ERROR_TYPE);
  PyObject* const exception = text ? PyObject_CallFunctionObjArgs(class, text, NULL) : NULL;
  if (exception) {
    if (PyObject_SetAttrString(exception, "operator", operator) ||
        set_number(exception, "code", LIBDL_ERROR_TYPE) ||
        set_number(exception, "argument", number) || set_text(exception, "argument_name", name) ||
        set_text(exception, "wanted", wanted))
      PyErr_Clear();
    PyErr_SetObject(class, exception);
  }
  Py_XDECREF(exception);
  Py_XDECREF(text);
  Py_XDECREF(operator);
  Py_XDECREF(device_error);
  return NULL;
}

// register_errors({code: exception class})
static PyObject* register_errors(PyObject* module, PyObject* table) {
  (void)module;
  Py_INCREF(table);
  Py_XDECREF(classes);
  classes = table;
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"register_errors", register_errors, METH_O, "register_errors({code: exception class})"},
    {NULL, NULL, 0, NULL},
};

int add_errors(PyObject* module) { return PyModule_AddFunctions(module, methods); }
