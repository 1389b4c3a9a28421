// SPDX-License-Identifier: Apache-2.0

// libdl.Tensor as a C type, and what the generated functions share: operands in, results out,
// errors to exceptions. Everything here wants the GIL.
#ifndef LIBDL_PYTHON_OBJECTS_H
#define LIBDL_PYTHON_OBJECTS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <libdl/autograd.h>
#include <libdl/libdl.h>
#include <libdl/tensor.h>
#include <stdbool.h>
#include <string.h>

typedef struct TensorObject {
  PyObject_HEAD libdl_tensor* handle;  // owned
  PyObject* attributes;                // __dict__, made when first needed
  PyObject* weak_references;
} TensorObject;

// -- objects.c: what Python registers here once, and the names that are looked up often ---------

#define LIBDL_PYTHON_REGISTERED(X)                                                     \
  X(parameter)         /* nn.Parameter: a subclass that never overrides */             \
  X(size)              /* Size, a tuple */                                             \
  X(dtype)             /* the class of dtypes */                                       \
  X(device)            /* the class of devices */                                      \
  X(generator)         /* the class of generators */                                   \
  X(node)              /* the class of graph nodes */                                  \
  X(to_tensor)         /* as_tensor(data, dtype, device), for sequences as operands */ \
  X(override)          /* override(function, arguments): __torch_function__ */         \
  X(dispatch)          /* dispatch(function, args, kwargs) of a call that is seen */   \
  X(batch)             /* the same of a call that an open vmap alone sees */           \
  X(rename_error)      /* rename_error(error, name, operator, arguments) */            \
  X(format)            /* repr of a tensor */                                          \
  X(view)              /* Tensor.view with a dtype or keywords */                      \
  X(contiguous)        /* Tensor.contiguous of what is not */                          \
  X(size_of)           /* Tensor.size of other than one dimension */                   \
  X(error)             /* the exception for codes without one of their own */          \
  X(disabled_override) /* the __torch_function__ that means none */                    \
  X(warn)              /* warn(code, message) */                                       \
  X(message_for_slot)  /* message_for_slot(error, operator): as the caller wrote it */ \
  X(beside_array)      /* beside_array(operator, a, b), one of them a NumPy array */

typedef struct Registered {
#define LIBDL_PYTHON_MEMBER(name) PyObject* name;
  LIBDL_PYTHON_REGISTERED(LIBDL_PYTHON_MEMBER)
#undef LIBDL_PYTHON_MEMBER
  PyObject* dtypes[32];  // by code
  PyObject* cpu;         // device("cpu")
} Registered;

extern Registered registered;
extern PyObject* overridden_exception;  // raised by operand(): an argument overrides the operator

int add_objects(PyObject* module);  // 0, or -1 with an exception

// -- tensor_object.c ----------------------------------------------------------------------------

extern PyTypeObject* tensor_type;

// From now on the collector looks at the tensor: Python's objects may hang on its handle.
void track(PyObject* tensor);
void track_attributes(PyObject* tensor);  // where it has any
PyObject* tensor_get_dict(PyObject* self, void* closure);

PyObject* living_object(libdl_tensor* handle);  // new; NULL without an exception: there is none
PyObject* wrap_as(libdl_tensor* handle, PyTypeObject* type);  // takes the handle over
void set_object(libdl_tensor* handle, void* object);

// The Python object of a handle, whose reference is taken over; NULL raises.
PyObject* wrap(libdl_tensor* handle);
// The same for an optional one: NULL becomes None.
PyObject* wrap_optional(libdl_tensor* handle);
PyObject* wrap_list(libdl_tensor_list* list);
// A tuple of tensors that others own; NULL becomes None.
PyObject* tensors_object(const libdl_tensor* const* items, int64_t count);

static inline bool is_tensor(PyObject* object) {
  PyTypeObject* const type = Py_TYPE(object);
  return type == tensor_type || (PyObject*)type == registered.parameter ||
         PyType_IsSubtype(type, tensor_type);
}

static inline libdl_tensor* handle_of(PyObject* object) { return ((TensorObject*)object)->handle; }

