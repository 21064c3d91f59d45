"""Names of roles, permissions and contexts: which are valid, and which are taken for one another."""

from __future__ import annotations

from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import String

from app.contract.roles.role_operations import MAX_NAME
from app.identity.directory.roles import role_names
from app.identity.directory.roles.tenant_role_store import roles

ALIKE = [
    ("admin", "ADMIN"), ("admin", "ADMlN"), ("admin", "adm1n"), ("admin", "ad min"), ("tier 0", "tierO"), ("modern", "modem"),
    ("view", "vievv"), ("Straße", "STRASSE"), ("coco", "\u0441\u043e\u0441\u043e"), ("POCT", "\u0420\u041e\u0421\u0422"),
    ("ABE", "\u0391\u0392\u0395"), ("ou", "\u0585\u057d"),
]  # fmt: skip
"""ASCII with itself, and with words wholly in Cyrillic, Greek and Armenian."""
DIFFERENT = [("editor", "viewer"), ("é", "e"), ("level 2", "level 3"), ("a-b", "a_b"), ("редактор", "директор")]


@pytest.mark.parametrize(("name", "other"), ALIKE)
def test_names_that_look_alike_have_one_skeleton(name: str, other: str) -> None:
    assert role_names.skeleton(name) == role_names.skeleton(other)


@pytest.mark.parametrize(("name", "other"), DIFFERENT)
def test_different_names_have_different_skeletons(name: str, other: str) -> None:
    assert role_names.skeleton(name) != role_names.skeleton(other)
    assert role_names.is_valid(name)
    assert role_names.is_valid(other)


@pytest.mark.parametrize("name", ["orders/read", "orders:*", "*"])
def test_only_permissions_may_have_slash_and_star(name: str) -> None:
    assert role_names.is_valid_permission(name)
    assert not role_names.is_valid(name)


@pytest.mark.parametrize(
    "name", ["a\u0430", "a\u200d", "\u202eab", "a\u00a0b", "\ufb01", "\u2800", "1\u0661", "a;b", '"', "<b>"]
)
def test_misleading_name_is_invalid(name: str) -> None:
    assert not role_names.is_valid(name)
    assert not role_names.is_valid_permission(name)


@given(st.characters(categories=("Ll", "Lu", "Lt", "Lo")))
def test_longest_names_fit_their_columns(character: str) -> None:
    name = character * MAX_NAME
    if role_names.is_valid(name):
        assert role_names.can_exist(name)
        assert len(role_names.skeleton(name)) <= (cast("String", roles.c.skeleton.type).length or 0)


def test_ascii_alphabet_and_digits_are_valid() -> None:
    assert role_names.is_valid("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
