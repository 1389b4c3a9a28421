# SPDX-License-Identifier: Apache-2.0
"""Which library would compute with quantized tensors: none, since there are none."""

engine = "none"
supported_engines = ["none"]
