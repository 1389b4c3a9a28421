# SPDX-License-Identifier: Apache-2.0
"""fastcall.py --wrapper FILE --out FILE: what SWIG wrote for Python, with arguments taken from the
caller's array (METH_FASTCALL) instead of a tuple that is made for each call. SWIG 4.5 knows
METH_VARARGS alone; the tuple and its unpacking by the limited API cost 30 ns, a quarter of a call."""

from __future__ import annotations

import argparse
import pathlib
import re

FUNCTION = re.compile(r"(?m)^(?=SWIGINTERN PyObject \*_wrap_)")
HEAD = re.compile(r"SWIGINTERN PyObject \*_wrap_(\w+)\(PyObject \*self, PyObject \*args\) \{")
ARRAY = re.compile(r"PyObject \*swig_obj\[\d+\] ;")
UNPACKED = re.compile(
    r'if \(!SWIG_Python_UnpackTuple\(args, "(\w+)", (\d+), \2, swig_obj\)\) SWIG_fail;'
)
COUNTED = r"""if (count != \2) {
    PyErr_Format(PyExc_TypeError, "\1 expected \2 arguments, got %d", (int)count);
    SWIG_fail;
  }"""


def by_array(function: str) -> tuple[str, str | None]:
    """The function with an array of arguments, and its name; as it is, and None, if it takes one
    argument or none: those SWIG already takes without a tuple."""
    head, unpacked = HEAD.match(function), UNPACKED.search(function)
    if not head or not unpacked:
        return function, None
    name = head[1]
    signature = f"_wrap_{name}(PyObject *self, PyObject *const *args, Py_ssize_t count)"
    function = function.replace(f"_wrap_{name}(PyObject *self, PyObject *args)", signature, 1)
    function = ARRAY.sub("PyObject **const swig_obj = (PyObject **)args;", function, count=1)
    return UNPACKED.sub(COUNTED, function, count=1), name


def converted(text: str) -> str:
    """The whole wrapper. Raises ValueError where a function's table entry is not as expected."""
    functions = [by_array(function) for function in FUNCTION.split(text)]
    text = "".join(function for function, _ in functions)
    names = [name for _, name in functions if name]
    if not names:
        raise ValueError("fastcall: SWIG's output has no function of the form that it wrote in 4.5")
    for name in names:
        entry = f"_wrap_{name}, METH_VARARGS,"
        if text.count(entry) != 1:
            raise ValueError(f"fastcall: found {text.count(entry)} of '{entry}', wanted 1")
        text = text.replace(entry, f"(PyCFunction)(void (*)(void))_wrap_{name}, METH_FASTCALL,")
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wrapper", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    arguments.out.write_text(converted(arguments.wrapper.read_text()))


if __name__ == "__main__":
    main()
