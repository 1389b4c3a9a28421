// SPDX-License-Identifier: Apache-2.0

// The backward pass, and Python's code inside it: hooks, custom functions, saved values. Callbacks
// take the GIL; what they raise travels through the pass and comes out as itself.
#include "objects.h"

static libdl_tensor* kept(PyObject* tensor) { return libdl_tensor_retain(handle_of(tensor)); }

// -- passes ---------------------------------------------------------------------------------------

static int options_of(PyObject* const* flags, int count, libdl_backward_options* options) {
  *options = (libdl_backward_options){.struct_size = sizeof *options};
  libdl_bool* const targets[] = {&options->retain_graph, &options->create_graph,
                                 &options->allow_unused, &options->materialize, &options->batched};
  for (int i = 0; i < count; ++i) {
    const int flag = PyObject_IsTrue(flags[i]);
    if (flag < 0) return -1;
    *targets[i] = flag;
  }
  return 0;
}

static int tensors(PyObject* object, const char* function, const char* name, bool nullable,
                   Operands* list) {
  const int result = operands(object, nullable, list);
  if (result > 0)
    PyErr_Format(PyExc_TypeError, "%s: %s must be a sequence of tensors, found %R", function, name,
                 object);
  return result ? -1 : 0;
}

#define BORROWED_ALL(handles) ((const libdl_tensor* const*)(handles))
#define BORROWED(list) BORROWED_ALL((list).items)

// backward(outputs, gradients, inputs, retain, create, allow_unused, materialize)
static PyObject* backward(PyObject* module, PyObject* const* args, Py_ssize_t count) {
  (void)module;
  if (count != 7) return PyErr_Format(PyExc_TypeError, "backward: wanted 7 arguments");
  Operands outputs = {0}, gradients = {0}, inputs = {0};
  libdl_backward_options options;
  PyObject* answer = NULL;
  if (options_of(args + 3, 4, &options) == 0 &&
      tensors(args[0], "backward", "tensors", false, &outputs) == 0 &&
      tensors(args[1], "backward", "grad_tensors", true, &gradients) == 0 &&
      tensors(args[2], "backward", "inputs", false, &inputs) == 0) {
    PyThreadState* const thread = leave_python();
    libdl_error* const error =
        libdl_backward(BORROWED(outputs), outputs.count, BORROWED(gradients), gradients.count,
                       BORROWED(inputs), inputs.count, &options);
    enter_python(thread);
    if (error) {
      raise_error(error);
    } else if (!pending_warning || !raise_warning()) {
      answer = Py_None;
      Py_INCREF(answer);
    }
  }
  free_operands(&outputs);
  free_operands(&gradients);
  free_operands(&inputs);
  pending_work = 0;
  return answer;
}

// grad(outputs, inputs, gradients, retain, create, allow_unused, materialize, batched=False): a
// tuple
static PyObject* grad(PyObject* module, PyObject* const* args, Py_ssize_t count) {
  (void)module;
  if (count != 7 && count != 8)
    return PyErr_Format(PyExc_TypeError, "grad: wanted 7 or 8 arguments");
  Operands outputs = {0}, gradients = {0}, inputs = {0};
  libdl_backward_options options;
  PyObject* answer = NULL;
  if (options_of(args + 3, (int)count - 3, &options) == 0 &&
      tensors(args[0], "grad", "outputs", false, &outputs) == 0 &&
      tensors(args[1], "grad", "inputs", false, &inputs) == 0 &&
      tensors(args[2], "grad", "grad_outputs", true, &gradients) == 0) {
    libdl_tensor_list* list;
    PyThreadState* const thread = leave_python();
    libdl_error* const error =
        libdl_grad(BORROWED(outputs), outputs.count, BORROWED(inputs), inputs.count,
                   BORROWED(gradients), gradients.count, &options, &list);
    enter_python(thread);
    answer = error ? raise_error(error) : wrap_list(list);
  }
  free_operands(&outputs);
  free_operands(&gradients);
  free_operands(&inputs);
  pending_work = 0;
  return answer;
}

