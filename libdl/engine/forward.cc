// SPDX-License-Identifier: Apache-2.0

#include "engine/forward.h"

#include "ops/view.h"

namespace libdl {

Tensor make_dual(const Tensor& primal, const Tensor& tangent) {
  const ModeGuard outer(kModeForward);
  Tensor dual = view(primal, primal.shape());
  Meta& meta = meta_of(dual);
  meta.tangent = tangent;
  meta.tangent_level = state().forward_level;
  return dual;
}

}  // namespace libdl
