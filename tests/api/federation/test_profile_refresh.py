"""The profile is read from the provider again with the tokens of its sign-in (decision 0132)."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.contract.federation.connection_completion import preset_settings
from tests.support.accounts.stored_tokens import KEEPS, NAME, SocialAccount, entries, social_account, stored_rows
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.operation_cases.cases import AccountHolder, Answer, Ask, Refusal, account_holder, refusals
from tests.support.operation_cases.shapes import PROFILE
from tests.support.operation_cases.variants import Refusals, Variants, every_refusal, every_variant
from tests.support.races import at_once
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, answered, refused

RUNNING: list[FakeProvider] = []
NEWER = {"name": "Ada King", "family_name": "King", "email": "countess@example.test", "picture": None}


@pytest.fixture(autouse=True)
def running(fake_provider: FakeProvider) -> Iterator[None]:
    """Give the lists of this module the test's provider."""
    RUNNING.append(fake_provider)
    yield
    RUNNING.clear()


def signed_in(who: AccountHolder, **settings: Any) -> SocialAccount:
    """Sign the account in through the provider."""
    RUNNING[-1].known_to(who.tenant, NAME, **settings)
    return SocialAccount(who, RUNNING[-1]).signs_in()


def at_failing_provider(who: AccountHolder) -> TestResponse:
    item = signed_in(who, **KEEPS)
    item.provider.tokens.clear()
    return item.refresh()


def with_stored_tokens(who: AccountHolder) -> Ask:
    signed_in(who, **KEEPS)
    return Ask()


REFUSALS: list[Refusal] = refusals("U89", (910, lambda who: signed_in(who).refresh()), (1000, at_failing_provider))
NOT_HERE: dict[tuple[str, int], str] = {}
ANSWERS: list[Answer] = [Answer("U89", with_stored_tokens, PROFILE)]


@every_refusal(REFUSALS)
def test_request_is_refused(new_tenant_server: NewTenantServer, refusals: Refusals, subtests: pytest.Subtests) -> None:
    refusals.check(new_tenant_server, subtests)


@every_variant(ANSWERS)
def test_response_has_shape(new_tenant_server: NewTenantServer, variants: Variants, subtests: pytest.Subtests) -> None:
    variants.check(new_tenant_server, subtests)


# The values read and stored.


