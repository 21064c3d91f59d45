"""Values for "Try it" from a tenant with public credentials: the demo's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Trial:
    """Values that "Try it" is filled in with.

    Args:
        tenant: the tenant's name. The operations of its host have their pages there, so that "Try it" stays within one origin.
        credentials: values by the name of their security scheme.
        fields: values of path parameters and members of a request's body, by their names in lower case.
    """

    tenant: str = ""
    credentials: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)


NO_TRIAL = Trial()
