/* SPDX-License-Identifier: Apache-2.0 */

/** Automatic differentiation: leaves, the backward pass, hooks, nodes, forward mode. */
#ifndef LIBDL_AUTOGRAD_H
#define LIBDL_AUTOGRAD_H

#include <libdl/abi.h>

typedef struct libdl_node libdl_node;
typedef struct libdl_hook libdl_hook;

LIBDL_BEGIN

/* -- leaves ----------------------------------------------------------------------------------- */

/** Whether operations on the tensor are recorded. Threads: concurrent-read. */
LIBDL_API libdl_bool libdl_tensor_requires_grad(const libdl_tensor *tensor);

/** Whether it is a leaf: made by the user, or without history. Threads: concurrent-read. */
LIBDL_API libdl_bool libdl_tensor_is_leaf(const libdl_tensor *tensor);

/** Sets whether a leaf requires grad.
 *  Errors: DTYPE (switched on for a tensor neither floating nor complex), AUTOGRAD (switched off
 *  for a tensor that is not a leaf; made in inference mode; a host number).
 *  Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tensor_set_requires_grad(libdl_tensor *tensor,
                                                                      libdl_bool requires_grad);

/** Ends the tensor's history: it becomes a leaf that does not require grad. Its .grad stays, and
 *  tensors computed from it keep their history. libdl_detach leaves the tensor unchanged.
 *  Errors: AUTOGRAD (a view with history; a host number).
 *  Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tensor_detach_in_place(libdl_tensor *tensor);

/** .grad: a new reference to the same tensor each time, or NULL where there is none.
 *  Threads: free, also while a backward pass adds to it. */
LIBDL_API LIBDL_NEW libdl_tensor *libdl_tensor_grad(const libdl_tensor *tensor);

/** Replaces .grad; NULL clears it.
 *  Errors: SHAPE, DTYPE, DEVICE (it differs from the tensor's), VALUE (the tensor itself).
 *  Threads: free. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tensor_set_grad(libdl_tensor *tensor,
                                                             LIBDL_NULLABLE libdl_tensor *grad);

/** Makes backward store the gradient of a non-leaf in its .grad as well. Does nothing for leaves.
 *  Errors: AUTOGRAD (does not require grad).
 *  Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tensor_retain_grad(libdl_tensor *tensor);
LIBDL_API libdl_bool libdl_tensor_retains_grad(const libdl_tensor *tensor);

/* -- backward --------------------------------------------------------------------------------- */

/** Options of a backward pass; zero is the default of each. Set struct_size to sizeof(the
 *  struct). */
typedef struct libdl_backward_options {
  uint32_t struct_size;
  libdl_bool retain_graph; /**< keep saved values for another pass */
  libdl_bool create_graph; /**< record the pass itself, for higher derivatives */
  libdl_bool allow_unused; /**< grad: an unused input gets an absent entry instead of an error */
  libdl_bool materialize;  /**< grad: an unused input gets zeros */
  libdl_bool batched; /**< grad: each gradient is a batch, in front of the output's shape, and so
                       *   is each result: the rows of a Jacobian in one pass. backward: refused */
} libdl_backward_options;

/** Sets struct_size, and all else to 0, the default. NULL is ignored. Threads: free. */
LIBDL_API void libdl_backward_options_init(libdl_backward_options *options);

