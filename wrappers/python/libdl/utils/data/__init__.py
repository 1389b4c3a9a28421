# SPDX-License-Identifier: Apache-2.0
"""Datasets, samplers and DataLoader: batches for training.

    loader = libdl.utils.data.DataLoader(dataset, batch_size=64, shuffle=True, num_workers=2)
    for images, labels in loader: ...

Example:
    >>> data = torch.utils.data.TensorDataset(torch.arange(6).reshape(3, 2))
    >>> first, second = torch.utils.data.DataLoader(data, batch_size=2)
    >>> first
    [tensor([[0, 1],
            [2, 3]])]
"""

from . import _utils as _utils
from .collate import default_collate, default_convert
from .dataloader import DataLoader, _DatasetKind as _DatasetKind
from .datapipes._decorator import (
    argument_validation,
    functional_datapipe,
    guaranteed_datapipes_determinism,
    non_deterministic,
    runtime_validation,
    runtime_validation_disabled,
)
from .datapipes.datapipe import DataChunk, DFIterDataPipe, IterDataPipe, MapDataPipe
from .dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from .distributed import DistributedSampler
from .sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from .samples import WorkerInfo, get_worker_info, sample_generator
from .strings import StringList

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DFIterDataPipe",
    "DataChunk",
    "DataLoader",
    "Dataset",
    "DistributedSampler",
    "IterDataPipe",
    "MapDataPipe",
    "argument_validation",
    "functional_datapipe",
    "guaranteed_datapipes_determinism",
    "non_deterministic",
    "runtime_validation",
    "runtime_validation_disabled",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "StackDataset",
    "StringList",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "WorkerInfo",
    "default_collate",
    "default_convert",
    "get_worker_info",
    "random_split",
    "sample_generator",
]
