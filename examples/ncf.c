/* SPDX-License-Identifier: Apache-2.0 */

/* Neural collaborative filtering (He et al., WWW 2017) in C99, on generated ratings: items have a
 * genre and an appeal, and a user watches appealing items of the user's two genres. The model knows
 * only who watched what.
 *
 *     ncf [STEPS [FILE]]
 *
 * Prints how often an item that was held out is among the first ten of a hundred in the model's
 * order, and in the order of how often items were watched. The model is that of
 * bench/models/ncf.py, smaller, and FILE receives its weights under the same names.
 *
 * Functions return their error, and scopes own what operators make: nothing leaks when a call
 * fails. */
#include <libdl/libdl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { USERS = 4096, ITEMS = 2048, GENRES = 8, WATCHED = 20 };
/* A batch reads few rows of a table, whose gradients then hold these rows only. */
enum { BATCH = 256, NEGATIVES = 3, SAMPLES = BATCH * (1 + NEGATIVES) };
enum { EPOCH = USERS * (WATCHED - 1) / BATCH, EPOCHS = 8 };                 /* in steps */
enum { FIRST = 10, CANDIDATES = 100, RANKED = 1024, RANKED_AT_ONCE = 256 }; /* users */

/* -- the model --------------------------------------------------------------------------------- */

enum { MF_USER, MF_ITEM, MLP_USER, MLP_ITEM, MLP, FINAL = MLP + 6, PARAMETERS = FINAL + 2 };
enum { FACTORS = 16, HALF = 32 }; /* the perceptron's input is two halves */
static const struct {
  const char *name;
  int64_t rows, columns; /* a bias has no columns */
} layout[PARAMETERS] = {{"mf_user.weight", USERS, FACTORS}, {"mf_item.weight", ITEMS, FACTORS},
                        {"mlp_user.weight", USERS, HALF},   {"mlp_item.weight", ITEMS, HALF},
                        {"mlp.0.weight", 64, 2 * HALF},     {"mlp.0.bias", 64, 0},
                        {"mlp.2.weight", 32, 64},           {"mlp.2.bias", 32, 0},
                        {"mlp.4.weight", 16, 32},           {"mlp.4.bias", 16, 0},
                        {"final.weight", 1, FACTORS + 16},  {"final.bias", 1, 0}};

typedef struct Model {
  libdl_tensor *params[PARAMETERS], *averages[PARAMETERS], *squares[PARAMETERS];
} Model;

static void release(Model *m) {
  for (int i = 0; i < PARAMETERS; ++i) {
    libdl_tensor_release(m->params[i]);
    libdl_tensor_release(m->averages[i]);
    libdl_tensor_release(m->squares[i]);
  }
}

/* Even if it fails, the caller releases what there is. */
static libdl_error *make(Model *m, libdl_generator *random) {
  double bound = 0;
  for (int i = 0; i < PARAMETERS; ++i) {
    const int64_t shape[2] = {layout[i].rows, layout[i].columns};
    libdl_tensor **const p = &m->params[i];
    libdl_error *error;
    if (shape[1]) bound = 1 / sqrt((double)shape[1]); /* of a layer's weight, and of its bias */
    if ((error = libdl_empty(shape, shape[1] ? 2 : 1, LIBDL_DTYPE_FLOAT32, NULL, p)) ||
        (error = i < MLP ? libdl_normal_into(0, 0.1, random, *p)
                         : libdl_uniform_into(-bound, bound, random, *p)) ||
        (error = libdl_zeros_like(*p, LIBDL_DTYPE_NONE, NULL, &m->averages[i])) ||
        (error = libdl_zeros_like(*p, LIBDL_DTYPE_NONE, NULL, &m->squares[i])) ||
        (error = libdl_tensor_set_requires_grad(*p, 1)))
      return error;
  }
  return NULL;
}

static libdl_error *save(const Model *m, const char *path) {
  const char *names[PARAMETERS];
  for (int i = 0; i < PARAMETERS; ++i) names[i] = layout[i].name;
  return libdl_file_save(path, -1, names, LIBDL_READ_ONLY(m->params), PARAMETERS, NULL, NULL, 0);
}

static libdl_error *lookup(const libdl_tensor *places, const libdl_tensor *table,
                           libdl_tensor **out) {
  return libdl_embedding(places, table, NULL, 0, 0, out);
}

