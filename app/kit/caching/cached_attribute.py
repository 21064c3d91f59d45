"""Attributes that are computed when they are first read."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    cached_attribute = cached_property
else:

    class cached_attribute(cached_property):  # noqa: N801 - used as a decorator, like `cached_property`
        """A `cached_property` without the lock that Python 3.11 takes on first access; objects of one request need none."""

        def __get__(self, instance: Any, owner: type[Any] | None = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value
