"""The set-up guide of a connection: every operation names the session that a link opened, and reaches its organization alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from app.contract import errors
from app.contract.organizations import setup_operations
from app.contract.organizations.setup_operations import MAPPED, SetupDomain
from app.contract.shared_responses import Posted
from app.identity.authentication.federation import connection_trials
from app.identity.directory.identity_provider import PostedRequest
from app.identity.directory.organizations import organizations
from app.identity.directory.organizations.domains import domain_verification, domains
from app.identity.directory.organizations.setup import (
    certificate_renewal,
    setup_activation,
    setup_draft,
    setup_entries,
    setup_links,
)
from app.identity.directory.organizations.setup.setup_draft import SetupDraft
from app.identity.directory.organizations.setup.setup_products import products
from app.identity.pages_api.organizations import setup_views
from app.identity.pages_api.organizations.domains import MAX_DOMAINS
from app.identity.platform.context import Context
from app.identity.use_cases.organizations import verify_domain
from app.kit.clock import iso
from app.kit.limits.rate_limits import Rate

_LOOKUPS: Final = Rate(30, 3600)
"""DNS look-ups by one link: half of what the tenant has, so that one customer does not use up those of all."""
_RENEWALS: Final = Rate(30, 3600)
"""Certificates that one link may try: each is parsed, and metadata may be large."""
_IDENTIFYING: Final = ("ID", "Email")
"""Members of the mapping that decide whether a sign-in works."""


@setup_operations.look_up.implements
def look_up(context: Context, req: setup_operations.SetupToken) -> setup_operations.SetupLinkState:
    found = setup_links.look_up(context, req.token)
    if found is None:
        return setup_operations.SetupLinkState(state="unknown")
    link, organization = found
    state = link.state(context.now)
    return setup_operations.SetupLinkState.model_validate(
        {
            "state": state,
            "organization": organization.display_name,
            "ends_at": iso(link.ends_at),
            "renews": link.renews,
        }
    )


@setup_operations.open_link.implements
def open_link(context: Context, req: setup_operations.SetupToken) -> setup_operations.OpenedSetup:
    link, session = setup_links.open_session(context, req.token)
    return setup_operations.OpenedSetup(session=session.text, lifetime_seconds=link.session_hours * 3600)


@setup_operations.read_guide.implements
def read_guide(context: Context, req: setup_operations.SetupSession) -> setup_operations.SetupGuide:
    return setup_views.guide(context, *setup_links.in_session(context, req.session, renews=None))


@setup_operations.read_renewal.implements
def read_renewal(context: Context, req: setup_operations.SetupSession) -> setup_operations.Renewal:
    link, organization, _ = setup_links.in_session(context, req.session, renews=True)
    return setup_views.renewal(context, organization, certificate_renewal.connection_of(context, link))


@setup_operations.add_certificate.implements
def add_certificate(context: Context, req: setup_operations.AddRenewedCertificate) -> Posted:
    link, _, _ = setup_links.in_session(context, req.session, renews=True)
    setup_links.require_open(context, link)
    context.count_against("setup.certificates", _RENEWALS, link.link_id)
    certificate_renewal.add(context, link, req.certificate)
    return Posted()


@setup_operations.add_domain.implements
def add_domain(context: Context, req: SetupDomain) -> Posted:
    link, organization, _ = setup_links.in_session(context, req.session)
    name = domains.checked(req.domain)
    context.count_against("setup.dns", _LOOKUPS, link.link_id)
    domain_verification.require_mail_servers(context, [name])
    organizations.lock_active(context, organization.org_id, is_alone=True)
    setup_links.require_open(context, link)
    if domains.by_name(context, organization, name) is None:
        if len(domains.of_organizations(context, [link.org_id])[link.org_id]) >= MAX_DOMAINS:
            raise errors.TooManyDomains
        domains.add(context, organization, name)
    return Posted()


@setup_operations.verify_domain.implements
def verify(context: Context, req: SetupDomain) -> Posted:
    link, organization, _ = setup_links.in_session(context, req.session)
    setup_links.require_open(context, link)
    domain = domains.require(context, organization, req.domain)
    context.count_against("setup.dns", _LOOKUPS, link.link_id)
    verified = verify_domain.verify(context, domain)
    setup_draft.change(context, link, lambda draft: replace(draft, domain=verified.domain, skips_domain=False))
    return Posted()


@setup_operations.use_domain.implements
def use_domain(context: Context, req: SetupDomain) -> Posted:
    link, organization, _ = setup_links.in_session(context, req.session)
    found = domains.by_name(context, organization, req.domain) if req.domain else None
    if req.domain and (found is None or not found.is_verified):
        raise errors.DomainNotVerified
    setup_draft.change(context, link, lambda draft: replace(draft, domain=req.domain, skips_domain=not req.domain))
    return Posted()


@setup_operations.choose_product.implements
def choose_product(context: Context, req: setup_operations.ChooseSetupProduct) -> Posted:
    link, _, _ = setup_links.in_session(context, req.session)
    product = products().get(req.product)
    if product is None:
        raise errors.BadField("The product is not accepted: one of the guide is expected.")
    protocol: str = req.protocol or next(iter(product.protocols))
    if protocol not in product.protocols:
        raise errors.BadField("The protocol is not accepted: one of the product is expected.")
    setup_draft.change(context, link, lambda draft: _with_product(draft, product.name, protocol))
    return Posted()


def _with_product(draft: SetupDraft, product: str, protocol: str) -> SetupDraft:
    """Return the draft with a product; another one than before has its own entries, and no connection yet."""
    if (draft.product, draft.protocol) == (product, protocol):
        return draft
    return replace(
        draft, product=product, protocol=protocol, content={}, attributes={}, trial=None, version=draft.version + 1
    )


@setup_operations.save_entries.implements
def save_entries(context: Context, req: setup_operations.SaveSetupEntries) -> Posted:
    link, _, _ = setup_links.in_session(context, req.session)
    setup_links.require_open(context, link)
    setup_entries.save(context, link, req)
    return Posted()


@setup_operations.save_mapping.implements
def save_mapping(context: Context, req: setup_operations.SaveSetupMapping) -> Posted:
    link, _, _ = setup_links.in_session(context, req.session)
    given = {name: claim for name, claim in req.attributes.items() if name in MAPPED and claim.isprintable() and claim}

    def mapped(draft: SetupDraft) -> SetupDraft:
        changed = replace(draft, attributes={**draft.attributes, **given})
        is_same = all(changed.mapping[name] == draft.mapping[name] for name in _IDENTIFYING)
        return changed if is_same else replace(changed, version=draft.version + 1)

    setup_draft.change(context, link, mapped)
    return Posted()


@setup_operations.begin_trial.implements
def begin_trial(context: Context, req: setup_operations.SetupSession) -> setup_operations.SetupTrialBegun:
    link, _, session = setup_links.in_session(context, req.session)
    setup_links.require_open(context, link)
    begun = connection_trials.begin(context, link, session)
    if isinstance(begun, PostedRequest):
        return setup_operations.SetupTrialBegun(address=begun.address, fields=dict(begun.fields))
    return setup_operations.SetupTrialBegun(address=begun)


@setup_operations.finish_trial.implements
def finish_trial(context: Context, req: setup_operations.SetupTrialAnswer) -> Posted:
    link, _, session = setup_links.in_session(context, req.session)
    setup_links.require_open(context, link)
    parameters = {name: value for name in ("state", "code", "error", "iss") if (value := getattr(req, name))}
    connection_trials.finish(context, link, session, parameters)
    return Posted()


@setup_operations.activate.implements
def activate(context: Context, req: setup_operations.SetupSession) -> Posted:
    link, _, _ = setup_links.in_session(context, req.session)
    setup_activation.activate(context, link)
    return Posted()
