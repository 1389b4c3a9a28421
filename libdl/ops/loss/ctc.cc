// SPDX-License-Identifier: Apache-2.0

// Connectionist temporal classification (Graves et al. 2006). A target of length k is spread over
// 2 k + 1 states: its classes, with blanks before, between and behind them. Each step of a path
// stays, goes on by one state, or by two if that skips a blank between different classes.
// alpha[t][s] is the logarithm of the probability of all paths up to step t that end in state s,
// beta[t][s] that of those that begin there; both count the step itself.
#include <algorithm>
#include <limits>
#include <vector>

#include "entries/arithmetic.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/exponential.h"
#include "entries/indexing.h"
#include "entries/join.h"
#include "entries/loss.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/loss/reduced.h"
#include "ops/pointwise/arithmetic.h"
#include "ops/primitive/summed.h"

namespace libdl {

namespace {

constexpr const char* kName = "ctc_loss";
// The logarithm for what no path reaches. It is finite so that derivatives are, too.
constexpr double kNever = -1e30;

// What is to be aligned: a batch of targets, and how much of each input counts.
struct Task {
  int64_t steps, batch, classes, longest, blank;
  bool zero_infinity;
  std::vector<int64_t> targets;  // [batch, longest], blanks behind a target's end
  std::vector<int64_t> input_lengths, target_lengths;

