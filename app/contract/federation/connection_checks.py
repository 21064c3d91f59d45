"""The checks of a provider's answers, with what each failure means and what to change at the provider. Operators and programs read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class ConnectionCheck(StrEnum):
    """A check of a provider's answer, in the order of a sign-in."""

    CONFIGURATION = "configuration"
    DISCOVERY = "discovery"
    AUTHORIZATION_ANSWER = "authorization_answer"
    STATE = "state"
    ANSWER_ISSUER = "answer_issuer"
    TOKEN_ENDPOINT = "token_endpoint"
    CODE = "code"
    REFRESH_TOKEN = "refresh_token"
    INTROSPECTION = "introspection"
    KEYS = "keys"
    TOKEN_FORMAT = "token_format"
    SIGNATURE = "signature"
    ISS = "iss"
    AUD = "aud"
    AZP = "azp"
    NONCE = "nonce"
    SUB = "sub"
    EXP = "exp"
    NBF = "nbf"
    IAT = "iat"
    AT_HASH = "at_hash"
    REPLAY = "replay"
    REAUTHENTICATION = "reauthentication"
    USERINFO = "userinfo"
    EMAILS = "emails"
    MAPPING = "mapping"
    EMAIL = "email"
    LINKING = "linking"
    ACCOUNT = "account"
    LDAP_ADDRESS = "ldap_address"
    LDAP_CONNECTION = "ldap_connection"
    LDAP_TLS = "ldap_tls"
    LDAP_BIND = "ldap_bind"
    LDAP_SEARCH = "ldap_search"
    LDAP_PASSWORD = "ldap_password"
    LDAP_GROUPS = "ldap_groups"
    LDAP_PASSWORD_CHANGE = "ldap_password_change"
    ANSWER = "answer"


class CallFailure(StrEnum):
    """What happened to a call, in the order of a call."""

    INVALID_ADDRESS = "invalid_address"
    UNKNOWN_HOST = "unknown_host"
    INWARD_ADDRESS = "inward_address"
    BUSY = "busy"  # nothing was asked: too many calls waited
    CONNECTION_REFUSED = "connect_refused"
    UNREACHABLE = "unreachable"
    CERTIFICATE = "certificate"
    TLS = "tls"
    SLOW = "slow"
    CLOSED = "closed"
    NOT_HTTP = "not_http"
    REDIRECTED = "redirected"
    NOT_FOUND = "not_found"
    TOO_MANY = "too_many"
    SERVER_ERROR = "server_error"
    REFUSED_STATUS = "refused_status"  # another status, such as 401
    TOO_LONG = "too_long"
    PACKED = "packed"
    EMPTY = "empty"
    HTML = "html"
    NOT_JSON = "not_json"
    WRONG_TYPE = "wrong_type"


_F: Final = CallFailure
UNAVAILABLE: Final = frozenset({
    _F.UNKNOWN_HOST, _F.BUSY, _F.CONNECTION_REFUSED, _F.UNREACHABLE, _F.SLOW, _F.CLOSED, _F.TOO_MANY, _F.SERVER_ERROR,
})  # fmt: skip
"""What a later try may mend: nobody answered, or the server had an error of its own."""
NEVER_ASKED: Final = frozenset({_F.INVALID_ADDRESS, _F.INWARD_ADDRESS})
"""What the connection's own addresses cause, before anybody is asked."""


@dataclass(frozen=True)
class Diagnosis:
    """What the failure of a check means, and what to change."""

    problem: str
    advice: str