// -- gil.c ---------------------------------------------------------------------------------------

// Around a call that works for long or calls back. NULL: the call keeps the GIL.
PyThreadState* leave_python(void);
void enter_python(PyThreadState* thread);
// Around a call that may wait for the device of x; NULL on the CPU.
PyThreadState* leave_python_for(const libdl_tensor* x);
// Returns when no other thread works without the GIL, which the caller has again: nobody begins
// such work before the caller gives it up.
void await_work(void);

// Around Python code that a pass through the graph calls, which reads no tensor's memory meanwhile.
typedef struct Callback {
  PyGILState_STATE gil;
  bool away;
} Callback;
Callback begin_callback(void);
void end_callback(Callback callback);
int add_gil(void);

// -- operands.c: Python's values as C arguments. 0: done, 1: another type, -1: raised -----------

int overrides(PyObject* object);          // whether its class takes over operators
extern PyTypeObject* stand_in_type;       // the class of stand-ins, once there is one
bool refused_stand_in(PyObject* object);  // raises Overridden for one of that class
// 1: classes of programs do not override on this thread; 2: nor do stand-ins, which have no
// elements
extern _Thread_local int overriding_disabled;

// A tensor (borrowed), or a number, of which *own is the new handle that the caller releases.
int operand(PyObject* object, libdl_tensor** handle, libdl_tensor** own);

typedef struct Operands {
  libdl_tensor** items;
  libdl_tensor** own;
  int64_t count;
  PyObject* kept;  // a tuple that holds the tensors, whatever becomes of the sequence
  libdl_tensor* inline_items[16];
} Operands;
int operands(PyObject* sequence, bool nullable, Operands* list);
void free_operands(Operands* list);

typedef struct Integers {
  int64_t* items;
  int32_t count;
  int64_t inline_items[8];
} Integers;
// A sequence of integers, or one integer. `what` names the argument in the exception.
int integers(PyObject* object, Integers* list);
void free_integers(Integers* list);

int integer(PyObject* object, int64_t* value);
int number(PyObject* object, double* value);
int dtype_code(PyObject* object, libdl_dtype* code);  // None: LIBDL_DTYPE_NONE
int device_of(PyObject* object, libdl_device* device);
int generator_of(PyObject* object, libdl_generator** generator);

PyObject* dtype_object(libdl_dtype code);      // borrowed
PyObject* device_object(libdl_device device);  // new
PyObject* node_object(libdl_node* node);       // takes it over; NULL: None
PyObject* capsule(void* handle, const char* kind, void (*release)(void*));  // new
PyObject* shape_object(const int64_t* shape, int32_t ndim);                 // new Size
PyObject* integers_object(const int64_t* items, int32_t count);             // new tuple

// Elements that the call about to be made works on; decides whether the GIL is released.
extern int64_t pending_work;
enum { LIBDL_PYTHON_LONG_WORK = 1 << 15 };

// The context of a callback that is a Python object: gives it up, under the GIL.
void forget_object(void* ctx);

// -- errors.c -----------------------------------------------------------------------------------

// Turns the error into the exception it stands for; takes it over. Returns NULL.
PyObject* raise_error(libdl_error* error);
// The same for an operator that Python wrote with signs: "add" for x += y, "x[...]".
PyObject* raise_error_of(libdl_error* error, const char* written);
// Argument `number` of the function has a wrong type. Returns NULL.
PyObject* raise_type_error(const char* function, int number, const char* name, PyObject* found,
                           const char* wanted);
// Makes an error out of the exception that is set, which travels in it.
libdl_error* take_exception(void);
int add_errors(PyObject* module);

// -- pending.c: exceptions that Python raised while an operator was at work ----------------------

libdl_error* intercept_calls(void);  // from now on

// Sets the exception of a signal's handler.
bool restore_interruption(void);
// Sets the exception into which a filter turned a warning, once the operator has ended.
extern PyObject* pending_warning;
bool raise_warning(void);

// -- overridable.c: who sees a call --------------------------------------------------------------

// What of this thread's calls is seen, whatever their arguments: all of them by a mode, those that
// may draw random numbers by an open vmap.
extern _Thread_local int intercepting;
enum { kInterceptCalls = 1, kInterceptDraws = 2 };

