"""Accounts that assertions create (RFC 7523 section 3): off by default, by the rules of registration, and once under a race."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from pydantic import ValidationError
from sqlalchemy import select

from app.contract.applications.file import ApplicationFile
from app.identity.authentication.passwordless import federated_account
from app.identity.directory.accounts.identifiers import identity_value
from app.identity.directory.accounts.tables import accounts, identifiers
from app.identity.directory.accounts.unverified import pending_accounts
from app.identity.platform.audit import audit
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.mailbox import mails_to
from tests.support.oauth.assertion_issuers import ISSUER, KEYS, Hr, bears, error, trusting
from tests.support.oauth.relying_party import Person, RelyingParty, claims_in
from tests.support.oauth.world import NewWorld, World
from tests.support.races import at_once

NO_ADDRESS = ({"name": "email", "required": False},)
"""A registration form that admits accounts without an address."""
CREATES = {"subject": "identity", "connection": "hr", "creates_accounts": True}
TRUSTS: dict[str, Any] = {**CREATES, "trusts_email": True}
NEW = {"sub": "17", "email": "new@example.test", "email_verified": True, "given_name": "Noor", "family_name": "Haddad"}


@pytest.fixture
def payroll(world: World) -> RelyingParty:
    return trusting(world, **TRUSTS)


def rows(world: World, table: Any = accounts) -> list[Any]:
    """Return the rows of the tenant."""
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        return list(work.all(select(table).where(table.c.tenant_id == world.tenant_id)))


def entries(world: World) -> Counter[str]:
    return Counter(row.event for row in rows(world, audit))


def subject(answer: Any) -> str:
    assert answer.status_code == 200, answer.text
    return str(claims_in(answer.json["access_token"])["sub"])


def holders(world: World) -> dict[str, str]:
    """Return which account has each identity."""
    return {row.value: row.uid for row in rows(world, identifiers) if row.kind == "identity"}


def test_issuer_creates_nothing_unless_it_is_set(world: World) -> None:
    client = trusting(world, subject="identity", connection="hr")
    assert error(bears(client, Hr(client).assertion(**NEW))) == (400, "invalid_grant")
    assert rows(world) == []


def test_first_assertion_creates_account_that_later_ones_find(world: World, payroll: RelyingParty) -> None:
    uid = subject(bears(payroll, Hr(payroll).assertion(**NEW)))
    (row,) = rows(world)
    assert (row.uid, row.email, row.email_verified, row.password_hash) == (uid, "new@example.test", True, None)
    assert (row.profile["FirstName"], row.profile["LastName"], row.logins) == ("Noor", "Haddad", 1)
    assert holders(world) == {identity_value("hr", "17"): uid}
    seen = entries(world)
    assert {name: seen[f"event.{name}"] for name in ("Register", "LinkAccount", "Login")} == {
        "Register": 1, "LinkAccount": 1, "Login": 1,
    }  # fmt: skip
    assert (seen["account.registered"], seen["identity.linked"], seen["tokens.issued"]) == (1, 1, 1)
    moved = Hr(payroll).assertion(sub="17", email="elsewhere@example.test", email_verified=True)
    assert subject(bears(payroll, moved)) == uid, "the identity names it, no longer the address"
    assert entries(world)["event.Register"] == 1
    assert [item.email for item in rows(world)] == ["new@example.test"]


def test_claims_are_mapped(world: World) -> None:
    client = trusting(world, **TRUSTS, claims={"first_name": "given", "email": "mail.work"})
    claims = {"sub": "17", "given": "Noor", "mail": {"work": "noor@example.test"}, "email_verified": True}
    subject(bears(client, Hr(client).assertion(**claims, email="other@example.test")))
    (row,) = rows(world)
    assert (row.email, row.profile["FirstName"]) == ("noor@example.test", "Noor")


UNPROVEN: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "an issuer without trust": (CREATES, {}),
    "not verified": (TRUSTS, {"email_verified": False}),
    "unstated": (TRUSTS, {"email_verified": None}),
    "a word": (TRUSTS, {"email_verified": "yes"}),
    "no address": (TRUSTS, {"email": "not an address"}),
    "a list": (TRUSTS, {"email": ["new@example.test"]}),
}


@pytest.mark.parametrize(("issuer", "claims"), UNPROVEN.values(), ids=UNPROVEN)
def test_unproven_address_is_no_address_of_the_account(
    world: World, ada: Person, issuer: dict[str, Any], claims: dict[str, Any]
) -> None:
    """Neither a new account gets it, nor does it lead to the account that has it."""
    client = trusting(world, **{**issuer, **({"links_accounts": True} if "trusts_email" in issuer else {})})
    world.change_settings(registration_form=NO_ADDRESS)
    uid = subject(bears(client, Hr(client).assertion(**{**NEW, "email": ada.email, **claims})))
    created = next(row for row in rows(world) if row.uid == uid)
    assert uid != ada.uid
    assert (created.email, created.email_verified, created.emails) == (None, False, [])


class TestExistingAddress:
    """The address of the assertion is that of an account."""

    def asserted(self, client: RelyingParty, ada: Person) -> Any:
        return bears(client, Hr(client).assertion(**{**NEW, "email": ada.email.upper()}))

    def test_account_is_not_taken_over(self, world: World, payroll: RelyingParty, ada: Person) -> None:
        assert error(self.asserted(payroll, ada)) == (400, "invalid_grant")
        assert ([row.uid for row in rows(world)], holders(world)) == ([ada.uid], {})
        assert entries(world)["assertion.refused"] == 1
        assert "tokens.issued" not in entries(world)

    def test_setting_links_it_and_notifies_its_owner(self, world: World, ada: Person) -> None:
        client = trusting(world, **TRUSTS, links_accounts=True)
        assert subject(self.asserted(client, ada)) == ada.uid
        assert holders(world) == {identity_value("hr", "17"): ada.uid}
        (mail,) = mails_to(world.services, world.tenant_id, ada.email)
        assert mail["subject"].startswith("hr was connected")
        assert subject(self.asserted(client, ada)) == ada.uid

    def test_tenant_that_links_nothing_wins(self, world: World, ada: Person) -> None:
        client = trusting(world, **TRUSTS, links_accounts=True)
        world.change_settings(account_linking=False)
        assert error(self.asserted(client, ada)) == (400, "invalid_grant")
        assert holders(world) == {}

    @pytest.mark.both_databases
    def test_blocked_account_stays_as_it_is(self, world: World, ada: Person) -> None:
        client = trusting(world, **TRUSTS, links_accounts=True)
        ada.close()
        assert error(self.asserted(client, ada)) == (400, "invalid_grant")
        assert holders(world) == {}
        assert not {"identity.linked", "event.LinkAccount", "event.Login"} & entries(world).keys()

    @pytest.mark.both_databases
    def test_account_with_unverified_address_is_claimed_by_its_owner(self, world: World, ada: Person) -> None:
        """A registrant without access to the mailbox loses the account."""
        client = trusting(world, **TRUSTS, links_accounts=True)
        unverified = [{"Type": "Primary", "Value": ada.email}]
        ada.set_columns(email_verified=False, emails=unverified, private={pending_accounts.SELF_REGISTERED: True})
        assert subject(self.asserted(client, ada)) == ada.uid
        (row,) = rows(world)
        assert (row.email_verified, row.password_hash) == (True, None)


REFUSED: dict[str, dict[str, Any]] = {
    "registration off": {"registration": False},
    "an address is required": {"registration_form": ({"name": "phone", "required": True},)},
    "terms": {"registration_form": ({"name": "terms", "type": "multi", "required": True},)},
    "blocked domain": {"email_access": {"block": ["example.test"]}},
    "privacy policy": {"privacy_policy": {"mode": "strict", "versions": [{"version": "1", "starts_at": "2020-01-01T00:00:00Z"}]}},
}  # fmt: skip


@pytest.mark.parametrize("settings", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("trusts", [True, False], ids=["with address", "without"])
def test_account_that_the_tenant_does_not_register_is_refused(
    world: World, payroll: RelyingParty, settings: dict[str, Any], trusts: bool, request: pytest.FixtureRequest
) -> None:
    """A refusal leaves nothing behind: the assertion is good once the tenant has changed its mind."""
    name = request.node.callspec.id
    if (not trusts and "domain" in name) or (trusts and "required" in name):
        settings = {"registration": False}
    world.change_settings(**settings)
    assertion = Hr(payroll).assertion(**{**NEW, "email_verified": trusts})
    assert error(bears(payroll, assertion)) == (400, "invalid_grant")
    assert (rows(world), rows(world, identifiers)) == ([], [])
    assert set(entries(world)) == {"assertion.refused"}
    world.change_settings(registration=True, registration_form=NO_ADDRESS, email_access={}, privacy_policy={})
    assert bears(payroll, assertion).status_code == 200


@pytest.mark.parametrize("sub", [" 17", "17\n", "1\x007", "x" * 256, "", "\u202e17"], ids=lambda item: ascii(item)[:12])
def test_subject_that_is_no_plain_text_creates_nothing(world: World, payroll: RelyingParty, sub: str) -> None:
    assert error(bears(payroll, Hr(payroll).assertion(**{**NEW, "sub": sub}))) == (400, "invalid_grant")
    assert rows(world) == []


def test_blocked_account_gets_no_second_one(world: World, payroll: RelyingParty) -> None:
    uid = subject(bears(payroll, Hr(payroll).assertion(**NEW)))
    Person(world.services, world.tenant_id, uid, "", "").close()
    assert error(bears(payroll, Hr(payroll).assertion(**NEW))) == (400, "invalid_grant")
    assert len(rows(world)) == 1


def test_wrong_assertion_creates_nothing(world: World, payroll: RelyingParty) -> None:
    hr = Hr(payroll)
    used = hr.assertion(**NEW)
    for changed in ({"aud": "https://other.example"}, {"exp": 1}, {"iss": "https://evil.example"}, {"jti": None}):
        assert error(bears(payroll, hr.assertion(**{**NEW, **changed}))) == (400, "invalid_grant")
    assert rows(world) == []
    assert bears(payroll, used).status_code == 200
    assert error(bears(payroll, used)) == (400, "invalid_grant"), "used before"


def test_accounts_belong_to_their_tenant(world: World, new_world: NewWorld, payroll: RelyingParty) -> None:
    other = new_world()
    theirs = trusting(other, **TRUSTS)
    uids = [subject(bears(item, Hr(item).assertion(**NEW))) for item in (payroll, theirs)]
    assert len(set(uids)) == 2
    assert [len(rows(item)) for item in (world, other)] == [1, 1]
    assert error(bears(theirs, Hr(payroll).assertion(**{**NEW, "sub": "18"}))) == (400, "invalid_grant"), "its aud"


def test_new_accounts_are_limited(world: World, payroll: RelyingParty, monkeypatch: pytest.MonkeyPatch) -> None:
    from app.identity.protocols.oauth import rate_limits  # noqa: PLC0415 - only here
    from app.kit.limits.rate_limits import Rate  # noqa: PLC0415

    monkeypatch.setattr(rate_limits, "ASSERTED_ACCOUNT", Rate(2, 60))

    def first(number: int) -> int:
        claims = {**NEW, "sub": str(number), "email": f"new-{number}@example.test"}
        return bears(payroll, Hr(payroll).assertion(**claims)).status_code

    assert [first(number) for number in range(3)] == [200, 200, 429]
    assert first(0) == 200, "an account that is there needs no room"
    assert len(rows(world)) == 2


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("trusts", [True, False], ids=["by address", "by identity"])
def test_of_twenty_first_uses_at_once_one_creates_the_account(
    world: World, payroll: RelyingParty, trusts: bool
) -> None:
    world.change_settings(registration_form=NO_ADDRESS)
    hr = Hr(payroll)
    assertions = [hr.assertion(**{**NEW, "email_verified": trusts}) for _ in range(20)]
    answers = at_once([partial(bears, payroll, assertion) for assertion in assertions])
    assert len({subject(answer) for answer in answers}) == 1
    assert (len(rows(world)), len(holders(world))) == (1, 1)
    seen = entries(world)
    assert (seen["account.registered"], seen["event.Register"], seen["event.Login"]) == (1, 1, 20)


@pytest.mark.parametrize("services", ["postgres"], indirect=True)
def test_account_created_in_between_is_found(
    world: World, payroll: RelyingParty, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its address is not refused as that of another account. SQLite has one writer at a time, so it cannot happen there."""
    hr, look, others = Hr(payroll), federated_account.email_use, []

    def look_later(*arguments: Any, **named: Any) -> federated_account.EmailUse:
        monkeypatch.setattr(federated_account, "email_use", look)
        others.append(subject(bears(payroll, hr.assertion(**NEW))))
        return look(*arguments, **named)

    monkeypatch.setattr(federated_account, "email_use", look_later)
    assert [subject(bears(payroll, hr.assertion(**NEW)))] == others
    assert len(rows(world)) == 1


