"""Requests and logout messages: what is accepted, and the rule that refuses each hostile one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from lxml import etree

from app.identity.platform.saml.bindings import SamlEnvelope
from app.identity.platform.saml.request_gate import (
    AcceptedAuthnRequest,
    AcceptedLogoutRequest,
    AcceptedLogoutResponse,
    SamlPeer,
    accept_authn_request,
    accept_logout_request,
    accept_logout_response,
)
from app.identity.platform.saml.saml_rules import SamlRefusal, SamlRule
from tests.support.saml import signers
from tests.support.saml.requests import ACS, ADDRESS, MESSAGES, PEER, deflated, message, peer, post, query, redirect
from tests.support.saml.responses import SAML, SAMLP, added, attribute, doubled, find, removed, text
from tests.support.saml.signers import DS, MORE, NOW

R = SamlRule
NAMES = sorted(MESSAGES)
REQUEST = "AuthnRequest"
OPEN = peer(must_sign=False)
BINDINGS: dict[str, Callable[..., SamlEnvelope]] = {"post": post, "redirect": redirect}


def accept(
    name: str, envelope: SamlEnvelope, known: SamlPeer | None = None
) -> AcceptedAuthnRequest | AcceptedLogoutRequest | AcceptedLogoutResponse:
    found = known or peer()
    if name == "LogoutResponse":
        return accept_logout_response(envelope, found, request_id="_request1", address=ADDRESS, now=NOW)
    entrance = accept_authn_request if name == REQUEST else accept_logout_request
    return entrance(envelope, {PEER: found}.get, address=ADDRESS, now=NOW)


def refused(name: str, envelope: Callable[[], SamlEnvelope], known: SamlPeer | None = None) -> SamlRule:
    with pytest.raises(SamlRefusal) as found:
        accept(name, envelope(), known)
    return found.value.rule


@pytest.mark.parametrize("binding", BINDINGS)
@pytest.mark.parametrize("name", NAMES)
def test_signed_message_is_accepted(name: str, binding: str) -> None:
    accepted = accept(name, BINDINGS[binding](name))
    assert (accepted.issuer, accepted.relay_state) == (PEER, "state")
    assert accepted.request_id == ("_request1" if name == "LogoutResponse" else "_message1")


@pytest.mark.parametrize("binding", BINDINGS)
def test_authn_request_is_read_in_full(binding: str) -> None:
    accepted = accept_authn_request(BINDINGS[binding](REQUEST), {PEER: peer()}.get, address=ADDRESS, now=NOW)
    assert (accepted.acs_url, accepted.must_reauthenticate, accepted.is_passive, accepted.is_signed) == (
        ACS,
        True,
        False,
        True,
    )
    assert accepted.name_id_format.endswith("persistent")
    assert accepted.context_classes == ("urn:oasis:names:tc:SAML:2.0:ac:classes:Password",)


def test_logout_request_is_read_in_full() -> None:
    accepted = accept_logout_request(post("LogoutRequest"), {PEER: peer()}.get, address=ADDRESS, now=NOW)
    assert (accepted.name_id.value, accepted.session_indexes) == ("ada@example.test", ("_session1",))


def test_unsigned_request_selects_a_registered_address() -> None:
    def second(root: etree._Element) -> None:
        del root.attrib["AssertionConsumerServiceURL"], root.attrib["Destination"]
        root.set("AssertionConsumerServiceIndex", "1")

    envelope = redirect(REQUEST, is_signed=False, change=second)
    accepted = accept_authn_request(envelope, {PEER: OPEN}.get, address=ADDRESS, now=NOW)
    assert (accepted.acs_url, accepted.is_signed) == ("https://sp.example/acs2", False)


HOSTILE: list[tuple[SamlRule, str, dict[str, Any]]] = [
    (R.CONDITIONS, "other destination", {"change": attribute("*", "Destination", "https://evil.example")}),
    (R.CONDITIONS, "no destination", {"change": attribute("*", "Destination", None)}),
    (R.CONDITIONS, "issued tomorrow", {"change": attribute("*", "IssueInstant", "2026-06-02T12:00:00Z")}),
    (R.CONDITIONS, "issued in the year 9999", {"change": attribute("*", "IssueInstant", "9999-12-31T23:59:59Z")}),
    (R.CONDITIONS, "issued in the year 1", {"change": attribute("*", "IssueInstant", "0001-01-01T00:00:00Z")}),
    (R.CONDITIONS, "issued an hour ago", {"change": attribute("*", "IssueInstant", "2026-06-01T11:00:00Z")}),
    (R.STRUCTURE, "no version", {"change": attribute("*", "Version", None)}),
    (R.STRUCTURE, "two issuers", {"change": doubled("Issuer")}),
    (R.STRUCTURE, "two IDs under other names", {"change": attribute("*", "id", "_2")}),
    (R.TEXT, "element in the issuer", {"change": added("Issuer", "<x/>")}),
    (R.ALGORITHM, "SHA-1", {"algorithm": f"{DS}rsa-sha1"}),
    (R.ALGORITHM, "HMAC", {"algorithm": f"{MORE}hmac-sha256"}),
    (R.KEY, "somebody else’s key", {"signer": signers.rsa_signer("evil")}),
    (R.KEY, "an ECDSA key", {"signer": signers.ec_signer(), "algorithm": f"{MORE}ecdsa-sha256"}),
    (R.SIGNATURE_FORM, "a signature elsewhere", {"change": added("Issuer", f'<d:Signature xmlns:d="{DS}"/>')}),
]


@pytest.mark.parametrize("binding", BINDINGS)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("rule", "change"), [(rule, change) for rule, _, change in HOSTILE], ids=[one[1] for one in HOSTILE]
)
def test_hostile_message_is_refused_by_its_rule(
    name: str, binding: str, rule: SamlRule, change: dict[str, Any]
) -> None:
    assert refused(name, lambda: BINDINGS[binding](name, **change)) is rule


REPLACED: list[tuple[SamlRule, str, bytes, bytes]] = [
    (R.PARSER, "document type", b"<samlp:", b"<!DOCTYPE x><samlp:"),
    (R.PARSER, "undeclared entity", b"https://sp.example/saml<", b"&e;<"),
    (R.NODES, "comment in the issuer", b"https://sp.example/saml<", b"https://sp.example/saml<!-- -->x<"),
    (R.NODES, "processing instruction", b"<saml:Issuer>", b"<?x?><saml:Issuer>"),
    (
        R.SIZE,
        "100,000 elements",
        b"<saml:Issuer>",
        b"<samlp:Extensions>" + b"<a/>" * 100_000 + b"</samlp:Extensions><saml:Issuer>",
    ),
    (
        R.SIZE,
        "100 levels",
        b"<saml:Issuer>",
        b"<samlp:Extensions>" + b"<a>" * 99 + b"</a>" * 99 + b"</samlp:Extensions><saml:Issuer>",
    ),
    (R.STRUCTURE, "another root", b"samlp:", b"saml:"),
]


@pytest.mark.parametrize("binding", ["post", "redirect"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("rule", "old", "new"), [(one[0], *one[2:]) for one in REPLACED], ids=[one[1] for one in REPLACED]
)
def test_hostile_document_is_refused_by_its_rule(
    name: str, binding: str, rule: SamlRule, old: bytes, new: bytes
) -> None:
    content = message(name, is_signed=binding == "post")
    changed = content.replace(old, new) if rule is R.STRUCTURE else content.replace(old, new, 1)
    if binding == "redirect":
        assert refused(name, lambda: redirect(name, deflated(changed))) is rule
    elif len(changed) > 180_000:
        with pytest.raises(SamlRefusal, match="too long"):
            post(name, changed)
    else:
        assert refused(name, lambda: post(name, changed)) is rule


@pytest.mark.parametrize("name", NAMES)
def test_unsigned_message_is_refused(name: str) -> None:
    assert refused(name, lambda: post(name, is_signed=False)) is R.VERIFIED
    assert refused(name, lambda: redirect(name, is_signed=False)) is R.VERIFIED


@pytest.mark.parametrize("name", NAMES)
def test_message_changed_after_signing_is_refused(name: str) -> None:
    assert refused(name, lambda: post(name, after=attribute("*", "Consent", "urn:x"))) is R.VERIFIED


@pytest.mark.parametrize("name", NAMES)
def test_wrapped_message_is_refused(name: str) -> None:
    """The signed message is put into an unsigned one, in three places."""
    signed = etree.fromstring(message(name))
    for place in ("Extensions", "Object", "Issuer"):
        evil = etree.fromstring(message(name, is_signed=False))
        evil.set("ID", "_evil")
        holder = etree.SubElement(evil, f"{{{DS if place == 'Object' else SAMLP}}}{place}")
        holder.append(etree.fromstring(etree.tostring(signed)))
        assert refused(name, lambda: post(name, etree.tostring(evil))) is R.SIGNATURE_FORM  # noqa: B023 - called at once


@pytest.mark.parametrize("name", NAMES)
def test_signature_of_another_message_is_refused(name: str) -> None:
    def moved(root: etree._Element) -> None:
        root.insert(1, find(etree.fromstring(message(name)), "Signature"))
        root.set("ID", "_evil")

    assert refused(name, lambda: post(name, is_signed=False, after=moved)) is R.SIGNATURE_FORM


@pytest.mark.parametrize("name", NAMES)
def test_redirect_with_signature_inside_is_refused(name: str) -> None:
    assert refused(name, lambda: redirect(name, deflated(message(name)))) is R.SIGNATURE_FORM


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("rule", "change"),
    [
        (R.KEY, lambda made: made.replace("RelayState=state", "RelayState=other")),
        (R.KEY, lambda made: made.replace("RelayState=state&", "")),
        (R.KEY, lambda made: made.replace("%2F", "%2f")),
        (R.KEY, lambda made: made.replace("state", "st%61te")),
        (R.SIZE, lambda made: made + "&RelayState=state"),
        (R.SIZE, lambda made: made + "&" + made.partition("&")[0]),
        (R.SIZE, lambda made: made + "&SAMLRequest=x&SAMLResponse=x"),
        (R.SIZE, lambda made: made + "&Sig%41lg=x"),
        (R.SIZE, lambda made: made.replace("SAML", "S%41ML", 1)),
        (R.SIZE, lambda made: made + "&SAMLEncoding=urn:none"),
        (R.SIZE, lambda made: made.replace("RelayState=state", "RelayState=%ff")),
        (R.SIZE, lambda made: made.replace("RelayState=state", "RelayState=%zz")),
        (R.SIZE, lambda made: made.replace("RelayState=state", "RelayState=" + "a" * 3_000)),
        (R.SIZE, lambda made: made.replace("RelayState=state", "RelayState=%0d%0aSet-Cookie")),
        (R.SIZE, lambda made: made.partition("&Signature=")[0] + "&Signature=*"),
        (R.SIZE, lambda made: made + "&x=" + "a" * 300_000),
        (R.SIGNATURE_FORM, lambda made: made.partition("&Signature=")[0]),
        (R.SIGNATURE_FORM, lambda made: made.partition("&Signature=")[0] + "&Signature="),
        (R.ALGORITHM, lambda made: made.replace("rsa-sha256", "rsa-sha1")),
        (R.ALGORITHM, lambda made: made.replace("rsa-sha256", "none")),
        (R.KEY, lambda made: made.replace("rsa-sha256", "rsa-sha512")),
    ],
)
def test_changed_query_is_refused(name: str, rule: SamlRule, change: Callable[[str], str]) -> None:
    assert refused(name, lambda: redirect(name, change_query=change)) is rule


def test_query_may_have_parameters_of_the_address() -> None:
    accepted = accept(REQUEST, redirect(REQUEST, change_query=lambda made: f"tenant=1&{made}&x"))
    assert accepted.request_id == "_message1"


def test_order_of_the_query_does_not_matter() -> None:
    """The signature is over the order of the specification, whatever order an intermediary makes."""
    accepted = accept(REQUEST, redirect(REQUEST, change_query=lambda made: "&".join(reversed(made.split("&")))))
    assert accepted.relay_state == "state"


@pytest.mark.parametrize(
    "content",
    [
        deflated(b" " * 3_000_000),
        deflated(b"<a/>" * 700_000),
        deflated(MESSAGES[REQUEST].encode())[:-3],
        deflated(MESSAGES[REQUEST].encode()) + b"more",
        b"\x00\xff\xff",
        MESSAGES[REQUEST].encode(),
        b"",
    ],
    ids=["3 MB of spaces", "3 MB of elements", "cut off", "with more behind", "no stream", "not deflated", "empty"],
)
def test_content_that_does_not_inflate_is_refused(content: bytes) -> None:
    assert refused(REQUEST, lambda: redirect(REQUEST, content)) is R.SIZE


@pytest.mark.parametrize(
    ("rule", "change"),
    [
        (R.REQUEST, attribute("*", "AssertionConsumerServiceURL", "https://evil.example/acs")),
        (R.REQUEST, attribute("*", "AssertionConsumerServiceURL", ACS + "/")),
        (R.REQUEST, attribute("*", "AssertionConsumerServiceURL", "")),
        (R.REQUEST, attribute("*", "AssertionConsumerServiceIndex", "0")),
        (R.REQUEST, attribute("*", "ProtocolBinding", "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect")),
        (R.REQUEST, attribute("*", "ForceAuthn", "yes")),
        (R.REQUEST, attribute("RequestedAuthnContext", "Comparison", "best")),
        (R.REQUEST, added("*", f'<a:Subject xmlns:a="{SAML}"><a:NameID>ada</a:NameID></a:Subject>', 1)),
        (R.REQUEST, text("Issuer", "https://evil.example")),
        (R.STRUCTURE, removed("Issuer")),
        (R.STRUCTURE, doubled("NameIDPolicy")),
        (R.CONDITIONS, attribute("*", "Destination", "https://evil.example")),
    ],
)
def test_unsigned_request_selects_registered_values_only(rule: SamlRule, change: Callable[..., object]) -> None:
    assert refused(REQUEST, lambda: redirect(REQUEST, is_signed=False, change=change), OPEN) is rule


@pytest.mark.parametrize("index", ["2", "-1", "1.0", "٠", "", "99999999999999999999"])
def test_index_of_no_registered_address_is_refused(index: str) -> None:
    def changed(root: etree._Element) -> None:
        del root.attrib["AssertionConsumerServiceURL"]
        root.set("AssertionConsumerServiceIndex", index)

    assert refused(REQUEST, lambda: redirect(REQUEST, is_signed=False, change=changed), OPEN) is R.REQUEST


def test_signed_request_of_a_peer_without_keys_is_refused() -> None:
    assert refused(REQUEST, lambda: redirect(REQUEST), peer(must_sign=False, keys=None)) is R.KEY


def test_wrong_signature_is_refused_where_none_is_needed() -> None:
    assert refused(REQUEST, lambda: redirect(REQUEST, signer=signers.rsa_signer("evil")), OPEN) is R.KEY


@pytest.mark.parametrize(
    ("name", "rule", "change"),
    [
        ("LogoutRequest", R.STRUCTURE, removed("NameID")),
        ("LogoutRequest", R.TEXT, text("NameID", "a" * 300)),
        ("LogoutRequest", R.CONDITIONS, attribute("*", "NotOnOrAfter", "2026-06-01T11:59:00Z")),
        ("LogoutResponse", R.CONDITIONS, attribute("*", "InResponseTo", "_request2")),
        ("LogoutResponse", R.CONDITIONS, attribute("*", "InResponseTo", None)),
        ("LogoutResponse", R.STRUCTURE, removed("Status")),
        ("LogoutResponse", R.CONDITIONS, text("Issuer", "https://evil.example")),
    ],
)
def test_logout_message_of_wrong_content_is_refused(name: str, rule: SamlRule, change: Callable[..., object]) -> None:
    assert refused(name, lambda: post(name, change=change)) is rule


@pytest.mark.parametrize("name", NAMES)
def test_message_of_another_kind_is_refused(name: str) -> None:
    for other in NAMES:
        if other != name:
            assert refused(name, lambda: post(name, message(other))) is R.STRUCTURE  # noqa: B023 - called at once


def test_query_of_the_other_kind_is_refused() -> None:
    with pytest.raises(SamlRefusal, match="alone"):
        redirect("LogoutResponse", change_query=lambda _: query("LogoutRequest"))