/** Adds d(sum outputs * gradients)/d leaf to the .grad of every leaf, or only of the given inputs.
 *
 *  outputs    at least one, each with history
 *  gradients  one for each output, NULL for an output of one element (then 1); or NULL and 0
 *  inputs     NULL and 0: all leaves; an input that is not a leaf retains its gradient from then on
 *  options    NULL: defaults
 *
 *  Runs on the calling thread; several threads may run passes at once, even to the same leaves. On
 *  a device each gradient is queued on its operator's stream, and the calling state's stream waits
 *  for them. If a pass fails, each .grad is either unchanged or complete.
 *  Errors: AUTOGRAD (no history), SHAPE, DTYPE (gradients), VERSION (a saved value was
 *  overwritten), STATE (saved values were freed by an earlier pass), UNSUPPORTED (batches, which
 *  libdl_grad takes), CALLBACK, INTERRUPTED, DEPTH (nested too deeply).
 *  Threads: concurrent-read. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_backward(
    const libdl_tensor *const *outputs, int64_t outputs_count,
    LIBDL_NULLABLE const libdl_tensor *const *gradients, int64_t gradients_count,
    LIBDL_NULLABLE const libdl_tensor *const *inputs, int64_t inputs_count,
    LIBDL_NULLABLE const libdl_backward_options *options);

/** The gradients with respect to inputs, which may be any tensors that require grad; .grad is not
 *  touched. Parameters and errors as libdl_backward; AUTOGRAD also if an input was not used, VALUE
 *  if a batch is asked for and no gradient is given. Hooks and the host's functions see the
 *  gradients of a batch one after another.
 *  out: a new list, one entry for each input.
 *  Threads: concurrent-read. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_grad(
    const libdl_tensor *const *outputs, int64_t outputs_count, const libdl_tensor *const *inputs,
    int64_t inputs_count, LIBDL_NULLABLE const libdl_tensor *const *gradients,
    int64_t gradients_count, LIBDL_NULLABLE const libdl_backward_options *options,
    LIBDL_NEW libdl_tensor_list **out);

/* -- the graph -------------------------------------------------------------------------------- */

/** The node of the operation that made the tensor, or its accumulator node if it is a leaf that
 *  requires grad; NULL if it has neither. slot: which of the node's outputs it is.
 *  Threads: concurrent-read. */
LIBDL_API LIBDL_NEW libdl_node *libdl_tensor_node(const libdl_tensor *tensor,
                                                  LIBDL_NULLABLE int32_t *slot);
LIBDL_API LIBDL_NEW libdl_node *libdl_node_retain(libdl_node *node);
LIBDL_API void libdl_node_release(libdl_node *node);

/** The operator's name ("mul"; "accumulate" for a leaf). Threads: free. */
LIBDL_API LIBDL_BORROWED const char *libdl_node_name(const libdl_node *node);

/** The number of inputs of the node, and the node that input `index` comes from: a new reference,
 *  or NULL if no gradient flows to it. Threads: free. */
LIBDL_API int32_t libdl_node_input_count(const libdl_node *node);
LIBDL_API LIBDL_NEW libdl_node *libdl_node_input(const libdl_node *node, int32_t index,
                                                 LIBDL_NULLABLE int32_t *slot);

/** A new reference to the leaf of an accumulator node, or NULL. Threads: free. */
LIBDL_API LIBDL_NEW libdl_tensor *libdl_node_leaf(const libdl_node *node);

/** Whether a backward pass from the outputs would reach leaves other than the given ones: whether
 *  the outputs depend on anything else that requires grad. Threads: free. */
LIBDL_API libdl_bool libdl_history_beyond(const libdl_tensor *const *outputs, int64_t outputs_count,
                                          const libdl_tensor *const *leaves, int64_t leaves_count);

/** The source line of the forward call, if it ran in anomaly mode; else "". Threads: free. */
LIBDL_API LIBDL_BORROWED const char *libdl_node_site(const libdl_node *node);

/** The ctx of the host's own function that the node belongs to, if that function's destroy is this
 *  one; else NULL. It lives as long as the node. Threads: free. */
LIBDL_API LIBDL_BORROWED void *libdl_node_function(const libdl_node *node, void (*destroy)(void *));

/** How many values the node saved for backward, and value `index`, with its history, as
 *  libdl_backward_context_saved_with_history gives it in a pass; NULL if none was saved there. What
 *  the library's own operators save is their affair, and may change.
 *  Errors: INDEX, VERSION (overwritten since), STATE (freed by a pass).
 *  Threads: concurrent-read. */
