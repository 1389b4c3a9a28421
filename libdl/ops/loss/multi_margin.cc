// SPDX-License-Identifier: Apache-2.0

// Hinges over several classes.
#include "device/meta.h"
#include "entries/activation.h"
#include "entries/arithmetic.h"
#include "entries/bitwise.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/indexing.h"
#include "entries/loss.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"
#include "ops/loss/reduced.h"
#include "ops/pointwise/arithmetic.h"

namespace libdl {

// Scores as [n, classes]; without a batch n is 1.
static Tensor as_rows(const char* op, const Tensor& input) {
  if (input.ndim() > 2 || (input.ndim() > 0 && input.size(input.ndim() - 1) == 0))
    fail_argument(LIBDL_ERROR_SHAPE, op, "input", "has shape " + to_string(input.shape()),
                  "[n, classes] or [classes], with at least one class");
  const int64_t classes = input.ndim() ? input.size(input.ndim() - 1) : 1;
  const int64_t rows[] = {input.ndim() == 2 ? input.size(0) : 1, classes};
  return input.ndim() == 2 ? input : reshape(input, rows);
}

static void check_classes(const char* op, const Tensor& target) {
  if (target.dtype() != Dtype::kInt64)
    fail_argument(LIBDL_ERROR_DTYPE, op, "target", std::string("is ") + name_of(target.dtype()),
                  "int64 classes");
}

LIBDL_NORETURN static void refuse_class(const char* op, int64_t found, int64_t classes) {
  fail_argument(LIBDL_ERROR_INDEX, op, "target", "holds " + std::to_string(found),
                "0 to " + std::to_string(classes - 1));
}

static void check_labels(const char* op, const Tensor& target, int64_t classes) {
  if (is_meta(target.device())) return;
  const Tensor labels = plain(on_host(target));
  const int64_t* const label = labels.read_plain<int64_t>();
  for (int64_t i = 0; i < labels.numel(); ++i)
    if (label[i] < 0 || label[i] >= classes) refuse_class(op, label[i], classes);
}

Tensor multi_margin_loss_impl(const Tensor& input, const Tensor& target, int64_t p, double margin,
                              const Tensor* weight, Word reduction) {
  const char* const op = "multi_margin_loss";
  const Reduce how = reduction_of(op, reduction);
  if (p != 1 && p != 2)
    fail_argument(LIBDL_ERROR_VALUE, op, "p", "is " + std::to_string(p), "1 or 2");
  check_floating(op, {input, "input"});
  check_classes(op, target);
  const Tensor x = as_rows(op, input);
  const int64_t n = x.size(0), classes = x.size(1), one_each[] = {n, 1};
  const bool fits = input.ndim() == 2 ? target.ndim() == 1 && target.size(0) == n
                                      : target.ndim() <= 1 && target.numel() == 1;
  if (!fits)
    fail_argument(LIBDL_ERROR_SHAPE, op, "target", "has shape " + to_string(target.shape()),
                  "one class for each row of input, [" + std::to_string(n) + "]");
  if (weight && (weight->ndim() != 1 || weight->size(0) != classes))
    fail_argument(LIBDL_ERROR_SHAPE, op, "weight", "has shape " + to_string(weight->shape()),
                  "[" + std::to_string(classes) + "], one a class");
  if (weight && weight->dtype() != input.dtype())
    fail_argument(LIBDL_ERROR_DTYPE, op, "weight", std::string("is ") + name_of(weight->dtype()),
                  name_of(input.dtype()));
  if (weight && has_history(*weight) && (state().mode & kModeGrad))
    fail_argument(LIBDL_ERROR_AUTOGRAD, op, "weight", "requires grad, which it cannot get",
                  "detach() of it");
  check_labels(op, target, classes);

  const Named named(op);
  const Tensor right = reshape(target, one_each);
  // The right class itself costs nothing; relu has no slope at 0, as PyTorch's kernel.
  Tensor costs = relu(x - gather(x, 1, right) + margin);
  if (p == 2) costs = square(costs);
  costs = scatter(costs, 1, right, number(0.0));
  if (weight) {
    const Tensor labelled = index_select(*weight, 0, reshape(target, Dims(one_each).first(1)));
    costs = costs * reshape(labelled, one_each);
  }
  const int64_t dims[] = {1};
  const Tensor rows = divided_sum(costs, Dims(dims), number(classes));
  return named(reduced(target.ndim() ? rows : reshape(rows, Dims()), how));
}

namespace {
// The right classes of each row, of which a list holds the first before a -1.
struct Labels {
  Tensor index;     // [n, most]: int64, 0 behind a list's end
  Tensor counts;    // [n, most]: bool, whether it belongs to the list
  Tensor is_right;  // [n, classes]: bool
};
}  // namespace

static Labels labels_of(const char* op, const Tensor& target, int64_t n, int64_t classes,
                        Device device) {
  const int64_t all[] = {n, classes};
  if (is_meta(device))
    return {empty(all, Dtype::kInt64, device), empty(all, Dtype::kBool, device),
            empty(all, Dtype::kBool, device)};
  const Tensor given = plain(on_host(target));
  const int64_t* const label = given.read_plain<int64_t>();
  const auto length = [&](int64_t row) {
    int64_t k = 0;
    while (k < classes && label[row * classes + k] != -1) ++k;
    return k;
  };
  int64_t most = 0;
  for (int64_t row = 0; row < n; ++row) {
    const int64_t k = length(row);
    most = std::max(most, k);
    for (int64_t i = 0; i < k; ++i)
      if (const int64_t c = label[row * classes + i]; c < 0 || c >= classes)
        refuse_class(op, c, classes);
  }
  const int64_t lists[] = {n, most};
  const Tensor index = zeros(lists, Dtype::kInt64), counts = zeros(lists, Dtype::kBool);
  const Tensor is_right = zeros(all, Dtype::kBool);
  if (n * most > 0) {
    int64_t* const at = index.update_plain<int64_t>();
    bool* const counted = counts.update_plain<bool>();
    bool* const right = is_right.update_plain<bool>();
    for (int64_t row = 0; row < n; ++row)
      for (int64_t i = 0, k = length(row); i < k; ++i) {
        const int64_t c = label[row * classes + i];
        at[row * most + i] = c, counted[row * most + i] = true, right[row * classes + c] = true;
      }
  }
  return {on_device(index, device), on_device(counts, device), on_device(is_right, device)};
}

Tensor multilabel_margin_loss_impl(const Tensor& input, const Tensor& target, Word reduction) {
  const char* const op = "multilabel_margin_loss";
  const Reduce how = reduction_of(op, reduction);
  check_floating(op, {input, "input"});
  check_classes(op, target);
  const Tensor x = as_rows(op, input);
  if (!same(target.shape(), input.shape()))
    fail_argument(LIBDL_ERROR_SHAPE, op, "target", "has shape " + to_string(target.shape()),
                  to_string(input.shape()));
  const int64_t n = x.size(0), classes = x.size(1);
  const Labels right = labels_of(op, target, n, classes, x.device());
  const Named named(op);
  // [n, list, classes]: every right class against every wrong one
  const Tensor costs = relu(unsqueeze(x, 1) - unsqueeze(gather(x, 1, right.index), 2) + 1.0);
  const Tensor counted =
      logical_and(unsqueeze(right.counts, 2), unsqueeze(logical_not(right.is_right), 1));
  const int64_t dims[] = {1, 2};
  const Tensor rows = divided_sum(where(counted, costs, number(0.0)), Dims(dims), number(classes));
  return named(reduced(input.ndim() == 2 ? rows : reshape(rows, Dims()), how));
}

}  // namespace libdl
