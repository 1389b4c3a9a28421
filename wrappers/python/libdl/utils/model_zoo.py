# SPDX-License-Identifier: Apache-2.0
"""PyTorch's older path of hub.load_state_dict_from_url."""

from ..hub import load_state_dict_from_url as load_url

__all__ = ["load_url"]
