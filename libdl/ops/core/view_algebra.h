// SPDX-License-Identifier: Apache-2.0

// What histories and tangents need of views: these rules call operators, which stand above
// recording, so they are defined in ops/view/view_algebra.cc.
#pragma once

#include "tape/meta.h"

namespace libdl {

struct ViewAlgebra {
  // The history of x as a view of its base, whose own is `base`: an edge of which the reference is
  // taken.
  Ref<Node> (*history)(const Tensor& x, Edge base);
  // A node without edges: its output is x's base once x is written to, made of the base (input 0)
  // and of x's new value (input 1).
  Ref<Node> (*write)(const Tensor& x);

  // Whether x, a view of root, has a tangent that is a part of the root's; a view of the bytes as
  // another dtype has none.
  bool (*share_elements)(const Tensor& root, const Tensor& x);
  // The part of the root's tangent t that x sees.
  Tensor (*part)(const Tensor& t, const Tensor& root, const Tensor& x);
  // The root's tangent once x's part of it is `part`.
  Tensor (*with_part)(const Tensor& t, const Tensor& root, const Tensor& x, const Tensor& part);
  // t in the shape and dtype of value, which a rule may have saved in another dtype or with its
  // dimensions joined.
  Tensor (*fitted)(const Tensor& t, const Tensor& value);
  Tensor (*cast)(const Tensor& t, Dtype dtype);
};
extern const ViewAlgebra kViewAlgebra;

}  // namespace libdl
