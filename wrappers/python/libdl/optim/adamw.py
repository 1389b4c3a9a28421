# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of AdamW."""

from .adam import AdamW as AdamW, adamw as adamw
