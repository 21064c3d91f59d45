"""Adding and removing addresses of the own account: /identity/v2/auth/email."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from tests.support.accounts.mailbox import links_in, token_in
from tests.support.accounts.self_service import OWN, ProfilePerson, entries, mails
from tests.support.races import at_once
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered, refused

EMAIL = "/identity/v2/auth/email"
NEW = "countess@example.test"
FIRST = [{"Type": "Primary", "Value": "ada@example.test"}]


@pytest.fixture
def ada(acme: TenantServer) -> ProfilePerson:
    return ProfilePerson(acme, Email=FIRST)


def request_address(person: ProfilePerson, email: Any = NEW, kind: Any = "Secondary", **query: Any) -> Any:
    return person.send("POST", EMAIL, {"email": email, "type": kind}, **query)


def token_for(server: TenantServer, email: str) -> str:
    return token_in(mails(server, email)[-1]["text"])


def verify(server: TenantServer, email: str) -> Any:
    return server.send("GET", EMAIL, with_secret=False, verificationtoken=token_for(server, email))


def addresses(person: ProfilePerson) -> list[str]:
    return [entry["Value"] for entry in answered(person.send("GET", OWN))["Email"]]


def add_verified(person: ProfilePerson, email: str = NEW) -> None:
    answered(request_address(person, email))
    answered(verify(person.server, email))


def test_address_counts_only_once_verified(ada: ProfilePerson) -> None:
    assert answered(request_address(ada)) == {"IsPosted": True}
    assert addresses(ada) == ["ada@example.test"]
    assert answered(verify(ada.server, NEW))["IsPosted"] is True
    assert addresses(ada) == ["ada@example.test", NEW]
    assert refused(verify(ada.server, NEW)) == (403, 974)
    notices = mails(ada.server, "ada@example.test")
    assert len(notices) == 1, "the existing address is notified of the new one"


@pytest.mark.parametrize(
    ("email", "kind", "expected"),
    [
        ("", "Secondary", (400, 1038)),
        (None, "Secondary", (400, 1038)),
        ("x", "Secondary", (400, 1038)),
        ("a@b.test\r\nBcc: eve@evil.test", "Secondary", (400, 1038)),
        (NEW, "", (400, 1201)),
        (NEW, None, (400, 1201)),
        (NEW, "primary", (403, 1006)),
        ("ADA@example.test", "Secondary", (403, 1046)),
        ("grace@example.test", "Secondary", (403, 936)),
        ("Grace@EXAMPLE.test", "Secondary", (403, 936)),
        ("x" * 10_000, "Secondary", (400, 908)),
    ],
)
def test_invalid_address_is_refused(ada: ProfilePerson, email: Any, kind: Any, expected: tuple[int, int]) -> None:
    ada.server.create(Email=[{"Type": "Primary", "Value": "grace@example.test"}])
    assert refused(request_address(ada, email, kind)) in (expected, (400, 1214))


def test_blocked_address_and_unlisted_url_are_refused(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(email_access={"block": ["evil.test", "eve@example.test"]})
    ada = ProfilePerson(acme)
    assert refused(request_address(ada, "x@evil.test")) == (403, 1247)
    assert refused(request_address(ada, "eve@example.test")) == (403, 1056)
    assert refused(request_address(ada, NEW, verificationurl="https://evil.test/")) == (403, 1249)


def test_account_without_verified_address_adds_none(ada: ProfilePerson) -> None:
    ada.server.update(ada.uid, {"EmailVerified": False})
    assert refused(request_address(ada)) == (403, 1177)


def test_hidden_accounts_answer_taken_address_as_free(
    new_tenant_server: NewTenantServer,
) -> None:
    acme = new_tenant_server(hide_unknown_accounts=True)
    ada = ProfilePerson(acme)
    acme.create(Email=[{"Type": "Primary", "Value": "grace@example.test"}])
    assert answered(request_address(ada, "grace@example.test")) == answered(request_address(ada))
    assert not links_in(mails(acme, "grace@example.test")[-1]["text"])


@pytest.mark.both_databases
def test_parallel_verifications_of_one_address_have_one_winner(ada: ProfilePerson) -> None:
    grace = ProfilePerson(ada.server)
    answered(request_address(ada))
    first = token_for(ada.server, NEW)
    answered(request_address(grace))
    second = token_for(ada.server, NEW)
    send = ada.server.send
    with ThreadPoolExecutor(2) as pool:
        results = list(
            pool.map(lambda token: send("GET", EMAIL, with_secret=False, verificationtoken=token), [first, second])
        )
    assert sorted(refused(answer)[0] for answer in results) == [200, 403]
    assert sorted([NEW in addresses(ada), NEW in addresses(grace)]) == [False, True]


@pytest.mark.both_databases
def test_parallel_uses_of_one_link_have_one_winner(ada: ProfilePerson) -> None:
    answered(request_address(ada))
    token = token_for(ada.server, NEW)
    send = ada.server.send
    with ThreadPoolExecutor(10) as pool:
        results = list(
            pool.map(lambda _: send("GET", EMAIL, with_secret=False, verificationtoken=token).status_code, range(20))
        )
    assert results.count(200) == 1
    assert addresses(ada) == ["ada@example.test", NEW]


@pytest.mark.both_databases
def test_address_is_confirmed_or_asked_for_again(new_tenant_server: NewTenantServer) -> None:
    free = {"amount": 0, "minutes": 1}
    person = ProfilePerson(new_tenant_server(sending={"mails": free, "mails_in_all": free}), Email=FIRST)
    for number in range(6):
        address = f"countess{number}@example.test"
        answered(request_address(person, address))
        token = token_for(person.server, address)
        confirm = partial(person.server.send, "GET", EMAIL, with_secret=False, verificationtoken=token)
        confirmed, requested = at_once([confirm, partial(request_address, person, address)])
        assert sorted([confirmed.status_code, requested.status_code]) == [200, 403]
        if requested.status_code == 200:
            answered(verify(person.server, address))
        assert address in addresses(person)
        answered(person.send("DELETE", EMAIL, {"email": address}))


def test_removed_address_is_notified_and_free_again(ada: ProfilePerson) -> None:
    add_verified(ada)
    assert answered(ada.send("DELETE", EMAIL, {"email": NEW.upper()})) == {"IsDeleted": True}
    assert addresses(ada) == ["ada@example.test"]
    assert len(mails(ada.server, NEW)) >= 2
    assert "email.removed" in entries(ada.server)
    other = ada.server.create(Email=[{"Type": "Primary", "Value": NEW}])
    assert other["Email"][0]["Value"] == NEW


def test_next_address_replaces_removed_primary(ada: ProfilePerson) -> None:
    add_verified(ada)
    answered(ada.send("DELETE", EMAIL, {"email": "ada@example.test"}))
    profile = answered(ada.send("GET", OWN))
    assert profile["Email"] == [{"Type": "Primary", "Value": NEW}]
    assert profile["EmailVerified"] is True


@pytest.mark.parametrize(
    ("email", "expected"),
    [("", (400, 1038)), ("x", (400, 1038)), ("grace@example.test", (403, 1023)), ("ada@example.test", (403, 1005))],
)
def test_invalid_removal_is_refused(ada: ProfilePerson, email: str, expected: tuple[int, int]) -> None:
    assert ada.refusal("DELETE", EMAIL, {"email": email}) == expected


def test_removal_ends_links_sent_to_address(ada: ProfilePerson) -> None:
    """Links and codes sent to the address are no longer valid."""
    answered(request_address(ada))
    token = token_for(ada.server, NEW)
    answered(verify(ada.server, NEW))
    answered(ada.send("DELETE", EMAIL, {"email": NEW}))
    assert refused(ada.server.send("GET", EMAIL, with_secret=False, verificationtoken=token))[0] == 403


@pytest.mark.both_databases
def test_parallel_removals_leave_one_address(ada: ProfilePerson) -> None:
    add_verified(ada)
    with ThreadPoolExecutor(2) as pool:
        results = list(
            pool.map(lambda email: ada.send("DELETE", EMAIL, {"email": email}).status_code, ["ada@example.test", NEW])
        )
    assert sorted(results) == [200, 403]
    assert len(addresses(ada)) == 1
