/* SPDX-License-Identifier: Apache-2.0 */

/* Scopes that own: nothing made inside is released by hand, whatever happens. And scopes of any
 * kind leave alone what the host's callbacks make. */
#include "check.h"

static int64_t tensors_alive(void) {
  int64_t tensors;
  libdl_memory_get_live(&tensors, NULL, NULL, NULL);
  return tensors;
}

static libdl_tensor *ones(int64_t size, libdl_bool requires_grad) {
  libdl_tensor *made;
  GOOD(libdl_ones(&size, 1, LIBDL_DTYPE_FLOAT32, NULL, &made));
  GOOD(libdl_tensor_set_requires_grad(made, requires_grad));
  return made;
}
static float first(const libdl_tensor *x) {
  float values[2] = {-1, -1};
  GOOD(libdl_tensor_copy_out(x, values, libdl_tensor_numel(x) * (int64_t)sizeof *values));
  return values[0];
}

/* exp(x * 2) + x; a dim that is out of range makes the softmax in between fail. */
static libdl_error *forward(libdl_tensor *x, int32_t dim, libdl_tensor **out) {
  libdl_tensor *two, *y, *z;
  libdl_error *error = libdl_scope_push_owner();
  if (error) return error;
  if ((error = libdl_number_f64(2, &two)) || (error = libdl_mul(x, two, &y)) ||
      (error = libdl_softmax(y, dim, LIBDL_DTYPE_NONE, &z)) || (error = libdl_exp(y, &y)) ||
      (error = libdl_add(y, x, NULL, &y)))
    y = NULL;
  return libdl_scope_return(error, y, out);
}

static void forwards(void) {
  libdl_tensor *const x = ones(2, 1);
  const int64_t before = tensors_alive();
  libdl_tensor *y = NULL;
  BAD(forward(x, 5, &y), INDEX, "softmax: argument 2 (dim) is 5, wanted -1 to 0");
  CHECK(y == NULL && tensors_alive() == before);
  GOOD(forward(x, 0, &y));
  CHECK(first(y) > 8.38f && first(y) < 8.4f);
  libdl_tensor_release(y);
  CHECK(tensors_alive() == before);

  /* Inside another that owns, the result is that one's. */
  GOOD(libdl_scope_push_owner());
  GOOD(forward(x, 0, &y));
  GOOD(forward(y, 0, &y));
  GOOD(libdl_scope_pop());
  CHECK(tensors_alive() == before);

  /* Inside a plain one the caller releases, and what is not kept is emptied. */
  GOOD(libdl_scope_push());
  GOOD(forward(x, 0, &y));
  GOOD(libdl_scope_pop());
  CHECK(libdl_tensor_is_emptied(y));
  libdl_tensor_release(y);
  CHECK(tensors_alive() == before);
  libdl_tensor_release(x);
}

static void outcomes(void) {
  libdl_tensor *const x = ones(2, 0);
  const int64_t before = tensors_alive();
  libdl_tensor *y = NULL, *z = NULL;
  BAD(libdl_scope_return(NULL, x, &y), STATE, "scope_return: no scope is open");
  /* An operand that is handed on is one more reference. */
  GOOD(libdl_scope_push_owner());
  GOOD(libdl_scope_return(NULL, x, &y));
  CHECK(y == x && libdl_tensor_use_count(x) == 2);
  libdl_tensor_release(y);
  GOOD(libdl_scope_push_owner());
  GOOD(libdl_scope_push_owner());
  GOOD(libdl_scope_return(NULL, x, &y));
  GOOD(libdl_scope_pop());
  CHECK(libdl_tensor_use_count(x) == 1);
  /* In a scope that does not own, the result is the caller's already: one more reference. */
  GOOD(libdl_scope_push());
  GOOD(libdl_neg(x, &z));
  GOOD(libdl_scope_return(NULL, z, &y));
  CHECK(y == z && libdl_tensor_use_count(z) == 2 && first(z) == -1);
  libdl_tensor_release(y);
  libdl_tensor_release(z);
  /* A call that is refused changes nothing. */
  GOOD(libdl_scope_push_owner());
  GOOD(libdl_neg(x, &z));
  BAD_ARGUMENT(libdl_scope_return(NULL, NULL, &y), NULL, 2);
  BAD_ARGUMENT(libdl_scope_return(NULL, z, NULL), NULL, 3);
  CHECK(first(z) == -1);
  GOOD(libdl_scope_pop());
  /* Kept ones are the caller's again. */
  GOOD(libdl_scope_push_owner());
  GOOD(libdl_neg(x, &y));
  GOOD(libdl_neg(x, &z));
  GOOD(libdl_scope_keep(y));
  GOOD(libdl_scope_pop());
  CHECK(first(y) == -1 && libdl_tensor_use_count(y) == 1);
  libdl_tensor_release(y);
  CHECK(tensors_alive() == before);
  libdl_tensor_release(x);
}