LIBDL_API int32_t libdl_node_saved_count(const libdl_node *node);
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_node_saved(const libdl_node *node, int32_t index,
                                                        LIBDL_NEW libdl_tensor **out);

/* -- hooks ------------------------------------------------------------------------------------ */

/** Sees gradients and may replace them: release an entry of `gradients` and store another reference
 *  in its place, which the library takes over. `incoming`: for node post-hooks, the gradients that
 *  the node received. Entries may be NULL. An error ends the pass, which returns it unchanged. */
typedef libdl_error *(*libdl_gradient_hook)(void *ctx, libdl_tensor **gradients, int64_t count,
                                            libdl_tensor *const *incoming, int64_t incoming_count);

/** One of the LIBDL_HOOK_ constants: what a hook sees, and when it runs. */
typedef int32_t libdl_hook_kind;
enum {
  LIBDL_HOOK_TENSOR = 0,     /**< the gradient of one tensor; runs first */
  LIBDL_HOOK_NODE_PRE = 1,   /**< all gradients that arrive at a node */
  LIBDL_HOOK_NODE_POST = 2,  /**< all gradients that leave a node; a leaf's are none */
  LIBDL_HOOK_ACCUMULATED = 3 /**< after a leaf's .grad changed; gets the leaf itself, which it must
                                  leave in its place: else the pass fails with VALUE */
};

/** Registers a hook on a tensor (TENSOR, ACCUMULATED) or a node (NODE_PRE, NODE_POST); hooks of one
 *  kind run in order of registration. TENSOR hooks run first, then gradients are retained, then
 *  NODE_PRE hooks run. Hooks run on the thread that called backward. After an in-place operation
 *  they stay with the old history. destroy runs exactly once with ctx, also if this call fails.
 *  Errors: AUTOGRAD (does not require grad; ACCUMULATED on a non-leaf), VALUE (the wrong kind).
 *  out: a handle for libdl_hook_remove; releasing it leaves the hook in place. It keeps neither the
 *  tensor nor ctx alive.
 *  Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_tensor_add_hook(const libdl_tensor *tensor,
                                                             libdl_hook_kind kind,
                                                             libdl_gradient_hook fn, void *ctx,
                                                             void (*destroy)(void *ctx),
                                                             LIBDL_NEW libdl_hook **out);
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_node_add_hook(libdl_node *node, libdl_hook_kind kind,
                                                           libdl_gradient_hook fn, void *ctx,
                                                           void (*destroy)(void *ctx),
                                                           LIBDL_NEW libdl_hook **out);
/** Removes the hook; does nothing if it was removed before. Threads: exclusive. */
LIBDL_API void libdl_hook_remove(libdl_hook *hook);
LIBDL_API void libdl_hook_release(libdl_hook *hook);

/** For runtimes whose garbage collector looks for reference cycles: calls visit(ctx, arg) for each
 *  context that was registered with `given` as its destroy function and is destroyed together with
 *  this handle. These are the contexts of a leaf's hooks, or of the hooks and the custom function
 *  of the operation that made the tensor. There are none if anyone else holds a reference to the
 *  handle or to that operation. Stops when visit returns a value other than 0, and returns that
 *  value; else returns 0.
 *  Threads: exclusive. */
LIBDL_API int32_t libdl_tensor_visit_contexts(const libdl_tensor *tensor, void (*given)(void *ctx),
                                              int32_t (*visit)(void *ctx, void *arg), void *arg);
/** Removes the hooks whose contexts libdl_tensor_visit_contexts visits. Threads: exclusive. */
LIBDL_API void libdl_tensor_drop_hooks(libdl_tensor *tensor, void (*given)(void *ctx));

/** Hooks that replace the values saved for backward while they are pushed: pack turns a value into
 *  an object, unpack returns a new reference to the value, of the same shape, dtype and device
 *  (otherwise backward fails with SHAPE, DTYPE or DEVICE), forget destroys the object. Versions of
 *  packed values are not checked.
 *  Threads: thread-local. */
