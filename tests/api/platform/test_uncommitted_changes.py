"""What a transaction read of its own changes serves no other: they may be rolled back (decision 0313)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import insert, update

from app.contract.messages.models import MailKind, MailTemplate
from app.identity.directory.organizations.domains import membership_domains
from app.identity.directory.organizations.tables import organization_domains, organizations
from app.identity.directory.tenants.keys import subject_secrets
from app.identity.directory.tenants.tables import applications
from app.identity.messaging.tenant_templates import template_selection, template_store
from app.identity.platform.context import Context
from app.kit import randomness
from tests.support.oauth.world import World
from tests.support.tenants.callers import call_of

CLIENT, ORIGIN, DOMAIN = "client-of-tests", "https://evil.example", "corp.example"


def take_over_application(context: Context) -> None:
    where = (applications.c.tenant_id == context.tenant.tenant_id, applications.c.client_id == CLIENT)
    settings = {"name": "Shop", "redirect_uris": [f"{ORIGIN}/cb"], "cors_origins": [ORIGIN]}
    context.work.run(update(applications).where(*where).values(settings=settings))


def add_template(context: Context) -> None:
    template_store.add(
        context.work,
        MailTemplate(type=MailKind.RESET, subject="Reset", html="<p>#Url#</p>"),
        context.now,
    )


def add_domain(context: Context) -> None:
    of_tenant = {"tenant_id": context.tenant.tenant_id, "org_id": randomness.uid(), "created_at": context.now}
    policies = {"JITPolicy": {"Enabled": True}}
    organization = {"name": "Corp", "name_key": "corp", "display": {}, "metadata": {}, "policies": policies}
    context.work.run(
        insert(organizations), {**of_tenant, **organization, "is_active": True, "modified_at": context.now}
    )
    domain = {"domain_id": randomness.uid(), "domain": DOMAIN, "verified_domain": DOMAIN, "token": "t"}
    context.work.run(insert(organization_domains), {**of_tenant, **domain, "state": "verified", "strategy": "manual"})


def redirect_uris_by_id(context: Context) -> Any:
    client = context.application(client_id=CLIENT)
    return client and client.settings.redirect_uris


def redirect_uris_by_name(context: Context) -> Any:
    client = context.application(name="Shop")
    return client and client.settings.redirect_uris


def origins(context: Context) -> Any:
    return context.services.directory.origins(context.tenant, context.work)


def any_template(context: Context) -> Any:
    return template_selection.has_any(context, MailKind.RESET)


def domains(context: Context) -> Any:
    return dict(membership_domains.of_tenant(context).automatic)


def subject_secret(context: Context) -> Any:
    return subject_secrets.of(context.services, context.work)


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("change", "read"),
    [
        (take_over_application, redirect_uris_by_id),
        (take_over_application, redirect_uris_by_name),
        (take_over_application, origins),
        (add_template, any_template),
        (add_domain, domains),
        (add_template, subject_secret),
    ],
    ids=["application by id", "application by name", "origins", "template", "domain", "subject secret"],
)
def test_rolled_back_change_is_never_in_force(
    world: World, change: Callable[[Context], None], read: Callable[[Context], Any]
) -> None:
    world.application("Shop", client_id=CLIENT)
    world.services.directory.clear_cache()
    with call_of(world.services, world.name) as context:
        change(context)
        uncommitted = read(context)  # the transaction itself sees it
    with call_of(world.services, world.name) as context:
        assert read(context) != uncommitted