// history_beyond(outputs, leaves)
static PyObject* history_beyond(PyObject* module, PyObject* const* args, Py_ssize_t count) {
  (void)module;
  if (count != 2) return PyErr_Format(PyExc_TypeError, "history_beyond: wanted 2 arguments");
  Operands outputs = {0}, leaves = {0};
  PyObject* answer = NULL;
  if (tensors(args[0], "history_beyond", "outputs", false, &outputs) == 0 &&
      tensors(args[1], "history_beyond", "leaves", false, &leaves) == 0)
    answer = PyBool_FromLong(
        libdl_history_beyond(BORROWED(outputs), outputs.count, BORROWED(leaves), leaves.count));
  free_operands(&outputs);
  free_operands(&leaves);
  pending_work = 0;
  return answer;
}

// -- hooks ----------------------------------------------------------------------------------------

static int replace(libdl_tensor** slot, PyObject* answer, const char* what) {
  if (answer == Py_None) return 0;
  if (!is_tensor(answer)) {
    PyErr_Format(PyExc_TypeError, "%s must return a tensor or None, found %R", what,
                 (PyObject*)Py_TYPE(answer));
    return -1;
  }
  libdl_tensor* const before = *slot;
  *slot = kept(answer);
  libdl_tensor_release(before);
  return 0;
}

static int replace_all(libdl_tensor** gradients, int64_t count, PyObject* answer) {
  if (answer == Py_None) return 0;
  if (is_tensor(answer) && count == 1) return replace(gradients, answer, "a hook");
  if (!PyTuple_Check(answer) || PyTuple_Size(answer) != count) {
    PyErr_Format(PyExc_TypeError, "a node's hook must return None or a tuple of %lld tensors",
                 (long long)count);
    return -1;
  }
  for (int64_t i = 0; i < count; ++i)
    if (replace(&gradients[i], PyTuple_GetItem(answer, (Py_ssize_t)i), "a hook's tuple")) return -1;
  return 0;
}

// Hooks of a tensor: hook(gradient), the answer may replace it.
static libdl_error* run_tensor_hook(void* ctx, libdl_tensor** gradients, int64_t count,
                                    libdl_tensor* const* incoming, int64_t incoming_count) {
  (void)incoming, (void)incoming_count;
  if (count < 1 || !gradients[0]) return NULL;
  const Callback callback = begin_callback();
  PyObject* const gradient = wrap(libdl_tensor_retain(gradients[0]));
  PyObject* const answer =
      gradient ? PyObject_CallFunctionObjArgs((PyObject*)ctx, gradient, NULL) : NULL;
  Py_XDECREF(gradient);
  const bool failed = !answer || replace(gradients, answer, "a tensor's hook");
  Py_XDECREF(answer);
  libdl_error* const error = failed ? take_exception() : NULL;
  end_callback(callback);
  return error;
}

// Hooks of a leaf after accumulation: hook(leaf), the answer is not used.
static libdl_error* run_leaf_hook(void* ctx, libdl_tensor** gradients, int64_t count,
                                  libdl_tensor* const* incoming, int64_t incoming_count) {
  (void)incoming, (void)incoming_count;
  if (count < 1 || !gradients[0]) return NULL;
  const Callback callback = begin_callback();
  PyObject* const leaf = wrap(libdl_tensor_retain(gradients[0]));
  PyObject* const answer = leaf ? PyObject_CallFunctionObjArgs((PyObject*)ctx, leaf, NULL) : NULL;
  Py_XDECREF(leaf);
  libdl_error* const error = answer ? NULL : take_exception();
  Py_XDECREF(answer);
  end_callback(callback);
  return error;
}

static libdl_error* run_node_hook(PyObject* hook, libdl_tensor** gradients, int64_t count,
                                  libdl_tensor* const* incoming, int64_t incoming_count,
                                  bool with_incoming) {
  const Callback callback = begin_callback();
  PyObject* const first = tensors_object(BORROWED_ALL(gradients), count);
  PyObject* const second =
      with_incoming ? tensors_object(BORROWED_ALL(incoming), incoming_count) : NULL;
  PyObject* const answer = first && (second || !with_incoming)
                               ? PyObject_CallFunctionObjArgs(hook, first, second, NULL)
                               : NULL;
  Py_XDECREF(first);
  Py_XDECREF(second);
  const bool failed = !answer || replace_all(gradients, count, answer);
  Py_XDECREF(answer);
  libdl_error* const error = failed ? take_exception() : NULL;
  end_callback(callback);
  return error;
}

static libdl_error* run_pre_hook(void* ctx, libdl_tensor** gradients, int64_t count,
                                 libdl_tensor* const* incoming, int64_t incoming_count) {
  return run_node_hook(ctx, gradients, count, incoming, incoming_count, false);
}

