// SPDX-License-Identifier: Apache-2.0

// Operators made of others (Kind: composed). Their author writes NAME_impl, which checks the
// arguments and calls the entries of other operators. These record themselves, carry tangents, and
// are shown to interceptors one by one, so that gradients, forward mode and vmap follow. It reads
// no elements, writes into no tensor, and launches no kernel. What the entry (tools/entries.py)
// does beside that stands here.
#pragma once

#include <initializer_list>
#include <tuple>
#include <utility>
#include <vector>

#include "entries/copy.h"
#include "ops/copy/copy.h"
#include "ops/core/call.h"

namespace libdl {

namespace composed_detail {

// Results under the operator's name, but views, which have the rule of views.
inline Tensor named(const Named& name, Tensor y) {
  return y.meta() && y.meta()->view != ViewKind::kNone ? y : name(std::move(y));
}
inline std::vector<Tensor> named(const Named& name, std::vector<Tensor> ys) {
  for (Tensor& y : ys) y = named(name, std::move(y));
  return ys;
}
template <class... R>
std::tuple<R...> named(const Named& name, std::tuple<R...> ys) {
  return std::apply([&](auto&... y) { return std::tuple<R...>(named(name, std::move(y))...); }, ys);
}

}  // namespace composed_detail

// What body returns. An error of an operator inside is op's own: an argument of the same name is
// its own, too.
template <class Body>
auto composed(const char* op, std::initializer_list<Renamed> arguments, Body&& body) {
  const Named name(op);
  return rename_error(op, arguments,
                      [&] { return composed_detail::named(name, std::forward<Body>(body)()); });
}

// The tensors among the arguments.
template <class... A>
std::vector<const Tensor*> operands_of(const A&... arguments) {
  std::vector<const Tensor*> operands;
  const auto add = [&](const Tensor* x) {
    if (x) operands.push_back(x);
  };
  const auto add_all = [&](const auto& a) {
    using T = std::remove_cvref_t<decltype(a)>;
    if constexpr (std::is_same_v<T, Tensor>) add(&a);
    if constexpr (std::is_same_v<T, const Tensor*>) add(a);
    if constexpr (std::is_same_v<T, TensorSpan>)
      for (const Tensor& x : a) add(&x);
  };
  (add_all(arguments), ...);
  return operands;
}

// The into form, of y. No gradient flows to truths and places: what is their operand may require
// one.
inline Tensor write_composed(const char* op, const Tensor& y, Into into,
                             std::vector<const Tensor*> operands) {
  refuse_overlap(op, into, operands);
  if (!is_inexact(y.dtype()))
    std::erase_if(operands, [&](const Tensor* x) { return !x->is(into.tensor()); });
  const bool shifted = into && overlap(into.tensor(), y) == Overlap::kPartial;  // y: a view of dst
  return write_result(op, shifted ? clone(y) : y, into, operands);
}

// An operand as the operator reads it: a copy, where x itself is written and backward may read it.
inline Tensor as_it_was(const Tensor& x, Into into) {
  const bool seen_later = (state().mode & (kModeGrad | kModeForward)) != 0;
  if (!seen_later || !into || x.is_number() || overlap(into.tensor(), x) != Overlap::kFull)
    return x;
  return clone(x);
}

}  // namespace libdl
