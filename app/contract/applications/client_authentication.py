"""How clients authenticate: names of the methods (RFC 7591 section 2, OpenID Connect Core section 9)."""

import re
from ipaddress import ip_address
from typing import Annotated, Any, Final, Literal

from cryptography import x509
from pydantic import Field

from app.contract.applications.token_signing import ALGORITHMS, SigningAlgorithm
from app.contract.configuration_model import ConfigurationModel

AuthMethod = Literal[
    "client_secret_basic", "client_secret_post", "client_secret_jwt", "private_key_jwt", "tls_client_auth",
    "self_signed_tls_client_auth", "none",
]  # fmt: skip
"""The identity service has one entry for each in `client_authentication/authentication_methods.py`."""
AssertionAlg = Literal[SigningAlgorithm, "HS256"]

SECRET_JWT: Final = "client_secret_jwt"
WITH_SECRET: Final = frozenset({"client_secret_basic", "client_secret_post", SECRET_JWT})
"""The methods of clients that have a secret."""
NEEDS_KEYS: Final = frozenset({"private_key_jwt", "self_signed_tls_client_auth"})
"""The methods of clients that register public keys."""
ALGORITHMS_OF: Final = {
    SECRET_JWT: frozenset({"HS256"}),
    "private_key_jwt": frozenset(ALGORITHMS),
}
"""The signatures of each method that signs (RFC 7518 section 3.1)."""
MIN_SIGNING_SECRET: Final = 32
"""Bytes of a secret that signs with HS256: as long as the digest (RFC 7518 section 3.2)."""

CertificateName = Annotated[str, Field(min_length=1, max_length=500)]
_SUBJECTS: Final = ("subject_dn", "san_dns", "san_uri", "san_ip", "san_email")
_SPACES: Final = re.compile(r"(?<!\\), +")
_MAIL_ADDRESS: Final = x509.NameOID.EMAIL_ADDRESS


class AuthenticationSettings(ConfigurationModel):
    """How an application authenticates."""

    token_endpoint_auth_method: AuthMethod = "client_secret_basic"
    token_endpoint_auth_signing_alg: AssertionAlg | None = None
    jwks: dict[str, Any] | None = None
    jwks_uri: str | None = None
    tls_client_auth_subject_dn: CertificateName | None = None
    tls_client_auth_san_dns: CertificateName | None = None
    tls_client_auth_san_uri: CertificateName | None = None
    tls_client_auth_san_ip: CertificateName | None = None
    tls_client_auth_san_email: CertificateName | None = None

    @property
    def has_secret(self) -> bool:
        """Whether it has a `client_secret`, sent or to sign with."""
        return self.token_endpoint_auth_method in WITH_SECRET

    @property
    def is_public(self) -> bool:
        """Whether nothing authenticates it: PKCE is then required (RFC 9700 section 2.1.1)."""
        return self.token_endpoint_auth_method == "none"


def distinguished_name(text: str) -> x509.Name:
    """Return the distinguished name of a text (RFC 4514), also with spaces after commas. Raises ValueError."""
    return x509.Name.from_rfc4514_string(_SPACES.sub(",", text), {"E": _MAIL_ADDRESS, "emailAddress": _MAIL_ADDRESS})


def subject_of(settings: AuthenticationSettings) -> tuple[str, str] | None:
    """Return the one name that identifies the certificate of `tls_client_auth`, with its kind (RFC 8705 section 2.1.2)."""
    names = [(kind, getattr(settings, f"tls_client_auth_{kind}")) for kind in _SUBJECTS]
    named = [(kind, name) for kind, name in names if name is not None]
    return named[0] if len(named) == 1 else None


def _problem_of_subject(settings: AuthenticationSettings) -> str | None:
    if settings.token_endpoint_auth_method != "tls_client_auth":
        return None
    subject = subject_of(settings)
    if subject is None:
        return f"tls_client_auth_subject_dn: one of {', '.join(_SUBJECTS)}, because token_endpoint_auth_method is tls_client_auth"
    kind, name = subject
    try:
        if kind == "subject_dn":
            distinguished_name(name)
        elif kind == "san_ip":
            ip_address(name)
    except ValueError:
        form = "a distinguished name such as CN=shop,O=Example (RFC 4514)" if kind == "subject_dn" else "an IP address"
        return f"tls_client_auth_{kind}: {form}"
    return None


def problem_of(settings: AuthenticationSettings, client_secret: str | None) -> str | None:
    """Return why an application with these settings and this secret could not authenticate, as `key: expected value`."""
    method, algorithm = settings.token_endpoint_auth_method, settings.token_endpoint_auth_signing_alg
    if client_secret is not None and not settings.has_secret:
        return f"client_secret: none, because token_endpoint_auth_method is {method}"
    if client_secret is not None and method == SECRET_JWT and len(client_secret.encode()) < MIN_SIGNING_SECRET:
        return f"client_secret: at least {MIN_SIGNING_SECRET} characters, because client_secret_jwt signs with it"
    if method in NEEDS_KEYS and settings.jwks is None and settings.jwks_uri is None:
        return f"jwks: its keys, or jwks_uri, because token_endpoint_auth_method is {method}"
    if algorithm is not None and algorithm not in ALGORITHMS_OF.get(method, ()):
        return f"token_endpoint_auth_signing_alg: an algorithm with which {method} signs"
    return _problem_of_subject(settings)
