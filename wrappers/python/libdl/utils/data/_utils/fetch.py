# SPDX-License-Identifier: Apache-2.0
"""PyTorch's place for what loads a dataset's batches."""

from ..samples import IterableBatches, MapBatches

_MapDatasetFetcher, _IterableDatasetFetcher = MapBatches, IterableBatches
