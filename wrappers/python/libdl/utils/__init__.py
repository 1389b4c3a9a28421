# SPDX-License-Identifier: Apache-2.0
"""Helpers around training: libdl.utils.checkpoint."""