_C: Final = ConnectionCheck
_TIMES: Final = "Set the clocks of the provider and of this server by NTP. Up to 60 seconds of difference are accepted."
_REDIRECT_URI: Final = (
    "`/socialauth/validate.sauth` of the tenant’s host, or the `RedirectURI` of an organization’s connection"
)
DIAGNOSES: Final[Mapping[ConnectionCheck, Diagnosis]] = MappingProxyType({
    _C.CONFIGURATION: Diagnosis(
        "The connection is incomplete, or was removed during the sign-in.",
        "Complete the connection here: its client secret, its addresses and its key.",
    ),
    _C.DISCOVERY: Diagnosis(
        "The provider’s discovery document can’t be read or used.",
        "Open the issuer’s `/.well-known/openid-configuration`. It must be JSON over HTTPS without a redirect, its `issuer` must equal "
        "the connection’s `issuer` exactly, a trailing slash included, and its endpoints must be public HTTPS addresses.",
    ),
    _C.AUTHORIZATION_ANSWER: Diagnosis(
        "The provider returned the browser with an error, or without a code.",
        "`access_denied`: the person canceled, or the provider doesn’t let them use this client; assign them to it. `invalid_scope`: "
        "request fewer scopes, or allow them for the client. `unauthorized_client`: allow the authorization code flow for the client.",
    ),
    _C.STATE: Diagnosis(
        "The browser returned with a `state` that isn’t open in it: another browser began the sign-in, or it took longer than an hour.",
        "Nothing at the provider, unless it changes `state`. The person starts again, in one browser that accepts cookies. If every "
        "sign-in fails, compare the redirect URI at the provider with the host where people begin: they must be one host.",
    ),
    _C.ANSWER_ISSUER: Diagnosis(
        "The `iss` of the provider’s redirect isn’t the connection’s issuer, or it is missing though the provider promises it (RFC 9207).",
        "Use as the connection’s `issuer` what the provider publishes. If it differs for each sign-in, two providers share one client.",
    ),
    _C.TOKEN_ENDPOINT: Diagnosis(
        "The token endpoint didn’t answer, or refused this client.",
        "`invalid_client`: enter the client secret again, and check whether it expired and whether the client authenticates by "
        "`client_secret_basic` or `client_secret_post`. `redirect_uri_mismatch`: register at the provider "
        f"{_REDIRECT_URI}. No answer: allow this server to reach the provider.",
    ),
    _C.CODE: Diagnosis(
        "The provider refused the code: it expired, was used before, or belongs to another redirect URI, client or PKCE verifier.",
        f"Check that the redirect URI at the provider is exactly {_REDIRECT_URI}. If the provider doesn’t support PKCE together with a "
        "client secret, turn `pkce` off. Otherwise the person starts again.",
    ),
    _C.REFRESH_TOKEN: Diagnosis(
        "The provider refused the refresh token: it expired, or access was withdrawn.",
        "The person signs in with the provider again. If it happens soon after each sign-in, prolong refresh tokens at the provider.",
    ),
    _C.INTROSPECTION: Diagnosis(
        "The provider doesn’t confirm that it issued the app’s access token to this client.",
        "The app must use the client ID of this connection. Tokens of other clients are never accepted, even for the same person.",
    ),
    _C.KEYS: Diagnosis(
        "The provider’s signing keys can’t be read, or none of them can be used.",
        "Open the provider’s `jwks_uri`, or the key of a JWT provider. It must have a signature key: RSA of at least 2,048 bits, a NIST "
        "curve or Ed25519.",
    ),
    _C.TOKEN_FORMAT: Diagnosis(
        "There is no readable signed token, or its algorithm isn’t accepted.",
        "Let the provider issue a signed ID token with an asymmetric algorithm (RS, PS or ES with 256, 384 or 512, or EdDSA), for a "
        "JWT provider the one that is configured. `none` is never accepted, and HS never with a public key. Turn encryption of ID "
        "tokens off. With OpenID Connect, the scope must have `openid`.",
    ),
    _C.SIGNATURE: Diagnosis(
        "None of the provider’s published keys signed the token.",
        "Publish the key that signs at the provider’s `jwks_uri`, with the `kid` of the token. After a change of keys, publish the new "
        "one at least a minute before the first token; a JWT provider with a fixed key needs the new one here.",
    ),
    _C.ISS: Diagnosis(
        "The token’s `iss` isn’t the issuer that is configured.",
        "Copy the issuer from the provider exactly: scheme, host, path and trailing slash.",
    ),
    _C.AUD: Diagnosis(
        "The token’s `aud` doesn’t have this client.",
        "Set the connection’s client ID, or the audience of a JWT provider, to what the provider issues tokens for.",
    ),
    _C.AZP: Diagnosis(
        "The token was issued to another client (`azp`), or has several audiences and names none.",
        "Let the provider issue the token for this client alone, or set `azp` to its client ID.",
    ),
    _C.NONCE: Diagnosis(
        "The token’s `nonce` isn’t that of this sign-in.",
        "The provider must copy `nonce` from the authorization request. A provider that can’t isn’t an OpenID Connect provider: set it "
        "up by its endpoints, without an issuer.",
    ),
    _C.SUB: Diagnosis(
        "The token has no `sub` that is text.",
        "Let the provider send a `sub`: text of at most 255 characters that identifies the account and never changes.",
    ),
    _C.EXP: Diagnosis("The token expired, or has no `exp`, or is valid for too long.", f"{_TIMES} An app must use the token within a day."),
    _C.NBF: Diagnosis("The token isn’t valid yet (`nbf`), or lacks a claim that is mandatory.", _TIMES),
    _C.IAT: Diagnosis("The token was issued in the future, or has no `iat`.", _TIMES),
    _C.AT_HASH: Diagnosis(
        "The ID token belongs to another access token (`at_hash`).",
        "Let the provider compute `at_hash` from the access token of the same answer, by OpenID Connect Core, section 3.1.3.6.",
    ),
    _C.REPLAY: Diagnosis(
        "The token signed in before. Each token signs in once.",
        "The app must get a new token from the provider for each sign-in.",
    ),
    _C.REAUTHENTICATION: Diagnosis(
        "The application asked for a new sign-in, and the provider used the person’s earlier one.",
        "The provider must honor `prompt=login` and `max_age`, and send `auth_time`.",
    ),
    _C.USERINFO: Diagnosis(
        "The profile can’t be read at the provider, or is about another person.",
        "Check the userinfo address and the scopes. It must answer a GET with a bearer token by a JSON object, whose `sub` is that of "
        "the ID token.",
    ),
    _C.EMAILS: Diagnosis(
        "The email addresses can’t be read at the provider.",
        "Check the connection’s `emails_endpoint` and the scopes. It must answer a GET with a bearer token by a JSON list of addresses.",
    ),
    _C.MAPPING: Diagnosis(
        "The answer has no usable value for the subject.",
        "Set `claims`, for an OAuth or JWT provider the mapping, so that the subject (`ID`) is the claim with the account’s ID: text or "
        "a whole number of at most 255 characters. Try it with a sample answer before.",
    ),
    _C.EMAIL: Diagnosis(
        "The email address of the provider isn’t allowed to sign up here.",
        "Change the person’s address at the provider, or this tenant’s rules of addresses and domains. An organization’s connection "
        "takes addresses that the provider calls verified, in domains that the organization has verified.",
    ),
    _C.LINKING: Diagnosis(
        "The identity is connected to another account, or its connection was removed meanwhile.",
        "Nothing at the provider. An administrator disconnects it from the other account first.",
    ),
    _C.ACCOUNT: Diagnosis(
        "No account is connected to the identity, and it can’t sign up.",
        "Invite the person or connect the account, or turn registration on.",
    ),
    _C.LDAP_ADDRESS: Diagnosis(
        "The directory’s host name has no address, or one that this server must not reach.",
        "Check the name in DNS. Servers in private networks need the operator’s permission: `GATEHOUSE_PROVIDER_NETWORKS`.",
    ),
    _C.LDAP_CONNECTION: Diagnosis(
        "The directory doesn’t answer at its port.",
        "Check host and port: 636 for `ldaps://`, 389 for `ldap://` with StartTLS. Allow this server to reach the directory.",
    ),
    _C.LDAP_TLS: Diagnosis(
        "TLS with the directory failed, or its certificate isn’t accepted.",
        "The certificate must be valid now and name the host as `ServerUrl` does. Put the authority that issued it into `CaCertificates`. "
        "With `ldap://`, turn StartTLS on at the directory. Connections without TLS are never made.",
    ),
    _C.LDAP_BIND: Diagnosis(
        "The directory refuses the service account, which searches for people.",
        "Check `BindDn` and `BindPassword`, and whether the account expired or is locked.",
    ),
    _C.LDAP_SEARCH: Diagnosis(
        "The search doesn’t find exactly one entry with a usable subject.",
        "Check `BaseDn`, `UserFilter` and `SubjectAttribute`, and the read rights of the service account. A login must match one person. "
        "Referrals are never followed: name the server that has the entries.",
    ),
    _C.LDAP_PASSWORD: Diagnosis(
        "The directory confirmed no password: it refused the bind as the person, or gave no usable answer.",
        "See the result code: 49 is a wrong password or, in OpenLDAP, a locked account; 53 an account that is turned off. Active Directory "
        "adds a code: 52e wrong password, 530 and 531 not allowed now or here, 532 and 773 password to be changed, 533 turned off, 701 "
        "expired, 775 locked.",
    ),
    _C.LDAP_GROUPS: Diagnosis(
        "The groups of a person can’t be read.",
        "Check `GroupBaseDn` and `GroupFilter`, and the read rights of the service account.",
    ),
    _C.LDAP_PASSWORD_CHANGE: Diagnosis(
        "The directory didn’t change a password.",
        "Check `PasswordChange`: `ExtendedOperation` for OpenLDAP and FreeIPA, `ActiveDirectory` for Active Directory. The person must be "
        "allowed to change it, and the directory’s own rules apply.",
    ),
    _C.ANSWER: Diagnosis(
        "The provider didn’t answer as its protocol says.",
        "Compare what was received with the provider’s documentation, and with its status page.",
    ),
})  # fmt: skip
"""What each check tells an operator."""
MAX_STORED: Final = 32
_SEPARATOR: Final = "/"


def stored_name(check: str, cause: str) -> str:
    """Return check and cause as one text of at most MAX_STORED characters."""
    return f"{check}{_SEPARATOR}{cause}" if cause else str(check)


def read_name(stored: str) -> tuple[str, str]:
    """Return check and cause, which may be those of a newer release; the cause is empty if there is none."""
    check, _, cause = stored.partition(_SEPARATOR)
    return check, cause
