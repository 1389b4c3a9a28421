# SPDX-License-Identifier: Apache-2.0
"""Datasets, samplers and DataLoader: batches for training.

    loader = libdl.utils.data.DataLoader(dataset, batch_size=64, shuffle=True, num_workers=2)
    for images, labels in loader: ...
"""

from .collate import default_collate, default_convert
from .dataloader import DataLoader
from .dataset import (
    ChainDataset, ConcatDataset, Dataset, IterableDataset, StackDataset, Subset, TensorDataset,
    random_split,
)  # fmt: skip
from .distributed import DistributedSampler
from .sampler import (
    BatchSampler, RandomSampler, Sampler, SequentialSampler, SubsetRandomSampler,
    WeightedRandomSampler,
)  # fmt: skip
from .samples import WorkerInfo, get_worker_info, sample_generator
from .strings import StringList

__all__ = [
    "BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset", "DistributedSampler",
    "IterableDataset", "RandomSampler", "Sampler", "SequentialSampler", "StackDataset", "StringList",
    "Subset", "SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler", "WorkerInfo",
    "default_collate", "default_convert", "get_worker_info", "random_split", "sample_generator",
]  # fmt: skip
