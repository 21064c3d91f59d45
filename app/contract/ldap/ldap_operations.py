"""Management programs read and write LDAP providers: directories whose passwords sign people in, such as Active Directory.

The docstrings are published."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from app.contract import errors
from app.contract.auth import MACHINE_TOKEN
from app.contract.catalogue import operation
from app.contract.error_profiles import MANAGE
from app.contract.federation.oauth_providers import ProviderDomain
from app.contract.resources import collection
from app.kit.operations.wire import From, Wire
from app.kit.resources.resource import (
    CREATE,
    CREATED_AT,
    DELETE,
    LIST,
    MODIFIED_AT,
    READ,
    SECRET,
    UPDATE,
    Key,
)

LOGIN_PLACE = "{login}"
"""Where the login that a person typed stands in `UserFilter`."""
MEMBER_PLACE = "{dn}"
"""Where the DN of a person stands in `GroupFilter`."""
Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,59}$")]
Attribute = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9-]{0,99}$")]
Dn = Annotated[str, Field(max_length=1_000)]
Filter = Annotated[str, Field(min_length=3, max_length=1_000)]
ServerUrl = Annotated[
    str, Field(max_length=300, pattern=r"^ldaps?://[A-Za-z0-9]([A-Za-z0-9.-]{0,252})(:[0-9]{1,5})?/?$")
]
PasswordChange = Literal["None", "ExtendedOperation", "ActiveDirectory"]


def _default_map() -> dict[str, str]:
    return {"Email": "mail", "FirstName": "givenName", "LastName": "sn"}


class LdapProvider(Wire):
    """A directory that checks passwords by LDAP: Active Directory, OpenLDAP, FreeIPA or Google’s. Connections always have verified
    TLS: at once with `ldaps://`, by StartTLS with `ldap://`. Responses mask `BindPassword`."""

    provider_name: Annotated[Name, Key("ldapApp")]
    friendly_provider_name: Annotated[str, Field(max_length=60)] = ""
    is_active: bool = True
    server_url: ServerUrl
    ca_certificates: Annotated[str | None, Field(max_length=100_000)] = None
    bind_dn: Dn = ""
    bind_password: Annotated[str | None, SECRET, Field(max_length=1_000)] = None
    base_dn: Annotated[Dn, Field(min_length=1)]
    user_filter: Filter = "(&(objectClass=person)(|(uid={login})(mail={login})))"
    subject_attribute: Attribute = "entryUUID"
    data_map: Annotated[dict[str, Attribute], Field(max_length=30)] = Field(default_factory=_default_map)
    trusts_email: bool = False
    group_attribute: Annotated[str, Field(pattern=r"^([A-Za-z][A-Za-z0-9-]{0,99})?$")] = "memberOf"
    group_base_dn: Dn = ""
    group_filter: Filter = "(&(objectClass=groupOfNames)(member={dn}))"
    group_roles: Annotated[
        dict[Annotated[str, Field(min_length=1, max_length=1_000)], Annotated[str, Field(min_length=1, max_length=64)]],
        Field(max_length=200),
    ] = Field(default_factory=dict)
    domain: ProviderDomain = None
    accepts_usernames: bool = False
    password_change: PasswordChange = "None"
    password_url: Annotated[str | None, Field(max_length=2_000, pattern=r"^https://[^\s/]+")] = None
    created_date: Annotated[str | None, CREATED_AT] = None
    last_modified_date: Annotated[str | None, MODIFIED_AT] = None


class LdapTest(Wire):
    """A person to look for in the directory, and optionally the password to check."""

    provider_name: Annotated[str, From.PATH] = Field(alias="ldapApp", description="The provider’s `ProviderName`.")
    login: str = Field(
        min_length=1, max_length=320, description="What the person would type to sign in.", examples=["ada"]
    )
    password: str | None = Field(
        default=None,
        max_length=1_000,
        description="The person’s password, to check that it signs in. It’s not stored.",
        examples=[None],
    )


class LdapTested(Wire):
    """How far the test came, and what a sign-in would make. Nothing is stored."""

    is_successful: bool = Field(description="Whether all steps succeeded.", examples=[True])
    passed: list[str] = Field(
        description="The steps that succeeded, in order: `connection`, `bind`, `search`, `groups`, `password`.",
        examples=[["connection", "bind", "search", "groups"]],
    )
    check: str | None = Field(description="The check that failed.", examples=["ldap_tls"])
    problem: str | None = Field(description="What the failure means.", examples=[None])
    expected: str | None = Field(description="What was expected.", examples=[None])
    received: str | None = Field(description="What was received instead.", examples=[None])
    advice: str | None = Field(description="What to change.", examples=[None])
    dn: str | None = Field(
        description="The DN of the person’s entry.", examples=["uid=ada,ou=people,dc=example,dc=com"]
    )
    id: str | None = Field(
        alias="ID",
        description="What identifies the person, from `SubjectAttribute`.",
        examples=["7e2f4a50-1815-4c10-9b1e-0d6e5a3f8f10"],
    )
    email: str | None = Field(description="The email address.", examples=["ada@example.com"])
    email_verified: bool = Field(description="Whether the address counts as verified here.", examples=[True])
    profile: dict[str, str] = Field(
        description="The fields of the profile that the entry fills.", examples=[{"FirstName": "Ada"}]
    )
    missing: list[str] = Field(
        description="The fields of `DataMap` that the entry doesn’t fill.", examples=[["LastName"]]
    )
    groups: list[str] = Field(
        description="The groups of the person.", examples=[["cn=staff,ou=groups,dc=example,dc=com"]]
    )
    roles: list[str] = Field(description="The roles that these groups give.", examples=[["Editor"]])


test = operation(
    "ldap_providers.test", "POST /v2/manage/custom-providers/ldap/{ldapApp}/test", LdapTest, LdapTested, auth=MACHINE_TOKEN,
    scope="provider:update", error_profile=MANAGE, takes_markup=True, errors=(errors.UnknownLdapProvider,),
    summary="Test an LDAP provider",
    description="Connects to the directory, binds, and finds a person; with a password, it checks that. Returns what a sign-in would make, "
    "or which step failed and what to change.",
)  # fmt: skip
PROVIDERS = collection(
    "ldap_providers", "/v2/manage/custom-providers/ldap", LdapProvider, verbs=(LIST, CREATE, READ, UPDATE, DELETE),
    noun="LDAP provider",
    about="An LDAP provider is a directory whose passwords sign people in: Active Directory, OpenLDAP, FreeIPA or Google’s. It checks the "
    "passwords of its `Domain`, and those of usernames if `AcceptsUsernames` is on.",
    scope="provider", unique=("provider_name",),
    exists=errors.LdapProviderExists, unknown=errors.UnknownLdapProvider, errors=(errors.ProviderDomainExists,), file_key="ldap_providers",
    max_items=10,
)  # fmt: skip
