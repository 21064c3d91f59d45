"""Management programs try the mapping of a provider on a sample answer. The docstrings are published."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from app.contract import errors
from app.contract.auth import MACHINE_TOKEN
from app.contract.catalogue import operation
from app.contract.error_profiles import MANAGE
from app.contract.federation.oauth_providers import Claim
from app.kit.operations.wire import Wire


class TryMapping(Wire):
    """A sample answer, and the mapping to try: that of a connection, or a draft in `DataMap` or `Mapping`."""

    claims: dict[str, Any] = Field(
        max_length=500,
        description="The sample answer: the claims of an ID token or a JWT, or the members of a userinfo answer.",
        examples=[{"sub": "1815", "email": "ada@example.com", "email_verified": True, "given_name": "Ada"}],
    )
    connection: Annotated[str | None, Field(min_length=1, max_length=100)] = Field(
        default=None,
        description="The name of a connection whose mapping is tried. A JWT provider has the prefix “jwt:”.",
        examples=["company"],
    )
    data_map: Annotated[dict[str, Claim] | None, Field(max_length=30)] = Field(
        default=None,
        description="A draft as OAuth providers have it: the claim of each field.",
        examples=[{"ID": "sub", "FirstName": "given_name"}],
    )
    mapping: Annotated[dict[Claim, str] | None, Field(max_length=100)] = Field(
        default=None, description="A draft as JWT providers have it: the field of each claim.", examples=[None]
    )


class MissingField(Wire):
    """A field that the sample answer doesn't fill."""

    field: str = Field(description="The field.", examples=["LastName"])
    claim: str = Field(description="The claim that would fill it.", examples=["family_name"])
    found: str = Field(description="What the answer has there, without its value.", examples=["missing"])


class MappingTrial(Wire):
    """What a sign-in with the answer would make. Nothing is stored."""

    is_accepted: bool = Field(description="Whether the answer identifies an account. If not, the sign-in is refused.")
    id: str | None = Field(alias="ID", description="The account’s ID at the provider.", examples=["1815"])
    email: str | None = Field(description="The email address.", examples=["ada@example.com"])
    email_verified: bool = Field(description="Whether the provider calls the address verified.", examples=[True])
    profile: dict[str, str] = Field(
        description="The fields of the profile that are filled.", examples=[{"FirstName": "Ada"}]
    )
    missing: list[MissingField] = Field(
        description="The fields of the mapping, `ID` and `Email` that the answer doesn’t fill."
    )
    required_at_sign_up: list[str] = Field(
        description="The required fields of the sign-up form that the person has to fill in.", examples=[["phone"]]
    )
    unused_claims: list[str] = Field(description="The claims that the mapping doesn’t read.", examples=[["hd"]])


try_mapping = operation(
    "mappings.try_mapping", "POST /v2/manage/custom-providers/try-mapping", TryMapping, MappingTrial, auth=MACHINE_TOKEN,
    scope="provider:read", error_profile=MANAGE, takes_markup=True, errors=(errors.BadField,),
    summary="Try a mapping on a sample answer",
    description="Returns the identity and the profile that a sample answer of a provider would fill, and what is missing. It stores "
    "nothing and asks no provider. Paste no signed token: only its claims are needed.",
)  # fmt: skip
