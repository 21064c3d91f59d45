"""Hostile SAML answers at the real address: each is refused by its rule, with one error page, and nothing is created."""

from __future__ import annotations

import base64
import zlib
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from lxml import etree

from app.identity.authentication.federation import connection_traces
from app.identity.directory.organizations.connections import organization_connection_store
from app.identity.platform.saml.saml_names import POST
from tests.support.organizations.connected_organization import DOMAIN, MINA
from tests.support.organizations.management import PATH
from tests.support.organizations.saml_organization import (
    SIGN_IN,
    NewSamlOrganization,
    SamlOrganization,
    provider_signer,
    read_request,
)
from tests.support.saml import responses, signers
from tests.support.saml.all_cases import RESPONSE_CASES
from tests.support.saml.cases import Case
from tests.support.saml.encryption_cases import ENCRYPTION_CASES
from tests.support.saml.responses import ACS, AUDIENCE, REQUEST_ID
from tests.support.tenants.callers import call_of
from tests.support.tenants.tenant_server import answered
from tests.support.visitors.visitor import VisitedPage

CASES = [case for case in RESPONSE_CASES if case.expected is responses.expected]
"""Those whose connection expects nothing special."""
OFTEN = {"limits": {"federation_starts_per_minute_per_address": 0}}


def failed_checks(organization: SamlOrganization) -> list[str]:
    with call_of(organization.tenant.services, organization.tenant.name) as call:
        return [trace.failed_check for trace in connection_traces.latest(call.work, call.now, 1)]


def is_refused(page: VisitedPage) -> bool:
    return page.status == 403 and page.heading == "Sign-in didn’t finish" and "mention this ID" in page.text


def test_hostile_answers_break_their_rule_on_the_pages(
    new_saml_organization: NewSamlOrganization, monkeypatch: pytest.MonkeyPatch, subtests: Any
) -> None:
    """The messages of the gate's tests, made for this connection, its address, a pending request and the time of their keys."""
    globex = new_saml_organization(
        settings=OFTEN, IDPEntityId=responses.ISSUER, IDPCertificate=signers.rsa_signer().certificate
    )
    time = [signers.NOW]
    monkeypatch.setattr(type(globex.tenant.services.clock), "now", lambda _: time[0])
    request = read_request(globex.begin().address)
    facts = {ACS: request.acs_url, AUDIENCE: str(globex.connection["EntityId"]), REQUEST_ID: request.id}
    for name in ("_ASSERTION", "_RESPONSE"):
        text = getattr(responses, name)
        for old, new in facts.items():
            text = text.replace(old, new)
        monkeypatch.setattr(responses, name, text)
    for case in CASES:
        time[0] += timedelta(milliseconds=1)  # traces are sorted by their time
        with subtests.test(str(case)):
            _check(globex, case, request.relay_state)
    assert globex.count_accounts() == 0
    email = responses.text("NameID", MINA["email"])
    good = base64.b64encode(responses.response(change=email)).decode()
    monkeypatch.undo()
    assert is_refused(globex.post(globex.visitor, good, request.relay_state))  # its time is over


def _check(globex: SamlOrganization, case: Case, relay_state: str) -> None:
    message = base64.b64encode(case.content()).decode()
    page = globex.post(globex.visitor, message, relay_state)
    if len(message) > 400_000:
        assert page.status == 413
        return
    assert is_refused(page), page.text
    reference = page.text.partition("mention this ID: ")[2].split()[0]
    with call_of(globex.tenant.services, globex.tenant.name) as call:
        found = connection_traces.with_reference(call.work, reference, call.now)
    rules = [trace.failed_check for trace in found]
    assert rules == [f"saml_{case.rule.value}"] or (case in ENCRYPTION_CASES and rules)  # these are for another key


FORMS: dict[str, dict[str, Any]] = {
    "no message": {"RelayState": "x"},
    "two messages": {"SAMLResponse": ["a", "b"]},
    "no base64": {"SAMLResponse": "<Response/>"},
    "empty": {"SAMLResponse": ""},
    "deflated": {"SAMLResponse": base64.b64encode(zlib.compress(b"<x/>" * 1_000)).decode()},
    "inflate bomb": {"SAMLResponse": base64.b64encode(zlib.compress(b"\0" * (50 << 20))).decode()},
    "two relay states": {"SAMLResponse": "YQ==", "RelayState": ["a", "b"]},
    "line breaks": {"SAMLResponse": "YQ==", "RelayState": "a\r\nSet-Cookie: x=y"},
    "long": {"SAMLResponse": "A" * 300_000},
}


@pytest.mark.parametrize("name", FORMS)
def test_broken_form_gets_one_error_page(new_saml_organization: NewSamlOrganization, name: str) -> None:
    globex = new_saml_organization(IsIDPInitiated=True)
    assert is_refused(globex.visitor.post_from_elsewhere(globex.acs_path, FORMS[name]))
    assert globex.count_accounts() == 0


def test_message_of_twelve_megabytes_is_not_read(saml_globex: SamlOrganization) -> None:
    page = saml_globex.visitor.post_from_elsewhere(saml_globex.acs_path, {"SAMLResponse": "A" * (12 << 20)})
    assert page.status == 413