typedef struct libdl_saved_hooks {
  uint32_t struct_size;
  void *ctx;
  libdl_error *(*pack)(void *ctx, const libdl_tensor *value, void **packed);
  libdl_error *(*unpack)(void *ctx, void *packed, LIBDL_NEW libdl_tensor **value);
  void (*forget)(void *ctx, void *packed);
  void (*destroy)(void *ctx);
} libdl_saved_hooks;
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_saved_hooks_push(const libdl_saved_hooks *hooks);
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_saved_hooks_pop(void);

/* -- custom functions ------------------------------------------------------------------------- */

/** What a custom function's backward can query. Valid during the callback. */
typedef struct libdl_backward_context libdl_backward_context;

/** Computes input gradients from output gradients: writes new references (or NULL) into
 *  input_gradients. Output gradients are borrowed; NULL where none arrived. If the pass itself is
 *  recorded (create_graph), the operators called here are recorded too, which makes double backward
 *  possible. */
typedef libdl_error *(*libdl_function_backward)(void *ctx, libdl_backward_context *context,
                                                const libdl_tensor *const *output_gradients,
                                                int64_t outputs, libdl_tensor **input_gradients,
                                                int64_t inputs);

/** A differentiable function of the host. Its forward has run already, unrecorded. */
typedef struct libdl_function {
  uint32_t struct_size;
  const char *name; /**< NUL-terminated; copied */
  libdl_function_backward backward;
  void *ctx;
  void (*destroy)(void *ctx);
  libdl_bool once_differentiable; /**< a pass with create_graph fails */
  int32_t reserved;               /**< 0 */
  libdl_bool without_gradients;   /**< backward also runs if every output gradient is NULL */
} libdl_function;

/** Records that the function computed `outputs` from `inputs`. Does nothing if no input requires
 *  grad or recording is off (destroy then runs at once).
 *
 *  outputs         fresh tensors, or inputs that forward wrote in place
 *  differentiable  one flag for each output (NULL: all floating and complex ones)
 *  saved           values for backward; inputs and outputs among them are recognised by handle
 *
 *  The gradients that backward returns are checked: count, shape (summed where the input was
 *  broadcast), dtype (cast) and device.
 *  Errors: AUTOGRAD (an in-place output that may not be recorded), OUT_OF_MEMORY.
 *  recorded: whether a node was recorded; may be NULL.
 *  Threads: exclusive (outputs). */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_function_record(
    const libdl_function *function, const libdl_tensor *const *inputs, int64_t inputs_count,
    libdl_tensor *const *outputs, int64_t outputs_count,
    LIBDL_NULLABLE const libdl_bool *differentiable,
    LIBDL_NULLABLE const libdl_tensor *const *saved, int64_t saved_count,
    LIBDL_NULLABLE libdl_bool *recorded);

/** Saved value `index`, as it was when saved; with its history if the pass itself is recorded.
 *  Errors: INDEX, VERSION, STATE (freed by an earlier pass).
 *  Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_backward_context_saved(libdl_backward_context *context,
                                                                    int64_t index,
                                                                    LIBDL_NEW libdl_tensor **out);
/** The same with its history whether the pass is recorded or not, so that what a backward computes
 *  of it can be differentiated anew, back to the function's inputs: a recomputation, an adjoint
 *  method. A value that is neither an input nor an output has the history that it had when saved. A
 *  leaf comes back as itself, if it still exists and is what it was.
 *  Errors: INDEX, VERSION, STATE (freed by an earlier pass).
 *  Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_backward_context_saved_with_history(
    libdl_backward_context *context, int64_t index, LIBDL_NEW libdl_tensor **out);
/** Whether input `index` needs a gradient. Threads: exclusive. */
LIBDL_API libdl_bool libdl_backward_context_needs(const libdl_backward_context *context,
                                                  int64_t index);
