/* SPDX-License-Identifier: Apache-2.0 */

/** The operator table: listing operators, calling them by number, registering new ones, and
 *  intercepting calls.
 *
 *  Common to all operators
 *
 *  Errors. Besides the errors at its declaration, every operator may return NULL, KIND (an argument
 *  is another kind of handle), EMPTIED, DEVICE (tensors on different devices), OUT_OF_MEMORY,
 *  LIMIT, INTERRUPTED and VERSION. Errors count arguments from 1; a pointer and its count are one
 *  argument. A call that fails before it writes changes nothing. After an interrupted call the
 *  contents of its destination are undefined, and the destination's version is higher than before.
 *
 *  Into forms write to `dst` what the plain form would have returned. If dst is an operand (the
 *  same handle, or the same geometry and history), the call is in place and is recorded. Otherwise
 *  dst is an output buffer: the call fails with AUTOGRAD if recording is on and dst or an operand
 *  requires grad. dst must have the result's shape (SHAPE: it is never resized) and a dtype to
 *  which the result's can be cast (DTYPE), and be neither a host number (VALUE) nor read-only
 *  (READ_ONLY). Its elements must not share memory with one another, nor, in another order, with an
 *  operand's (OVERLAP). When a pointwise operator works in place, broadcasting must not enlarge dst
 *  (SHAPE).
 *
 *  Threads. "concurrent-read": inputs may be read by several threads at once. "exclusive": no other
 *  thread may use dst during the call.
 *
 *  Python lines in the comments show the operator's signature in Python. Parameters after the star
 *  are keyword-only. The brackets say where it is found: function (libdl.add), method (Tensor.add),
 *  inplace (Tensor.add_), functional (libdl.nn.functional), property, leaf (also takes
 *  requires_grad). Python may name the list dims dim, and shape size. Parameters that the line
 *  leaves out are passed as absent. */
#ifndef LIBDL_OP_H
#define LIBDL_OP_H

#include <libdl/abi.h>
#include <libdl/device.h>
#include <libdl/dtype.h>

/** An operator's number in this process: from 0 to libdl_op_count() - 1. Numbers differ between
 *  versions of the library; names do not. */
typedef int32_t libdl_op;

/** One of the LIBDL_VALUE_ constants: the type of an argument or result, and the member of
 *  libdl_value that holds it. */
typedef int32_t libdl_value_type;

enum {
  LIBDL_VALUE_NONE = 0,        /**< absent, for nullable arguments */
  LIBDL_VALUE_TENSOR = 1,      /**< tensor */
  LIBDL_VALUE_TENSORS = 2,     /**< tensors: an array */
  LIBDL_VALUE_BOOL = 3,        /**< boolean */
  LIBDL_VALUE_INT = 4,         /**< integer */
  LIBDL_VALUE_UINT = 5,        /**< unsigned_integer; results only */
  LIBDL_VALUE_FLOAT = 6,       /**< number */
  LIBDL_VALUE_INTS = 7,        /**< integers: an array */
  LIBDL_VALUE_STRING = 8,      /**< string */
  LIBDL_VALUE_DTYPE = 9,       /**< dtype */
  LIBDL_VALUE_DEVICE = 10,     /**< device */
  LIBDL_VALUE_GENERATOR = 11,  /**< generator */
  LIBDL_VALUE_TENSOR_LIST = 12 /**< list; results only */
};

/** An argument or result of any type. Arguments are borrowed; whoever receives a result owns its
 *  handle and must release it. */
typedef struct libdl_value {
  libdl_value_type type;
  int32_t reserved; /**< 0 */
  union {
    libdl_tensor *tensor;
    struct {
      const libdl_tensor *const *items;
      int64_t count;
    } tensors;
    libdl_bool boolean;
    int64_t integer;
    uint64_t unsigned_integer;
    double number;
    struct {
      const int64_t *items;
      int64_t count;
    } integers;
    struct {
      const char *text;
      int64_t length; /**< -1: text is NUL-terminated */
    } string;
    libdl_dtype dtype;
    libdl_device device;
    libdl_generator *generator;
    libdl_tensor_list *list;
  } held;
} libdl_value;

LIBDL_BEGIN

/** The number of operators, including registered ones; it never decreases. Threads: free. */
LIBDL_API int32_t libdl_op_count(void);

/** The operator's name ("add"), or NULL if op is not an operator. Threads: free. */
LIBDL_API LIBDL_BORROWED const char *libdl_op_name(libdl_op op);

/** Finds an operator by name.
 *
 *  name  name_length bytes, or NUL-terminated if name_length is -1
 *
 *  Errors: NULL, VALUE (no operator has that name).
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_op_find(const char *name, int64_t name_length,
                                                     libdl_op *out);

/** The operator's signature, in the syntax of libdl_op_register, or NULL if op is not an operator:
 *  "add(tensor input, tensor other, tensor? alpha=1) -> tensor out". Threads: free. */
