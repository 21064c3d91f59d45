"""An authorization request (RFC 6749 section 4.1.1): the raw parameters, and the checked request that is stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from app.contract.applications.client_protocol import ClientProtocol
from app.contract.oauth import oauth_errors
from app.contract.organizations.settings import MethodLimit
from app.contract.step_reasons import RefusedPart
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.platform.token_claims import TokenClaims
from app.identity.protocols.oauth.claims import account_claims
from app.identity.protocols.oauth.issuers import Issuer
from app.identity.protocols.oauth.tokens.authorization_codes import GrantedRequest
from app.kit.operations.errors import OAuthError

_CLIENT_ERRORS: Final[Mapping[str, type[OAuthError]]] = {
    str(error.code): error
    for error in (
        *(
            oauth_errors.InvalidScope,
            oauth_errors.InvalidTarget,
            oauth_errors.UnauthorizedClient,
            oauth_errors.UnsupportedResponseType,
        ),
        *(oauth_errors.RequestNotSupported, oauth_errors.InvalidRequestObject, oauth_errors.RegistrationNotSupported),
        *(oauth_errors.UnmetAuthenticationRequirements, oauth_errors.InvalidAuthorizationDetails),
    )
}
"""The errors of the authorization endpoint that an endpoint for clients answers itself."""


class RefusedOnPage(Exception):
    """The client or its redirect URI is not valid: the browser gets an error page, never a redirect."""

    def __init__(self, part: RefusedPart, error: str, description: str) -> None:
        super().__init__(part)
        self.part = part
        self.error = error
        self.description = description


class RefusedByRedirect(Exception):
    """The request is refused by an error response at its redirect URI (RFC 6749 section 4.1.2.1)."""

    def __init__(self, error: str, description: str) -> None:
        super().__init__(error)
        self.error = error
        self.description = description

    def to_client_error(self) -> OAuthError:
        """Return the error with which an endpoint for clients refuses the request."""
        return _CLIENT_ERRORS.get(self.error, oauth_errors.InvalidRequest)(self.description)


class CheckedRequest(BaseModel):
    """A checked request, as the interaction stores it while pages are shown."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    client_id: str
    issuer: str
    redirect_uri: str
    response_type: str = "code"
    response_mode: str = "query"
    scope: tuple[str, ...] = ()
    resource: str | None = None  # RFC 8707
    authorization_details: tuple[dict[str, Any], ...] = ()  # RFC 9396
    state: str | None = None
    nonce: str | None = None
    code_challenge: str | None = None
    code_challenge_method: str = "S256"
    dpop_jkt: str | None = None  # RFC 9449 section 10
    pushed: str | None = None  # the digest of the pushed request's address (RFC 9126)
    is_signed: bool = False  # by a request object (RFC 9101)
    prompt: frozenset[str] = frozenset()
    max_age: int | None = None
    acr: str | None = None  # a requested class: forces reauthentication and is echoed
    wants_two: bool = False  # two factors, where the account has them
    demanded_acr: tuple[str, ...] = ()  # the response has one of these, or is an error
    organization: str | None = None  # id or name of the organization to sign in to
    connection: str | None = None  # the identity provider to redirect to at once
    workflow: str | None = None  # the name of one of the client's workflows
    org_id: str | None = None  # chosen on the page; PERSONAL: none
    org_uid: str | None = None  # the account that chose it
    subject: str | None = None  # the uid that must be signed in (id_token_hint, or `sub` of claims)
    other_subjects: tuple[str, ...] = ()  # uids that may be signed in instead (several values of `sub`)
    login_hint: str | None = None
    ui_locales: str | None = None
    brand: str | None = None  # the key of one of the tenant's brands
    display: str | None = None
    userinfo_claims: tuple[str, ...] = ()
    id_token_claims: tuple[str, ...] = ()
    userinfo_values: dict[str, list[Any]] = Field(
        default_factory=dict
    )  # of those claims, the values that the response may have
    id_token_values: dict[str, list[Any]] = Field(default_factory=dict)

    @property
    def subjects(self) -> tuple[str, ...]:
        """The uids of which one must be signed in, the most preferred first; empty for any."""
        return (self.subject, *self.other_subjects) if self.subject is not None else ()

    def accepts(self, uid: str) -> bool:
        """Return whether the response may be about this account (OpenID Connect Core section 3.1.2.2)."""
        return self.subject is None or uid in self.subjects

    @property
    def agreed(self) -> tuple[str, ...]:
        """The scopes that need consent: the requested ones and those of each requested claim."""
        return tuple(
            dict.fromkeys((*self.scope, *account_claims.scopes_of((*self.userinfo_claims, *self.id_token_claims))))
        )

    def without(self, scopes: Collection[str]) -> CheckedRequest:
        """Return the request without these scopes and their claims."""
        left_out = frozenset(account_claims.names(scopes)) - frozenset(
            account_claims.names(item for item in self.scope if item not in scopes)
        )
        return self.model_copy(
            update={
                "scope": tuple(item for item in self.scope if item not in scopes),
                "userinfo_claims": tuple(claim for claim in self.userinfo_claims if claim not in left_out),
                "id_token_claims": tuple(claim for claim in self.id_token_claims if claim not in left_out),
            }
        )

    def granted(self, *, auth_time: int, amr: Sequence[str], acr: str | None, org_id: str | None) -> GrantedRequest:
        """Return what a code keeps of the request, and of the sign-in that granted it."""
        claims = TokenClaims(
            auth_time=auth_time,
            amr=tuple(amr),
            acr=acr,
            userinfo_claims=self.userinfo_claims or None,
            id_token_claims=self.id_token_claims or None,
            userinfo_values=self.userinfo_values or None,
            id_token_values=self.id_token_values or None,
            resource=self.resource,
            org_id=org_id,
        )
        return GrantedRequest(
            issuer=self.issuer,
            redirect_uri=self.redirect_uri,
            claims=claims,
            scope=self.scope,
            resource=self.resource,
            authorization_details=self.authorization_details,
            nonce=self.nonce,
            code_challenge=self.code_challenge,
            code_challenge_method=self.code_challenge_method,
            dpop_jkt=self.dpop_jkt,
        )

    def to_store(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude_defaults=True)


