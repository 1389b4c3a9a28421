# SPDX-License-Identifier: Apache-2.0
"""Every kind of argument and of result, in C and in all that is generated from it: one row a kind.

Texts hold {x} for the argument, {c} for the name of its count, {n} for its number and {v} for a
generic call's value. A pair is (as it must be given, where it may be absent); "" stands where there
is no such argument.
"""

from __future__ import annotations

from dataclasses import dataclass

Pair = tuple[str, str]


@dataclass(frozen=True)
class Taken:
    """How C takes a value from Python. {i}: the argument's place; {from_}: what errors tell of it,
    and its value. `take` is an expression: 0, or an exception is set."""

    held: str  # the declaration, which is valid when nothing was taken
    take: str
    passed: str
    freed: str = ""


@dataclass(frozen=True)
class Kind:
    c: Pair  # the parameters of the C function
    checked: Pair  # in a door: what the C++ function is given
    held: Pair  # the C parameters (and count) out of a generic call's value
    value: str  # LIBDL_VALUE_ of a generic call
    core: Pair  # the parameter of the C++ function
    python: str  # its annotation
    taken: tuple[Taken | None, Taken | None]
    hpp: Pair  # the parameter in libdl.hpp
    hpp_passed: Pair  # and what that gives to C
    rust: Pair
    rust_passed: Pair
    rust_bound: Pair = ("", "")  # what Rust binds before the call
    schema: str = ""  # in an operator's schema, where it is not the kind's own name
    held_absent: str = ""  # `held` of a value that may be NONE, where it is another


def _twice(text: str) -> Pair:
    return (text, text)


_OPERAND = Taken(
    "Operand {x} = {{0}};",
    "take_operand({from_}, &{x})",
    "{x}.handle",
    "libdl_tensor_release({x}.own);",
)
_OPERANDS = Taken(
    "Operands {x} = {{0}};",
    "take_operands({from_}, &{x})",
    "(const libdl_tensor* const*){x}.items, {x}.count",
    "free_operands(&{x});",
)
_INTEGERS = Taken(
    "Integers {x} = {{0}};",
    "take_integers({from_}, &{x})",
    "{x}.items, {x}.count",
    "free_integers(&{x});",
)
_STRING = Taken("String {x} = {{0}};", "take_string({from_}, &{x})", "{x}.text, {x}.length")


