"""What a hostile provider, person or site can do to a SAML product's test: nothing signs in, and nobody gets another's answer."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

from tests.support.oauth.world import NewWorld
from tests.support.organizations.connected_organization import MINA
from tests.support.organizations.management import PATH
from tests.support.organizations.saml_organization import ATTRIBUTES, IDP, Answer, provider_signer, read_request
from tests.support.organizations.saml_setup_guides import SamlSetup, provider_metadata
from tests.support.organizations.setup_guides import SetupByLink
from tests.support.races import at_once, tabs
from tests.support.services.identity_service import pass_time
from tests.support.tenants.audit_entries import entries_of
from tests.support.tenants.tenant_server import answered
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage

WORKED, FAILED = "The test worked", "The test didn’t work"
SHARED = "/saml/serviceprovider/SpInitiatedACS.aspx"


def signs_nobody_in(setup: SamlSetup) -> bool:
    """Return whether no account and no session came of anything so far."""
    names = ("account.registered", "account.created", "identity.linked", "organization.member_added")
    created = [name for name in names for _ in entries_of(setup.guide.business.tenant, name)]
    return created == [] and setup.visitor.cookies("session") == []


def with_session_of_another_link(setup: SamlSetup, outsider: Any) -> None:
    """Let a browser open another link of the organization."""
    url = urlsplit(setup.guide.new_link()["Url"])
    outsider.open(f"{url.path}?{url.query}").press("Start setup")


REFUSED: dict[str, tuple[Callable[[Answer], object], dict[str, Any], str]] = {
    "unsigned": (lambda answer: None, {"signed": None}, "isn’t signed"),
    "other key": (lambda answer: None, {"signer": provider_signer("eve")}, "isn’t in the metadata from step 3"),
    "audience": (lambda answer: setattr(answer, "audience", "https://other.example"), {}, "https://other.example"),
    "recipient": (lambda answer: setattr(answer, "acs_url", "https://other.example/acs"), {}, "https://other.example/acs"),
    "issuer": (lambda answer: setattr(answer, "issuer", "https://eve.example"), {}, "https://eve.example"),
    "request": (lambda answer: setattr(answer, "request_id", "_other"), {}, "_other"),
    "no request": (lambda answer: setattr(answer, "request_id", None), {}, "InResponseTo"),
    "late": (lambda answer: setattr(answer, "now", answer.now - timedelta(hours=2)), {}, "60 seconds"),
    "early": (lambda answer: setattr(answer, "now", answer.now + timedelta(hours=2)), {}, "60 seconds"),
    "no email": (lambda answer: setattr(answer, "attributes", {}), {}, "no address"),
    "long NameID": (lambda answer: setattr(answer, "name_id", "n" * 300), {}, "NameID of 1 to 256 characters"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused_saml_test_names_the_rule_and_the_remedy(saml_setup: SamlSetup, name: str) -> None:
    change, form, finding = REFUSED[name]
    page = saml_setup.with_values()
    request = saml_setup.begin(page)
    answer = saml_setup.answer(request)
    change(answer)
    shown = saml_setup.post(request, answer.posted(**form))
    assert FAILED in shown.text
    assert finding in shown.text, shown.text
    assert saml_setup.visitor.open("/setup/activate").heading == "Test the sign-in"
    assert signs_nobody_in(saml_setup)
    assert WORKED in saml_setup.test(shown, "Test again").text


@pytest.mark.parametrize(
    "message", ["", "no base64!", "x" * 262_145, ["PHg+", "PHg+"]], ids=["empty", "text", "long", "two"]
)
def test_message_that_is_none_fails_the_test(saml_setup: SamlSetup, message: str | list[str]) -> None:
    request = saml_setup.begin(saml_setup.with_values())
    assert FAILED in saml_setup.post(request, message).text


def test_answer_of_another_browser_is_shown_to_none(saml_setup: SamlSetup, new_visitor_at: NewVisitorAt) -> None:
    """Who begins a test and leads somebody else to the provider does not see their attributes."""
    request = saml_setup.begin(saml_setup.with_values())
    victim = new_visitor_at(saml_setup.guide.tenant)
    there = saml_setup.post(request, saml_setup.answer(request).posted(), visitor=victim)
    assert there.heading == "Session ended"
    mine = saml_setup.visitor.open(f"/setup/answer?{urlencode({'state': request.relay_state})}")
    assert FAILED in mine.text
    for code in ("", "guess"):
        shown = saml_setup.visitor.open(f"/setup/answer?{urlencode({'state': request.relay_state, 'code': code})}")
        assert MINA["email"] not in shown.html
    assert victim.cookies("session") == []


def test_code_alone_opens_the_answer_for_no_other_session(saml_setup: SamlSetup, new_visitor_at: NewVisitorAt) -> None:
    request = saml_setup.begin(saml_setup.with_values())
    outsider = new_visitor_at(saml_setup.guide.tenant)
    with_session_of_another_link(saml_setup, outsider)
    shown = saml_setup.post(request, saml_setup.answer(request).posted(), visitor=outsider)
    assert MINA["email"] not in shown.html
    second = new_visitor_at(saml_setup.guide.tenant)
    saml_setup.guide.open(second)
    shown = second.open(urlsplit(shown.address)._replace(scheme="", netloc="").geturl())
    assert MINA["email"] not in shown.html


def test_saml_answer_counts_once(saml_setup: SamlSetup) -> None:
    request = saml_setup.begin(saml_setup.with_values())
    message = saml_setup.answer(request).posted()
    assert WORKED in saml_setup.post(request, message).text
    assert FAILED in saml_setup.post(request, message).text
    assert FAILED in saml_setup.post(request, saml_setup.answer(request).posted()).text


def posted_location(page: VisitedPage, path: str, form: dict[str, str]) -> str:
    """Post an answer from the tab of a page; return where it leads."""
    client, home = page.visitor.client, page.visitor.home
    return str(client.open(path, method="POST", base_url=home, data=form).headers.get("Location", ""))


@pytest.mark.both_databases
def test_saml_answer_counts_once_under_concurrency(saml_setup: SamlSetup) -> None:
    request = saml_setup.begin(saml_setup.with_values())
    form = {"SAMLResponse": saml_setup.answer(request).posted(), "RelayState": request.relay_state}
    pages, path = tabs(saml_setup.visitor.open("/setup/test"), 6), urlsplit(request.acs_url).path
    places = at_once([partial(posted_location, page, path, form) for page in pages])
    won = [place for place in places if "code=" in place]
    assert len(won) == 1, places
    assert WORKED in saml_setup.visitor.open(won[0]).text
    assert FAILED in saml_setup.visitor.open(won[0]).text, "the answer is fetched once"


def test_two_saml_tests_at_once_keep_their_answers_apart(saml_setup: SamlSetup) -> None:
    page = saml_setup.with_values()
    first, second = saml_setup.begin(page), saml_setup.begin(page)
    crossed = saml_setup.post(first, saml_setup.answer(second).posted())
    assert FAILED in crossed.text
    assert WORKED in saml_setup.post(second, saml_setup.answer(second).posted()).text
    third = saml_setup.begin(saml_setup.visitor.open("/setup/test"), "Test again")
    assert WORKED in saml_setup.post(third, saml_setup.answer(third).posted()).text


def test_answer_without_state_reaches_no_draft(saml_setup: SamlSetup) -> None:
    """A provider that begins a sign-in itself finds no connection yet."""
    request = saml_setup.begin(saml_setup.with_values())
    answer = saml_setup.answer(request, request_id=None)
    for relay_state in ("", "https://elsewhere.example", request.relay_state.partition(".")[2]):
        shown = saml_setup.post(request, answer.posted(), relay_state=relay_state)
        assert shown.status == 403
        assert "Test the sign-in" not in shown.html
    assert signs_nobody_in(saml_setup)


@pytest.mark.parametrize(
    "states", [["{0}", "{0}"], ["{0}", "x"], ["x", "{0}"], ["setup-trial.unknown"], ["setup-trial."]], ids=str
)
def test_doubled_or_unknown_state_fails_the_test(saml_setup: SamlSetup, states: list[str]) -> None:
    request = saml_setup.begin(saml_setup.with_values())
    sent = [state.format(request.relay_state) for state in states]
    shown = saml_setup.post(request, saml_setup.answer(request).posted(), relay_state=sent)
    assert WORKED not in shown.text
    assert signs_nobody_in(saml_setup)


def test_answer_of_a_test_is_taken_at_its_own_address_alone(saml_setup: SamlSetup) -> None:
    body = {
        "Name": "other", "ConnectionType": "saml_custom", "IDPEntityId": IDP, "IDPCertificate": provider_signer().certificate,
        "IDPSignInUrl": "https://idp.globex.example/sso", "IsIDPInitiated": True,
    }  # fmt: skip
    other = answered(saml_setup.guide.business.send("POST", f"{PATH}/{saml_setup.guide.org}/connections", body))
    request = saml_setup.begin(saml_setup.with_values())
    for path in (urlsplit(other["ACSEndpoint"]).path, SHARED):
        acs_url = f"{saml_setup.visitor.home}{path}"
        answer = saml_setup.answer(request, acs_url=acs_url, audience=other["EntityId"])
        shown = saml_setup.post(request, answer.posted(), path=path)
        assert FAILED in shown.text
    assert signs_nobody_in(saml_setup)
    assert WORKED in saml_setup.post(request, saml_setup.answer(request).posted()).text, "it was not spent elsewhere"


def test_answers_of_tests_and_sign_ins_are_never_exchanged(saml_setup: SamlSetup, new_visitor_at: NewVisitorAt) -> None:
    page = saml_setup.with_values()
    kept = saml_setup.begin(page)
    saml_setup.test(page).press("Save and continue").press("Activate")
    mina = new_visitor_at(saml_setup.guide.tenant)
    request = read_request(
        mina.open("/login").press("Sign in", identifier=MINA["email"], password="by a manager 7").address
    )
    for sent in (kept.relay_state, kept.relay_state.partition(".")[2]):
        shown = saml_setup.post(request, saml_setup.answer(request).posted(), visitor=mina, relay_state=sent)
        assert mina.cookies("session") == [], shown.text
    shown = saml_setup.post(request, saml_setup.answer(kept).posted(), visitor=mina)
    assert mina.cookies("session") == [], shown.text
    assert signs_nobody_in(saml_setup)


def test_saml_answer_of_values_that_changed_since_is_dropped(saml_setup: SamlSetup) -> None:
    request = saml_setup.begin(saml_setup.with_values())
    other = provider_metadata(provider_signer("other").certificate)
    saml_setup.visitor.open("/setup/connection").press("Save and continue", metadata=other)
    shown = saml_setup.post(request, saml_setup.answer(request).posted())
    assert WORKED not in shown.text
    assert saml_setup.visitor.open("/setup/activate").heading == "Test the sign-in"


def test_saml_answer_after_another_product_was_chosen_is_dropped(saml_setup: SamlSetup) -> None:
    request = saml_setup.begin(saml_setup.with_values())
    saml_setup.visitor.open("/setup/provider").press("Okta")
    assert WORKED not in saml_setup.post(request, saml_setup.answer(request).posted()).text
    assert signs_nobody_in(saml_setup)


def test_revoked_link_ends_a_saml_test(saml_setup: SamlSetup) -> None:
    request, guide = saml_setup.begin(saml_setup.with_values()), saml_setup.guide
    answered(guide.business.send("DELETE", f"{PATH}/{guide.org}/setup-links/{guide.link['Id']}"))
    assert saml_setup.post(request, saml_setup.answer(request).posted()).heading == "Session ended"
    metadata = f"{urlsplit(str(request.root.findtext('{*}Issuer'))).path}/metadata.xml"
    assert saml_setup.visitor.open(metadata).status == 403


@pytest.mark.parametrize("end", ["deactivate", "delete"])
def test_organization_that_ended_ends_a_saml_test(saml_setup: SamlSetup, end: str) -> None:
    request, guide = saml_setup.begin(saml_setup.with_values()), saml_setup.guide
    if end == "delete":
        answered(guide.business.send("DELETE", f"{PATH}/{guide.org}"))
    else:
        guide.business.deactivate(guide.org)
    assert saml_setup.post(request, saml_setup.answer(request).posted()).heading == "Session ended"


def test_session_or_test_that_expired_takes_no_answer(setup: SetupByLink, new_visitor_at: NewVisitorAt) -> None:
    saml = SamlSetup(setup)
    request = saml.begin(saml.with_values())
    pass_time(setup.tenant.services, minutes=61)
    assert FAILED in saml.post(request, saml.answer(request).posted()).text
    request = saml.begin(saml.visitor.open("/setup/test"), "Test again")
    pass_time(setup.tenant.services, hours=8)
    assert saml.post(request, saml.answer(request).posted()).heading == "Session ended"


def test_link_completed_meanwhile_takes_no_answer(saml_setup: SamlSetup) -> None:
    page = saml_setup.with_values()
    kept = saml_setup.begin(page)
    saml_setup.test(page).press("Save and continue").press("Activate")
    shown = saml_setup.post(kept, saml_setup.answer(kept).posted())
    assert shown.heading == "Single sign-on is active"
    assert signs_nobody_in(saml_setup)


def test_hostile_attributes_are_escaped_masked_and_bounded(saml_setup: SamlSetup) -> None:
    attributes: dict[str, Any] = {
        **ATTRIBUTES, "<script>alert(1)</script>": "x", "markup": "<img src=x onerror=alert(1)>", "turned": "a\u202eb",
        "large": "word " * 500 + "end", "apiToken": "s3cr3t-value", **{f"attribute_{number}": "x" for number in range(300)},
    }  # fmt: skip
    shown = saml_setup.test(saml_setup.with_values(), attributes=attributes)
    assert WORKED in shown.text
    for text in ("<script>alert", "<img src=x", "\u202e", "s3cr3t-value", "attribute_299", "word " * 60):
        assert text not in shown.html, text
    assert len(shown.html) < 100_000


def test_other_session_of_the_link_sees_no_saml_values(saml_setup: SamlSetup, new_visitor_at: NewVisitorAt) -> None:
    saml_setup.tested()
    other = new_visitor_at(saml_setup.guide.tenant)
    saml_setup.guide.open(other)
    page = other.open("/setup/test")
    assert "firstName" in page.html
    assert MINA["email"] not in page.html
    assert "mina-1" not in page.html


def test_answer_of_a_test_is_taken_at_its_tenant_alone(
    saml_setup: SamlSetup, new_world: NewWorld, new_visitor_at: NewVisitorAt
) -> None:
    request = saml_setup.begin(saml_setup.with_values())
    elsewhere = new_visitor_at(new_world())
    shown = saml_setup.post(request, saml_setup.answer(request).posted(), visitor=elsewhere)
    assert shown.heading == "Session ended"
    assert WORKED in saml_setup.post(request, saml_setup.answer(request).posted()).text, "it was not spent elsewhere"
