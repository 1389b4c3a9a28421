/* SPDX-License-Identifier: Apache-2.0 */

/** Operators as data: what there is, a call by name, operators of the host's own, interceptors.
 *
 *  What all operators have in common
 *
 *  Errors. Besides those at its declaration every operator may return NULL and KIND (an argument
 *  that is no handle of its kind), EMPTIED, DEVICE (tensors on different devices), OUT_OF_MEMORY,
 *  LIMIT, INTERRUPTED and VERSION. Arguments are counted from 1; a pointer and its count are one
 *  argument. A call that fails before it writes changes nothing. What an interrupted call was to
 *  write is undefined, and its version rises.
 *
 *  Into forms write into `dst` what the plain form would have returned. If dst is an operand (the
 *  same handle, or the same geometry and history), the call is in place and recorded. Otherwise it
 *  is an output buffer: AUTOGRAD if, while recording, dst or an operand requires grad. dst has the
 *  result's shape (SHAPE: it is never resized), a dtype to which the result's can be cast (DTYPE)
 *  and is neither a number nor read-only (READ_ONLY); elements that share memory with one another
 *  or in another order with an operand's are OVERLAP. An into form of a pointwise operator takes a
 *  dst that broadcasting would not enlarge.
 *
 *  Threads. "concurrent-read": inputs may be read by several threads at once. "exclusive": nobody
 *  else may use dst during the call.
 *
 *  Python lines of the comments say how the operator is called there: parameters by their names,
 *  those behind the star by name only, and in brackets where it is found: function (libdl.add),
 *  method (Tensor.add), inplace (Tensor.add_), functional (libdl.nn.functional), property, leaf
 *  (also takes requires_grad). A list named dims may be called dim there, and shape size.
 *  Parameters that the line leaves out are absent. */
#ifndef LIBDL_OP_H
#define LIBDL_OP_H

#include <libdl/abi.h>
#include <libdl/device.h>
#include <libdl/dtype.h>

/** An operator's number in this process: from 0 to libdl_op_count() - 1. Numbers differ between
 *  versions of the library; names stay. */
typedef int32_t libdl_op;

/** One of the LIBDL_VALUE_ constants: the type of an argument or result, and the member of
 *  libdl_value that holds it. */
typedef int32_t libdl_value_type;

