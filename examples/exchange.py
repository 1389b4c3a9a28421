# SPDX-License-Identifier: Apache-2.0
"""Tensors and NumPy arrays that share memory, without a copy.

python examples/exchange.py
"""

import numpy as np

import libdl


def main() -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)

    tensor = libdl.from_numpy(array)
    tensor[0, 0] = 10
    print("written by libdl, seen by NumPy:", array[0, 0])

    back = tensor.numpy()
    back[1, 2] = 20
    print("written by NumPy, seen by libdl:", tensor[1, 2].item())

    # Any library with __dlpack__ works the same way; strides are kept.
    columns = libdl.from_dlpack(array.T)
    print("a view by DLPack:", tuple(columns.shape), columns.stride())
    print("and back:", np.shares_memory(np.from_dlpack(columns), array))

    # A tensor with history is not exported implicitly; detach() states the intention.
    weight = libdl.ones(3, requires_grad=True)
    try:
        weight.numpy()
    except RuntimeError as error:
        print("refused:", error)
    print("detached:", weight.detach().numpy())


if __name__ == "__main__":
    main()
