// SPDX-License-Identifier: Apache-2.0

// Compile-time checks of the generated C functions against libdl/ops.
#pragma once

#include "ops/core/into.h"

namespace libdl::capi {

template <class F>
struct Declared;
template <class R, class... A>
struct Declared<R(A...)> {
  using Pointer = R (*)(A...);
  using WithInto = R (*)(A..., Into);  // an operator may take it even if no header offers it
};

}  // namespace libdl::capi

// Whether libdl::name is a function of exactly this type; calling it would also accept arguments
// that need a conversion.
#define LIBDL_IS_DECLARED(name, ...)                                         \
  []<class F, class G>(F f, G g) {                                           \
    return requires { f = &libdl::name; } || requires { g = &libdl::name; }; \
  }(::libdl::capi::Declared<__VA_ARGS__>::Pointer(),                         \
    ::libdl::capi::Declared<__VA_ARGS__>::WithInto())

#define LIBDL_DECLARED(name, ...)                     \
  static_assert(LIBDL_IS_DECLARED(name, __VA_ARGS__), \
                "libdl/ops declares no " #name ": " #__VA_ARGS__)