/** Zeros in the shape of output `index`, for a gradient that did not arrive.
 *  Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_backward_context_zeros(libdl_backward_context *context,
                                                                    int64_t index,
                                                                    LIBDL_NEW libdl_tensor **out);

/* -- forward mode ----------------------------------------------------------------------------- */

/** Opens a level of dual numbers inside those already open. level: its number, 1 for the outermost;
 *  may be NULL.
 *  Errors: OUT_OF_MEMORY. Threads: thread-local. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_forward_enter(int32_t *level);
/** Closes the innermost level and drops its tangents, whoever holds the tensors. Errors: STATE
 *  (none is open).
 *  Threads: thread-local. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_forward_exit(void);
/** The identity of the open level with this number, or of the innermost if the number is below 1; 0
 *  if there is none. Numbers are reused, identities never are. Threads: thread-local. */
LIBDL_API uint64_t libdl_forward_level(int32_t level);

/** The dual number primal + tangent eps: an alias of primal that has this tangent in the innermost
 *  level, and primal's own tangents in the others.
 *  Errors: STATE (no level; primal has a tangent there), SHAPE, DTYPE (tangent is not like primal).
 *  Threads: thread-local. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_forward_make_dual(const libdl_tensor *primal,
                                                               const libdl_tensor *tangent,
                                                               LIBDL_NEW libdl_tensor **out);
/** The same in the open level with the given identity.
 *  Errors: STATE (no such level; primal has a tangent there or in a level inside it), SHAPE, DTYPE.
 *  Threads: thread-local. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_forward_make_dual_at(const libdl_tensor *primal,
                                                                  const libdl_tensor *tangent,
                                                                  uint64_t level,
                                                                  LIBDL_NEW libdl_tensor **out);
/** The tensor's tangent in the innermost level, or NULL, and the primal without it.
 *  Threads: thread-local. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_forward_unpack_dual(const libdl_tensor *dual,
                                                                 LIBDL_NEW libdl_tensor **primal,
                                                                 LIBDL_NEW libdl_tensor **tangent);
/** The same in the open level with the given identity. Errors: STATE (no such level; dual has a
 *  tangent in a level inside it, which must be unpacked first).
 *  Threads: thread-local. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_forward_unpack_dual_at(
    const libdl_tensor *dual, uint64_t level, LIBDL_NEW libdl_tensor **primal,
    LIBDL_NEW libdl_tensor **tangent);

/** Sets the tensor's own tangent in the open level with the given identity, for results of the
 *  host's own functions, recorded or not. The value that such a function saved of the tensor gets
 *  it, too.
 *  tangent: NULL removes it.
 *  Errors: STATE (no such level), SHAPE, DTYPE (tangent is not like tensor), OUT_OF_MEMORY.
 *  Threads: thread-local. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_forward_set_tangent(
    libdl_tensor *tensor, LIBDL_NULLABLE const libdl_tensor *tangent, uint64_t level);

/* -- checking gradients ----------------------------------------------------------------------- */

/** A function whose gradients are checked: writes new references into outputs. It is called many
 *  times, must return the same outputs for the same inputs, and gets copies of the inputs that
 *  require grad. */
typedef libdl_error *(*libdl_gradcheck_function)(void *ctx, const libdl_tensor *const *inputs,
                                                 int64_t inputs_count, libdl_tensor **outputs,
                                                 int64_t outputs_count);

/** Options of a gradient check; zero is the default of each. Set struct_size to sizeof(the
 *  struct). */
typedef struct libdl_gradcheck_options {
  uint32_t struct_size;
  libdl_bool forward;      /**< check forward mode, too */
  libdl_bool second_order; /**< check the gradients of the gradients, too */
  libdl_bool strict;       /**< an output without history must not depend on the inputs */
  double eps;              /**< half the step of the finite differences; 0: 1e-6 */
  double atol;             /**< absolute tolerance; 0: 1e-5 */
  double rtol;             /**< relative tolerance; 0: 1e-3 */
  double nondet_tol;       /**< how much two backward passes may differ; 0: not at all */
} libdl_gradcheck_options;