/* -- callbacks -----------------------------------------------------------------------------------
 *  */

static libdl_error *doubles(void *ctx, libdl_backward_context *context,
                            const libdl_tensor *const *dy, int64_t outputs, libdl_tensor **dx,
                            int64_t inputs) {
  (void)ctx, (void)context, (void)outputs, (void)inputs;
  return libdl_add(dy[0], dy[0], NULL, dx);
}

/* The gradient that a callback computed became .grad, and was emptied with the scope. */
static void gradients_stay(int owner) {
  libdl_tensor *const x = ones(2, 1), *const y = ones(2, 0);
  libdl_function function = {0};
  function.struct_size = sizeof function;
  function.name = "doubles";
  function.backward = doubles;
  GOOD(libdl_function_record(&function, LIBDL_READ_ONLY(&x), 1, &y, 1, NULL, NULL, 0, NULL));
  GOOD(owner ? libdl_scope_push_owner() : libdl_scope_push());
  libdl_tensor *loss;
  GOOD(libdl_sum(y, NULL, 0, 0, LIBDL_DTYPE_NONE, &loss));
  GOOD(libdl_backward(LIBDL_READ_ONLY(&loss), 1, NULL, 0, NULL, 0, NULL));
  GOOD(libdl_scope_pop());
  if (!owner) libdl_tensor_release(loss);
  libdl_tensor *const grad = libdl_tensor_grad(x);
  CHECK(grad && !libdl_tensor_is_emptied(grad) && first(grad) == 2);
  libdl_tensor_release(grad);
  libdl_tensor_release(y);
  libdl_tensor_release(x);
}

/* -- defaults of generic calls
 * --------------------------------------------------------------------- */

static void generic_calls(void) {
  libdl_tensor *const x = ones(2, 0);
  libdl_value argument = {0}, result = {0};
  libdl_op op;
  argument.type = LIBDL_VALUE_TENSOR;
  argument.held.tensor = x;
  GOOD(libdl_op_find("sum", -1, &op)); /* dims=None, keepdim=False, dtype=None */
  GOOD(libdl_op_call(op, &argument, 1, &result, 1));
  CHECK(libdl_tensor_ndim(result.held.tensor) == 0);
  libdl_tensor_release(result.held.tensor);
  GOOD(libdl_op_find("cumsum", -1, &op)); /* dim has no default */
  BAD_ARGUMENT(libdl_op_call(op, &argument, 1, &result, 1), TYPE, 2);
  BAD_ARGUMENT(libdl_op_argument_get_default(op, 1, &result), VALUE, 2);
  GOOD(libdl_op_find("sum", -1, &op));
  GOOD(libdl_op_argument_get_default(op, 2, &result));
  CHECK(result.type == LIBDL_VALUE_BOOL && result.held.boolean == 0);
  GOOD(libdl_op_argument_get_default(op, 1, &result));
  CHECK(result.type == LIBDL_VALUE_NONE);
  /* Every default is one that the call takes: its type is the argument's, or it is absent. */
  for (op = 0; op < libdl_op_count(); ++op)
    for (int32_t k = 0; k < libdl_op_argument_count(op); ++k) {
      if (!*libdl_op_argument_default(op, k)) continue;
      GOOD(libdl_op_argument_get_default(op, k, &result));
      CHECK(result.type == libdl_op_argument_type(op, k) ||
            (result.type == LIBDL_VALUE_NONE && libdl_op_argument_is_nullable(op, k)));
      if (result.type == LIBDL_VALUE_TENSOR) libdl_tensor_release(result.held.tensor);
    }
  libdl_tensor_release(x);
}

