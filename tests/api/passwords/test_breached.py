"""Breached passwords: refused, recorded or notified, looked up by k-anonymity or in a file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.identity.credentials.passwords.breached_passwords import BreachedPasswordIndex
from tests.support.accounts.customers import NEW, OLD, Customer, a_customer
from tests.support.fakes.breached_passwords import breached_password_server
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

Make = Callable[..., Customer]


@pytest.fixture
def customer(new_tenant_server: NewTenantServer) -> Make:
    def make(**settings: Any) -> Customer:
        return a_customer(new_tenant_server, **settings)

    return make


def test_breached_password_must_be_reset_before_sign_in(customer: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    account = customer(password_policy={"breached": "change"})
    with breached_password_server(OLD, "Amber-window-44") as server:
        monkeypatch.setattr(account.tenant.services, "breached_passwords", BreachedPasswordIndex(server.url))
        assert refused(account.logs_in()) == (403, 1316)
        assert len(account.mails()) == 1
        assert refused(account.logs_in()) == (403, 1317)
        assert len(account.mails()) == 1
        assert account.tenant.read(account.uid)["IsPasswordBreached"] is True
        assert refused(account.reset(resettoken=account.token(), password="Amber-window-44")) == (403, 1315)
        answered(account.reset(resettoken=account.token(), password=NEW))
        answered(account.logs_in(NEW))
        assert account.tenant.read(account.uid)["IsPasswordBreached"] is False
        assert {len(prefix) for prefix, _ in server.received} == {5}
        assert {padding for _, padding in server.received} == {"true"}


@pytest.mark.parametrize(("action", "mails"), [("record", 0), ("notify", 1)])
def test_breached_password_can_be_recorded_or_notified_only(
    customer: Make, monkeypatch: pytest.MonkeyPatch, action: str, mails: int
) -> None:
    account = customer(password_policy={"breached": action})
    with breached_password_server(OLD) as server:
        monkeypatch.setattr(account.tenant.services, "breached_passwords", BreachedPasswordIndex(server.url))
        answered(account.logs_in())
        answered(account.logs_in())
    assert account.tenant.read(account.uid)["IsPasswordBreached"] is True
    assert len(account.mails()) == mails


def test_unavailable_breach_service_blocks_no_sign_in(customer: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    account = customer(password_policy={"breached": "change"})
    with breached_password_server(OLD) as server:
        server.status = 503
        monkeypatch.setattr(account.tenant.services, "breached_passwords", BreachedPasswordIndex(server.url))
        answered(account.logs_in())
        answered(account.logs_in())
        assert len(server.received) == 1, "no second request within the pause"


@pytest.mark.parametrize("digest_length", [40, 12])
def test_sorted_file_is_searched_without_service(tmp_path: Path, digest_length: int) -> None:
    words = [f"password-{number}" for number in range(500)]
    digests = [hashlib.sha1(word.encode(), usedforsecurity=False).hexdigest().upper() for word in words]
    file = tmp_path / "breached.txt"
    file.write_text("\n".join(sorted(f"{digest[:digest_length]}:3" for digest in digests)) + "\n")
    known = BreachedPasswordIndex(file=str(file))
    assert all(known.has(word) for word in words)
    assert not any(known.has(f"unheard-of-{number}") for number in range(500))


def test_missing_or_empty_file_blocks_no_password(tmp_path: Path) -> None:
    assert not BreachedPasswordIndex(file=str(tmp_path / "none")).has(OLD)
    (tmp_path / "empty").touch()
    assert not BreachedPasswordIndex(file=str(tmp_path / "empty")).has(OLD)