static libdl_error *score(const void *model, const libdl_tensor *users, const libdl_tensor *items,
                          libdl_tensor **out) {
  libdl_tensor *const *const p = ((const Model *)model)->params;
  libdl_tensor *factors[2], *halves[2], *parts[2], *h = NULL;
  libdl_error *error = libdl_scope_push_owner();
  if (error) return error;
  if ((error = lookup(users, p[MF_USER], &factors[0])) ||
      (error = lookup(items, p[MF_ITEM], &factors[1])) ||
      (error = libdl_mul(factors[0], factors[1], &parts[0])) ||
      (error = lookup(users, p[MLP_USER], &halves[0])) ||
      (error = lookup(items, p[MLP_ITEM], &halves[1])) ||
      (error = libdl_cat(LIBDL_READ_ONLY(halves), 2, 1, &h)))
    goto end;
  for (int k = MLP; k < FINAL; k += 2)
    if ((error = libdl_linear(h, p[k], p[k + 1], &h)) || (error = libdl_relu(h, &h))) goto end;
  parts[1] = h;
  if ((error = libdl_cat(LIBDL_READ_ONLY(parts), 2, 1, &h)) ||
      (error = libdl_linear(h, p[FINAL], p[FINAL + 1], &h)))
    goto end;
  error = libdl_flatten(h, 0, -1, &h);
end:
  return libdl_scope_return(error, h, out);
}

static libdl_error *update(Model *m, int64_t step) {
  libdl_tensor *grads[PARAMETERS];
  libdl_adam_options adam;
  libdl_adam_options_init(&adam);
  adam.lr = 2e-3;
  adam.step = step;
  for (int i = 0; i < PARAMETERS; ++i) grads[i] = libdl_tensor_grad(m->params[i]);
  libdl_error *error =
      libdl_adam_step(&adam, m->params, PARAMETERS, LIBDL_READ_ONLY(grads), PARAMETERS, m->averages,
                      PARAMETERS, m->squares, PARAMETERS, NULL, 0);
  for (int i = 0; i < PARAMETERS; ++i) {
    libdl_tensor_release(grads[i]);
    if (!error) error = libdl_tensor_set_grad(m->params[i], NULL);
  }
  return error;
}

/* -- the ratings ------------------------------------------------------------------------------- */

/* [USERS, WATCHED]: the items that each user watched. The last is held out. */
static libdl_error *generate(libdl_generator *random, libdl_tensor **out) {
  const int64_t items = ITEMS, each[2] = {USERS, 1}, all[2] = {USERS, ITEMS};
  libdl_tensor *genre, *appeal, *taste, *likes, *likes_too, *wish, *number, *unused;
  libdl_tensor *watched = NULL;
  libdl_error *error = libdl_scope_push_owner();
  if (error) return error;
  if ((error = libdl_randint(NULL, GENRES, &items, 1, random, LIBDL_DTYPE_NONE, NULL, &genre)) ||
      (error = libdl_rand(&items, 1, random, LIBDL_DTYPE_FLOAT32, NULL, &appeal)) ||
      (error = libdl_randint(NULL, GENRES, each, 2, random, LIBDL_DTYPE_NONE, NULL, &taste)) ||
      (error = libdl_eq(genre, taste, &likes)) ||
      (error = libdl_randint(NULL, GENRES, each, 2, random, LIBDL_DTYPE_NONE, NULL, &taste)) ||
      (error = libdl_eq(genre, taste, &likes_too)) ||
      (error = libdl_logical_or(likes, likes_too, &likes)) ||
      (error = libdl_rand(all, 2, random, LIBDL_DTYPE_FLOAT32, NULL, &wish)) ||
      (error = libdl_add(wish, appeal, NULL, &wish)) || (error = libdl_number_f64(2, &number)) ||
      (error = libdl_add(wish, likes, number, &wish)) ||
      (error = libdl_topk(wish, WATCHED, 1, 1, 1, &unused, &watched)))
    watched = NULL;
  return libdl_scope_return(error, watched, out);
}

/* All items that were watched and are not held out, user by user. */
static libdl_error *watched_items(const libdl_tensor *watched, libdl_tensor **out) {
  libdl_tensor *items = NULL;
  libdl_error *error = libdl_scope_push_owner();
  if (error) return error;
  if ((error = libdl_narrow(watched, 1, 0, WATCHED - 1, &items)) ||
      (error = libdl_flatten(items, 0, -1, &items)))
    items = NULL;
  return libdl_scope_return(error, items, out);
}

