"""The profile on the wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ConfigDict

from app.contract.profile.fields import FIELDS, PROVIDER_TOKENS, Field, Write
from app.contract.profile.member_kinds import Kind, ProfileMember
from app.contract.profile.schema import describe_answer
from app.kit.operations.wire import Wire


class Profile(Wire):
    """An account's profile: every field, or those that `fields` selects."""

    model_config = ConfigDict(extra="allow", json_schema_extra=describe_answer)

    @classmethod
    def of(cls, members: Mapping[str, Any]) -> Profile:
        """Return the profile with these members unchanged."""
        return cls.model_construct(**members)

    @property
    def members(self) -> dict[str, Any]:
        """The profile's members by the interface's names."""
        return dict(self.model_extra or {})


class Profiles(Wire):
    """Several profiles."""

    data: list[Profile]


__all__ = ["FIELDS", "PROVIDER_TOKENS", "Field", "Kind", "ProfileMember", "Profile", "Profiles", "Write"]