LIBDL_API LIBDL_BORROWED const char *libdl_op_schema(libdl_op op);

/** The number of arguments, or -1 if op is not an operator. Threads: free. */
LIBDL_API int32_t libdl_op_argument_count(libdl_op op);

/** The name of a parameter, counted from 0, or NULL if there is none. Threads: free. */
LIBDL_API LIBDL_BORROWED const char *libdl_op_argument_name(libdl_op op, int32_t argument);

/** The parameter's type, or LIBDL_VALUE_NONE if there is none. Threads: free. */
LIBDL_API libdl_value_type libdl_op_argument_type(libdl_op op, int32_t argument);

/** Whether the parameter accepts LIBDL_VALUE_NONE or, if it is an array of tensors, NULL entries.
 *  Threads: free. */
LIBDL_API libdl_bool libdl_op_argument_is_nullable(libdl_op op, int32_t argument);

/** The default in Python syntax ("1", "None"), or "" if the argument is required.
 *  Threads: free. */
LIBDL_API LIBDL_BORROWED const char *libdl_op_argument_default(libdl_op op, int32_t argument);

/** The default as a value for libdl_op_call: NONE if the default is an absent argument; for a
 *  tensor a new host number, which the caller releases; a string is valid for the life of the
 *  process.
 *
 *  Errors: NULL, VALUE (no such operator or argument, or a required argument), OUT_OF_MEMORY.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_op_argument_get_default(libdl_op op, int32_t argument,
                                                                     LIBDL_NEW libdl_value *out);

/** The number of results, or -1 if op is not an operator. Threads: free. */
LIBDL_API int32_t libdl_op_result_count(libdl_op op);

/** The name of a result, counted from 0, or NULL if there is none. Threads: free. */
LIBDL_API LIBDL_BORROWED const char *libdl_op_result_name(libdl_op op, int32_t result);

/** The result's type, or LIBDL_VALUE_NONE if there is none. Threads: free. */
LIBDL_API libdl_value_type libdl_op_result_type(libdl_op op, int32_t result);

/** Whether results may have a history. Threads: free. */
LIBDL_API libdl_bool libdl_op_is_differentiable(libdl_op op);

/** Whether it has a plain form, which returns new results: all operators but those that only
 *  overwrite dst.
 *  Threads: free. */
LIBDL_API libdl_bool libdl_op_has_new(libdl_op op);

/** Whether it has an into form. Threads: free. */
LIBDL_API libdl_bool libdl_op_has_into(libdl_op op);

/** Calls an operator.
 *
 *  arguments       in the order of the parameters; NONE, or omitted at the end: the default
 *  argument_count  the number of arguments
 *  results         receives result_count new results; written on success only
 *  result_count    the operator's number of results
 *
 *  Errors: VALUE (no such operator, or one without a plain form; wrong number of arguments or
 *  results), TYPE (an argument of the wrong type), and the operator's own.
 *  Threads: concurrent-read. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_op_call(libdl_op op, const libdl_value *arguments,
                                                     int32_t argument_count,
                                                     LIBDL_NEW libdl_value *results,
                                                     int32_t result_count);

/** Calls an operator's into form.
 *
 *  arguments, argument_count  as in libdl_op_call
 *  dsts                       the destinations, one for each result
 *  dst_count                  their number
 *
 *  Errors: VALUE (no such operator, or one without an into form; wrong number of arguments or
 *  destinations), TYPE (an argument of the wrong type), and the operator's own.
 *  Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_op_call_into(libdl_op op, const libdl_value *arguments,
                                                          int32_t argument_count,
                                                          libdl_tensor *const *dsts,
                                                          int32_t dst_count);

/** A registered operator's kernel. It runs on the calling thread; the operators that it calls are
 *  not recorded.
 *
 *  ctx        as given to libdl_op_set_kernel
 *  arguments  all arguments, of the schema's types, borrowed; NONE where absent
 *  results    receives new tensors, which the caller takes over; ignored on failure */
typedef libdl_error *(*libdl_op_kernel)(void *ctx, const libdl_value *arguments,
                                        int32_t argument_count, libdl_tensor **results,
                                        int32_t result_count);

/** A registered operator's gradient: the vector-Jacobian product. `wanted` and `out` have one entry
 *  for each tensor among the arguments, in their order; each tensor of a list has its own entry,
 *  and absent tensors have one too.
 *
 *  ctx           as given to libdl_op_set_vjp
 *  arguments     as passed to the kernel
 *  results       the tensors that the kernel returned
 *  grads         the gradient of each result, NULL where none arrived
 *  wanted        whether each tensor's gradient is needed
 *  out           receives each tensor's gradient: a new tensor, or left NULL for zero; ignored on
 *                failure. To support second-order gradients, compute it with differentiable
 *                operators
 *  tensor_count  the number of entries in wanted and out */
