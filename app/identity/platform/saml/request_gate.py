"""The entrances of requests and of logout messages: an envelope in, a typed message out.

Their issuer only selects among what is registered: the keys, addresses and formats of the peer come from the caller.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from app.identity.platform.saml.assertion_reader import (
    check_equal,
    check_issuer,
    check_not_in_future,
    check_version,
    read_name_id,
    wrong,
)
from app.identity.platform.saml.bindings import SamlEnvelope
from app.identity.platform.saml.expectations import CLOCK_SKEW, SamlNameId
from app.identity.platform.saml.saml_names import POST, SUCCESS, saml, samlp
from app.identity.platform.saml.saml_rules import SamlRefusal, SamlRule
from app.identity.platform.saml.trusted_keys import TrustedKeys
from app.identity.platform.saml.xml_documents import read_xml
from app.identity.platform.saml.xml_elements import (
    attribute,
    boolean,
    children,
    instant,
    local_name,
    only_child,
    optional_attribute,
    optional_child,
    optional_instant,
    whole_text,
)
from app.identity.platform.saml.xml_signatures import check_places, signature_of, verified_element

if TYPE_CHECKING:
    from lxml.etree import _Element

MAX_REQUEST_AGE: Final = timedelta(minutes=10)
"""A signed request that was captured is refused after that; its ID is remembered until then."""
_MAX_LIST: Final = 50
_COMPARISONS: Final = ("exact", "minimum", "maximum", "better")


@dataclass(frozen=True, kw_only=True)
class SamlPeer:
    """What is registered of the other side: a service provider, or a provider that signs people out."""

    entity_id: str
    keys: TrustedKeys | None = None
    acs_urls: tuple[str, ...] = ()
    """The addresses of a service provider that take responses, by their index; the first one is the default."""
    must_sign: bool = True
    """Whether an AuthnRequest must be signed. Logout messages always must."""

    def __post_init__(self) -> None:
        if not self.entity_id or (self.must_sign and self.keys is None):
            raise ValueError("a peer has an entity ID and, if it must sign, keys")


@dataclass(frozen=True, kw_only=True)
class AcceptedAuthnRequest:
    """A request for an assertion. `acs_url` is a registered one, whether or not the request is signed."""

    request_id: str
    issuer: str
    acs_url: str
    name_id_format: str
    """Empty if the request leaves it open."""
    must_reauthenticate: bool
    is_passive: bool
    context_classes: tuple[str, ...]
    comparison: str
    relay_state: str
    is_signed: bool
    expires_at: datetime
    """Until then, a signed request must be remembered by its ID."""


@dataclass(frozen=True, kw_only=True)
class AcceptedLogoutRequest:
    """A signed request to sign a subject out."""

    request_id: str
    issuer: str
    name_id: SamlNameId
    session_indexes: tuple[str, ...]
    """Empty for all sessions of the subject."""
    relay_state: str
    expires_at: datetime
    """Until then, the request must be remembered by its ID."""


@dataclass(frozen=True, kw_only=True)
class AcceptedLogoutResponse:
    """A signed answer to our LogoutRequest, whose ID the caller spends."""

    request_id: str
    issuer: str
    is_success: bool
    relay_state: str


def accept_authn_request(
    envelope: SamlEnvelope, peer_of: Callable[[str], SamlPeer | None], *, address: str, now: datetime
) -> AcceptedAuthnRequest:
    """Return the request of a registered service provider. Raises SamlRefusal.

    Args:
        peer_of: returns the service provider of this tenant with an entity ID.
        address: where the request arrived, which its Destination must name if it is signed or has one.
    """
    root, peer = _peer(envelope, "AuthnRequest", peer_of)
    request, is_signed = _verified(envelope, root, peer, now, must_sign=peer.must_sign)
    _check_message(request, peer, address, now, is_signed=is_signed)
    issued_at = _issued(request, now)
    if optional_child(request, saml("Subject")) is not None or optional_child(request, saml("Conditions")) is not None:
        raise _unsupported("A request that names a subject or conditions isn’t supported.", "Subject")
    policy = optional_child(request, samlp("NameIDPolicy"))
    requested = optional_child(request, samlp("RequestedAuthnContext"))
    return AcceptedAuthnRequest(
        request_id=attribute(request, "ID"),
        issuer=peer.entity_id,
        acs_url=_acs_url(request, peer),
        name_id_format="" if policy is None else optional_attribute(policy, "Format"),
        must_reauthenticate=boolean(request, "ForceAuthn"),
        is_passive=boolean(request, "IsPassive"),
        context_classes=() if requested is None else _texts(requested, saml("AuthnContextClassRef")),
        comparison="exact" if requested is None else _comparison(requested),
        relay_state=envelope.relay_state,
        is_signed=is_signed,
        expires_at=issued_at + MAX_REQUEST_AGE + CLOCK_SKEW,
    )


def accept_logout_request(
    envelope: SamlEnvelope, peer_of: Callable[[str], SamlPeer | None], *, address: str, now: datetime
) -> AcceptedLogoutRequest:
    """Return the signed request of a registered peer. Raises SamlRefusal."""
    root, peer = _peer(envelope, "LogoutRequest", peer_of)
    request, _ = _verified(envelope, root, peer, now, must_sign=True)
    _check_message(request, peer, address, now, is_signed=True)
    end = optional_instant(request, "NotOnOrAfter")
    if end is not None and end <= now - CLOCK_SKEW:
        raise wrong("NotOnOrAfter is over.", f"after {now.isoformat()}", end.isoformat())
    return AcceptedLogoutRequest(
        request_id=attribute(request, "ID"),
        issuer=peer.entity_id,
        name_id=read_name_id(only_child(request, saml("NameID"))),
        session_indexes=_texts(request, samlp("SessionIndex")),
        relay_state=envelope.relay_state,
        expires_at=_issued(request, now) + MAX_REQUEST_AGE + CLOCK_SKEW,
    )


def accept_logout_response(
    envelope: SamlEnvelope, peer: SamlPeer, *, request_id: str, address: str, now: datetime
) -> AcceptedLogoutResponse:
    """Return the signed answer of the peer to which the pending request went. Raises SamlRefusal."""
    if not request_id:
        raise ValueError("a logout response answers a request")
    root = _root(envelope, "LogoutResponse")
    response, _ = _verified(envelope, root, peer, now, must_sign=True)
    _check_message(response, peer, address, now, is_signed=True)
    check_equal("InResponseTo", response.get("InResponseTo"), request_id)
    _issued(response, now)
    status = only_child(only_child(response, samlp("Status")), samlp("StatusCode"))
    return AcceptedLogoutResponse(
        request_id=request_id,
        issuer=peer.entity_id,
        is_success=status.get("Value") == SUCCESS and len(status) == 0,
        relay_state=envelope.relay_state,
    )


def _root(envelope: SamlEnvelope, name: str) -> _Element:
    """Return the root of a message, which must be this one and come under the name of its kind."""
    parameter = "SAMLResponse" if name == "LogoutResponse" else "SAMLRequest"
    root = read_xml(envelope.content)
    if root.tag != samlp(name) or envelope.name != parameter:
        raise SamlRefusal(
            SamlRule.STRUCTURE,
            "The message is of another kind.",
            expected=f"{name} as {parameter}",
            received=f"{local_name(root.tag)} as {envelope.name}",
        )
    check_places(root, root)
    return root


def _peer(envelope: SamlEnvelope, name: str, peer_of: Callable[[str], SamlPeer | None]) -> tuple[_Element, SamlPeer]:
    root = _root(envelope, name)
    issuer = whole_text(only_child(root, saml("Issuer")))
    peer = peer_of(issuer)
    if peer is None or peer.entity_id != issuer:
        raise SamlRefusal(
            SamlRule.REQUEST,
            "The issuer isn’t registered.",
            expected="the entity ID of a registered peer",
            received=issuer,
        )
    return root, peer


def _verified(
    envelope: SamlEnvelope, root: _Element, peer: SamlPeer, now: datetime, *, must_sign: bool
) -> tuple[_Element, bool]:
    """Return what may be read, and whether it is signed.

    The signature of a redirect covers the query; one inside the message is refused there (Bindings, section 3.4.4.1). A peer
    without keys cannot sign: what it sends as signed is refused, since nothing could verify it.
    """
    has_signature = signature_of(root) is not None
    if envelope.is_redirect and has_signature:
        raise SamlRefusal(SamlRule.SIGNATURE_FORM, "A message in an address has its signature in the query alone.")
    if not (has_signature or envelope.query_signature):
        if must_sign:
            raise SamlRefusal(SamlRule.VERIFIED, "The message isn’t signed.", expected="a signature by the peer")
        return root, False
    if peer.keys is None:
        raise SamlRefusal(SamlRule.KEY, "The message is signed, and no certificate of the peer is registered.")
    if envelope.query_signature is not None:
        envelope.query_signature.verify(peer.keys, now)
        return root, True
    return verified_element(root, root, peer.keys, now)[0], True


def _check_message(message: _Element, peer: SamlPeer, address: str, now: datetime, *, is_signed: bool) -> None:
    check_version(message)
    check_issuer(message, peer.entity_id)
    if is_signed or message.get("Destination") is not None:
        check_equal("Destination", message.get("Destination"), address)
    check_not_in_future(instant(message, "IssueInstant"), now, "IssueInstant")


def _issued(message: _Element, now: datetime) -> datetime:
    issued_at = instant(message, "IssueInstant")
    if issued_at <= now - MAX_REQUEST_AGE - CLOCK_SKEW:
        raise wrong(
            "The message is too old.", f"issued after {(now - MAX_REQUEST_AGE).isoformat()}", issued_at.isoformat()
        )
    return issued_at


def _acs_url(request: _Element, peer: SamlPeer) -> str:
    """Return the registered address that the request selects."""
    if request.get("ProtocolBinding", POST) != POST:
        raise _unsupported("The response can only be posted.", str(request.get("ProtocolBinding")))
    url, index = request.get("AssertionConsumerServiceURL"), request.get("AssertionConsumerServiceIndex")
    if url is not None and index is not None:
        raise _unsupported("The request has both a URL and an index of the consumer service.", "both")
    if not peer.acs_urls:
        raise _unsupported("No consumer service is registered.", "none")
    if url is None and index is None:
        return peer.acs_urls[0]
    if url is not None and url in peer.acs_urls:
        return str(url)
    if index is not None and str(index).isascii() and str(index).isdigit() and len(str(index)) <= len("65535"):
        number = int(str(index))
        if number < len(peer.acs_urls):
            return peer.acs_urls[number]
    raise SamlRefusal(
        SamlRule.REQUEST,
        "The consumer service of the request isn’t registered.",
        expected=list(peer.acs_urls),
        received=str(url if url is not None else index),
    )


def _texts(parent: _Element, tag: str) -> tuple[str, ...]:
    found = children(parent, tag)
    if len(found) > _MAX_LIST:
        raise SamlRefusal(
            SamlRule.SIZE, f"The message has too many {local_name(tag)}.", expected=f"at most {_MAX_LIST}"
        )
    return tuple(whole_text(element) for element in found)


def _comparison(requested: _Element) -> str:
    comparison = str(requested.get("Comparison", "exact"))
    if comparison not in _COMPARISONS:
        raise _unsupported("The comparison of contexts is unknown.", comparison)
    return comparison


def _unsupported(text: str, received: str) -> SamlRefusal:
    return SamlRefusal(SamlRule.REQUEST, text, received=received)