static libdl_error* run_post_hook(void* ctx, libdl_tensor** gradients, int64_t count,
                                  libdl_tensor* const* incoming, int64_t incoming_count) {
  return run_node_hook(ctx, gradients, count, incoming, incoming_count, true);
}

static PyObject* hook_object(libdl_error* error, libdl_hook* hook) {
  if (error) return raise_error(error);
  return capsule(hook, "libdl_hook", (void (*)(void*))libdl_hook_release);
}

static const libdl_gradient_hook runners[] = {
    [LIBDL_HOOK_TENSOR] = run_tensor_hook,
    [LIBDL_HOOK_NODE_PRE] = run_pre_hook,
    [LIBDL_HOOK_NODE_POST] = run_post_hook,
    [LIBDL_HOOK_ACCUMULATED] = run_leaf_hook,
};

// add_hook(tensor or node capsule, kind, callable): a capsule for remove_hook
static PyObject* add_hook(PyObject* module, PyObject* args) {
  (void)module;
  PyObject *owner, *callable;
  int kind;
  if (!PyArg_ParseTuple(args, "OiO", &owner, &kind, &callable)) return NULL;
  if (kind < 0 || kind > LIBDL_HOOK_ACCUMULATED || !PyCallable_Check(callable))
    return PyErr_Format(PyExc_TypeError, "a hook must be callable, found %R", callable);
  libdl_hook* hook = NULL;
  libdl_error* error;
  Py_INCREF(callable);
  if (is_tensor(owner)) {
    track(owner);
    error = libdl_tensor_add_hook(handle_of(owner), kind, runners[kind], callable, forget_object,
                                  &hook);
  } else {
    libdl_node* const node = PyCapsule_GetPointer(owner, "libdl_node");
    if (!node) {
      Py_DECREF(callable);
      return NULL;
    }
    error = libdl_node_add_hook(node, kind, runners[kind], callable, forget_object, &hook);
  }
  return hook_object(error, hook);
}

static PyObject* remove_hook(PyObject* module, PyObject* object) {
  (void)module;
  libdl_hook* const hook = PyCapsule_GetPointer(object, "libdl_hook");
  if (!hook) return NULL;
  libdl_hook_remove(hook);
  Py_RETURN_NONE;
}

// -- nodes ----------------------------------------------------------------------------------------

static libdl_node* node_of(PyObject* object) { return PyCapsule_GetPointer(object, "libdl_node"); }

static PyObject* node_name(PyObject* module, PyObject* object) {
  (void)module;
  libdl_node* const node = node_of(object);
  return node ? PyUnicode_FromString(libdl_node_name(node)) : NULL;
}

static PyObject* node_site(PyObject* module, PyObject* object) {
  (void)module;
  libdl_node* const node = node_of(object);
  return node ? PyUnicode_FromString(libdl_node_site(node)) : NULL;
}

static PyObject* node_leaf(PyObject* module, PyObject* object) {
  (void)module;
  libdl_node* const node = node_of(object);
  return node ? wrap_optional(libdl_node_leaf(node)) : NULL;
}

// node_function(node): the callable that record_function was given, or None for another's node
static PyObject* node_function(PyObject* module, PyObject* object) {
  (void)module;
  libdl_node* const node = node_of(object);
  if (!node) return NULL;
  PyObject* const ctx = libdl_node_function(node, forget_object);
  if (!ctx) Py_RETURN_NONE;
  PyObject* const callable = PyTuple_GetItem(ctx, 0);
  Py_XINCREF(callable);
  return callable;
}

static PyObject* node_saved(PyObject* module, PyObject* args) {
  (void)module;
  PyObject* object;
  int index;
  if (!PyArg_ParseTuple(args, "Oi", &object, &index)) return NULL;
  libdl_node* const node = node_of(object);
  if (!node) return NULL;
  libdl_tensor* out;
  libdl_error* const error = libdl_node_saved(node, index, &out);
  return error ? raise_error(error) : wrap_optional(out);
}

static PyObject* node_address(PyObject* module, PyObject* object) {
  (void)module;
  libdl_node* const node = node_of(object);
  return node ? PyLong_FromVoidPtr(node) : NULL;
}