def test_many_answers_of_a_network_are_limited(new_saml_organization: NewSamlOrganization) -> None:
    globex = new_saml_organization(settings={"limits": {"federation_starts_per_minute_per_address": 3}})
    pages = [globex.post(globex.visitor, globex.answer().posted()).status for _ in range(5)]
    assert pages == [403, 403, 403, 429, 429]


@pytest.mark.both_databases
def test_race_of_one_answer_signs_in_once(saml_globex: SamlOrganization) -> None:
    redirected = saml_globex.begin()
    message, relay_state = saml_globex.answer(redirected).posted(), read_request(redirected.address).relay_state
    browsers = [saml_globex.new_visitor_at(saml_globex.tenant) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        pages = list(pool.map(lambda browser: saml_globex.post(browser, message, relay_state), browsers))
    assert sorted(page.status for page in pages) == [403, 403, 403, 410]  # the accepted one came to another browser
    assert saml_globex.visitor.open(f"{saml_globex.acs_path}?state={relay_state}").is_sign_in
    assert saml_globex.count_accounts() == 0


@pytest.mark.both_databases
def test_race_of_two_first_sign_ins_makes_one_account(saml_globex: SamlOrganization) -> None:
    browsers = [saml_globex.new_visitor_at(saml_globex.tenant) for _ in range(2)]
    redirected = [saml_globex.begin(browser) for browser in browsers]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(saml_globex.complete, redirected, browsers))
    assert saml_globex.count_accounts() == 1
    assert saml_globex.sign_in_anew().profile_name == "Mina Harker"


def test_answer_is_for_the_host_where_it_was_asked_for(saml_globex: SamlOrganization) -> None:
    redirected = saml_globex.begin()
    answer = saml_globex.answer(redirected, acs_url="https://acme.evil.example/saml/sp/acs/x")
    assert is_refused(
        saml_globex.post(saml_globex.visitor, answer.posted(), read_request(redirected.address).relay_state)
    )


def test_attributes_may_not_name_two_people(saml_globex: SamlOrganization) -> None:
    page = saml_globex.sign_in(email=["x@evil.example", MINA["email"]])
    assert "This email can’t be used here" in page.text
    assert saml_globex.count_accounts() == 0


def test_long_name_id_is_refused(saml_globex: SamlOrganization) -> None:
    assert is_refused(saml_globex.sign_in(sub="n" * 300))
    assert failed_checks(saml_globex) == ["saml_text"]


def test_comment_in_name_id_is_refused(saml_globex: SamlOrganization) -> None:
    def after(root: etree._Element) -> None:
        name_id = next(root.iter("{*}NameID"))
        name_id.text, comment = "admin@globex.example", etree.Comment("x")
        comment.tail = ".evil.example"
        name_id.append(comment)

    assert is_refused(saml_globex.sign_in(form={"after": after}))
    assert failed_checks(saml_globex) == ["saml_nodes"]


def test_expired_pinned_certificate_signs_nobody_in(new_saml_organization: NewSamlOrganization) -> None:
    old = signers.rsa_signer("old", from_days=-3_000, to_days=-100)
    globex = new_saml_organization(IDPCertificate=old.certificate)
    assert is_refused(globex.sign_in(form={"signer": old}))
    assert failed_checks(globex) == ["saml_key"]


def test_next_certificate_works_beside_an_expired_one(new_saml_organization: NewSamlOrganization) -> None:
    old, new = signers.rsa_signer("old", from_days=-3_000, to_days=-100), provider_signer("next")
    globex = new_saml_organization(IDPCertificate=old.certificate + new.certificate)
    assert globex.sign_in(form={"signer": new}).profile_name == "Mina Harker"


def test_metadata_and_start_of_removed_connection_are_gone(saml_globex: SamlOrganization) -> None:
    saml_globex.business.send("DELETE", f"/v2/manage/organizations/{saml_globex.org}/connections/{saml_globex.id}")
    opaque = saml_globex.login_url.rpartition("/")[2]
    assert saml_globex.visitor.open(f"/saml/sp/{opaque}/metadata.xml").status == 403
    assert saml_globex.visitor.open(f"/saml/sp/{opaque}").status == 403
    assert saml_globex.visitor.open(f"/saml/sp/{opaque}/logout").status == 403


def test_domain_lost_to_another_organization_signs_nobody_in(saml_globex: SamlOrganization) -> None:
    saml_globex.change(Domain=None)
    path = f"/v2/manage/organizations/{saml_globex.org}"
    saml_globex.business.send("PUT", path, {"Domains": []})
    assert "This email can’t be used here" in saml_globex.sign_in(email=f"mina@{DOMAIN}").text


@pytest.mark.parametrize("hint", ["a\x00b", "a\x1bb", "<x>&\"'", "\ufffe", "ü@globex.example", "x" * 320, "\ud83d"])
def test_hint_of_any_text_begins_a_sign_in(new_saml_organization: NewSamlOrganization, hint: str) -> None:
    globex = new_saml_organization(ConnectionType="saml_okta")
    query = quote(hint, errors="surrogatepass")
    page = globex.visitor.open(f"{globex.login_url}?login_hint={query}")
    is_refused_here = page.status == 400 and "\x00" <= min(hint) < " "  # control characters reach no operation
    assert is_refused_here or read_request(page.address).id, page.text