// What modes and classes make of function(self, *args, **keywords); self NULL: none.
PyObject* dispatched(PyObject* function, PyObject* self, PyObject* const* args, Py_ssize_t count,
                     PyObject* names);
// The same of Tensor's own method, and of its operator, which stands for a method. b and c may be
// NULL.
PyObject* seen_method(const char* name, PyObject* self, PyObject* const* args, Py_ssize_t count,
                      PyObject* names);
PyObject* seen_call(const char* name, PyObject* self, PyObject* args, PyObject* keywords);
PyObject* seen_operator(const char* name, PyObject* a, PyObject* b, PyObject* c);
// The same of __get__ or __set__ of an attribute, which is borrowed; value NULL: of __get__.
PyObject* seen_attribute(PyObject* attribute, const char* access, PyObject* self, PyObject* value);
int add_overridable(PyObject* module);

// Whether a mode or its class is to see what is done with the tensor.
static inline bool is_seen(PyObject* tensor) {
  PyTypeObject* const type = Py_TYPE(tensor);
  if (intercepting & kInterceptCalls) return true;
  return type != tensor_type && (PyObject*)type != registered.parameter && overrides(tensor);
}

// A method without arguments, with the question in front: NAME_seen, called `written` in Python.
#define LIBDL_PYTHON_SEEN(name, written, function)                       \
  static PyObject* name##_seen(PyObject* self, PyObject* unused) {       \
    if (is_seen(self)) return seen_method(written, self, NULL, 0, NULL); \
    return function(self, unused);                                       \
  }
// The same of a method with arguments.
#define LIBDL_PYTHON_SEEN_CALL(name)                                                    \
  static PyObject* name##_seen(PyObject* self, PyObject* const* args, Py_ssize_t count, \
                               PyObject* names) {                                       \
    if (is_seen(self)) return seen_method(#name, self, args, count, names);             \
    return name(self, args, count, names);                                              \
  }

// -- the slots ----------------------------------------------------------------------------------

extern PyType_Slot number_slots[];
extern int number_slot_count;
PyObject* tensor_compare(PyObject* a, PyObject* b, int operation);
PyObject* tensor_subscript(PyObject* self, PyObject* key);
int tensor_assign_subscript(PyObject* self, PyObject* key, PyObject* value);
Py_ssize_t tensor_length(PyObject* self);
// function(self, *args, **keywords) of a fast call; self NULL: none.
PyObject* call_with(PyObject* function, PyObject* self, PyObject* const* args, Py_ssize_t count,
                    PyObject* names);
PyGetSetDef* seen_attributes(void);  // Tensor's, each with the question in front
extern PyMethodDef metadata_methods[];
int add_attributes(PyObject* module);
PyObject* tensor_item(PyObject* self, PyObject* unused);
int tensor_get_buffer(PyObject* self, Py_buffer* view, int flags);
void tensor_release_buffer(PyObject* self, Py_buffer* view);
PyObject* tensor_numpy(PyObject* self, PyObject* args, PyObject* keywords);
PyObject* from_buffer(PyObject* module, PyObject* object);
PyObject* from_array(PyObject* object);
PyObject* from_numpy(PyObject* module, PyObject* object);
bool is_numpy_array(PyObject* object);  // exactly NumPy's class
PyObject* tensor_to_list(PyObject* self, PyObject* unused);
extern PyMethodDef exchange_methods[];

int add_tensor_type(PyObject* module);
int add_runtime(PyObject* module);
int add_exchange(PyObject* module);
int add_gradients(PyObject* module);
int add_functions(PyObject* module);
int add_sequences(PyObject* module);
int add_frequent(PyObject* module);
int add_generators(PyObject* module);
int add_steps(PyObject* module);
int add_operators(PyObject* module);        // tools/python_calls.py writes it
int add_optimizer_steps(PyObject* module);  // tools/steps.py writes it
int add_streams(PyObject* module);
int add_files(PyObject* module);
int add_interceptors(PyObject* module);
int add_profiler(PyObject* module);

#endif
