// SPDX-License-Identifier: Apache-2.0

// The lists that an optimizer's step takes from Python: sequences of tensors.
#ifndef LIBDL_PYTHON_STEPS_H
#define LIBDL_PYTHON_STEPS_H

#include "objects.h"

enum { kLists = 5 };

// -1: an exception.
int read_lists(PyObject* const* objects, Operands* lists, int count);
// Frees the lists; the result, None if there is none, or the error or what read_lists raised as an
// exception.
PyObject* finish_step(libdl_error* error, Operands* lists, bool read, libdl_tensor* out);

// NULL, with a TypeError.
static inline PyObject* raise_not_a_tensor(const char* function, const char* argument) {
  PyErr_Format(PyExc_TypeError, "%s: argument %s is no tensor", function, argument);
  return NULL;
}

#define BORROWED(list) ((const libdl_tensor* const*)(list).items)
#define READS(list) BORROWED(list), (list).count
#define WRITES(list) (list).items, (list).count
#define WRITES_IF_ANY(list) (list).count ? (list).items : NULL, (list).count

#endif
