# SPDX-License-Identifier: Apache-2.0
"""The types of TorchScript's annotations: those of typing."""

from typing import (
    Any as Any,
    Dict as Dict,
    List as List,
    Optional as Optional,
    Tuple as Tuple,
    Union as Union,
)  # noqa: UP035, E501

BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = List  # a number stands for a list of it
