// SPDX-License-Identifier: Apache-2.0

// Combines two elements of one dtype: what scatter and accumulating index_put do if indices
// coincide. Half types compute in float; integers wrap; a NaN on either side wins.
#pragma once

#include <type_traits>

#include "kernels/cpu/traverse/elements.h"

namespace libdl::kernels::cpu {

template <class Element>
Element sum(Element a, Element b) {
  using C = typename Element::Compute;
  if constexpr (std::is_same_v<C, bool>) {
    return Element::store(a.load() || b.load());
  } else if constexpr (std::is_integral_v<C>) {
    return Element::store(
        static_cast<C>(static_cast<uint64_t>(a.load()) + static_cast<uint64_t>(b.load())));
  } else {
    return Element::store(a.load() + b.load());
  }
}

template <class Element>
Element product(Element a, Element b) {
  using C = typename Element::Compute;
  if constexpr (std::is_same_v<C, bool>) {
    return Element::store(a.load() && b.load());
  } else if constexpr (std::is_integral_v<C>) {
    return Element::store(
        static_cast<C>(static_cast<uint64_t>(a.load()) * static_cast<uint64_t>(b.load())));
  } else if constexpr (kIsComplex<C>) {  // written out: operator* calls a function that repairs NaN
    const C x = a.load(), y = b.load();
    return Element::store(
        C(x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()));
  } else {
    return Element::store(a.load() * b.load());
  }
}

// Complex numbers have no order; the operators have refused them already.
template <class Element>
Element larger(Element a, Element b) {
  if constexpr (kIsComplex<typename Element::Compute>) {
    return b;
  } else {
    const auto x = a.load(), y = b.load();
    return x > y || x != x ? a : b;
  }
}

template <class Element>
Element smaller(Element a, Element b) {
  if constexpr (kIsComplex<typename Element::Compute>) {
    return b;
  } else {
    const auto x = a.load(), y = b.load();
    return x < y || x != x ? a : b;
  }
}

}  // namespace libdl::kernels::cpu
