# SPDX-License-Identifier: Apache-2.0
"""How samples become a batch."""

from ..collate import (
    collate as collate, default_collate as default_collate,
    default_collate_fn_map as default_collate_fn_map, default_convert as default_convert,
)  # fmt: skip

__all__ = ["collate", "default_collate", "default_collate_fn_map", "default_convert"]

default_collate_err_msg_format = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)
