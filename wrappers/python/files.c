// SPDX-License-Identifier: Apache-2.0

// safetensors files: names and tensors, and pairs of text beside them.
#include <libdl/io.h>

#include "objects.h"

// -- out ------------------------------------------------------------------------------------------

typedef struct Content {
  const char** names;
  Operands tensors;
  const char** keys;
  const char** texts;
  int64_t metadata_count;
} Content;

static const char** strings(PyObject* sequence, int64_t* count) {
  const Py_ssize_t size = PySequence_Size(sequence);
  const char** const items = PyMem_Calloc((size_t)size + 1, sizeof *items);
  for (Py_ssize_t i = 0; items && i < size; ++i) {
    PyObject* const item = PySequence_GetItem(sequence, i);
    Py_ssize_t length;
    items[i] = item && PyUnicode_Check(item) ? PyUnicode_AsUTF8AndSize(item, &length) : NULL;
    const bool whole = items[i] && strlen(items[i]) == (size_t)length;
    Py_XDECREF(item);  // the sequence keeps it
    if (!whole) {
      if (!PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "save: names and texts must be strings without NUL");
      PyMem_Free(items);
      return NULL;
    }
  }
  *count = size;
  return items;
}

static void end_content(Content* content) {
  free_operands(&content->tensors);
  PyMem_Free(content->names);
  PyMem_Free(content->keys);
  PyMem_Free(content->texts);
  pending_work = 0;
}

static int read_content(PyObject* names, PyObject* tensors, PyObject* keys, PyObject* texts,
                        Content* content) {
  *content = (Content){0};
  int64_t name_count, text_count;
  content->names = strings(names, &name_count);
  content->keys = content->names ? strings(keys, &content->metadata_count) : NULL;
  content->texts = content->keys ? strings(texts, &text_count) : NULL;
  if (!content->texts) return -1;
  if (operands(tensors, false, &content->tensors) || name_count != content->tensors.count ||
      text_count != content->metadata_count) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "save: wanted a name for each tensor");
    return -1;
  }
  return 0;
}

// save_file(path, names, tensors, keys, texts)
static PyObject* save_file(PyObject* module, PyObject* args) {
  (void)module;
  const char* path;
  Py_ssize_t length;
  PyObject *names, *tensors, *keys, *texts;
  if (!PyArg_ParseTuple(args, "s#OOOO", &path, &length, &names, &tensors, &keys, &texts))
    return NULL;
  Content c;
  libdl_error* error = NULL;
  const bool read = read_content(names, tensors, keys, texts, &c) == 0;
  if (read) {
    PyThreadState* const thread = leave_python();
    error = libdl_file_save(path, length, c.names, (const libdl_tensor* const*)c.tensors.items,
                            c.tensors.count, c.keys, c.texts, c.metadata_count);
    enter_python(thread);
  }
  end_content(&c);
  if (error) return raise_error(error);
  if (!read) return NULL;
  Py_RETURN_NONE;
}

// save_bytes(names, tensors, keys, texts)
static PyObject* save_bytes(PyObject* module, PyObject* args) {
  (void)module;
  PyObject *names, *tensors, *keys, *texts;
  if (!PyArg_ParseTuple(args, "OOOO", &names, &tensors, &keys, &texts)) return NULL;
  Content c;
  libdl_error* error = NULL;
  libdl_text* text = NULL;
  const bool read = read_content(names, tensors, keys, texts, &c) == 0;
  if (read)
    error = libdl_file_save_memory(c.names, (const libdl_tensor* const*)c.tensors.items,
                                   c.tensors.count, c.keys, c.texts, c.metadata_count, &text);
  end_content(&c);
  if (error) return raise_error(error);
  if (!read) return NULL;
  PyObject* const bytes =
      PyBytes_FromStringAndSize(libdl_text_data(text), (Py_ssize_t)libdl_text_length(text));
  libdl_text_release(text);
  return bytes;
}

// -- in -------------------------------------------------------------------------------------------

static PyObject* text_object(const char* text, int64_t length) {
  return PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, "strict");
}

static int add_tensor(PyObject* tensors, const libdl_file* file, int64_t i) {
  int64_t length;
  const char* const name = libdl_file_name(file, i, &length);
  libdl_tensor* out;
  libdl_error* const error = libdl_file_tensor(file, i, &out);
  if (error) {
    raise_error(error);
    return -1;
  }
  PyObject* const key = text_object(name, length);
  PyObject* const tensor = wrap(out);
  const int failed = !key || !tensor || PyDict_SetItem(tensors, key, tensor);
  Py_XDECREF(key);
  Py_XDECREF(tensor);
  return failed ? -1 : 0;
}

static int add_metadata(PyObject* metadata, const libdl_file* file, int64_t i) {
  int64_t key_length, text_length;
  const char* const key = libdl_file_metadata_key(file, i, &key_length);
  const char* const text = libdl_file_metadata_text(file, i, &text_length);
  PyObject* const name = text_object(key, key_length);
  PyObject* const value = text_object(text, text_length);
  const int failed = !name || !value || PyDict_SetItem(metadata, name, value);
  Py_XDECREF(name);
  Py_XDECREF(value);
  return failed ? -1 : 0;
}

// ({name: tensor}, {key: text})
static PyObject* contents(libdl_error* error, libdl_file* file) {
  if (error) return raise_error(error);
  PyObject* const tensors = PyDict_New();
  PyObject* const metadata = PyDict_New();
  int failed = !tensors || !metadata;
  for (int64_t i = 0; !failed && i < libdl_file_count(file); ++i)
    failed = add_tensor(tensors, file, i);
  for (int64_t i = 0; !failed && i < libdl_file_metadata_count(file); ++i)
    failed = add_metadata(metadata, file, i);
  libdl_file_release(file);
  if (!failed) return Py_BuildValue("(NN)", tensors, metadata);
  Py_XDECREF(tensors);
  Py_XDECREF(metadata);
  return NULL;
}

// load_file(path, share)
static PyObject* load_file(PyObject* module, PyObject* args) {
  (void)module;
  const char* path;
  Py_ssize_t length;
  libdl_file_options options = {.struct_size = sizeof options};
  if (!PyArg_ParseTuple(args, "s#p", &path, &length, &options.share)) return NULL;
  libdl_file* file;
  libdl_error* const error = libdl_file_open(path, length, &options, &file);
  return contents(error, file);
}

// load_bytes(bytes)
static PyObject* load_bytes(PyObject* module, PyObject* bytes) {
  (void)module;
  char* data;
  Py_ssize_t length;
  if (PyBytes_AsStringAndSize(bytes, &data, &length)) return NULL;
  Py_INCREF(bytes);
  libdl_file* file;
  libdl_error* const error =
      libdl_file_open_memory(data, length, NULL, bytes, forget_object, &file);
  return contents(error, file);
}

static PyMethodDef functions[] = {
    {"save_file", save_file, METH_VARARGS, NULL},
    {"save_bytes", save_bytes, METH_VARARGS, NULL},
    {"load_file", load_file, METH_VARARGS, NULL},
    {"load_bytes", load_bytes, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

int add_files(PyObject* module) { return PyModule_AddFunctions(module, functions); }
