"""Models of an authorization request, as pages show it: the relying party, scopes and authorization details."""

from pydantic import Field

from app.kit.operations.wire import Wire


class RelyingPartyView(Wire):
    """The relying party, as pages show it."""

    name: str  # empty for the tenant's own pages
    client_id: str
    home: str | None = None  # where "back to the app" and "start again" lead
    logo: str | None = None
    theme: str = ""  # the name of the theme of its pages
    redirect_origin: str | None = None  # scheme://host[:port] of the redirect address, or its bare scheme
    policy: str | None = None
    terms: str | None = None
    is_self_registered: bool = False  # the tenant does not vouch for it
    document_host: str | None = None  # of the client-id metadata document that describes it


class ScopeView(Wire):
    """A requested scope; the page describes the standard scopes."""

    name: str
    description: str | None = None
    is_optional: bool = False  # the person may leave it out
    is_granted: bool = False  # before; the page asks for the others


class DetailLine(Wire):
    """A field of authorization details: its name, the tenant's label by language, and its values as text."""

    name: str
    label: dict[str, str] = Field(default_factory=dict)
    values: list[str]


class DetailView(Wire):
    """What an application asks to do (RFC 9396)."""

    type: str
    title: dict[str, str] = Field(default_factory=dict)
    lines: list[DetailLine] = Field(default_factory=list)
