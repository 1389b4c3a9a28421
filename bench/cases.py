# SPDX-License-Identifier: Apache-2.0
"""All that is compared, in the order of the table."""

import cases_calls  # noqa: F401
import cases_sizes  # noqa: F401, I001
import cases_rows  # noqa: F401, I001
import cases_conv  # noqa: F401, I001
import cases_layers  # noqa: F401, I001
import cases_rnn  # noqa: F401, I001
import cases_attention  # noqa: F401, I001
import cases_training  # noqa: F401, I001
import cases_transforms  # noqa: F401, I001
import cases_operators  # noqa: F401, I001
from registry import CASES as CASES, Call as Call