typedef libdl_error *(*libdl_op_vjp)(void *ctx, const libdl_value *arguments,
                                     int32_t argument_count, const libdl_tensor *const *results,
                                     const libdl_tensor *const *grads, int32_t result_count,
                                     const libdl_bool *wanted, LIBDL_NEW libdl_tensor **out,
                                     int32_t tensor_count);

/** Registers an operator of the host, for the life of the process. It also has an into form; if it
 *  has a single result and dst is an operand, that call is in place and is recorded.
 *
 *  schema  schema_length bytes, or NUL-terminated if that is -1:
 *          "name(type parameter, type? optional=default, ...) -> type result, ..." where a type is
 *          tensor, tensors, bool, int, float, ints, string, dtype, device or generator, a result's
 *          is always tensor, and the operator's name has the form "area::name". A default is
 *          True or False, a number in its parameter's type, a string in quotes, or None if the
 *          type has a '?'; no two parameters, and no two results, have the same name
 *  out     the operator's number
 *
 *  Errors: NULL, VALUE (the schema is malformed, or the name is taken).
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_op_register(const char *schema, int64_t schema_length,
                                                         libdl_op *out);

/** Sets a registered operator's kernel for one type of device. A call uses the kernel for its first
 *  tensor's device, or for the CPU if it has no tensor. destroy runs once with ctx: now if this
 *  call fails, otherwise when the process ends, if at all.
 *
 *  device_type  a LIBDL_DEVICE_ constant
 *
 *  Errors: NULL (kernel), VALUE (not a registered operator, no such device type), STATE (it has one
 *  already).
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_op_set_kernel(libdl_op op, int32_t device_type,
                                                           libdl_op_kernel kernel, void *ctx,
                                                           void (*destroy)(void *ctx));

/** Sets a registered operator's gradient; without one, it fails with AUTOGRAD where a gradient is
 *  needed. destroy runs once with ctx: now if this call fails, otherwise when the process ends, if
 *  at all.
 *
 *  Errors: NULL (vjp), VALUE (not a registered operator), STATE (it has one already).
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_op_set_vjp(libdl_op op, libdl_op_vjp vjp, void *ctx,
                                                        void (*destroy)(void *ctx));

/** A registered operator's forward-mode rule: the Jacobian-vector product.
 *
 *  ctx           as given to libdl_op_set_jvp
 *  arguments     as passed to the kernel
 *  results       the tensors that the kernel returned
 *  tangents      of each tensor among the arguments, in the same order as the vjp's gradients; NULL
 *                where a tensor has none
 *  tensor_count  their number
 *  out           receives each result's tangent, of the result's shape, dtype and device: a new
 *                tensor, or left NULL for zero; ignored on failure. Compute it with operators, so
 *                that levels nest and it can be differentiated */
typedef libdl_error *(*libdl_op_jvp)(void *ctx, const libdl_value *arguments,
                                     int32_t argument_count, const libdl_tensor *const *results,
                                     int32_t result_count, const libdl_tensor *const *tangents,
                                     int32_t tensor_count, LIBDL_NEW libdl_tensor **out);

/** Sets a registered operator's forward-mode rule; without one, it fails with AUTOGRAD where one is
 *  needed. destroy runs once with ctx: now if this call fails, otherwise when the process ends, if
 *  at all.
 *
 *  Errors: NULL (jvp), VALUE (not a registered operator), STATE (it has one already).
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_op_set_jvp(libdl_op op, libdl_op_jvp jvp, void *ctx,
                                                        void (*destroy)(void *ctx));

/** Called before each of the host's operator calls is carried out; may carry out the call itself.
 *  While it runs, this interceptor and those pushed after it are off: operators that it calls go to
 *  the earlier ones.
 *
 *  ctx        as given to libdl_interceptor_push
 *  op         the operator
 *  arguments  all arguments, borrowed; only handles and types have been checked; NONE where absent
 *  dsts       NULL, or the destinations of an into form, one for each result
 *  results    receives the results; unused for an into form
 *  handled    set to 1 if the callback carried out the call: results are then new, or dsts are
 *             written */
typedef libdl_error *(*libdl_interceptor)(void *ctx, libdl_op op, const libdl_value *arguments,
                                          int32_t argument_count, libdl_tensor *const *dsts,
                                          libdl_value *results, int32_t result_count,
                                          libdl_bool *handled);

