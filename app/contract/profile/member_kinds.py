"""The shape of a profile member: its kind, inner members, and alternative spellings in requests."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """The type of a member on the wire."""

    TEXT = "text"
    FLAG = "flag"
    COUNT = "count"
    NUMBER = "number"
    INSTANT = "instant"  # ISO 8601, UTC
    OBJECT = "object"
    LIST = "list"  # of objects
    TEXTS = "texts"  # a list of texts
    MAP = "map"  # free names, texts as values


@dataclass(frozen=True)
class ProfileMember:
    """One member of an object. `also` are spellings that are read but never written."""

    name: str
    kind: Kind = Kind.TEXT
    members: tuple[ProfileMember, ...] = ()
    also: tuple[str, ...] = ()


def shape(names: str, *nested: ProfileMember) -> tuple[ProfileMember, ...]:
    """Return members from their names: `"Type IsCurrent:flag Operation|op"`; a bare name is a text."""
    flat = []
    for word in names.split():
        spelt, _, kind = word.partition(":")
        name, *also = spelt.split("|")
        flat.append(ProfileMember(name, Kind(kind or "text"), (), tuple(also)))
    return (*flat, *nested)


def one(name: str, names: str, *nested: ProfileMember) -> ProfileMember:
    """Return a member that is an object."""
    spelt, *also = name.split("|")
    return ProfileMember(spelt, Kind.OBJECT, shape(names, *nested), tuple(also))


def many(name: str, names: str, *nested: ProfileMember) -> ProfileMember:
    """Return a member that is a list of objects."""
    spelt, *also = name.split("|")
    return ProfileMember(spelt, Kind.LIST, shape(names, *nested), tuple(also))
