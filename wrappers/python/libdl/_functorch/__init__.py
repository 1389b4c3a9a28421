# SPDX-License-Identifier: Apache-2.0
"""PyTorch's private paths of libdl.func."""
