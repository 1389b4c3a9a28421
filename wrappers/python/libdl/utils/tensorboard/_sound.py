# SPDX-License-Identifier: Apache-2.0
"""Sound as WAV files, which is how event files hold it."""

from __future__ import annotations

import io
import warnings
import wave

import numpy as np


def samples(sound: np.ndarray) -> np.ndarray:
    """Of one channel, as 16-bit numbers; 1 is the loudest."""
    sound = sound.squeeze()
    if sound.ndim != 1:
        raise ValueError(
            f"add_audio: snd_tensor has {sound.ndim} dimensions of more than one "
            "element, wanted one"
        )
    if sound.size and np.abs(sound).max() > 1:
        warnings.warn(
            "add_audio: snd_tensor has samples beyond -1 to 1, which are cut off", stacklevel=4
        )
    return (sound.clip(-1, 1) * np.iinfo(np.int16).max).astype("<i2")


def wav(sound: np.ndarray, rate: int) -> bytes:
    """The file."""
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(sound.itemsize)
        writer.setframerate(rate)
        writer.writeframes(sound.tobytes())
    return file.getvalue()
