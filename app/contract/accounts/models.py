"""The account as pages show it, and how it can authenticate."""

from urllib.parse import quote

from pydantic import Field

from app.kit.operations.wire import Wire

PASSWORD_METHOD, PASSKEY_METHOD, CONNECTION_METHOD = "password", "passkey", "connection:"
"""Keys of `ReauthenticationOptions.methods` beside the passwordless methods; the last is followed by the name of a connection."""
ORGANIZATION_TITLE = "|"
"""Separates the id of an organization's connection in such a key from the organization's name, which pages do not know otherwise."""


def organization_method_key(connection_id: str, organization: str) -> str:
    """Return the key of an organization's connection, with the start of the organization's name."""
    return f"{CONNECTION_METHOD}{connection_id}{ORGANIZATION_TITLE}{quote(organization[:40])}"


class PersonView(Wire):
    """The signed-in account, as pages show it."""

    uid: str
    label: str  # email, username or phone
    name: str | None = None
    language: str | None = None  # the profile's LocalLanguage, unchanged
    has_organizations: bool = False  # the account joined one at some time


class ReauthenticationOptions(Wire):
    """An account that must authenticate: one that is signed in does so again (`prompt=login`, `max_age`); another confirms
    that it owns the identity which a provider returned.
    """

    person: PersonView
    methods: dict[str, str] = Field(default_factory=dict)  # only `resume`: each with the account's identifier
    connects: str = ""  # the title of the provider whose identity is linked then
