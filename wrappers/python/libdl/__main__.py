# SPDX-License-Identifier: Apache-2.0
"""python -m libdl tells versions, processor, threads and devices."""

from .__config__ import config

print(config())