static PyObject* node_inputs(PyObject* module, PyObject* object) {
  (void)module;
  libdl_node* const node = node_of(object);
  if (!node) return NULL;
  const int32_t count = libdl_node_input_count(node);
  PyObject* inputs = PyTuple_New(count);
  for (int32_t i = 0; inputs && i < count; ++i) {
    int32_t slot = 0;
    PyObject* const source = node_object(libdl_node_input(node, i, &slot));
    PyObject* const pair = source ? Py_BuildValue("(Ni)", source, (int)slot) : NULL;
    if (!pair || PyTuple_SetItem(inputs, i, pair)) Py_CLEAR(inputs);
  }
  return inputs;
}

// gradient_edge(tensor): the node that gradients of a leaf or result arrive at
static PyObject* gradient_edge(PyObject* module, PyObject* tensor) {
  (void)module;
  if (!is_tensor(tensor)) return PyErr_Format(PyExc_TypeError, "gradient_edge: no tensor");
  int32_t slot = 0;
  PyObject* const node = node_object(libdl_tensor_node(handle_of(tensor), &slot));
  return node ? Py_BuildValue("(Ni)", node, (int)slot) : NULL;
}

// -- saved values ---------------------------------------------------------------------------------

static libdl_error* pack(void* ctx, const libdl_tensor* value, void** packed) {
  const Callback callback = begin_callback();
  libdl_tensor* alias = NULL;
  libdl_error* error = libdl_detach(value, &alias);
  if (!error) {
    PyObject* const tensor = wrap(alias);
    *packed = tensor ? PyObject_CallFunctionObjArgs(PyTuple_GetItem(ctx, 0), tensor, NULL) : NULL;
    Py_XDECREF(tensor);
    if (!*packed) error = take_exception();
  }
  end_callback(callback);
  return error;
}

static libdl_error* unpack(void* ctx, void* packed, libdl_tensor** value) {
  const Callback callback = begin_callback();
  PyObject* const tensor = PyObject_CallFunctionObjArgs(PyTuple_GetItem(ctx, 1), packed, NULL);
  libdl_error* error = NULL;
  if (tensor && is_tensor(tensor)) {
    *value = kept(tensor);
  } else {
    if (tensor)
      PyErr_Format(PyExc_TypeError, "saved_tensors_hooks: unpack must return a tensor, found %R",
                   (PyObject*)Py_TYPE(tensor));
    error = take_exception();
  }
  Py_XDECREF(tensor);
  end_callback(callback);
  return error;
}

static void forget_packed(void* ctx, void* packed) {
  (void)ctx;
  forget_object(packed);
}

static PyObject* push_saved_hooks(PyObject* module, PyObject* args) {
  (void)module;
  PyObject *packer, *unpacker;
  if (!PyArg_ParseTuple(args, "OO", &packer, &unpacker)) return NULL;
  PyObject* const pair = PyTuple_Pack(2, packer, unpacker);
  if (!pair) return NULL;
  const libdl_saved_hooks hooks = {sizeof hooks, pair, pack, unpack, forget_packed, forget_object};
  libdl_error* const error = libdl_saved_hooks_push(&hooks);
  if (error) return raise_error(error);
  Py_RETURN_NONE;
}

static PyObject* pop_saved_hooks(PyObject* module, PyObject* unused) {
  (void)module, (void)unused;
  libdl_error* const error = libdl_saved_hooks_pop();
  if (error) return raise_error(error);
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"backward", (PyCFunction)(void (*)(void))backward, METH_FASTCALL, NULL},
    {"grad", (PyCFunction)(void (*)(void))grad, METH_FASTCALL, NULL},
    {"history_beyond", (PyCFunction)(void (*)(void))history_beyond, METH_FASTCALL, NULL},
    {"add_hook", add_hook, METH_VARARGS, "add_hook(tensor or node, kind, callable)"},
    {"remove_hook", remove_hook, METH_O, NULL},
    {"node_name", node_name, METH_O, NULL},
    {"node_site", node_site, METH_O, NULL},
    {"node_leaf", node_leaf, METH_O, NULL},
    {"node_function", node_function, METH_O, NULL},
    {"node_saved", node_saved, METH_VARARGS, NULL},
    {"node_address", node_address, METH_O, NULL},
    {"node_inputs", node_inputs, METH_O, NULL},
    {"gradient_edge", gradient_edge, METH_O, NULL},
    {"push_saved_hooks", push_saved_hooks, METH_VARARGS, NULL},
    {"pop_saved_hooks", pop_saved_hooks, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

int add_gradients(PyObject* module) { return PyModule_AddFunctions(module, functions); }
