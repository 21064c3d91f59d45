"""What an administrator entered in the set-up guide so far: read from the link's row, and written back under its lock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.contract import errors
from app.contract.organizations.models import Attributes
from app.identity.directory.organizations.connections.organization_connection_store import OrganizationConnectionRecord
from app.identity.directory.organizations.setup import setup_link_store
from app.identity.directory.organizations.setup.setup_link_store import SetupLinkRecord
from app.identity.directory.organizations.setup.setup_products import OPENID, Product, ProductProtocol, products
from app.identity.platform.context import Context

SECRET = "client_secret"


@dataclass(frozen=True)
class SetupDraft:
    """The state of the guide.

    Attributes:
        entries: what was typed, by product and protocol, then by field; without secrets.
        content: of the connection, once the provider's configuration was read; it belongs to the chosen product and protocol.
        version: a number that changes with everything that decides whether a sign-in by the connection works.
        trial: the last sign-in that tried the connection: `version` of the connection then, and its result.
        secrets: by product and protocol.
    """

    domain: str = ""
    skips_domain: bool = False
    product: str = ""
    protocol: str = ""
    entries: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    content: Mapping[str, Any] = field(default_factory=dict)
    attributes: Mapping[str, str] = field(default_factory=dict)
    version: int = 0
    trial: Mapping[str, Any] | None = None
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def key(self) -> str:
        """The key of the chosen product and protocol in `entries` and `secrets`."""
        return f"{self.product}/{self.protocol}"

    @property
    def typed(self) -> Mapping[str, str]:
        return self.entries.get(self.key, {})

    @property
    def secret(self) -> str:
        return self.secrets.get(self.key, "")

    @property
    def chosen(self) -> tuple[Product, ProductProtocol] | None:
        """The product and its protocol; None before one is chosen, and for one that a later release no longer has."""
        product = products().get(self.product)
        protocol = product.protocols.get(self.protocol) if product is not None else None
        return (product, protocol) if product is not None and protocol is not None else None

    @property
    def mapping(self) -> dict[str, str]:
        """The claim of each member of `Attributes`: as mapped, else of the product, else of the interface."""
        chosen = self.chosen
        defaults = Attributes().model_dump(by_alias=True, exclude={"custom_mapping"})
        return {**defaults, **(chosen[1].attributes if chosen else {}), **self.attributes}

    @property
    def was_tried(self) -> bool:
        """Whether a sign-in by the connection as it is now succeeded."""
        return self.trial is not None and self.trial["version"] == self.version and bool(self.trial["is_accepted"])

    @property
    def needs_trial(self) -> bool:
        """Whether the connection must be tried before it is activated. A SAML sign-in cannot be tried yet: this is the seam."""
        return self.protocol == OPENID

    @property
    def is_ready(self) -> bool:
        """Whether the connection can be activated."""
        return bool(self.content) and (self.was_tried or not self.needs_trial)

    def as_connection(self, context: Context, link: SetupLinkRecord) -> OrganizationConnectionRecord:
        """Return the connection that would be activated, under the link's ID. Raises SetupIncomplete."""
        chosen = self.chosen
        if chosen is None or not self.content:
            raise errors.SetupIncomplete
        return OrganizationConnectionRecord(
            connection_id=link.link_id,
            org_id=link.org_id,
            name=self.product,
            domain=self.domain or None,
            kind=chosen[0].connection_type(self.protocol),
            address_key=link.address_key,
            is_active=False,
            content={**self.content, "attributes": {**self.mapping, "CustomMapping": {}}},
            sealed=None,
            created_at=context.now,
            modified_at=context.now,
        )


_STORED = ("domain", "skips_domain", "product", "protocol", "entries", "content", "attributes", "version", "trial")


def of_link(context: Context, link: SetupLinkRecord) -> SetupDraft:
    """Return the draft of a link."""
    known = {name: link.draft[name] for name in _STORED if name in link.draft}
    return SetupDraft(**known, secrets=setup_link_store.secrets_of(context, link))


def change(context: Context, link: SetupLinkRecord, change_draft: Callable[[SetupDraft], SetupDraft]) -> SetupDraft:
    """Change the draft as another tab may have left it, and return it. Raises ClosedSetupLink."""
    current = setup_link_store.locked(context, link.link_id)
    if current is None or current.status != setup_link_store.OPEN:
        raise errors.ClosedSetupLink
    draft = change_draft(of_link(context, current))
    setup_link_store.save_draft(context, current, {name: getattr(draft, name) for name in _STORED}, draft.secrets)
    return draft