  int64_t states() const { return 2 * longest + 1; }
  int64_t label(int64_t n, int64_t s) const { return s % 2 ? targets[n * longest + s / 2] : blank; }
};

// The task as tensors. Penalties are 0 or kNever.
struct Lattice {
  Tensor labels;         // [steps, batch, states], expanded
  Tensor skips;          // [batch, states]: penalty for coming from two states before
  Tensor skips_on;       // …for going on by two states
  Tensor starts, ends;   // …for a path to begin or end there
  Tensor counts;         // [steps, batch, 1]: whether a step is within its input
  Tensor ends_later;     // …and is not its last one
  Tensor reached;        // [batch]: whether there is an input
  Tensor without_input;  // [batch]: the loss without one
};

}  // namespace

// -- reading the arguments ------------------------------------------------------------------------

static std::vector<int64_t> integers(const char* name, const Tensor& x) {
  if (x.dtype() != Dtype::kInt64 && x.dtype() != Dtype::kInt32)
    fail_argument(LIBDL_ERROR_DTYPE, kName, name, std::string("is ") + name_of(x.dtype()),
                  "int64 or int32");
  const Tensor all = plain(on_host(x), Dtype::kInt64);
  const int64_t* const value = all.numel() ? all.read_plain<int64_t>() : nullptr;
  return {value, value + all.numel()};
}

static std::vector<int64_t> lengths(const char* name, const Tensor& x, int64_t batch, bool batched,
                                    int64_t most) {
  const bool fits = batched ? x.ndim() == 1 && x.size(0) == batch : x.ndim() <= 1 && x.numel() == 1;
  if (!fits)
    fail_argument(LIBDL_ERROR_SHAPE, kName, name, "has shape " + to_string(x.shape()),
                  batched ? "[" + std::to_string(batch) + "], one a sequence" : "0-d");
  const std::vector<int64_t> all = integers(name, x);
  for (const int64_t length : all)
    if (length < 0 || length > most)
      fail_argument(LIBDL_ERROR_VALUE, kName, name, "holds " + std::to_string(length),
                    "0 to " + std::to_string(most));
  return all;
}

// Rows of one length, from rows that are padded or joined.
static std::vector<int64_t> padded(const Tensor& targets, const Task& task, bool batched) {
  const std::vector<int64_t> given = integers("targets", targets);
  const bool joined = targets.ndim() == 1 && batched;
  const int64_t row = joined ? 0 : targets.size(targets.ndim() - 1);
  std::vector<int64_t> rows(static_cast<size_t>(task.batch * task.longest), task.blank);
  int64_t from = 0;
  for (int64_t n = 0; n < task.batch; ++n) {
    for (int64_t i = 0; i < task.target_lengths[n]; ++i) {
      const int64_t c = given[from + i];
      if (c < 0 || c >= task.classes)
        fail_argument(LIBDL_ERROR_INDEX, kName, "targets", "holds " + std::to_string(c),
                      "0 to " + std::to_string(task.classes - 1));
      rows[n * task.longest + i] = c;
    }
    from += joined ? task.target_lengths[n] : row;
  }
  return rows;
}

static void check_targets_shape(const Tensor& targets, int64_t batch, bool batched) {
  const bool fits = targets.ndim() == 1 || (targets.ndim() == 2 && targets.size(0) == batch);
  if (!fits)
    fail_argument(LIBDL_ERROR_SHAPE, kName, "targets", "has shape " + to_string(targets.shape()),
                  batched ? "[" + std::to_string(batch) + ", s], or all targets joined" : "[s]");
}

static Task task_of(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                    const Tensor& target_lengths, int64_t blank, bool zero_infinity) {
  if (log_probs.dtype() != Dtype::kFloat32 && log_probs.dtype() != Dtype::kFloat64)
    fail_argument(LIBDL_ERROR_DTYPE, kName, "log_probs",
                  std::string("is ") + name_of(log_probs.dtype()), "float32 or float64");
  if (log_probs.ndim() != 2 && log_probs.ndim() != 3)
    fail_argument(LIBDL_ERROR_SHAPE, kName, "log_probs",
                  "has shape " + to_string(log_probs.shape()), "[t, n, classes] or [t, classes]");
  const bool batched = log_probs.ndim() == 3;
  Task task{log_probs.size(0),
            batched ? log_probs.size(1) : 1,
            log_probs.size(log_probs.ndim() - 1),
            0,
            blank,
            zero_infinity,
            {},
            {},
            {}};
  if (blank < 0 || blank >= task.classes)
    fail_argument(LIBDL_ERROR_VALUE, kName, "blank", "is " + std::to_string(blank),
                  "0 to " + std::to_string(task.classes - 1));
  check_targets_shape(targets, task.batch, batched);
  task.input_lengths = lengths("input_lengths", input_lengths, task.batch, batched, task.steps);
  task.target_lengths = lengths("target_lengths", target_lengths, task.batch, batched,
                                targets.size(targets.ndim() - 1));
  if (targets.ndim() == 1 && batched) {
    int64_t all = 0;
    for (const int64_t length : task.target_lengths) all += length;
    if (all != targets.size(0))
      fail_argument(LIBDL_ERROR_SHAPE, kName, "targets", "has shape " + to_string(targets.shape()),
                    "[" + std::to_string(all) + "], the sum of target_lengths");
  }
  for (const int64_t length : task.target_lengths) task.longest = std::max(task.longest, length);
  task.targets = padded(targets, task, batched);
  return task;
}

template <class T, class F>  // value(n, s)
static Tensor by_state(const Task& task, Dtype own, const Tensor& like, Dtype dtype, F&& value) {
  const int64_t shape[] = {task.batch, task.states()};
  const Tensor x = empty(shape, own);
  T* at = x.numel() ? x.overwrite_plain<T>() : nullptr;
  for (int64_t n = 0; n < task.batch; ++n)
    for (int64_t s = 0; s < task.states(); ++s) *at++ = value(n, s);
  return on_device(plain(x, dtype), like.device());
}

static Lattice lattice_of(const Task& task, const Tensor& log_probs) {
  const auto penalty = [&](auto&& allowed) {
    return by_state<double>(task, Dtype::kFloat64, log_probs, log_probs.dtype(),
                            [&](int64_t n, int64_t s) { return allowed(n, s) ? 0 : kNever; });
  };
  const auto skips = [&](int64_t n, int64_t s) {
    return s >= 2 && s < task.states() && s % 2 && task.label(n, s) != task.label(n, s - 2);
  };
  Lattice of;
  const int64_t all[] = {task.steps, task.batch, task.states()};
  of.labels = expand(by_state<int64_t>(task, Dtype::kInt64, log_probs, Dtype::kInt64,
                                       [&](int64_t n, int64_t s) { return task.label(n, s); }),
                     all);
  of.skips = penalty(skips);
  of.skips_on = penalty([&](int64_t n, int64_t s) { return skips(n, s + 2); });
  of.starts = penalty(
      [&](int64_t n, int64_t s) { return s <= std::min<int64_t>(1, 2 * task.target_lengths[n]); });
  of.ends = penalty([&](int64_t n, int64_t s) {
    const int64_t last = 2 * task.target_lengths[n];
    return s == last || s == last - 1;
  });
  const auto by_step = [&](int64_t left) {
    const int64_t shape[] = {task.steps, task.batch, 1};
    const Tensor x = empty(shape, Dtype::kBool);
    bool* at = x.numel() ? x.overwrite_plain<bool>() : nullptr;
    for (int64_t t = 0; t < task.steps; ++t)
      for (int64_t n = 0; n < task.batch; ++n) *at++ = t + left < task.input_lengths[n];
    return on_device(x, log_probs.device());
  };
  of.counts = by_step(0);
  of.ends_later = by_step(1);
  const int64_t each[] = {task.batch};
  const Tensor reached = empty(each, Dtype::kBool), loss = empty(each, Dtype::kFloat64);
  for (int64_t n = 0; n < task.batch; ++n) {
    reached.overwrite_plain<bool>()[n] = task.input_lengths[n] > 0;
    loss.overwrite_plain<double>()[n] =
        task.target_lengths[n] ? std::numeric_limits<double>::infinity() : 0;
  }
  of.reached = on_device(reached, log_probs.device());
  of.without_input = on_device(plain(loss, log_probs.dtype()), log_probs.device());
  return of;
}

// -- the recursions -------------------------------------------------------------------------------

// The sum over three ways to or from each state; beside the states, on the side of `ahead`, lie two
// that no path visits.
static Tensor three_ways(const Tensor& x, const Tensor& penalty, bool ahead) {
  const int64_t states = x.size(1), beside[] = {x.size(0), 2};
  const Tensor none = full(beside, number(kNever), x.dtype(), x.device());
  const Tensor parts[] = {ahead ? x : none, ahead ? none : x};
  const Tensor wide = cat(parts, 1);
  const Tensor ways[] = {x, narrow(wide, 1, 1, states),
                         narrow(wide, 1, ahead ? 2 : 0, states) + penalty};
  const int64_t dims[] = {0};
  return logsumexp(stack(ways, 0), Dims(dims), false);
}

// alpha, [steps, batch, states]; at: log_probs of the states' classes.
static Tensor ways_to(const Tensor& at, const Lattice& of) {
  std::vector<Tensor> alpha{of.starts + select(at, 0, 0)};
  for (int64_t t = 1; t < at.size(0); ++t)
    alpha.push_back(three_ways(alpha.back(), of.skips, false) + select(at, 0, t));
  return stack(alpha, 0);
}

// beta, likewise. It begins at each input's own last step.
static Tensor ways_from(const Tensor& at, const Lattice& of) {
  const Tensor never = number(kNever), begins = where(of.counts, of.ends + at, never);
  std::vector<Tensor> beta{select(begins, 0, at.size(0) - 1)};
  for (int64_t t = at.size(0) - 2; t >= 0; --t) {
    const Tensor on = three_ways(beta.back(), of.skips_on, true) + select(at, 0, t);
    beta.push_back(where(select(of.ends_later, 0, t), on, select(begins, 0, t)));
  }
  std::reverse(beta.begin(), beta.end());
  return stack(beta, 0);
}

// The losses, [batch]: all paths that end at the input's last step in one of the last two states.
static Tensor losses_of(const Tensor& alpha, const Task& task, const Lattice& of) {
  const Tensor last = by_state<int64_t>(
      task, Dtype::kInt64, alpha, Dtype::kInt64,
      [&](int64_t n, int64_t) { return std::max<int64_t>(0, task.input_lengths[n] - 1); });
  const int64_t dims[] = {1};
  const Tensor final =
      squeeze(gather(alpha, 0, unsqueeze(last, 0)), Dims(std::to_array<int64_t>({0})));
  const Tensor loss = neg(logsumexp(final + of.ends, Dims(dims), false));
  const Tensor finite =
      where(gt(loss, number(-0.1 * kNever)), number(std::numeric_limits<double>::infinity()), loss);
  return where(of.reached, finite, of.without_input);
}

// d losses / d scores, [steps, batch, classes]: the probability of each class minus the share of
// the paths that pass through it, exp(alpha + beta - log_probs + loss).
static Tensor slope(const Tensor& log_probs, const Tensor& alpha, const Tensor& losses,
                    const Task& task, const Lattice& of) {
  const Tensor at = gather(log_probs, 2, of.labels);
  const Tensor beta = ways_from(at, of);
  const Tensor loss = unsqueeze(losses, -1);  // [batch, 1]
  const Tensor share = where(of.counts, exp(alpha + beta - at + loss), number(0.0));
  const Tensor none = zeros(log_probs.shape(), log_probs.dtype(), log_probs.device());
  const Tensor difference = exp(log_probs) - scatter_add(none, 2, of.labels, share);
  const Tensor finite = where(
      eq(loss, number(std::numeric_limits<double>::infinity())),
      number(task.zero_infinity ? 0.0 : std::numeric_limits<double>::quiet_NaN()), difference);
  return where(of.counts, finite, number(0.0));
}

// -- the operator ---------------------------------------------------------------------------------

static Tensor alpha_of(const Tensor& log_probs, const Lattice& of) {
  return ways_to(gather(log_probs, 2, of.labels), of);
}

// Saved: log_probs and alpha. A second derivative needs the history of alpha, too.
static void ctc_vjp(Backward& b) {
  const Task& task = b.attr<Task>();
  const Tensor log_probs = b.saved(0);
  if (log_probs.numel() == 0) {
    b.set_grad(0, zeros(log_probs.shape(), log_probs.dtype(), log_probs.device()));
    return;
  }
  const Lattice of = lattice_of(task, log_probs);
  const Tensor alpha = b.differentiated() ? alpha_of(log_probs, of) : b.saved(1);
  b.set_grad(0,
             slope(log_probs, alpha, losses_of(alpha, task, of), task, of) * unsqueeze(b.dy(), -1));
}
static const Rule kCtc{kName, ctc_vjp};

// [batch] losses of log_probs [steps, batch, classes].
static Tensor recorded(const Tensor& log_probs, const Task& task) {
  Call call(kName, {}, {&log_probs});
  const Lattice of = lattice_of(task, log_probs);
  const bool any = log_probs.numel() > 0;
  const Tensor alpha = any ? alpha_of(log_probs, of) : of.without_input;
  const Tensor losses = call.done(any ? losses_of(alpha, task, of) : of.without_input, kCtc, task,
                                  {saves_input(log_probs, 0), saves_value(alpha)});
  if (call.forward())
    call.jvp(losses, [&] {
      if (!any) return zeros(losses.shape(), losses.dtype(), losses.device());
      const Tensor own = alpha_of(log_probs, of);
      const int64_t dims[] = {0, 2};
      return sum(slope(log_probs, own, losses_of(own, task, of), task, of) * call.tangent(0),
                 Dims(dims));
    });
  return losses;
}

Tensor ctc_loss_impl(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                     const Tensor& target_lengths, int64_t blank, Word reduction,
                     bool zero_infinity) {
  const Reduce how = reduction_of(kName, reduction);
  const Task task =
      task_of(log_probs, targets, input_lengths, target_lengths, blank, zero_infinity);
  const bool batched = log_probs.ndim() == 3;
  const Named named(kName);
  Tensor losses = recorded(batched ? log_probs : unsqueeze(log_probs, 1), task);
  if (zero_infinity)
    losses =
        where(eq(losses, number(std::numeric_limits<double>::infinity())), number(0.0), losses);
  if (how == Reduce::kMean) {
    const int64_t each[] = {task.batch};
    const Tensor count = empty(each, Dtype::kFloat64);
    for (int64_t n = 0; n < task.batch; ++n)
      count.overwrite_plain<double>()[n] =
          static_cast<double>(std::max<int64_t>(1, task.target_lengths[n]));
    const Dtype wide = summed_as(log_probs.dtype());  // which holds every length
    const Tensor lengths = on_device(plain(count, wide), log_probs.device());
    losses = cast(div(cast(losses, wide), lengths), log_probs.dtype());
  }
  return named(reduced(batched ? losses : reshape(losses, Dims()), how));
}

}  // namespace libdl
