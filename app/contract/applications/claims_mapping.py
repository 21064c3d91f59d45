"""Claims that an application gets from fields of the profile, beside the claims of its scopes."""

from collections.abc import Iterator
from typing import Annotated, Final

from pydantic import AfterValidator, Field, StringConstraints

from app.contract.configuration_model import ConfigurationModel
from app.contract.profile import FIELDS
from app.contract.profile.member_kinds import Kind

MAX_CLAIMS: Final = 50
CUSTOM: Final = "CustomFields."
"""The prefix of a custom field: `CustomFields.department`."""


def _words(*texts: str) -> frozenset[str]:
    return frozenset(word for text in texts for word in text.split())


RESERVED: Final = _words(
    # RFC 7519 section 4.1, OpenID Connect Core sections 2 and 5.6.2, RFC 7800 section 3.1
    "iss sub aud exp nbf iat jti auth_time nonce acr amr azp at_hash c_hash s_hash sid sub_jwk _claim_names _claim_sources cnf",
    # RFC 9068 section 2.2, RFC 8693 section 4, RFC 7662 section 2.2, RFC 9396, RFC 8417
    "client_id scope roles groups entitlements act may_act active token_type username authorization_details events sub_id txn toe",
    "cid scp gty permissions role_contexts org_id org_name org_roles org_permissions token_introspection",  # ours
    "email_verified phone_number_verified updated_at address verified_claims",  # what this service itself attests
)
"""Claims that no mapping sets."""
SOURCE_OF: Final = {"email": "Email", "phone_number": "PhoneId"}
"""Claims with one source: `email_verified` and `phone_number_verified` are about it."""
_SCALARS: Final = (Kind.TEXT, Kind.FLAG, Kind.COUNT, Kind.NUMBER, Kind.INSTANT, Kind.TEXTS)
_SECRETS: Final = frozenset({"Password", "LastPasswordChangeToken"})
IDENTIFIERS: Final = frozenset({"Uid", "ID", "PreviousUids", "ExternalUserLoginId", "LRUserID"})
"""Fields that are the same at each application: an application with pairwise subjects gets none."""


def _claim(name: str) -> str:
    if name in RESERVED:
        raise ValueError("another claim; the service sets this one itself")
    return name


def _field(name: str) -> str:
    if name.startswith(CUSTOM) and len(name) > len(CUSTOM):
        return name
    known = FIELDS.get(name)
    if known is None or name in _SECRETS or (known.kind not in _SCALARS and name != "Email"):
        raise ValueError("a field of the profile with one value, such as Company, or CustomFields.NAME")
    return name


def _sources(claims: dict[str, str]) -> dict[str, str]:
    for claim, source in SOURCE_OF.items():
        if claims.get(claim, source) != source:
            raise ValueError(f"{source} for {claim}, of which {claim}_verified tells; found {claims[claim][:60]}")
    return claims


Claim = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_.:/~-]{0,199}$"), AfterValidator(_claim)]
Source = Annotated[str, StringConstraints(max_length=200), AfterValidator(_field)]
Claims = Annotated[dict[Claim, Source], Field(max_length=MAX_CLAIMS), AfterValidator(_sources)]


class ClaimsMapping(ConfigurationModel):
    """A field of the profile for each claim. `CustomFields.NAME` is a custom field, `Email` the first address. A claim of a scope,
    such as `email`, still needs the scope; any other is in each token."""

    id_token: Claims = Field(default_factory=dict)
    userinfo: Claims = Field(default_factory=dict)
    access_token: Claims = Field(default_factory=dict)

    def identifiers(self) -> Iterator[str]:
        """Return the mapped fields that are the same at each application."""
        for claims in (self.id_token, self.userinfo, self.access_token):
            yield from (field for field in claims.values() if field in IDENTIFIERS)