/* How often each item was watched. */
static libdl_error *count(const libdl_tensor *items, libdl_tensor **out) {
  const int64_t rows = ITEMS;
  libdl_tensor *zeros, *ones, *counts = NULL;
  libdl_error *error = libdl_scope_push_owner();
  if (error) return error;
  if ((error = libdl_zeros(&rows, 1, LIBDL_DTYPE_FLOAT32, NULL, &zeros)) ||
      (error = libdl_ones_like(items, LIBDL_DTYPE_FLOAT32, NULL, &ones)) ||
      (error = libdl_index_add(zeros, 0, items, ones, NULL, &counts)))
    counts = NULL;
  return libdl_scope_return(error, counts, out);
}

static libdl_error *popularity(const void *counts, const libdl_tensor *users,
                               const libdl_tensor *items, libdl_tensor **out) {
  (void)users;
  return libdl_index_select(counts, 0, items, out);
}

/* -- training ---------------------------------------------------------------------------------- */

typedef struct Training {
  Model model;
  libdl_tensor *watched, *items, *counts, *labels; /* items: what was watched, row by row */
  libdl_generator *random;
  int64_t step;
} Training;

/* Ends a scope after what went before, whose error is the one that matters. */
static libdl_error *end_scope(libdl_error *error) {
  libdl_error *const own = libdl_scope_pop();
  if (!error) return own;
  libdl_error_release(own);
  return error;
}

/* 1 for the pairs of a batch that were watched, then 0 for those by chance. */
static libdl_error *make_labels(libdl_tensor **out) {
  const int64_t count = SAMPLES;
  float labels[SAMPLES] = {0};
  for (int i = 0; i < BATCH; ++i) labels[i] = 1;
  libdl_error *const error = libdl_empty(&count, 1, LIBDL_DTYPE_FLOAT32, NULL, out);
  return error ? error : libdl_tensor_copy_in(*out, labels, sizeof labels);
}

/* One step, on the pairs that stand in `order` from `first` on and on others by chance. */
static libdl_error *train_step(Training *t, const libdl_tensor *order, int64_t first,
                               double *value) {
  const int64_t others = BATCH * NEGATIVES, times = 1 + NEGATIVES;
  libdl_tensor *pairs, *row, *users, *parts[2], *items, *scores, *loss;
  libdl_error *error = libdl_scope_push_owner();
  if (error) return error;
  if ((error = libdl_narrow(order, 0, first, BATCH, &pairs)) ||
      (error = libdl_number_i64(WATCHED - 1, &row)) ||
      (error = libdl_floor_divide(pairs, row, &users)) ||
      (error = libdl_repeat(users, &times, 1, &users)) ||
      (error = libdl_index_select(t->items, 0, pairs, &parts[0])) ||
      (error =
           libdl_randint(NULL, ITEMS, &others, 1, t->random, LIBDL_DTYPE_NONE, NULL, &parts[1])) ||
      (error = libdl_cat(LIBDL_READ_ONLY(parts), 2, 0, &items)) ||
      (error = score(&t->model, users, items, &scores)) ||
      (error =
           libdl_binary_cross_entropy_with_logits(scores, t->labels, NULL, NULL, 0, NULL, &loss)) ||
      (error = libdl_backward(LIBDL_READ_ONLY(&loss), 1, NULL, 0, NULL, 0, NULL)) ||
      (error = update(&t->model, ++t->step)))
    return end_scope(error);
  return end_scope(libdl_item_f64(loss, value));
}

/* So many steps of an epoch. */
static libdl_error *train(Training *t, int64_t batches, double *loss) {
  const int64_t pairs = libdl_tensor_numel(t->items);
  libdl_tensor *order;
  double value;
  libdl_error *error = libdl_randperm(pairs, t->random, LIBDL_DTYPE_NONE, NULL, &order);
  if (error) return error;
  *loss = 0;
  for (int64_t k = 0; k < batches && !error; ++k) {
    error = train_step(t, order, k * BATCH, &value);
    if (!error) *loss += value / (double)batches;
  }
  libdl_tensor_release(order);
  return error;
}

/* -- the hit ratio ----------------------------------------------------------------------------- */

typedef libdl_error *scorer(const void *by, const libdl_tensor *users, const libdl_tensor *items,
                            libdl_tensor **out);

