# SPDX-License-Identifier: Apache-2.0
"""How long groups of processes would wait for each other."""

from datetime import timedelta

default_pg_timeout = default_pg_nccl_timeout = timedelta(minutes=30)
