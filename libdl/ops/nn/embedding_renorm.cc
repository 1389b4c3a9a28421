// SPDX-License-Identifier: Apache-2.0

// Rows of a table brought to a norm, before they are read.
#include "device/meta.h"
#include "entries/arithmetic.h"
#include "entries/comparison.h"
#include "entries/copy.h"
#include "entries/indexing.h"
#include "entries/nn.h"
#include "entries/reduction.h"
#include "entries/view.h"
#include "ops/core/call.h"

namespace libdl {

Tensor embedding_renorm_impl(const Tensor& indices, double max_norm, double norm_type, Into into) {
  const char* const op = "embedding_renorm_";
  const ModeGuard off(kModeGrad | kModeForward);
  const Tensor& table = into.tensor();
  Call(op, into, {}).check_destination({});  // also where no row is too long
  return rename_error(op, {{"input", "indices"}, {"weight", "dst"}}, [&] {
    const int64_t all[] = {-1}, columns[] = {1};
    const Tensor places = reshape(indices, all), rows = embedding(places, table);
    if (is_meta(table.device())) return table;
    const Tensor order = number(norm_type);
    const Tensor norms = rename_error(op, {{"input", "dst"}, {"p", "norm_type"}},
                                      [&] { return norm(rows, &order, Dims(columns), true); });
    const Tensor longer[] = {squeeze(gt(norms, number(max_norm)), Dims(columns))};
    if (!item_bool(any(longer[0]))) return table;
    // 1e-7 is PyTorch's guard against norms close to 0.
    const Tensor factor = div(number(max_norm), add(index(norms, longer), number(1e-7)));
    const Tensor named[] = {index(places, longer)};
    return index_put(table, named, mul(index(rows, longer), factor), false, into);
  });
}

}  // namespace libdl
