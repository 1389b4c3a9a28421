// SPDX-License-Identifier: Apache-2.0

// Random number generators, which Python holds in capsules.
#include <libdl/state.h>

#include "objects.h"

static const char kKind[] = "libdl_generator";

static PyObject* generator_capsule(libdl_generator* generator) {
  return capsule(generator, kKind, (void (*)(void*))libdl_generator_release);
}

static libdl_generator* generator_in(PyObject* object) {
  libdl_generator* generator;
  if (generator_of(object, &generator) == 0 && generator) return generator;
  if (!PyErr_Occurred())
    PyErr_Format(PyExc_TypeError, "found a %R, wanted a generator", (PyObject*)Py_TYPE(object));
  return NULL;
}

// A seed of any sign, as 64 bits.
static int seed_in(PyObject* object, uint64_t* seed) {
  PyObject* const exact = PyNumber_Index(object);
  if (!exact) return -1;
  *seed = PyLong_AsUnsignedLongLongMask(exact);
  Py_DECREF(exact);
  return PyErr_Occurred() ? -1 : 0;
}

static PyObject* generator_new(PyObject* module, PyObject* object) {
  (void)module;
  uint64_t seed;
  if (seed_in(object, &seed)) return NULL;
  libdl_generator* generator;
  libdl_error* const error = libdl_generator_new(seed, &generator);
  return error ? raise_error(error) : generator_capsule(generator);
}

static PyObject* generator_default(PyObject* module, PyObject* unused) {
  (void)module, (void)unused;
  return generator_capsule(libdl_generator_default());
}

static PyObject* generator_get_seed(PyObject* module, PyObject* object) {
  (void)module;
  libdl_generator* const generator = generator_in(object);
  return generator ? PyLong_FromUnsignedLongLong(libdl_generator_get_seed(generator)) : NULL;
}

static PyObject* generator_set_seed(PyObject* module, PyObject* args) {
  (void)module;
  PyObject *object, *number;
  uint64_t seed;
  if (!PyArg_ParseTuple(args, "OO", &object, &number) || seed_in(number, &seed)) return NULL;
  libdl_generator* const generator = generator_in(object);
  if (!generator) return NULL;
  libdl_error* const error = libdl_generator_set_seed(generator, seed);
  if (error) return raise_error(error);
  Py_RETURN_NONE;
}

static PyObject* generator_get_state(PyObject* module, PyObject* object) {
  (void)module;
  libdl_generator* const generator = generator_in(object);
  if (!generator) return NULL;
  const int64_t size = libdl_generator_state_size(generator);
  PyObject* const state = PyBytes_FromStringAndSize(NULL, size);
  if (!state) return NULL;
  libdl_error* const error = libdl_generator_get_state(generator, PyBytes_AsString(state), size);
  if (!error) return state;
  Py_DECREF(state);
  return raise_error(error);
}

static PyObject* generator_set_state(PyObject* module, PyObject* args) {
  (void)module;
  PyObject* object;
  const char* state;
  Py_ssize_t count;
  if (!PyArg_ParseTuple(args, "Oy#", &object, &state, &count)) return NULL;
  libdl_generator* const generator = generator_in(object);
  if (!generator) return NULL;
  libdl_error* const error = libdl_generator_set_state(generator, state, count);
  if (error) return raise_error(error);
  Py_RETURN_NONE;
}

// What a sample's index adds to the seed: an int itself, of others what number_of says.
static int number_of_index(PyObject* index, PyObject* number_of, uint64_t* number) {
  if (PyLong_CheckExact(index)) {
    *number = PyLong_AsUnsignedLongLongMask(index);
    return PyErr_Occurred() ? -1 : 0;
  }
  PyObject* const index_number = PyObject_CallFunctionObjArgs(number_of, index, NULL);
  const int failed = index_number ? seed_in(index_number, number) : -1;
  Py_XDECREF(index_number);
  return failed;
}

// Appends dataset[index] to found for each index, with the generator seeded by begin + step *
// number, modulo 2^63. In Python this takes longer than many a sample.
static PyObject* generator_seeded_items(PyObject* module, PyObject* args) {
  (void)module;
  PyObject *object, *dataset, *indices, *items, *number_of;
  unsigned long long begin, step;
  if (!PyArg_ParseTuple(args, "OOOO!OKK", &object, &dataset, &indices, &PyList_Type, &items,
                        &number_of, &begin, &step))
    return NULL;
  libdl_generator* const generator = generator_in(object);
  PyObject* const iterator = generator ? PyObject_GetIter(indices) : NULL;
  if (!iterator) return NULL;
  PyObject* index;
  while ((index = PyIter_Next(iterator))) {
    uint64_t number = 0;
    PyObject* item = NULL;
    if (number_of_index(index, number_of, &number) == 0) {
      libdl_error* const error =
          libdl_generator_set_seed(generator, (begin + step * number) & INT64_MAX);
      item = error ? raise_error(error) : PyObject_GetItem(dataset, index);
    }
    Py_DECREF(index);
    const int failed = item ? PyList_Append(items, item) : -1;
    Py_XDECREF(item);
    if (failed) break;
  }
  Py_DECREF(iterator);
  if (PyErr_Occurred()) return NULL;
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"generator_new", generator_new, METH_O, "generator_new(seed)"},
    {"generator_default", generator_default, METH_NOARGS, NULL},
    {"generator_get_seed", generator_get_seed, METH_O, NULL},
    {"generator_set_seed", generator_set_seed, METH_VARARGS, "generator_set_seed(generator, seed)"},
    {"generator_get_state", generator_get_state, METH_O, NULL},
    {"generator_set_state", generator_set_state, METH_VARARGS, NULL},
    {"generator_seeded_items", generator_seeded_items, METH_VARARGS,
     "generator_seeded_items(generator, dataset, indices, found, number_of, begin, step)"},
    {NULL, NULL, 0, NULL},
};

int add_generators(PyObject* module) { return PyModule_AddFunctions(module, functions); }