enum {
  LIBDL_VALUE_NONE = 0,        /**< absent, for what is nullable */
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

/** An argument or result of any type. Arguments are borrowed; a result's handle is the receiver's,
 *  who releases it. */
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

/** How many operators there are, registered ones included; it only grows. Threads: free. */
LIBDL_API int32_t libdl_op_count(void);

/** The operator's name ("add"), or NULL for a number that is none. Threads: free. */
LIBDL_API LIBDL_BORROWED const char *libdl_op_name(libdl_op op);

/** The operator of that name.
 *
 *  name  name_length bytes, or NUL-terminated if name_length is -1
 *
 *  Errors: NULL, VALUE (there is none of that name).
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_op_find(const char *name, int64_t name_length,
                                                     libdl_op *out);

/** The operator's signature, as libdl_op_register reads it, or NULL for a number that is none:
 *  "add(tensor input, tensor other, tensor? alpha=1) -> tensor out". Threads: free. */
LIBDL_API LIBDL_BORROWED const char *libdl_op_schema(libdl_op op);

/** How many arguments it takes, or -1 for a number that is no operator. Threads: free. */
LIBDL_API int32_t libdl_op_argument_count(libdl_op op);

/** The parameter's name, counted from 0, or NULL if there is none. Threads: free. */
LIBDL_API LIBDL_BORROWED const char *libdl_op_argument_name(libdl_op op, int32_t argument);

/** The parameter's type, or LIBDL_VALUE_NONE if there is none. Threads: free. */
LIBDL_API libdl_value_type libdl_op_argument_type(libdl_op op, int32_t argument);

/** Whether LIBDL_VALUE_NONE may be given for it. Of an array of tensors: whether its entries may be
 *  NULL. Threads: free. */
LIBDL_API libdl_bool libdl_op_argument_is_nullable(libdl_op op, int32_t argument);

/** The default, as Python would write it ("1", "None"), or "" if it must be given.
 *  Threads: free. */
LIBDL_API LIBDL_BORROWED const char *libdl_op_argument_default(libdl_op op, int32_t argument);

/** The default as a value that libdl_op_call takes: NONE where leaving it out means just that; for
 *  a tensor a new host number, which the receiver releases; text is borrowed for the life of the
 *  process.
 *
 *  Errors: NULL, VALUE (no such operator or argument, or one that must be given), OUT_OF_MEMORY.
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_op_argument_get_default(libdl_op op, int32_t argument,
                                                                     LIBDL_NEW libdl_value *out);

/** How many results it gives, or -1 for a number that is no operator. Threads: free. */
LIBDL_API int32_t libdl_op_result_count(libdl_op op);

/** The result's name, counted from 0, or NULL if there is none. Threads: free. */
LIBDL_API LIBDL_BORROWED const char *libdl_op_result_name(libdl_op op, int32_t result);

/** The result's type, or LIBDL_VALUE_NONE if there is none. Threads: free. */
LIBDL_API libdl_value_type libdl_op_result_type(libdl_op op, int32_t result);

/** Whether results may carry history. Threads: free. */
LIBDL_API libdl_bool libdl_op_is_differentiable(libdl_op op);

/** Whether it has a form that makes new results: all but those that only overwrite.
 *  Threads: free. */
LIBDL_API libdl_bool libdl_op_has_new(libdl_op op);

/** Whether it has an into form. Threads: free. */
LIBDL_API libdl_bool libdl_op_has_into(libdl_op op);

/** Calls an operator.
 *
 *  arguments      in the order of the parameters. NONE, or left out at the end: the default
 *  argument_count how many are given
 *  results        new; places for result_count results, written on success only
 *  result_count   as many as the operator has
 *
 *  Errors: VALUE (no such operator, or one without a new form; another number of arguments or
 *  results), TYPE (an argument of another type), and the operator's.
 *  Threads: concurrent-read. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_op_call(libdl_op op, const libdl_value *arguments,
                                                     int32_t argument_count,
                                                     LIBDL_NEW libdl_value *results,
                                                     int32_t result_count);

/** Calls an operator's into form.
 *
 *  arguments, argument_count  as in libdl_op_call
 *  dsts                       where its results go, as many as it has
 *  dst_count                  how many those are
 *
 *  Errors: VALUE (no such operator, or one without an into form; another number of arguments or
 *  destinations), TYPE (an argument of another type), and the operator's.
 *  Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_op_call_into(libdl_op op, const libdl_value *arguments,
                                                          int32_t argument_count,
                                                          libdl_tensor *const *dsts,
                                                          int32_t dst_count);

/** What a registered operator computes. It runs on the calling thread, unrecorded.
 *
 *  ctx        as given to libdl_op_set_kernel
 *  arguments  all of them, of the schema's types, borrowed; NONE where absent
 *  results    places for new tensors, which the caller takes over; not read on failure */
typedef libdl_error *(*libdl_op_kernel)(void *ctx, const libdl_value *arguments,
                                        int32_t argument_count, libdl_tensor **results,
                                        int32_t result_count);

/** A registered operator's gradient: the vector-Jacobian product. Gradients are asked and given per
 *  tensor in the order of the arguments, the tensors of a list one by one, absent ones included.
 *
 *  ctx           as given to libdl_op_set_vjp
 *  arguments     as the kernel got them
 *  results       the tensors that the kernel gave
 *  grads         what arrived for each result, NULL where nothing did
 *  wanted        for each tensor whether its gradient is needed
 *  out           a place for each tensor: a new one, or left NULL for zero; not read on failure. It
 *                is made of recorded operators where a second order shall exist
 *  tensor_count  how many wanted and out have */
typedef libdl_error *(*libdl_op_vjp)(void *ctx, const libdl_value *arguments,
                                     int32_t argument_count, const libdl_tensor *const *results,
                                     const libdl_tensor *const *grads, int32_t result_count,
                                     const libdl_bool *wanted, LIBDL_NEW libdl_tensor **out,
                                     int32_t tensor_count);

/** Adds an operator of the host's own; it lasts as long as the process. It has an into form, which
 *  with one result is in place where dst is an operand, and recorded.
 *
 *  schema  schema_length bytes, or NUL-terminated if that is -1:
 *          "name(type parameter, type? optional=default, ...) -> type result, ..." where a type is
 *          tensor, tensors, bool, int, float, ints, string, dtype, device or generator, a result's
 *          always tensor, and a name has the form "area::name"
 *  out     its number
 *
 *  Errors: NULL, VALUE (the schema is malformed, or the name is taken).
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_op_register(const char *schema, int64_t schema_length,
                                                         libdl_op *out);

/** Gives a registered operator its kernel for one type of device: that of its first tensor, or the
 *  CPU. destroy runs once with ctx: now if the call fails, else when the process ends, if at all.
 *
 *  device_type  a LIBDL_DEVICE_ constant
 *
 *  Errors: NULL (kernel), VALUE (no registered operator, no such device type), STATE (it has one
 *  already).
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_op_set_kernel(libdl_op op, int32_t device_type,
                                                           libdl_op_kernel kernel, void *ctx,
                                                           void (*destroy)(void *ctx));

/** Gives a registered operator its gradient; without one it raises AUTOGRAD where one is needed.
 *  destroy runs once with ctx: now if the call fails, else when the process ends, if at all.
 *
 *  Errors: NULL (vjp), VALUE (no registered operator), STATE (it has one already).
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_op_set_vjp(libdl_op op, libdl_op_vjp vjp, void *ctx,
                                                        void (*destroy)(void *ctx));

/** A registered operator's tangents, in forward mode: the Jacobian-vector product.
 *
 *  ctx           as given to libdl_op_set_jvp
 *  arguments     as the kernel got them
 *  results       the tensors that the kernel gave
 *  tangents      of each tensor among the arguments, in their order, those of a list one by one: as
 *                the vjp's gradients; NULL where it has none
 *  tensor_count  how many those are
 *  out           a place for each result's tangent, of its shape, dtype and device: a new one, or
 *                left NULL for zero; not read on failure. It is made of operators, so that levels
 *                nest and it can be differentiated */
typedef libdl_error *(*libdl_op_jvp)(void *ctx, const libdl_value *arguments,
                                     int32_t argument_count, const libdl_tensor *const *results,
                                     int32_t result_count, const libdl_tensor *const *tangents,
                                     int32_t tensor_count, LIBDL_NEW libdl_tensor **out);

/** Gives a registered operator its rule for forward mode; without one it raises AUTOGRAD where one
 *  is needed. destroy runs once with ctx: now if the call fails, else when the process ends, if at
 *  all.
 *
 *  Errors: NULL (jvp), VALUE (no registered operator), STATE (it has one already).
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_op_set_jvp(libdl_op op, libdl_op_jvp jvp, void *ctx,
                                                        void (*destroy)(void *ctx));

/** Sees each of the host's calls of operators before it is carried out, and may answer it. Inside,
 *  the interceptor itself and those pushed after it are off: what it calls goes to the ones before.
 *
 *  ctx        as given to libdl_interceptor_push
 *  op         which operator
 *  arguments  all of them, borrowed; handles and types are checked, no more; NONE where absent
 *  dsts       NULL, or the destinations of an into form, one for each result
 *  results    places for the results; into forms leave them
 *  handled    set to 1 where the call was answered: results are then new, or dsts are written */
typedef libdl_error *(*libdl_interceptor)(void *ctx, libdl_op op, const libdl_value *arguments,
                                          int32_t argument_count, libdl_tensor *const *dsts,
                                          libdl_value *results, int32_t result_count,
                                          libdl_bool *handled);

/** Puts an interceptor before all others of the calling thread's state. It sees what the host
 *  calls, not what operators, backward passes and optimizers call in their turn. destroy runs once
 *  with ctx: when it is popped, when the state ends, or now if the call fails.
 *
 *  Errors: NULL (interceptor), OUT_OF_MEMORY.
 *  Threads: thread-local. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_interceptor_push(libdl_interceptor interceptor,
                                                              void *ctx,
                                                              void (*destroy)(void *ctx));

/** One of the LIBDL_PHASE_ constants: in what part of a training step a call is made. */
typedef int32_t libdl_phase;
enum {
  LIBDL_PHASE_FORWARD = 0,
  LIBDL_PHASE_BACKWARD = 1,  /**< in a backward pass */
  LIBDL_PHASE_OPTIMIZER = 2, /**< a step of an optimizer, or of what clips gradients */
  LIBDL_PHASE_HOOK = 3       /**< in a hook on gradients */
};

/** Says what the host's own calls on this thread are for, as interceptors are told it; a host whose
 *  optimizer is made of operators says LIBDL_PHASE_OPTIMIZER around its steps. Inside of passes,
 *  hooks and steps of the library their own phase counts. Returns the former one; any number is
 *  taken.
 *  Threads: thread-local. */
LIBDL_API libdl_phase libdl_set_phase(libdl_phase phase);

/** A call as an interceptor is shown it. Everything in it is borrowed, and valid during the
 *  callback. */
typedef struct libdl_call {
  uint32_t struct_size;
  libdl_op op;      /**< -1: a part of an operator, a gradient or an optimizer's step: it has a
                         name, but no number, and shows what it reads, but not all its arguments */
  const char *name; /**< the operator's, or the part's ("softmax_backward", "adam") */
  libdl_phase phase;
  int32_t depth; /**< how many calls it is made in: 0 of the host's and of backward passes */
  LIBDL_NULLABLE const char *source; /**< on whose behalf it is made: of a call inside of others
                                          the outermost; in a backward pass the operator whose
                                          gradient it computes */
  const libdl_value *arguments;      /**< of an operator all; NONE where absent */
  int32_t argument_count;
  int32_t result_count;
  LIBDL_NULLABLE libdl_tensor *const *dsts; /**< the destinations of an into form, result_count of
                                                 them */
  LIBDL_NULLABLE libdl_value *results;      /**< before: places for an answer; after: what came out,
                                                 NONE where nothing did. NULL for an into form */
  libdl_bool failed; /**< after: the call ended in an error, and there are no results */
  int32_t reserved;  /**< 0 */
} libdl_call;

/** Bits of libdl_interceptor_options.wanted. */
enum {
  LIBDL_INTERCEPT_PARTS = 1 /**< calls inside of operators, backward passes and optimizers' steps as
                                 well, so that all work is seen */
};

/** What an interceptor does and wants; zero is the default of each. Set struct_size to sizeof(the
 *  struct).
 *
 *  before  is shown a call before it is carried out; sets handled to 1 where it answered it:
 *          results are then new, one for each place, or dsts are written. NULL: nothing
 *  after   is shown it afterwards, unless somebody inside or its own before answered it. What it
 *          returns becomes the call's error. NULL: nothing */
typedef struct libdl_interceptor_options {
  uint32_t struct_size;
  uint32_t wanted; /**< LIBDL_INTERCEPT_ bits; 0: the host's own calls of operators */
  void *ctx;
  void (*destroy)(void *ctx);
  libdl_error *(*before)(void *ctx, const libdl_call *call, libdl_bool *handled);
  libdl_error *(*after)(void *ctx, const libdl_call *call);
} libdl_interceptor_options;

/** As libdl_interceptor_push, with more to choose from. ctx is given up with destroy, exactly once,
 *  also when this fails.
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