@pytest.mark.both_databases
def test_of_twenty_uses_of_the_first_assertion_one_gets_a_token(world: World, payroll: RelyingParty) -> None:
    assertion = Hr(payroll).assertion(**NEW)
    with ThreadPoolExecutor(20) as pool:
        answers = sorted(pool.map(lambda _: bears(payroll, assertion).status_code, range(20)))
    assert answers == [200, *[400] * 19]
    assert len(rows(world)) == 1


WRONG = {
    "by uid": {"creates_accounts": True},
    "by email": {"subject": "email", "creates_accounts": True},
    "trust alone": {"subject": "identity", "connection": "hr", "trusts_email": True},
    "claims alone": {"subject": "identity", "connection": "hr", "claims": {"first_name": "given"}},
    "links without trust": {**CREATES, "links_accounts": True},
    "another subject": {**CREATES, "claims": {"subject": "email"}},
    "an unknown member": {**CREATES, "claims": {"roles": "groups"}},
}


@pytest.mark.parametrize("issuer", WRONG.values(), ids=WRONG)
def test_settings_that_contradict_are_refused(issuer: dict[str, Any]) -> None:
    base = {
        "name": "payroll",
        "grant_types": ["urn:ietf:params:oauth:grant-type:jwt-bearer"],
        "client_secret": "x" * 20,
    }
    trusted = {"issuer": ISSUER, "jwks": KEYS}
    ApplicationFile.model_validate({**base, "assertion_issuers": [{**trusted, **TRUSTS, "links_accounts": True}]})
    with pytest.raises(ValidationError):
        ApplicationFile.model_validate({**base, "assertion_issuers": [{**trusted, **issuer}]})