static libdl_tensor *five(int64_t size) {
  const int64_t shape[] = {size, size, size, size, size};
  libdl_tensor *made;
  GOOD(libdl_zeros(shape, 5, LIBDL_DTYPE_FLOAT32, NULL, &made));
  return made;
}

/* Sizes of more than four dimensions have memory of their own, which goes with the handle, once. */
static void many_dimensions(void) {
  GOOD(libdl_scope_push());
  libdl_tensor *const emptied = five(1);
  GOOD(libdl_scope_pop());
  CHECK(libdl_tensor_is_emptied(emptied) && libdl_tensor_ndim(emptied) == 0);
  libdl_tensor *const before = five(2);
  libdl_tensor_release(emptied);
  libdl_tensor *const after = five(3);
  for (int32_t d = 0; d < 5; ++d)
    CHECK(libdl_tensor_shape(before)[d] == 2 && libdl_tensor_shape(after)[d] == 3);
  libdl_tensor_release(before);
  libdl_tensor_release(after);
}

/* -- what an owning scope has --------------------------------------------------------------------
 */

static int64_t owned_before;
static void open_owner(void) {
  owned_before = tensors_alive();
  GOOD(libdl_scope_push_owner());
}
static void close_owner(void) {
  GOOD(libdl_scope_pop());
  CHECK(tensors_alive() == owned_before);
}

/* Releases what it makes, like a function that knows nothing of scopes; the result is new. */
static libdl_tensor *tidy(libdl_tensor *x) {
  libdl_tensor *a, *b, *c, *list_entry;
  libdl_tensor_list *parts;
  GOOD(libdl_neg(x, &a));
  GOOD(libdl_exp(a, &b));
  libdl_tensor *const again = libdl_tensor_retain(b);
  libdl_tensor_release(a);
  GOOD(libdl_add(again, b, NULL, &c));
  libdl_tensor_release(b);
  libdl_tensor_release(again);
  GOOD(libdl_split(c, 1, 0, &parts));
  list_entry = libdl_tensor_list_get(parts, 0);
  libdl_tensor_list_release(parts);
  CHECK(first(list_entry) > 0);
  libdl_tensor_release(list_entry);
  return c;
}

/* A function that releases its temporaries runs under its caller's scope, at any depth. */
static void helpers_release(void) {
  libdl_tensor *const x = ones(2, 0);
  libdl_tensor *y, *z;
  open_owner();
  for (int i = 0; i < 300; ++i) {
    y = tidy(x);
    if (i % 2) libdl_tensor_release(y);
  }
  GOOD(libdl_scope_push()); /* of any kind */
  z = tidy(y = tidy(x));
  libdl_tensor_release(y);
  libdl_tensor_release(z);
  GOOD(libdl_scope_push_owner());
  GOOD(libdl_neg(x, &y));
  GOOD(libdl_scope_keep(y));
  GOOD(libdl_scope_pop());
  libdl_tensor_release(y);
  GOOD(libdl_scope_pop());
  GOOD(libdl_scope_push_owner());
  GOOD(libdl_neg(x, &y));
  GOOD(libdl_scope_keep(y)); /* for the outer one */
  libdl_tensor_release(y);
  GOOD(libdl_scope_pop());
  GOOD(libdl_scope_push());
  GOOD(libdl_neg(x, &y));
  GOOD(libdl_scope_keep(y)); /* which takes the caller's reference */
  libdl_tensor_release(y);
  GOOD(libdl_neg(x, &y));
  GOOD(libdl_scope_keep(y));
  GOOD(libdl_scope_pop());
  libdl_tensor_release(y);
  /* An operand that comes back is a second reference of the scope's. */
  GOOD(libdl_neg(x, &y));
  GOOD(libdl_contiguous(y, &z));
  CHECK(z == y && libdl_tensor_use_count(y) == 2);
  libdl_tensor_release(z);
  CHECK(libdl_tensor_use_count(y) == 1 && first(y) == -1);
  close_owner();
  libdl_tensor_release(x);
}