KINDS = {
    "tensor": Kind(
        c=_twice("const libdl_tensor* {x}"),
        checked=("in_tensor{admits}(op, {n}, {x})", "in_optional_tensor{admits}(op, {n}, {x})"),
        held=("{v}.held.tensor", ""),
        value="TENSOR",
        core=("const Tensor&", "const Tensor*"),
        python="Tensor",
        taken=(_OPERAND, _OPERAND),
        hpp=_twice("const Tensor&"),
        hpp_passed=_twice("{x}.get()"),
        rust=("&Tensor", "Option<&Tensor>"),
        rust_passed=("{x}.as_ptr()", "Tensor::option_ptr({x})"),
    ),
    # A tensor for which a number may stand; in C and C++ a tensor like others.
    "number": Kind(
        c=_twice("const libdl_tensor* {x}"),
        checked=("in_tensor{admits}(op, {n}, {x})", "in_optional_tensor{admits}(op, {n}, {x})"),
        held=("{v}.held.tensor", ""),
        value="TENSOR",
        core=("const Tensor&", "const Tensor*"),
        python="Tensor | Number",
        taken=(_OPERAND, _OPERAND),
        hpp=_twice("const Operand&"),
        hpp_passed=_twice("{x}.get()"),
        rust=("impl Into<Operand<'a>>", "Option<Operand<'_>>"),
        rust_passed=_twice("{x}.as_ptr()"),
        rust_bound=("let {x} = Given::new({x}.into())?;", "let {x} = Given::option({x})?;"),
    ),
    # A tensor that the operator reads and writes, beside its results.
    "updated": Kind(
        c=("", "libdl_tensor* {x}"),
        checked=("", "in_updated_tensor(op, {n}, {x})"),
        held=("", "{v}.held.tensor"),
        value="TENSOR",
        schema="tensor",
        core=("", "const Tensor*"),
        python="Tensor",
        taken=(
            None,
            Taken("libdl_tensor* {x} = NULL;", "take_updated({from_}, &{x})", "{x}"),
        ),
        hpp=("", "const Tensor&"),
        hpp_passed=("", "{x}.get()"),
        rust=("", "Option<&Tensor>"),
        rust_passed=("", "Tensor::option_mut_ptr({x})"),
    ),
    "tensors": Kind(
        c=_twice("const libdl_tensor* const* {x}, int64_t {c}"),
        checked=(
            "in_tensors{admits}(op, {n}, {x}, {c}, false)",
            "in_tensors{admits}(op, {n}, {x}, {c}, true)",
        ),
        held=("{v}.held.tensors.items", "{v}.held.tensors.count"),
        value="TENSORS",
        core=_twice("TensorSpan"),
        python="Sequence[Tensor]",
        taken=(_OPERANDS, _OPERANDS),
        hpp=_twice("const Tensors&"),
        hpp_passed=_twice("{x}.data(), {x}.size()"),
        rust=("&[impl Borrow<Tensor>]", "&[Option<&Tensor>]"),
        rust_passed=_twice("{x}.as_ptr(), {x}.len() as i64"),
        rust_bound=("let {x} = pointers({x});", "let {x} = optional_pointers({x});"),
    ),
    "ints": Kind(
        c=_twice("const int64_t* {x}, int32_t {c}"),
        checked=("in_ints(op, {n}, {x}, {c})", "in_optional_ints(op, {n}, {x}, {c})"),
        held=("{v}.held.integers.items", "Count{{{v}.held.integers.count}}"),
        value="INTS",
        core=("Dims", "std::optional<Dims>"),
        python="int | Sequence[int]",
        taken=(_INTEGERS, _INTEGERS),
        hpp=_twice("const Dims&"),
        hpp_passed=("{x}.given(), {x}.size()", "{x}.data(), {x}.size()"),
        rust=("&[i64]", "Option<&[i64]>"),
        rust_passed=("{x}.as_ptr(), count({x})", "optional_list({x}), {x}.map_or(0, count)"),
    ),
    "int": Kind(
        c=("int64_t {x}", "const int64_t* {x}"),
        checked=("{x}", "in_optional_number({x})"),
        held=("{v}.held.integer", ""),
        held_absent="int_or_null({v})",
        value="INT",
        core=("int64_t", "std::optional<int64_t>"),
        python="int",
        taken=(
            Taken("int64_t {x};", "take_integer({from_}, &{x})", "{x}"),
            Taken("Integer {x} = {{0}};", "take_optional_integer({from_}, &{x})", "{x}.given"),
        ),
        hpp=("int64_t", "std::optional<int64_t>"),
        hpp_passed=("{x}", "detail::pointer({x})"),
        rust=("i64", "Option<i64>"),
        rust_passed=("{x}", "optional({x}.as_ref())"),
    ),
    "float": Kind(
        c=("double {x}", "const double* {x}"),
        checked=("{x}", "in_optional_number({x})"),
        held=("{v}.held.number", ""),
        held_absent="float_or_null({v})",
        value="FLOAT",
        core=("double", "std::optional<double>"),
        python="float",
        taken=(
            Taken("double {x};", "take_number({from_}, &{x})", "{x}"),
            Taken("Number {x} = {{0}};", "take_optional_number({from_}, &{x})", "{x}.given"),
        ),
        hpp=("double", "std::optional<double>"),
        hpp_passed=("{x}", "detail::pointer({x})"),
        rust=("f64", "Option<f64>"),
        rust_passed=("{x}", "optional({x}.as_ref())"),
    ),
    "dim": Kind(
        c=("int32_t {x}", ""),
        checked=("{x}", ""),
        held=("in_dim(op, {n}, {v}.held.integer)", ""),
        value="INT",
        schema="int",
        core=("int32_t", ""),
        python="int",
        taken=(Taken("int32_t {x};", "take_dim({from_}, &{x})", "{x}"), None),
        hpp=("int32_t", ""),
        hpp_passed=("{x}", ""),
        rust=("i32", ""),
        rust_passed=("{x}", ""),
    ),
    "bool": Kind(
        c=("libdl_bool {x}", ""),
        checked=("{x} != 0", ""),
        held=("{v}.held.boolean", ""),
        value="BOOL",
        core=("bool", ""),
        python="bool",
        taken=(Taken("libdl_bool {x};", "take_bool(args[{i}], &{x})", "{x}"), None),
        hpp=("bool", ""),
        hpp_passed=("{x}", ""),
        rust=("bool", ""),
        rust_passed=("libdl_bool::from({x})", ""),
    ),
    "dtype": Kind(  # absent: NONE
        c=("libdl_dtype {x}", ""),
        checked=("in_dtype(op, {n}, {x})", ""),
        held=("{v}.held.dtype", ""),
        value="DTYPE",
        core=("Dtype", ""),
        python="DtypeLike",
        taken=(Taken("libdl_dtype {x};", "take_dtype({from_}, &{x})", "{x}"), None),
        hpp=("Dtype", ""),
        hpp_passed=("static_cast<libdl_dtype>({x})", ""),
        rust=("Option<Dtype>", ""),
        rust_passed=("Dtype::option_code({x})", ""),
    ),
    "device": Kind(
        c=("", "const libdl_device* {x}"),
        checked=("", "in_optional_device({x})"),
        held=("device_or_null({v})", ""),
        value="DEVICE",
        core=("", "std::optional<Device>"),
        python="DeviceLike",
        taken=(
            None,
            Taken("Device {x} = {{0}};", "take_device({from_}, &{x})", "{x}.given"),
        ),
        hpp=("", "std::optional<Device>"),
        hpp_passed=("", "detail::pointer({x})"),
        rust=("", "Option<Device>"),
        rust_passed=("", "optional({x}.as_ref().map(Device::as_c))"),
    ),
    "string": Kind(
        c=_twice("const char* {x}, int64_t {c}"),
        checked=("in_string(op, {n}, {x}, {c})", "in_optional_string(op, {n}, {x}, {c})"),
        held=("{v}.held.string.text", "{v}.held.string.length"),
        value="STRING",
        core=("std::string_view", "std::optional<std::string_view>"),
        python="str",
        taken=(_STRING, _STRING),
        hpp=("std::string_view", "std::optional<std::string_view>"),
        hpp_passed=(
            "{x}.data(), detail::length({x})",
            "detail::text({x}), detail::length({x})",
        ),
        rust=("&str", "Option<&str>"),
        rust_passed=(
            "{x}.as_ptr().cast(), {x}.len() as i64",
            "text({x}), {x}.map_or(0, |x| x.len() as i64)",
        ),
    ),
    "generator": Kind(
        c=("", "libdl_generator* {x}"),
        checked=("", "in_optional_generator(op, {n}, {x})"),
        held=("{v}.held.generator", ""),
        value="GENERATOR",
        core=("", "Generator*"),
        python="Generator",
        taken=(
            None,
            Taken("libdl_generator* {x};", "take_generator({from_}, &{x})", "{x}"),
        ),
        hpp=("", "const Generator&"),
        hpp_passed=("", "{x}.get()"),
        rust=("", "Option<&Generator>"),
        rust_passed=("", "Generator::option_ptr({x})"),
    ),
}


