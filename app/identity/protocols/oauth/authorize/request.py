"""An authorization request: the raw parameters, and the checked request that is stored."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict

from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import claims
from app.identity.protocols.oauth.issuers import Issuer


class Refused(Exception):
    """The request cannot be answered at its redirect address, because that cannot be believed: an error page, never a redirect."""

    def __init__(self, problem: str, error: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.error = error


class Redirected(Exception):
    """The request is refused at its redirect address (RFC 6749 section 4.1.2.1)."""

    def __init__(self, error: str, description: str) -> None:
        super().__init__(error)
        self.error = error
        self.description = description


class Authorization(BaseModel):
    """What is kept of a checked request: in the attempt while pages are shown, then in the code."""

    model_config = ConfigDict(frozen=True)

    client_id: str
    issuer: str
    redirect_uri: str
    response_mode: str = "query"
    scope: tuple[str, ...] = ()
    resource: str | None = None  # RFC 8707
    state: str | None = None
    nonce: str | None = None
    code_challenge: str | None = None
    code_challenge_method: str = "S256"
    prompt: frozenset[str] = frozenset()
    max_age: int | None = None
    acr: str | None = None  # asked for by name: authenticates anew and is echoed
    wants_two: bool = False  # two factors, where the account has them
    demanded_acr: tuple[str, ...] = ()  # the answer has one of these, or is an error
    subject: str | None = None  # who must be the one signed in (id_token_hint, or `sub` of claims)
    login_hint: str | None = None
    ui_locales: str | None = None
    display: str | None = None
    userinfo_claims: tuple[str, ...] = ()
    id_token_claims: tuple[str, ...] = ()

    @property
    def agreed(self) -> tuple[str, ...]:
        """The scopes to consent to: those requested, and those of the claims requested one by one."""
        return tuple(dict.fromkeys((*self.scope, *claims.scopes_of((*self.userinfo_claims, *self.id_token_claims)))))

    def to_store(self) -> dict[str, Any]:
        """Return it as a document."""
        return self.model_dump(mode="json", exclude_defaults=True)


@dataclass
class Asked:
    """A request under check: each check reads `values` and writes the accepted values into `kept`."""

    context: Context
    protocol: str
    app: str | None
    pairs: list[tuple[str, str]]
    values: dict[str, str] = field(init=False)
    repeated: frozenset[str] = field(init=False)
    client: Application = field(init=False)
    issuer: Issuer = field(init=False)
    kept: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        present = [
            (name, value) for name, value in self.pairs if value != ""
        ]  # empty is as if left out: RFC 6749 section 3.1
        times = Counter(name for name, _ in present)
        self.repeated = frozenset(name for name, number in times.items() if number > 1)
        self.values = {name: value for name, value in present if name not in self.repeated}

    def checked(self) -> Authorization:
        """Return the checked request."""
        return Authorization(client_id=self.client.client_id, issuer=self.issuer.url, **self.kept)