/* References that were added inside are the caller's, and go before the scope's own. */
static void further_references(void) {
  libdl_tensor *const x = ones(2, 0);
  libdl_tensor *y, *view;
  const int64_t before = tensors_alive();
  GOOD(libdl_scope_push_owner());
  GOOD(libdl_neg(x, &y));
  libdl_tensor *const kept = libdl_tensor_retain(y);
  libdl_tensor_retain(y);
  libdl_tensor_release(y);
  GOOD(libdl_detach(y, &view));
  GOOD(libdl_unsqueeze(y, 0, &view));
  libdl_tensor *const base = libdl_tensor_base(view);
  CHECK(base == y);
  libdl_tensor_release(base);
  GOOD(libdl_scope_pop());
  CHECK(first(kept) == -1 && libdl_tensor_use_count(kept) == 1);
  libdl_tensor_release(kept);
  CHECK(tensors_alive() == before);
  /* A gradient is not new. */
  libdl_tensor *loss;
  GOOD(libdl_tensor_set_requires_grad(x, 1));
  GOOD(libdl_scope_push_owner());
  GOOD(libdl_sum(x, NULL, 0, 0, LIBDL_DTYPE_NONE, &loss));
  GOOD(libdl_backward(LIBDL_READ_ONLY(&loss), 1, NULL, 0, NULL, 0, NULL));
  libdl_tensor *const grad = libdl_tensor_grad(x);
  GOOD(libdl_scope_pop());
  CHECK(first(grad) == 1 && libdl_tensor_use_count(grad) == 2);
  libdl_tensor_release(grad);
  libdl_tensor_release(x);
}

/* Asks for all that a context gives, inside a scope of its own, and keeps nothing. */
static libdl_error *asks(void *ctx, libdl_backward_context *context, const libdl_tensor *const *dy,
                         int64_t outputs, libdl_tensor **dx, int64_t inputs) {
  (void)ctx, (void)outputs, (void)inputs;
  libdl_tensor *made;
  GOOD(libdl_scope_push_owner());
  GOOD(libdl_backward_context_saved(context, 0, &made));
  CHECK(first(made) == 1);
  GOOD(libdl_backward_context_saved_with_history(context, 0, &made));
  GOOD(libdl_backward_context_zeros(context, 0, &made));
  CHECK(first(made) == 0);
  libdl_error *const error = libdl_neg(dy[0], &made);
  return libdl_scope_return(error, made, dx);
}

