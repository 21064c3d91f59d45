"""What an administrator entered in the set-up guide so far: read from the link's row, and written back under its lock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from app.contract import errors
from app.contract.organizations.models import Attributes
from app.identity.directory.organizations.connections import organization_connections
from app.identity.directory.organizations.connections.organization_connection_store import OrganizationConnectionRecord
from app.identity.directory.organizations.connections.organization_connections import SP_KEY
from app.identity.directory.organizations.setup import setup_link_store
from app.identity.directory.organizations.setup.setup_link_store import SetupLinkRecord
from app.identity.directory.organizations.setup.setup_products import SAML, Product, ProductProtocol, products
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
        secrets: by product and protocol, and the key of `service_provider`.
        service_provider: what SAML providers know of this service: drawn once, because it stays after the activation.
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
    service_provider: Mapping[str, str] = field(default_factory=dict)

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
    def is_ready(self) -> bool:
        """Whether the connection can be activated."""
        return bool(self.content) and self.was_tried

    @property
    def keys(self) -> tuple[Mapping[str, str], str] | None:
        """What a SAML provider knows of this service, and the private key; None for another protocol."""
        return (self.service_provider, self.secrets[SP_KEY]) if self.protocol == SAML else None

    def as_connection(self, context: Context, link: SetupLinkRecord) -> OrganizationConnectionRecord:
        """Return the connection that would be activated, under the link's ID. Raises SetupIncomplete."""
        if self.chosen is None or not self.content:
            raise errors.SetupIncomplete
        return self._as_connection(context, link, self.chosen[0].connection_type(self.protocol))

    def as_service_provider(self, context: Context, link: SetupLinkRecord) -> OrganizationConnectionRecord | None:
        """Return the connection as far as its provider must know it; None where no SAML product was chosen."""
        is_known = self.chosen is not None and self.protocol == SAML and self.service_provider
        return self._as_connection(context, link, "saml_custom") if is_known else None

    def _as_connection(self, context: Context, link: SetupLinkRecord, kind: str) -> OrganizationConnectionRecord:
        own = self.service_provider if self.protocol == SAML else {}
        return OrganizationConnectionRecord(
            connection_id=link.link_id,
            org_id=link.org_id,
            name=self.product,
            domain=self.domain or None,
            kind=kind,
            address_key=link.address_key,
            is_active=False,
            content={**self.content, **own, "attributes": {**self.mapping, "CustomMapping": {}}},
            sealed=None,
            created_at=context.now,
            modified_at=context.now,
        )


_STORED = (
    "domain", "skips_domain", "product", "protocol", "entries", "content", "attributes", "version", "trial", "service_provider",
)  # fmt: skip


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
    if draft.protocol == SAML and not draft.service_provider:
        own, key = organization_connections.new_service_provider(context, link.org_id)
        draft = replace(draft, service_provider=own, secrets={**draft.secrets, SP_KEY: key})
    setup_link_store.save_draft(context, current, {name: getattr(draft, name) for name in _STORED}, draft.secrets)
    return draft