@dataclass
class UncheckedRequest:
    """The request during its checks: each check reads `values` and writes accepted parameters into `accepted`."""

    context: Context
    protocol: ClientProtocol
    app: str | None
    parameters: list[tuple[str, str]]
    values: dict[str, str] = field(init=False)
    repeated: frozenset[str] = field(init=False)
    client: Application = field(init=False)
    issuer: Issuer = field(init=False)
    accepted: dict[str, Any] = field(default_factory=dict)
    is_push: bool = False  # at the endpoint for pushed requests, before a browser has it
    home_realm_limit: MethodLimit | None = None  # the connections that its hints lead to, where these are several
    object_text: str = ""  # the request object
    problem: RefusedByRedirect | None = None  # of the request object

    def __post_init__(self) -> None:
        # A parameter without a value is treated as omitted (RFC 6749 section 3.1).
        present = [(name, value) for name, value in self.parameters if value != ""]
        self.values, self.repeated = dict(present), frozenset()
        if len(self.values) != len(present):
            counts = Counter(name for name, _ in present)
            self.repeated = frozenset(name for name, count in counts.items() if count > 1)
            self.values = {name: value for name, value in present if name not in self.repeated}

    def replace(self, parameters: Mapping[str, str]) -> None:
        """Use these parameters in place of those of the request; the client stays."""
        named = {"client_id": self.client.client_id}
        self.values = {name: value for name, value in parameters.items() if value != ""} | named
        self.repeated = frozenset()

    def to_checked_request(self) -> CheckedRequest:
        return CheckedRequest(client_id=self.client.client_id, issuer=self.issuer.url, **self.accepted)


Check = Callable[[UncheckedRequest], None]
"""Raises RefusedOnPage or RefusedByRedirect."""
Recheck = Callable[[Context, Application, CheckedRequest], bool]
"""Returns whether a request that was checked before still holds."""