/* What a scope has cannot be seen but in LIBDL_NEW: it has all of it. */
static void all_is_owned(void) {
  libdl_tensor *x = ones(2, 1), *g = ones(2, 0), *y, *made, *tangent;
  libdl_tensor_list *list;
  libdl_function function = {0};
  function.struct_size = sizeof function;
  function.backward = asks;
  open_owner();
  GOOD(libdl_total_norm(LIBDL_READ_ONLY(&g), 1, 2, 0, &made));
  GOOD(libdl_clip_grad_norm(&g, 1, 1, 2, 0, &made));
  GOOD(libdl_tensor_alias_data(x, &made));
  GOOD(libdl_forward_enter(NULL));
  GOOD(libdl_forward_make_dual(g, g, &made));
  GOOD(libdl_forward_make_dual_at(g, g, libdl_forward_level(0), &made));
  GOOD(libdl_forward_unpack_dual(made, &y, &tangent));
  GOOD(libdl_forward_unpack_dual_at(made, libdl_forward_level(0), &y, &tangent));
  GOOD(libdl_forward_unpack_dual(g, &y, &tangent));
  CHECK(tangent == NULL);
  GOOD(libdl_forward_exit());
  GOOD(libdl_split(g, 1, 0, &list));
  CHECK(libdl_tensor_list_count(list) == 2);
  GOOD(libdl_neg(x, &y));
  GOOD(libdl_grad(LIBDL_READ_ONLY(&y), 1, LIBDL_READ_ONLY(&x), 1, LIBDL_READ_ONLY(&g), 1, NULL,
                  &list));
  libdl_op add;
  libdl_value number;
  GOOD(libdl_op_find("add", -1, &add));
  GOOD(libdl_op_argument_get_default(add, 2, &number));
  CHECK(number.type == LIBDL_VALUE_TENSOR);
  GOOD(libdl_mul(x, x, &y));
  libdl_node *const node = libdl_tensor_node(y, NULL);
  GOOD(libdl_node_saved(node, 0, &made));
  libdl_node_release(node);
  close_owner();

  y = ones(2, 0);
  GOOD(libdl_function_record(&function, LIBDL_READ_ONLY(&x), 1, &y, 1, NULL, LIBDL_READ_ONLY(&x), 1,
                             NULL));
  libdl_backward_options again; /* else the pass frees what the function saved */
  libdl_backward_options_init(&again);
  again.retain_graph = 1;
  open_owner();
  GOOD(libdl_grad(LIBDL_READ_ONLY(&y), 1, LIBDL_READ_ONLY(&x), 1, LIBDL_READ_ONLY(&g), 1, &again,
                  &list));
  close_owner();
  libdl_tensor_release(y);
  libdl_tensor_release(g);
  libdl_tensor_release(x);
}

/* An operator that answers with its argument gives one more reference to the same handle: the
 * scope's. A release inside gives up that one first, for the handle's references cannot be told
 * apart. */
static void the_argument_itself(void) {
  const int64_t before = tensors_alive();
  libdl_tensor *const x = ones(2, 0), *same, *out, *inner;

  GOOD(libdl_scope_push_owner());
  GOOD(libdl_contiguous(x, &same));
  GOOD(libdl_to(same, LIBDL_DTYPE_FLOAT32, NULL, 0, 0, &same));
  CHECK(same == x && libdl_tensor_use_count(x) == 3);
  GOOD(libdl_scope_pop());
  CHECK(libdl_tensor_use_count(x) == 1);

  /* A helper that releases its own. */
  GOOD(libdl_scope_push_owner());
  GOOD(libdl_contiguous(x, &same));
  libdl_tensor_release(same);
  CHECK(libdl_tensor_use_count(x) == 1);
  GOOD(libdl_scope_pop());
  CHECK(libdl_tensor_use_count(x) == 1);

  /* Kept: the caller has two references. */
  GOOD(libdl_scope_push_owner());
  GOOD(libdl_contiguous(x, &same));
  GOOD(libdl_scope_keep(same));
  GOOD(libdl_scope_pop());
  CHECK(libdl_tensor_use_count(x) == 2);
  libdl_tensor_release(same);

  /* Returned, as a helper does that passes its operand on. */
  GOOD(libdl_scope_push_owner());
  GOOD(libdl_contiguous(x, &same));
  GOOD(libdl_scope_return(NULL, same, &out));
  CHECK(out == x && libdl_tensor_use_count(x) == 2);
  libdl_tensor_release(out);

  /* Made inside, and answered inside: both are the scope's. */
  GOOD(libdl_scope_push_owner());
  inner = ones(2, 0);
  GOOD(libdl_contiguous(inner, &same));
  CHECK(same == inner && libdl_tensor_use_count(inner) == 2);
  libdl_tensor_release(inner);
  CHECK(libdl_tensor_use_count(same) == 1);
  GOOD(libdl_scope_pop());

  CHECK(libdl_tensor_use_count(x) == 1);
  libdl_tensor_release(x);
  CHECK(tensors_alive() == before);
}

int main(void) {
  the_argument_itself();
  helpers_release();
  further_references();
  all_is_owned();
  many_dimensions();
  forwards();
  outcomes();
  gradients_stay(0);
  gradients_stay(1);
  generic_calls();
  return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