@dataclass(frozen=True)
class ResultKind:
    c: str  # the parameter of the C function
    value: str  # LIBDL_VALUE_ of a generic call
    core: str
    python: str
    wrapped: tuple[str, str]  # for Python: the declaration of what C writes, and the object of it
    hpp: tuple[str, str, str]  # its type, what C writes to, and how it is taken over
    rust: tuple[str, str, str]  # its type, its place before the call, and how it is taken over
    schema: str = ""  # as of arguments


RESULT_KINDS = {
    "tensor": ResultKind(
        c="libdl_tensor** {x}",
        value="TENSOR",
        core="Tensor",
        python="Tensor",
        wrapped=("libdl_tensor* {x} = NULL;", "wrap_optional({x})"),
        hpp=("Tensor", "libdl_tensor*", "Tensor::take({x})"),
        rust=("Tensor", "std::ptr::null_mut()", "Tensor::from_raw({x})"),
    ),
    "tensor_list": ResultKind(
        c="libdl_tensor_list** {x}",
        value="TENSOR_LIST",
        schema="tensors",
        core="std::vector<Tensor>",
        python="tuple[Tensor, ...]",
        wrapped=("libdl_tensor_list* {x} = NULL;", "wrap_list({x})"),
        hpp=("std::vector<Tensor>", "libdl_tensor_list*", "detail::take_list({x})"),
        rust=("Vec<Tensor>", "std::ptr::null_mut()", "take_list({x})"),
    ),
    "bool": ResultKind(
        c="libdl_bool* {x}",
        value="BOOL",
        core="bool",
        python="bool",
        wrapped=("libdl_bool {x} = 0;", "PyBool_FromLong({x})"),
        hpp=("bool", "libdl_bool", "{x} != 0"),
        rust=("bool", "0", "{x} != 0"),
    ),
    "int": ResultKind(
        c="int64_t* {x}",
        value="INT",
        core="int64_t",
        python="int",
        wrapped=("int64_t {x} = 0;", "PyLong_FromLongLong({x})"),
        hpp=("int64_t", "int64_t", "{x}"),
        rust=("i64", "0", "{x}"),
    ),
    "uint": ResultKind(
        c="uint64_t* {x}",
        value="UINT",
        core="uint64_t",
        python="int",
        wrapped=("uint64_t {x} = 0;", "PyLong_FromUnsignedLongLong({x})"),
        hpp=("uint64_t", "uint64_t", "{x}"),
        rust=("u64", "0", "{x}"),
    ),
    "float": ResultKind(
        c="double* {x}",
        value="FLOAT",
        core="double",
        python="float",
        wrapped=("double {x} = 0;", "PyFloat_FromDouble({x})"),
        hpp=("double", "double", "{x}"),
        rust=("f64", "0.0", "{x}"),
    ),
}
