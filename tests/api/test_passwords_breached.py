"""Passwords that were stolen elsewhere: refused, recorded, told, by k-anonymity and from a file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.identity.credentials.passwords.breached_passwords import BreachedPasswords
from tests.support.breached_passwords import breached_password_server
from tests.support.customers import NEW, OLD, Customer, a_customer
from tests.support.tenant_server import NewTenantServer, answered, refused

Make = Callable[..., Customer]


@pytest.fixture
def customer(new_tenant_server: NewTenantServer) -> Make:
    def make(**settings: Any) -> Customer:
        return a_customer(new_tenant_server, **settings)

    return make


def test_a_stolen_password_is_reset_before_anybody_signs_in(customer: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    c = customer(password_policy={"breached": "change"})
    with breached_password_server(OLD, "Amber-window-44") as elsewhere:
        monkeypatch.setattr(c.tenant.services, "breached_passwords", BreachedPasswords(elsewhere.url))
        assert refused(c.logs_in()) == (403, 1316)
        assert len(c.mails()) == 1
        assert refused(c.logs_in()) == (403, 1317)
        assert len(c.mails()) == 1
        assert c.tenant.read(c.uid)["IsPasswordBreached"] is True
        assert refused(c.reset(resettoken=c.token(), password="Amber-window-44")) == (403, 1315)
        answered(c.reset(resettoken=c.token(), password=NEW))
        answered(c.logs_in(NEW))
        assert c.tenant.read(c.uid)["IsPasswordBreached"] is False
        assert {len(prefix) for prefix, _ in elsewhere.asked} == {5}
        assert {padding for _, padding in elsewhere.asked} == {"true"}


@pytest.mark.parametrize(("action", "mails"), [("record", 0), ("notify", 1)])
def test_a_stolen_password_may_be_told_only(
    customer: Make, monkeypatch: pytest.MonkeyPatch, action: str, mails: int
) -> None:
    c = customer(password_policy={"breached": action})
    with breached_password_server(OLD) as elsewhere:
        monkeypatch.setattr(c.tenant.services, "breached_passwords", BreachedPasswords(elsewhere.url))
        answered(c.logs_in())
        answered(c.logs_in())
    assert c.tenant.read(c.uid)["IsPasswordBreached"] is True
    assert len(c.mails()) == mails


def test_a_list_that_is_down_stops_nobody(customer: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    c = customer(password_policy={"breached": "change"})
    with breached_password_server(OLD) as elsewhere:
        elsewhere.status = 503
        monkeypatch.setattr(c.tenant.services, "breached_passwords", BreachedPasswords(elsewhere.url))
        answered(c.logs_in())
        answered(c.logs_in())
        assert len(elsewhere.asked) == 1, "it is left alone for a while"


@pytest.mark.parametrize("letters", [40, 12])
def test_a_sorted_file_is_searched_where_nobody_is_asked(tmp_path: Path, letters: int) -> None:
    words = [f"password-{number}" for number in range(500)]
    digests = [hashlib.sha1(one.encode(), usedforsecurity=False).hexdigest().upper() for one in words]
    file = tmp_path / "stolen.txt"
    file.write_text("\n".join(sorted(f"{digest[:letters]}:3" for digest in digests)) + "\n")
    known = BreachedPasswords(file=str(file))
    assert all(known.has(word) for word in words)
    assert not any(known.has(f"unheard-of-{number}") for number in range(500))


def test_a_file_that_is_gone_refuses_nobody(tmp_path: Path) -> None:
    assert not BreachedPasswords(file=str(tmp_path / "none")).has(OLD)
    (tmp_path / "empty").touch()
    assert not BreachedPasswords(file=str(tmp_path / "empty")).has(OLD)
