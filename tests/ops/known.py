# SPDX-License-Identifier: Apache-2.0
"""Faults of the library that the harness has found and that are still open. The marks are strict:
who repairs one deletes its line, or the run fails."""

KNOWN: dict[tuple[str, str], str] = {}