/* Of so many users from `first` on, those whose item is among the first of its candidates. */
static libdl_error *hits(scorer *scores, const void *by, const libdl_tensor *watched, int64_t first,
                         libdl_generator *random, int64_t *out) {
  const int64_t table[2] = {RANKED_AT_ONCE, CANDIDATES};
  const int64_t others[2] = {RANKED_AT_ONCE, CANDIDATES - 1}, dim = 1;
  libdl_tensor *parts[2], *items, *users, *begin, *end, *number, *s, *own;
  libdl_error *error = libdl_scope_push_owner();
  if (error) return error;
  if ((error = libdl_narrow(watched, 0, first, RANKED_AT_ONCE, &parts[0])) ||
      (error = libdl_narrow(parts[0], 1, WATCHED - 1, 1, &parts[0])) ||
      (error = libdl_randint(NULL, ITEMS, others, 2, random, LIBDL_DTYPE_NONE, NULL, &parts[1])) ||
      (error = libdl_cat(LIBDL_READ_ONLY(parts), 2, 1, &items)) ||
      (error = libdl_flatten(items, 0, -1, &items)) ||
      (error = libdl_number_i64(first * CANDIDATES, &begin)) ||
      (error = libdl_number_i64((first + RANKED_AT_ONCE) * CANDIDATES, &end)) ||
      (error = libdl_number_i64(CANDIDATES, &number)) ||
      (error = libdl_arange(begin, end, NULL, LIBDL_DTYPE_NONE, NULL, &users)) ||
      (error = libdl_floor_divide(users, number, &users)) ||
      (error = scores(by, users, items, &s)) || (error = libdl_view(s, table, 2, &s)) ||
      (error = libdl_narrow(s, 1, 0, 1, &own)) || (error = libdl_gt(s, own, &s)) ||
      (error = libdl_sum(s, &dim, 1, 0, LIBDL_DTYPE_NONE, &s)) ||
      (error = libdl_number_i64(FIRST, &number)) || (error = libdl_lt(s, number, &s)) ||
      (error = libdl_sum(s, NULL, 0, 0, LIBDL_DTYPE_NONE, &s)))
    return end_scope(error);
  return end_scope(libdl_item_i64(s, out));
}

static libdl_error *hit_ratio(scorer *scores, const void *by, const libdl_tensor *watched,
                              double *out) {
  libdl_generator *random;
  int64_t all = 0, some;
  libdl_error *error = libdl_generator_new(2, &random); /* the same candidates each time */
  if (error) return error;
  const libdl_bool before = libdl_set_grad_enabled(0);
  for (int64_t first = 0; first < RANKED && !error; first += RANKED_AT_ONCE) {
    error = hits(scores, by, watched, first, random, &some);
    if (!error) all += some;
  }
  libdl_set_grad_enabled(before);
  libdl_generator_release(random);
  if (!error) *out = (double)all / RANKED;
  return error;
}

/* -- the program ------------------------------------------------------------------------------- */

static libdl_error *start(Training *t) {
  libdl_error *error;
  if ((error = libdl_check_abi(LIBDL_VERSION_MAJOR, LIBDL_VERSION_MINOR)) ||
      (error = libdl_generator_new(1, &t->random)) || (error = generate(t->random, &t->watched)) ||
      (error = watched_items(t->watched, &t->items)) || (error = count(t->items, &t->counts)) ||
      (error = make_labels(&t->labels)))
    return error;
  return make(&t->model, t->random);
}

static libdl_error *run(Training *t, int64_t steps, const char *file) {
  double loss, ratio;
  libdl_error *error = start(t);
  for (int epoch = 0; t->step < steps && !error; ++epoch) {
    error = train(t, steps - t->step < EPOCH ? steps - t->step : EPOCH, &loss);
    if (!error) printf("epoch %d  loss %.4f\n", epoch, loss);
  }
  if (error || (error = hit_ratio(popularity, t->counts, t->watched, &ratio))) return error;
  printf("hit ratio at %d, by popularity: %.4f\n", FIRST, ratio);
  if ((error = hit_ratio(score, &t->model, t->watched, &ratio))) return error;
  printf("hit ratio at %d, by the model: %.4f\n", FIRST, ratio);
  return file ? save(&t->model, file) : NULL;
}

int main(int argc, char **argv) {
  Training t = {{{NULL}, {NULL}, {NULL}}, NULL, NULL, NULL, NULL, NULL, 0};
  libdl_error *const error =
      run(&t, argc > 1 ? atoi(argv[1]) : EPOCHS * EPOCH, argc > 2 ? argv[2] : NULL);
  if (error) fprintf(stderr, "ncf: %s\n", libdl_error_get_message(error));
  const int status = error != NULL;
  libdl_error_release(error);
  release(&t.model);
  libdl_tensor_release(t.watched);
  libdl_tensor_release(t.items);
  libdl_tensor_release(t.counts);
  libdl_tensor_release(t.labels);
  libdl_generator_release(t.random);
  return status;
}
