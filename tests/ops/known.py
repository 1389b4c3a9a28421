# SPDX-License-Identifier: Apache-2.0
"""Faults of the library that the harness has found and that are still open. The marks are strict:
who repairs one deletes its line, or the run fails."""

KNOWN = {
    ("relu", "second_order"): "its vjp records a condition of where: raises AutogradError",
    ("clamp", "second_order"): "its vjp records a condition of where: raises AutogradError",
    ("pow", "second_order"): "its vjp records a condition of where: raises AutogradError",
    ("gelu_tanh", "second_order"): "the second derivative is zero",
    ("norm", "second_order"): "NaN from the norm of an empty dimension",
    ("floor_divide", "rejects"): "the error names div",
    ("mean", "rejects"): "the error names sum",
    ("mse_loss", "rejects"): "the error names sub",
    ("broadcast_to", "rejects"): "the error names expand",
    ("unflatten", "rejects"): "the error names the argument shape, not sizes",
    ("zeros", "rejects"): "the error names empty",
    ("ones", "rejects"): "the error names empty",
    ("tensor", "zero_dim_array"): "a 0-d array's dtype is lost",
}