def test_refresh_stores_and_answers_profile_of_provider(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> None:
    item = social_account(new_tenant_server, fake_provider)
    before = answered(item.tenant.send("GET", "/identity/v2/auth/account", bearer=item.who.bearer))
    fake_provider.userinfo = NEWER
    item.who.advance_clock(minutes=1)
    profile = answered(item.refresh())
    (entry,) = profile["Identities"]
    assert (entry["FullName"], entry["LastName"], entry["Email"][0]["Value"]) == ("Ada King", "King", NEWER["email"])
    assert entry["ModifiedDate"] > entry["LastLoginDate"] == before["Identities"][0]["LastLoginDate"]
    assert profile == answered(item.tenant.send("GET", "/identity/v2/auth/account", bearer=item.who.bearer))
    changed = {name for name in profile if profile[name] != before[name]}
    assert changed == {"Identities", "ModifiedDate"}, "the account's own names, emails and counts stay"
    assert fake_provider.requests_to("/token") == 1


def test_openid_refresh_keeps_claims_that_userinfo_lacks(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> None:
    item = social_account(new_tenant_server, fake_provider)
    fake_provider.userinfo = {"given_name": "Augusta", "picture": None, "email": None}
    (entry,) = answered(item.refresh())["Identities"]
    shown = (entry["FirstName"], entry["ImageUrl"], entry["Email"][0]["Value"])
    assert shown == ("Augusta", "https://pictures.example/ada.png", "ada@example.test")


def test_oauth2_refresh_maps_profile_as_sign_in_does(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> None:
    github = preset_settings("github")
    assert github is not None
    settings = {"claims": github.claims, "emails_endpoint": f"{fake_provider.url}/user/emails", "trusts_email": True}
    fake_provider.userinfo = {"company": "Analytical Engines"}
    fake_provider.emails = [{"email": "ada@hub.example", "primary": True, "verified": True}]
    connection = fake_provider.oauth2(**settings, **KEEPS)
    item = social_account(new_tenant_server, fake_provider, name="github", connection=connection)
    before = item.tenant.read(item.who.uid)
    fake_provider.userinfo = {"name": "Ada King"}
    fake_provider.emails = [{"email": "king@hub.example", "primary": True, "verified": True}]
    profile = answered(item.refresh())
    (entry,) = profile["Identities"]
    assert (entry["FullName"], entry["Company"], entry["Email"][0]["Value"]) == ("Ada King", None, "king@hub.example")
    own = ("Email", "EmailVerified", "Uid", "ID", "FullName")
    assert [profile[name] for name in own] == [before[name] for name in own], "a verified address is not gained"


def test_profile_of_another_subject_is_refused(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> None:
    item = social_account(new_tenant_server, fake_provider)
    before, fake_provider.userinfo = item.identity(), {"sub": "mallory", "email": "mallory@example.test"}
    assert refused(item.refresh()) == (403, 1000)
    assert item.identity() == before


def test_identity_of_the_sign_in_is_refreshed(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> None:
    other = fake_provider.openid(**KEEPS)
    item = social_account(new_tenant_server, fake_provider, connection=other)
    second = fake_provider.openid(**KEEPS)
    item.tenant.change_settings(connections={NAME: other, "second": second})
    SocialAccount(item.who, fake_provider, "second").signs_in()
    fake_provider.userinfo = NEWER
    names = {entry["Provider"]: entry["FullName"] for entry in answered(item.refresh())["Identities"]}
    assert names == {NAME: "Ada Lovelace", "second": "Ada King"}


# When there is nothing to read.


@pytest.mark.parametrize(
    ("case", "changes"),
    [
        ("inactive connection", {"is_active": False}),
        ("setting off", {"keep_provider_tokens": False}),
        ("another client", {"key": "another-client"}),
    ],
)
def test_tokens_of_changed_connection_are_not_used(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider, case: str, changes: dict[str, Any]
) -> None:
    item = social_account(new_tenant_server, fake_provider)
    requested = len(fake_provider.received)
    item.tenant.change_settings(connections={NAME: {**fake_provider.openid(**KEEPS), **changes}})
    assert refused(item.refresh()) == (403, 910), case
    assert len(fake_provider.received) == requested


def test_removed_connection_has_no_profile(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> None:
    item = social_account(new_tenant_server, fake_provider)
    item.tenant.change_settings(connections={})
    assert refused(item.refresh()) == (403, 910)


def test_account_without_identity_has_no_profile(new_tenant_server: NewTenantServer) -> None:
    assert refused(account_holder(new_tenant_server).own("U89")) == (403, 910)


def test_session_by_password_has_no_profile(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> None:
    item = social_account(new_tenant_server, fake_provider)
    item.who.stored_token = str(item.tenant.tokens(item.who.uid)["access_token"])
    assert refused(item.refresh()) == (403, 910)


def test_provider_without_userinfo_has_no_profile(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> None:
    fake_provider.metadata = {"userinfo_endpoint": None}
    item = social_account(new_tenant_server, fake_provider)
    assert refused(item.refresh()) == (403, 910)


def test_sign_in_without_the_setting_keeps_nothing(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> None:
    item = social_account(new_tenant_server, fake_provider, connection=fake_provider.openid())
    assert entries(item.tenant) == {}
    assert '"provider_tokens"' not in stored_rows(item.tenant)


# Expired access tokens.


@pytest.mark.parametrize("by_clock", [True, False])
def test_expired_access_token_is_renewed_and_rotated_one_stored(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider, by_clock: bool
) -> None:
    fake_provider.issues_refresh_tokens = True
    item = social_account(new_tenant_server, fake_provider)
    first = item.stored()
    fake_provider.tokens.clear()
    if by_clock:
        item.who.advance_clock(minutes=6)
    fake_provider.userinfo = NEWER
    assert answered(item.refresh())["Identities"][0]["FullName"] == "Ada King"
    (request,) = [element for element in fake_provider.received if element.form.get("grant_type") == "refresh_token"]
    assert request.form["refresh_token"] == first["refresh_token"]
    second = item.stored()
    assert second["refresh_token"] in fake_provider.refresh_tokens, "the rotated token is kept"
    assert fake_provider.requests_to("/userinfo") == (1 if by_clock else 2)
    item.who.advance_clock(minutes=6)
    fake_provider.tokens.clear()
    answered(item.refresh())
    assert item.stored()["refresh_token"] not in (first["refresh_token"], second["refresh_token"])


def test_failed_renewal_is_repeated_after_a_pause(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> None:
    fake_provider.issues_refresh_tokens = True
    item = social_account(new_tenant_server, fake_provider)
    item.who.advance_clock(minutes=6)
    fake_provider.answers["/token"] = (503, {}, b"")
    assert refused(item.refresh()) == (403, 1000)
    answer = item.refresh()
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "15")
    fake_provider.answers.clear()
    item.who.advance_clock(seconds=16)
    answered(item.refresh())


def test_refresh_token_without_rotation_stays(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> None:
    fake_provider.issues_refresh_tokens, fake_provider.rotates = True, False
    item = social_account(new_tenant_server, fake_provider)
    first = item.stored()
    item.who.advance_clock(minutes=6)
    answered(item.refresh())
    assert item.stored()["refresh_token"] == first["refresh_token"]
    assert item.stored()["access_token"] != first["access_token"]


def test_rotated_token_is_stored_when_profile_fails(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> None:
    fake_provider.issues_refresh_tokens = True
    item = social_account(new_tenant_server, fake_provider)
    item.who.advance_clock(minutes=6)
    fake_provider.answers["/userinfo"] = (500, {}, b"")
    assert refused(item.refresh()) == (403, 1000)
    assert item.stored()["refresh_token"] in fake_provider.refresh_tokens
    fake_provider.answers.clear()
    answered(item.refresh())


def test_second_sign_in_keeps_the_only_refresh_token(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> None:
    fake_provider.issues_refresh_tokens = True
    item = social_account(new_tenant_server, fake_provider)
    first, fake_provider.issues_refresh_tokens = item.stored(), False
    second = item.signs_in().stored()
    assert second["refresh_token"] == first["refresh_token"]
    assert second["access_token"] != first["access_token"]


@pytest.mark.both_databases
def test_concurrent_requests_use_refresh_token_once(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> None:
    fake_provider.issues_refresh_tokens, fake_provider.delay_seconds = True, 0.05
    item = social_account(new_tenant_server, fake_provider)
    item.who.advance_clock(minutes=6)
    answers = Counter(answer.status_code for answer in at_once([item.refresh] * 6))
    assert answers[200] >= 1
    assert answers.keys() <= {200, 429}
    assert sum(1 for element in fake_provider.received if element.form.get("grant_type") == "refresh_token") == 1
    assert item.stored()["refresh_token"] in fake_provider.refresh_tokens


@pytest.mark.parametrize("by_clock", [True, False])
def test_expired_access_token_without_refresh_token_is_refused(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider, by_clock: bool
) -> None:
    item = social_account(new_tenant_server, fake_provider)
    fake_provider.tokens.clear()
    if by_clock:
        item.who.advance_clock(minutes=6)
    answer = item.refresh()
    assert refused(answer) == (403, 1000)
    body = answer.get_json()
    assert (body["IsProviderError"], body["ProviderErrorResponse"]) == (True, "HTTP 401")
    assert body["Message"] == "An error has occurred at the social identity provider's end"


def test_revoked_refresh_token_is_refused(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> None:
    fake_provider.issues_refresh_tokens = True
    item = social_account(new_tenant_server, fake_provider)
    fake_provider.refresh_tokens.clear()
    item.who.advance_clock(minutes=6)
    answer = item.refresh()
    assert refused(answer) == (403, 1000)
    assert answer.get_json()["ProviderErrorResponse"] == "invalid_grant"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ((500, {}, b"secret trace"), "HTTP 500"),
        ((302, {"Location": "/other"}, b""), "HTTP 302"),
        ((200, {}, b"<html>"), None),
    ],
)
def test_provider_error_is_summarized(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider, answer: Any, expected: str | None
) -> None:
    item = social_account(new_tenant_server, fake_provider)
    before = item.tenant.read(item.who.uid)
    fake_provider.answers["/userinfo"] = answer
    response = item.refresh()
    assert refused(response) == (403, 1000)
    assert response.get_json()["ProviderErrorResponse"] == expected
    assert item.tenant.read(item.who.uid) == before


# Who may ask, and how often.


@pytest.mark.both_databases
def test_token_of_another_tenant_is_refused(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> None:
    item, other = social_account(new_tenant_server, fake_provider), account_holder(new_tenant_server)
    requested = len(fake_provider.received)
    path = "/api/v2/userprofile/refresh"
    assert refused(other.tenant.send("GET", path, bearer=item.who.stored_token)) == (401, 1409)
    assert refused(item.tenant.send("GET", path, bearer=other.bearer)) == (401, 1409)
    assert refused(item.tenant.send("GET", path, with_secret=False)) == (401, 1409)
    assert refused(item.tenant.send("GET", path, bearer=item.who.stored_token, apikey=None)) == (400, 908)
    assert len(fake_provider.received) == requested


def test_older_spelling_of_key_and_token_is_read(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> None:
    item = social_account(new_tenant_server, fake_provider)
    query: dict[str, Any] = {"key": item.tenant.api_key, "access_token": item.who.stored_token, "apikey": None}
    profile = answered(item.tenant.send("GET", "/api/v2/userprofile/refresh", with_secret=False, **query))
    assert profile["Uid"] == item.who.uid


def test_accounts_have_limits_of_their_own(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> None:
    item = social_account(new_tenant_server, fake_provider)
    answers = [item.refresh().status_code for _ in range(13)]
    assert (answers[:10], answers[-1]) == ([200] * 10, 429), "a window that slides meanwhile may let one more pass"
    second = account_holder(new_tenant_server)
    assert second.own("U89").status_code == 403


def test_tokens_reach_neither_responses_nor_logs(
    new_tenant_server: NewTenantServer,
    fake_provider: FakeProvider,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    fake_provider.issues_refresh_tokens = True
    item = social_account(new_tenant_server, fake_provider)
    tokens = [item.stored()]
    item.who.advance_clock(minutes=6)
    token = machine(item.tenant, "profile:read")
    texts = [item.refresh().text, ask(item.tenant, token, "GET", f"{MANAGE}/{item.who.uid}").text]
    tokens.append(item.stored())
    fake_provider.tokens.clear()
    fake_provider.refresh_tokens.clear()
    item.who.advance_clock(minutes=6)
    texts += [item.refresh().text, caplog.text, stored_rows(item.tenant)]
    secrets = [token[name] for token in tokens for name in ("access_token", "refresh_token")]
    assert len(set(secrets)) == 4
    assert [secret for secret in secrets if any(secret in text for text in texts)] == []