/** Sets struct_size, and the defaults: eps 1e-6, atol 1e-5, rtol 1e-3, all else 0.
 *  NULL is ignored. Threads: free. */
LIBDL_API void libdl_gradcheck_options_init(libdl_gradcheck_options *options);

/** Compares the gradients of fn with central differences, element by element. A complex input is
 *  varied in both parts, and a complex output is differentiated in both: the gradient of a real
 *  part is the conjugate Wirtinger derivative, as everywhere in libdl.
 *
 *  fn, ctx        the function; destroy runs exactly once with ctx, also if this call fails
 *  inputs         those that require grad are checked: float64 or complex128, on the CPU
 *  outputs_count  1 to 65536; outputs that are neither floating nor complex are skipped, as are
 *                 those without history unless none has any or strict is set
 *  options        NULL: defaults
 *
 *  Recording is on during the check. It costs two calls of fn for each input element, and two
 *  backward passes for each output element; complex elements count twice.
 *  Errors: AUTOGRAD (a wrong gradient: the message names output, input, elements and both values;
 *  passes that differ; no input requires grad), DTYPE, DEVICE, OVERLAP (an input that is checked),
 *  CALLBACK (fn left an output NULL, or shapes and dtypes change between calls), UNSUPPORTED
 *  (forward, while a level is open), VALUE (a negative or infinite option), and the errors of fn.
 *  Threads: thread-local. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_gradcheck(
    libdl_gradcheck_function fn, void *ctx, void (*destroy)(void *ctx),
    const libdl_tensor *const *inputs, int64_t inputs_count, int64_t outputs_count,
    LIBDL_NULLABLE const libdl_gradcheck_options *options);

/* -- modes ------------------------------------------------------------------------------------ */

/** Whether operations are recorded; on at first. set returns the former value.
 *  Threads: thread-local. */
LIBDL_API libdl_bool libdl_grad_enabled(void);
LIBDL_API libdl_bool libdl_set_grad_enabled(libdl_bool enabled);

/** Inference mode: nothing is recorded, and results cannot be recorded later either.
 *  Threads: thread-local. */
LIBDL_API libdl_bool libdl_inference_mode(void);
LIBDL_API libdl_bool libdl_set_inference_mode(libdl_bool enabled);

/** Whether this thread may record calls on tensors that were made in inference mode, whose values
 *  are then saved for backward like others. Off at first, so that these calls fail with AUTOGRAD. A
 *  host that differentiates inside of inference mode, and ends it for the while, switches it on:
 * what was made in the mode are its constants. The second form returns what was. Threads:
 *  thread-local. */
LIBDL_API libdl_bool libdl_records_inference_tensors(void);
LIBDL_API libdl_bool libdl_set_records_inference_tensors(libdl_bool enabled);

/** Anomaly mode: nodes keep the source line that made them, and a NaN in a gradient is an error
 *  that names that line. Threads: thread-local. */
LIBDL_API libdl_bool libdl_anomaly_mode(void);
LIBDL_API libdl_bool libdl_set_anomaly_mode(libdl_bool enabled);

/** Whether anomaly mode looks for NaN, as it does until told otherwise; without, nodes still keep
 *  their lines, and a pass costs no reading of gradients. The setter returns what was set before.
 *  Threads: thread-local. */
LIBDL_API libdl_bool libdl_anomaly_check_nan(void);
LIBDL_API libdl_bool libdl_set_anomaly_check_nan(libdl_bool enabled);

/** Sets the function that reports the line of the host program that is running: it writes at most
 *  capacity bytes, NUL-terminated. There is one for the process; NULL: none. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_set_site_hook(
    LIBDL_NULLABLE void (*fn)(void *ctx, char *buffer, int64_t capacity), void *ctx,
    void (*destroy)(void *ctx));

LIBDL_END

#endif