/** Pushes an interceptor onto the calling thread's state, ahead of all others. It sees the calls
 *  that the host makes, not those made inside operators, backward passes and optimizers. destroy
 *  runs once with ctx: when the interceptor is popped, when the state ends, or now if this call
 *  fails.
 *
 *  Errors: NULL (interceptor), OUT_OF_MEMORY.
 *  Threads: thread-local. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_interceptor_push(libdl_interceptor interceptor,
                                                              void *ctx,
                                                              void (*destroy)(void *ctx));

/** One of the LIBDL_PHASE_ constants: the part of a training step in which a call is made. */
typedef int32_t libdl_phase;
enum {
  LIBDL_PHASE_FORWARD = 0,
  LIBDL_PHASE_BACKWARD = 1,  /**< in a backward pass */
  LIBDL_PHASE_OPTIMIZER = 2, /**< an optimizer step, or gradient clipping */
  LIBDL_PHASE_HOOK = 3       /**< in a gradient hook */
};

/** Sets the phase that interceptors see for the host's own calls on this thread; a host whose
 *  optimizer is built from operators sets LIBDL_PHASE_OPTIMIZER around its steps. Inside the
 *  library's backward passes, hooks and optimizer steps, their own phase applies. Returns the
 *  former phase; any number is accepted.
 *  Threads: thread-local. */
LIBDL_API libdl_phase libdl_set_phase(libdl_phase phase);

/** A call as an interceptor sees it. Everything in it is borrowed, and valid only during the
 *  callback. */
typedef struct libdl_call {
  uint32_t struct_size;
  libdl_op op;      /**< -1: part of an operator, a gradient or an optimizer step, which has a name
                         but no number, and lists what it reads but not all its arguments */
  const char *name; /**< the operator's, or the part's ("softmax_backward", "adam") */
  libdl_phase phase;
  int32_t depth; /**< how many calls enclose it: 0 for calls of the host and of backward passes */
  LIBDL_NULLABLE const char *source; /**< what it is called for: the outermost call around it or, in
                                          a backward pass, the operator whose gradient it
                                          computes */
  const libdl_value *arguments;      /**< all arguments if it is an operator; NONE where absent */
  int32_t argument_count;
  int32_t result_count;
  LIBDL_NULLABLE libdl_tensor *const *dsts; /**< the destinations of an into form, result_count of
                                                 them */
  LIBDL_NULLABLE libdl_value *results;      /**< before: receives the results if the callback
                                                 carries out the call; after: the results, NONE
                                                 where there is none. NULL for an into form */
  libdl_bool failed;                        /**< after: the call failed, and there are no results */
  int32_t reserved;                         /**< 0 */
} libdl_call;

/** Bits of libdl_interceptor_options.wanted. */
enum {
  LIBDL_INTERCEPT_PARTS = 1 /**< also calls inside operators, backward passes and optimizer steps,
                                 so that all work is seen */
};

/** Options of an interceptor; zero is the default of each. Set struct_size to sizeof(the struct).
 *
 *  before  called before a call is carried out; sets handled to 1 if it carried out the call
 *          itself: results are then new, all of them, or dsts are written. The host's own calls
 *          may be answered with any tensors. Inside operators and backward passes the library goes
 *          on with the answer, which must have the dtype, shape, strides and device of its own
 *          result, else the error is TYPE; it computes its own result to compare them. The parts
 *          of operators composed of others are answered as the host's own calls are. NULL: none
 *  after   called afterwards, unless `before` or an interceptor pushed later carried out the call.
 *          An error that it returns becomes the error of the call. NULL: none */
typedef struct libdl_interceptor_options {
  uint32_t struct_size;
  uint32_t wanted; /**< LIBDL_INTERCEPT_ bits; 0: only the host's own operator calls */
  void *ctx;
  void (*destroy)(void *ctx);
  libdl_error *(*before)(void *ctx, const libdl_call *call, libdl_bool *handled);
  libdl_error *(*after)(void *ctx, const libdl_call *call);
} libdl_interceptor_options;

/** Sets struct_size, and all else to 0, the default. NULL is ignored. Threads: free. */
LIBDL_API void libdl_interceptor_options_init(libdl_interceptor_options *options);

/** As libdl_interceptor_push, with options. destroy runs exactly once with ctx, also if this call
 *  fails.
 *
 *  Errors: NULL (neither before nor after), VALUE (unknown bits), OPTION, OUT_OF_MEMORY.
 *  Threads: thread-local. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_interceptor_push_options(
    const libdl_interceptor_options *options);

/** Removes the interceptor that was pushed last.
 *
 *  Errors: STATE (there is none, or it is running).
 *  Threads: thread-local. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_interceptor_pop(void);

LIBDL_END

#endif
