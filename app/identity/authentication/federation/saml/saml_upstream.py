"""This service as the service provider of one SAML connection: its requests, and the identity in an accepted answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar, Final, NoReturn, Protocol
from urllib.parse import urlencode

from app.contract.federation.connection_checks import ConnectionCheck
from app.identity.directory.identity_provider import (
    AuthenticationRequest,
    PostedRequest,
    ProfileUnsupported,
    ProviderIdentity,
    ProviderTokens,
)
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.identity.platform.saml import response_gate
from app.identity.platform.saml.encrypted_assertions import DecryptionKeys
from app.identity.platform.saml.expectations import CLOCK_SKEW, AcceptedAssertion, ExpectedResponse
from app.identity.platform.saml.saml_checks import SamlCheck
from app.identity.platform.saml.saml_names import POST
from app.identity.platform.saml.saml_rules import SamlRefusal
from app.identity.platform.saml.trusted_keys import TrustedKeys
from app.identity.platform.saml_writing import message_bindings, request_writer
from app.identity.platform.saml_writing.request_writer import AuthnRequestContents
from app.identity.platform.saml_writing.xml_signing import SigningKey

TRANSIENT: Final = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
_MAX_LENGTH: Final = 500


class HintForm(StrEnum):
    """How a kind of provider takes the name of the person to sign in."""

    NONE = "none"  # a provider that does not know the subject of a request refuses the request
    SUBJECT = "subject"  # of the AuthnRequest (saml-core-2.0 section 3.4.1)
    PARAMETER = "login_hint"  # beside the signed query


class AssertionMapping(Protocol):
    """Makes an identity of an accepted assertion."""

    def __call__(self, provider: str, assertion: AcceptedAssertion) -> ProviderIdentity:
        """Return the identity. Raises ProviderUnavailable if it names nobody."""


@dataclass(frozen=True, kw_only=True)
class SamlUpstream:
    """A connection to a SAML identity provider."""

    has_id_token: ClassVar[bool] = False
    name: str
    issuer: str
    """The entity ID of the provider."""
    entity_id: str
    """Ours, for this connection."""
    keys: TrustedKeys
    sign_in_url: str
    """Empty if it is unknown: then only the provider can begin a sign-in."""
    sign_in_binding: str
    signing_key: SigningKey
    decryption: DecryptionKeys = field(default_factory=DecryptionKeys, repr=False)
    identity_of: AssertionMapping
    hint_form: HintForm = HintForm.NONE
    relay_state_parameter: str = "RelayState"

    @property
    def secret(self) -> str:
        return ""  # no answer repeats a key

    def authorization_url(
        self, request: AuthenticationRequest, *, hint: str, is_reauthentication: bool, language: str
    ) -> str | PostedRequest:
        """Return the signed AuthnRequest, by redirect unless the provider only takes forms. Raises ProviderUnavailable."""
        del language  # SAML has no place for it
        if not self.sign_in_url:
            text = "the connection has no address of the provider for sign-in"
            raise ProviderUnavailable(
                text, check=ConnectionCheck.CONFIGURATION, expected="IDPMetadataUrl or IDPSignInUrl"
            )
        contents = AuthnRequestContents(
            issuer=self.entity_id,
            destination=self.sign_in_url,
            acs_url=request.redirect_uri,
            name_id_hint=hint if self.hint_form is HintForm.SUBJECT else "",
            must_reauthenticate=is_reauthentication,
        )
        message = request_writer.authn_request(contents, request.issued_at)
        message.set("ID", request_id_of(request.nonce))
        if self.sign_in_binding == POST:
            fields = message_bindings.posted_fields(message, self.signing_key, request.state)
            return PostedRequest(self.sign_in_url, fields)
        url = message_bindings.redirect_url(message, self.sign_in_url, self.signing_key, request.state)
        is_named = self.hint_form is HintForm.PARAMETER and hint
        return f"{url}&{urlencode({HintForm.PARAMETER.value: hint})}" if is_named else url

    def accept(
        self, messages: Sequence[str], *, acs_url: str, request_id: str | None, now: datetime
    ) -> AcceptedAssertion:
        """Return the assertion of a posted answer, which the caller spends with its request. Raises ProviderUnavailable.

        Args:
            messages: all values of the form's SAMLResponse.
            request_id: of the pending request; None accepts only an answer without request.
        """
        expected = ExpectedResponse(
            issuer=self.issuer,
            keys=self.keys,
            audience=self.entity_id,
            acs_url=acs_url,
            request_id=request_id,
            decryption=self.decryption,
        )
        try:
            return response_gate.accept_response(messages, expected, now)
        except SamlRefusal as refusal:
            raise refused(refusal) from None

    def identity(self, assertion: AcceptedAssertion, requested_at: datetime | None) -> ProviderIdentity:
        """Return the identity of an accepted assertion. Raises ProviderUnavailable.

        Args:
            requested_at: when a new authentication was requested; None: it was not.
        """
        is_anew = requested_at is not None and assertion.authenticated_at >= requested_at - CLOCK_SKEW
        found = self.identity_of(self.name, assertion)
        name_id, index = assertion.name_id, assertion.session_index[:_MAX_LENGTH]
        name = (name_id.value, name_id.name_format, name_id.name_qualifier, name_id.sp_name_qualifier)
        return replace(found, is_anew=is_anew, upstream_session=index, upstream_name=name)

    def fetch_identity(
        self, request: AuthenticationRequest, parameters: Mapping[str, str], now: datetime
    ) -> tuple[ProviderIdentity, ProviderTokens | None]:
        """Refuse: an answer is accepted where it is posted, and nothing is fetched."""
        del request, parameters, now
        raise ProviderUnavailable("a SAML answer is posted")

    def read_identity(self, access_token: str) -> NoReturn:
        del access_token
        raise ProfileUnsupported

    def renew_tokens(self, tokens: ProviderTokens, now: datetime) -> NoReturn:
        del tokens, now
        raise ProviderUnavailable("a SAML provider issues no tokens")


def request_id_of(nonce: str) -> str:
    """Return the ID of the AuthnRequest with this nonce: an XML name, which no digit begins."""
    return f"_{nonce}"


def refused(refusal: SamlRefusal) -> ProviderUnavailable:
    """Return a refusal of the gate as the journey of providers knows them."""
    received = f"{refusal} {refusal.received}".strip()
    check = SamlCheck(f"saml_{refusal.rule.value}")
    return ProviderUnavailable(str(refusal), check=check, expected=refusal.expected, received=received)


def claims_of(assertion: AcceptedAssertion) -> dict[str, Any]:
    """Return the attributes as claims, each by its name and, where no other attribute has it, by its friendly name."""
    found: dict[str, Any] = {}
    for name, attribute in assertion.attributes.items():
        values = list(attribute.values)
        if values:
            found[name] = values[0] if len(values) == 1 else values
    for name, attribute in assertion.attributes.items():
        if name in found and attribute.friendly_name:
            found.setdefault(attribute.friendly_name, found[name])
    return found


def subject_of(assertion: AcceptedAssertion) -> str:
    """Return the NameID as the person's subject. Raises ProviderUnavailable for one that changes with each sign-in."""
    if assertion.name_id.name_format == TRANSIENT:
        text = "its NameID changes with each sign-in"
        raise ProviderUnavailable(
            text,
            check=ConnectionCheck.MAPPING,
            expected="a persistent NameID, or a mapped attribute",
            received="transient",
        )
    return assertion.name_id.value
