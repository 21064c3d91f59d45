"""Builds what the set-up guide shows."""

from __future__ import annotations

from typing import Any, Final

from app.contract.federation.pages.connection_pages import (
    ORGANIZATION_CALLBACK,
    ORGANIZATION_LOGIN,
    SAML_ACS,
    SAML_ENTITY,
    SAML_METADATA,
)
from app.contract.organizations.setup_operations import (
    Renewal,
    RenewalCertificate,
    SetupClaim,
    SetupField,
    SetupGuide,
    SetupInstruction,
    SetupProduct,
    SetupTrial,
)
from app.identity.authentication.federation.connection_trials import CLAIMS
from app.identity.directory.organizations.connections.organization_connection_store import OrganizationConnectionRecord
from app.identity.directory.organizations.domains import domains
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.directory.organizations.setup import certificate_renewal, setup_draft, setup_link_store
from app.identity.directory.organizations.setup.setup_draft import SECRET, SetupDraft
from app.identity.directory.organizations.setup.setup_link_store import SetupLinkRecord
from app.identity.directory.organizations.setup.setup_products import Product, ProductProtocol, products
from app.identity.pages_api.organizations.domains import view
from app.identity.platform import saml_certificates
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationToken
from app.kit.clock import iso

_FINDING: Final = ("problem", "advice", "expected", "received")
"""Of a refused trial; of no interest any more once the connection changed."""


def guide(
    context: Context, link: SetupLinkRecord, organization: OrganizationRecord, session: ContinuationToken
) -> SetupGuide:
    """Return everything that the guide shows in a session."""
    draft = setup_draft.of_link(context, link)
    chosen, used = draft.chosen, domains.used_by_connections(context, link.org_id)
    shown = SetupGuide(
        organization=organization.display_name,
        ends_at=iso(session.expires_at) or "",
        checks_dns=context.tenant.settings.organizations.dns,
        domains=[view(item, used) for item in domains.of_organizations(context, [link.org_id])[link.org_id]],
        domain=draft.domain,
        skips_domain=draft.skips_domain,
        products=[_product(item) for item in products().values()],
        is_configured=bool(draft.content),
        trial=_trial(draft, session),
        attributes=draft.mapping,
        joins=link.joins,
        is_completed=link.status == setup_link_store.COMPLETED,
        renews=link.renews,
    )
    return shown if chosen is None else shown.model_copy(update=_of_product(context, link, draft, *chosen))


def renewal(context: Context, organization: OrganizationRecord, record: OrganizationConnectionRecord) -> Renewal:
    """Return what a renewal link shows: the name of the connection and the certificates that it trusts."""
    certificates = [
        RenewalCertificate(
            fingerprint=saml_certificates.sha256_fingerprint(one.pem),
            ends_at=iso(one.expires_at) or "",
            is_expired=one.expires_at <= context.now,
        )
        for one in certificate_renewal.certificates_of(context, record)
    ]
    return Renewal(
        organization=organization.display_name,
        connection=record.name,
        entity_id=record.content["idp_entity_id"],
        certificates=certificates,
        reads_metadata=bool(record.content.get("idp_metadata_url")),
    )


def _of_product(
    context: Context, link: SetupLinkRecord, draft: SetupDraft, product: Product, protocol: ProductProtocol
) -> dict[str, Any]:
    """Return what the guide shows of the chosen product."""
    values = _values(context, link, draft)
    instructions = [
        SetupInstruction.model_validate(
            {"do": step.do, "words": list(step.words), "value": values.get(step.value, step.value)}
        )
        for step in protocol.steps
    ]
    entries = [
        SetupField.model_validate(
            {
                "name": item.name,
                "label": item.label,
                "example": item.example,
                "text": draft.typed.get(item.name, ""),
                "has_secret": item.name == SECRET and bool(draft.secret),
            }
        )
        for item in protocol.fields
    ]
    return {
        "product": _product(product), "protocol": draft.protocol, "instructions": instructions, "fields": entries,
    }  # fmt: skip


def _product(product: Product) -> SetupProduct:
    return SetupProduct.model_validate(
        {
            "name": product.name,
            "title": product.title,
            "is_generic": product.is_generic,
            "protocols": list(product.protocols),
        }
    )


def _values(context: Context, link: SetupLinkRecord, draft: SetupDraft) -> dict[str, str]:
    """Return the connection's addresses by their names in the files of products. Those of SAML stay, at whatever host the guide is open."""
    base, key = context.pages_url, {"address_key": link.address_key}
    saml_base = draft.service_provider.get("sp_base", base)
    acs = saml_base + SAML_ACS.format(**key)
    return {
        "redirect_uri": base + ORGANIZATION_CALLBACK.format(**key),
        "login_url": base + ORGANIZATION_LOGIN.format(**key),
        "entity_id": saml_base + SAML_ENTITY.format(**key),
        "metadata_url": saml_base + SAML_METADATA.format(**key),
        "acs": acs,
        "acs_pattern": "^" + acs.replace("/", "\\/").replace(".", "\\.") + "$",
    }


def _trial(draft: SetupDraft, session: ContinuationToken) -> SetupTrial | None:
    """Return the last trial; values of claims only in the session that saw them."""
    stored = draft.trial
    if stored is None:
        return None
    seen: dict[str, Any] = session.facts.get(CLAIMS) or {}
    is_own = seen.get("version") == stored["version"]
    texts = dict(seen["claims"]) if is_own else {}
    return SetupTrial(
        is_accepted=draft.was_tried,
        at=stored["at"],
        claims=[SetupClaim(name=name, text=texts.get(name, "")) for name in stored["claims"]],
        email=seen["email"] if is_own else "",
        has_foreign_email=stored["has_foreign_email"],
        groups=seen["groups"] if is_own else [],
        **{name: stored[name] for name in _FINDING if name in stored and stored["version"] == draft.version},
    )
