# SPDX-License-Identifier: Apache-2.0
"""The base of all distributions."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, NoReturn, Self

from .. import Size, no_grad
from .._C import Tensor
from . import constraints
from ._constraint import holds
from .utils import lazy_property

__all__ = ["Distribution"]


class Distribution:
    """A distribution of values of shape event_shape, for each index of batch_shape.

    Arguments:
        batch_shape: shape of the parameters, for each of which there is a distribution
        event_shape: shape of one value
        validate_args: whether wrong parameters and values raise ValueError; None: the default

    A sample has the shape sample_shape + batch_shape + event_shape. A method that a distribution
    lacks raises NotImplementedError.
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args: Any = __debug__
    # The constraint of each parameter, which is an attribute of that name.
    arg_constraints: ClassVar[Any] = {}

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Sets whether distributions check parameters and values unless told; first: they do."""
        if value not in (True, False):
            raise ValueError(f"set_default_validate_args: value is {value!r}, wanted True or False")
        Distribution._validate_args = value

    def __init__(
        self,
        batch_shape: Sequence[int] = Size(),
        event_shape: Sequence[int] = Size(),
        validate_args: bool | None = None,
    ) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._validate_parameters()

    def _validate_parameters(self) -> None:
        for name, constraint in self.arg_constraints.items():
            derived = name not in self.__dict__ and isinstance(
                getattr(type(self), name, None), lazy_property
            )
            if derived or constraints.is_dependent(constraint):
                continue
            value = getattr(self, name)
            if not holds(constraint.check(value)):
                raise ValueError(
                    f"{type(self).__name__}: {name} of shape {list(value.shape)} is "
                    f"{value!r}, wanted {constraint!r}"
                )

    # -- shapes ------------------------------------------------------------------------------------

    @property
    def batch_shape(self) -> Size:
        """Shape of the parameters."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """Shape of one value."""
        return self._event_shape

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Self:
        """The distribution with its parameters expanded to a batch shape; nothing is copied."""
        new = self._get_checked_instance(type(self), _instance)
        new.__dict__.update(self.__dict__)
        new._batch_shape = Size(batch_shape)
        for name, constraint in self.arg_constraints.items():
            value = self.__dict__.get(name)
            if isinstance(value, Tensor):
                kept = value.shape[value.ndim - constraint.event_dim :]
                setattr(new, name, value.expand(new._batch_shape + kept))
        return new

    def _parts_in_files(self) -> dict[str, Any]:
        """What PyTorch's distribution keeps and this one computes."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, **self._parts_in_files()}

    def _get_checked_instance(self, cls: type, _instance: object = None) -> Any:
        """An object of this type without attributes, for expand() to fill."""
        if _instance is None and type(self).__init__ is not cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"expand: {type(self).__name__} has an __init__ of its own, and no expand"
            )
        return type(self).__new__(type(self)) if _instance is None else _instance

    def _extended_shape(self, sample_shape: Sequence[int] = Size()) -> Size:
        return Size(sample_shape) + self._batch_shape + self._event_shape

    # -- what is known of it -----------------------------------------------------------------------

    def _lacks(self, name: str) -> NoReturn:
        raise NotImplementedError(f"{type(self).__name__} has no {name}")

    @property
    def support(self) -> constraints.Constraint:
        """The constraint of the values."""
        return self._lacks("support")

    @property
    def mean(self) -> Tensor:
        return self._lacks("mean")

    @property
    def mode(self) -> Tensor:
        """The value of highest probability or density."""
        return self._lacks("mode")

    @property
    def variance(self) -> Tensor:
        return self._lacks("variance")

    @property
    def stddev(self) -> Tensor:
        """The square root of the variance."""
        return self.variance.sqrt()

    def entropy(self) -> Tensor:
        """The mean of -log_prob, in nats, of shape batch_shape."""
        return self._lacks("entropy")

    def perplexity(self) -> Tensor:
        """exp(entropy)."""
        return self.entropy().exp()

    # -- values ------------------------------------------------------------------------------------

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        """A sample, without history."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        """A sample that is a differentiable function of the parameters."""
        return self._lacks("rsample")

    def sample_n(self, n: int) -> Tensor:
        """sample((n,)), under its old name."""
        warnings.warn("sample_n is deprecated: use sample((n,))", UserWarning, stacklevel=2)
        return self.sample((n,))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the probability or density at a value."""
        return self._lacks("log_prob")

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of at most the value."""
        return self._lacks("cdf")

    def icdf(self, value: Tensor) -> Tensor:
        """The inverse of cdf."""
        return self._lacks("icdf")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values, along a new first dimension; expand=False leaves the batch's dimensions 1."""
        return self._lacks("enumerate_support")

    def _all_values(self, values: Tensor, expand: bool) -> Tensor:
        """enumerate_support of scalar events: values has shape [n]."""
        values = values.reshape((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values

    def _check(self, value: Any) -> None:
        if self._validate_args:
            self._validate_sample(value)

    def _validate_sample(self, value: Tensor) -> None:
        """Raises ValueError unless values of this shape can be scored, and lie in the support."""
        name = type(self).__name__
        if not isinstance(value, Tensor):
            raise ValueError(f"{name}: value is {value!r}, wanted a tensor")
        events = len(self._event_shape)
        if value.shape[value.ndim - events :] != self._event_shape:
            raise ValueError(
                f"{name}: value has shape {list(value.shape)}, which does not end in "
                f"the event shape {list(self._event_shape)}"
            )
        expected = self._batch_shape + self._event_shape
        for size_of_value, size in zip(reversed(value.shape), reversed(expected)):
            if size_of_value != 1 and size != 1 and size_of_value != size:
                raise ValueError(
                    f"{name}: value has shape {list(value.shape)}, which does not "
                    f"broadcast with {list(expected)}"
                )
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(f"{name} has no support: its values are not checked", stacklevel=2)
            return
        if not holds(support.check(value)):
            raise ValueError(
                f"{name}: value of shape {list(value.shape)} is {value!r}, wanted {support!r}"
            )

    def __repr__(self) -> str:
        own = self.__dict__
        arguments = {name: own[name] for name in self.arg_constraints if name in own}
        shown = (f"{name}: {v if v.numel() == 1 else v.size()}" for name, v in arguments.items())
        return f"{type(self).__name__}({', '.join(shown)})"