def test_foreign_return_address_is_not_followed(saml_globex: SamlOrganization) -> None:
    page = saml_globex.begin(return_url="https://evil.example/")
    assert saml_globex.complete(page).heading == "Profile"


def test_relay_state_of_an_unsolicited_answer_leads_nowhere_else(new_saml_organization: NewSamlOrganization) -> None:
    globex = new_saml_organization(IsIDPInitiated=True)
    page = globex.post(globex.visitor, globex.answer().posted(), "https://evil.example/")
    assert page.press("Continue").heading == "Profile"


def test_unsolicited_answer_ends_with_the_switch(new_saml_organization: NewSamlOrganization) -> None:
    """What was accepted while IsIDPInitiated was on is neither shown nor confirmed after it was switched off."""
    globex = new_saml_organization(IsIDPInitiated=True)
    page = globex.post(globex.visitor, globex.answer().posted())
    assert page.heading == "Sign in?"
    globex.change(IsIDPInitiated=False)
    assert globex.visitor.open(page.address).heading == "Sign-in didn’t finish"
    assert page.press("Continue").heading == "Sign-in didn’t finish"
    assert globex.count_accounts() == 0


def test_unsolicited_answer_asks_before_it_replaces_an_account(new_saml_organization: NewSamlOrganization) -> None:
    globex = new_saml_organization(IsIDPInitiated=True)
    person = globex.tenant.person("ada@elsewhere.example")
    globex.visitor.open("/login").sign_in(person.email, person.password)
    page = globex.post(globex.visitor, globex.answer().posted()).press("Continue")
    assert page.heading == "Switch accounts?"


def test_confirmation_without_token_or_answer_signs_nobody_in(new_saml_organization: NewSamlOrganization) -> None:
    globex = new_saml_organization(IsIDPInitiated=True)
    page = globex.post(globex.visitor, globex.answer().posted())
    answer = page.query["answer"]
    forged = globex.visitor.post_from_elsewhere("/sign-in/confirm", {"answer": answer})
    assert forged.heading == "Sign in?"
    assert globex.visitor.open("/profile").is_sign_in
    assert globex.visitor.open("/sign-in/confirm").status == 400
    assert globex.visitor.open("/sign-in/confirm?answer=unknown").status == 400


@pytest.mark.parametrize("code", ["", "&code=", "&code=guessed", "&code=a&code=b"])
def test_beginner_gets_no_answer_of_another_browser(saml_globex: SamlOrganization, code: str) -> None:
    """An attacker begins, and leads a victim to the provider, who is signed in there: the attacker never gets that sign-in."""
    redirected = saml_globex.begin()
    relay_state = read_request(redirected.address).relay_state
    victim = saml_globex.new_visitor_at(saml_globex.tenant)
    page = saml_globex.post(victim, saml_globex.answer(redirected).posted(), relay_state)
    assert page.status == 410
    assert saml_globex.visitor.open(f"{saml_globex.acs_path}?state={relay_state}{code}").is_sign_in
    assert failed_checks(saml_globex) == ["state"]
    assert saml_globex.visitor.open("/profile").is_sign_in
    assert saml_globex.count_accounts() == 0
    assert victim.open(page.address).status == 410
    assert saml_globex.sign_in().profile_name == "Mina Harker"


def test_answered_state_is_useless_at_other_callbacks(saml_globex: SamlOrganization) -> None:
    redirected = saml_globex.begin()
    relay_state = read_request(redirected.address).relay_state
    opaque = saml_globex.login_url.rpartition("/")[2]
    for path in ("/socialauth/validate.sauth", f"/oauth/sp/{opaque}/callback"):
        saml_globex.visitor.open(f"{path}?state={relay_state}&code=x")
        assert saml_globex.visitor.open("/profile").is_sign_in
    assert saml_globex.complete(redirected).profile_name == "Mina Harker"


@pytest.mark.parametrize("binding", [POST, ""])
def test_start_shows_no_hidden_name_to_visitors(saml_globex: SamlOrganization, binding: str) -> None:
    """A name that only members know is neither on the page of the form nor in a cookie (decision 0196)."""
    answered(saml_globex.business.send("PUT", f"{PATH}/{saml_globex.org}", {"Display": None}))
    with call_of(saml_globex.tenant.services, saml_globex.tenant.name) as call:
        record = organization_connection_store.by_any_id(call, saml_globex.id)
        assert record is not None
        content = {**record.content, "idp_sign_in_binding": binding}
        assert organization_connection_store.change_content(call, record, content)
        call.commit()
    page = saml_globex.begin()
    assert page.address.startswith(SIGN_IN) if not binding else page.form("Continue").action == SIGN_IN
    assert "Globex" not in page.html
    assert not any("Globex" in cookie.value for cookie in (saml_globex.visitor.client._cookies or {}).values())
