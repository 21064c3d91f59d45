"""Initial access tokens in configuration files, over both databases: made, spent, changed, pruned, refused."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any

import pytest

from app.identity.administration.configuration.export import export
from app.identity.administration.configuration.file.yaml_document import ConfigurationError
from app.identity.administration.configuration.plan import ChangePlan
from app.identity.directory.tenants import tenant_writes
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.identity.protocols.oauth.registration import initial_access_tokens
from app.kit import randomness
from tests.support.tenants.configuration_files import applied, lines, planned, rows

TOKEN = "a random token of the operator"
SHA256 = hashlib.sha256(TOKEN.encode()).hexdigest()


@pytest.fixture
def ours(own_services: IdentityServices) -> IdentityServices:
    return own_services


def day(services: IdentityServices, days: float) -> str:
    return (services.clock.now() + timedelta(days=days)).isoformat()


def file(services: IdentityServices, **changed: Any) -> str:
    token = {"name": "partners", "max_uses": 3, "token_sha256": SHA256, "expires_at": day(services, 9), **changed}
    stated = ", ".join(
        f"{key}: '{value}'" if isinstance(value, str) else f"{key}: {value}" for key, value in token.items()
    )
    return f"tenants:\n  - name: acme\n    initial_access_tokens:\n      - {{{stated}}}\n"


def tokens(services: IdentityServices) -> dict[str, tuple[str, int, int]]:
    return {row.name: (row.token_hash, row.uses, row.max_uses) for row in rows(services, "initial_access_tokens")}


def spent(services: IdentityServices, token: str) -> str | None:
    """Use the token once, as a registration does."""
    work = UnitOfWork(services.database, "lookup")
    stored = tenant_writes.by_name(work, "acme")
    work.release_connection()
    assert stored is not None
    work.switch_tenant(stored.tenant_id)
    try:
        work.begin()
        name = initial_access_tokens.spend(work, token, services.clock.now())
        work.commit()
    finally:
        work.rollback()
    return name


def of_tokens(plan: ChangePlan) -> list[tuple[str, str]]:
    return [(name, action) for kind, name, action in lines(plan) if kind == "initial_access_token"]


def refusal(services: IdentityServices, text: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        applied(services, text)
    return str(caught.value)


def test_token_of_a_digest_registers(ours: IdentityServices) -> None:
    text = file(ours)
    assert of_tokens(planned(ours, text)) == [("partners", "create")]
    assert tokens(ours) == {}
    done = applied(ours, text)
    assert of_tokens(done) == [("partners", "create")]
    assert "initial_access_token" not in {item.owner.split()[0] for item in done.generated}, (
        "the operator has the token"
    )
    assert spent(ours, TOKEN) == "partners"
    assert applied(ours, text).is_empty
    assert tokens(ours) == {"partners": (randomness.digest(TOKEN), 1, 3)}, "a second run gives no use back"
    assert [row.event for row in rows(ours, "audit")] == ["initial_access_tokens.added"]


def test_token_without_a_digest_is_printed_once(ours: IdentityServices) -> None:
    text = file(ours).replace(f"token_sha256: '{SHA256}', ", "")
    (made,) = [item for item in applied(ours, text).generated if item.owner == "initial_access_token acme/partners"]
    assert spent(ours, made.value) == "partners"
    again = applied(ours, text)
    assert (again.is_empty, again.generated) == (True, [])
    assert made.value not in str(again)


@pytest.mark.both_databases
def test_file_changes_uses_expiry_and_token(ours: IdentityServices) -> None:
    applied(ours, file(ours))
    spent(ours, TOKEN)
    plan = applied(ours, file(ours, max_uses=5, expires_at=day(ours, 2)))
    assert "max_uses: 3 -> 5" in str(plan)
    assert "expires_at: 20" in str(plan)
    assert tokens(ours)["partners"][1:] == (1, 5)
    other = hashlib.sha256(b"another token").hexdigest()
    assert "token: replaced" in str(applied(ours, file(ours, token_sha256=other)))
    assert (spent(ours, TOKEN), spent(ours, "another token")) == (None, "partners")


def test_ended_token_is_not_made_again(ours: IdentityServices) -> None:
    """The clean-up deletes its row; a digest that the file still has must not work again."""
    plan = applied(ours, file(ours, expires_at=day(ours, -1)))
    assert of_tokens(plan) == [("partners", "unchanged")]
    assert tokens(ours) == {}
    assert "expired on" in str(plan)


@pytest.mark.both_databases
def test_token_that_the_file_omits_is_removed_with_prune_only(ours: IdentityServices) -> None:
    applied(ours, file(ours))
    fewer = file(ours, name="others", token_sha256=hashlib.sha256(b"others").hexdigest())
    assert of_tokens(applied(ours, fewer)) == [("others", "create"), ("partners", "unchanged")]
    assert of_tokens(applied(ours, "tenants: [{name: acme}]", prune=True)) == [], "a file without the key leaves them"
    assert of_tokens(applied(ours, fewer, prune=True)) == [("others", "unchanged"), ("partners", "remove")]
    assert spent(ours, TOKEN) is None


def test_each_change_is_audited_and_raises_the_version(ours: IdentityServices) -> None:
    applied(ours, file(ours))
    (before,) = rows(ours, "tenants")
    applied(ours, file(ours, max_uses=5))
    applied(ours, "tenants: [{name: acme, initial_access_tokens: []}]", prune=True)
    (after,) = rows(ours, "tenants")
    assert after.version == before.version + 2
    assert [(row.event.partition(".")[2], row.facts) for row in rows(ours, "audit")] == [
        (event, {"name": "partners", "source": "file"}) for event in ("added", "changed", "removed")
    ]


def test_export_has_the_tokens_without_digests(ours: IdentityServices) -> None:
    applied(ours, file(ours))
    exported = export(ours, "acme")
    assert "name: partners" in exported
    assert SHA256 not in exported
    assert randomness.digest(TOKEN) not in exported
    assert applied(ours, exported).is_empty


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"expires_at": "2999-01-01"}, "expires_at: expected a date at most 366 days ahead"),
        ({"expires_at": "soon"}, "expires_at: expected a date or time"),
        ({"token_sha256": TOKEN}, "token_sha256: expected the SHA-256 of a token in hexadecimal"),
        ({"token": TOKEN}, "token: isn't a known key"),
        ({"max_uses": 0}, "max_uses: expected at least 1"),
        ({"name": "no spaces"}, "name: expected"),
    ],
    ids=["too late", "no date", "no digest", "in clear", "no use", "name"],
)
def test_malformed_token_is_refused(ours: IdentityServices, changed: dict[str, Any], expected: str) -> None:
    sentence = refusal(ours, file(ours, **changed))
    assert expected in sentence
    assert TOKEN not in sentence


def test_digest_belongs_to_one_token(ours: IdentityServices) -> None:
    item = file(ours)
    assert "is listed twice" in refusal(ours, item + item.splitlines()[-1].replace("partners", "others") + "\n")
    applied(ours, item)
    assert "already used by another token" in refusal(ours, file(ours, name="others"))
