"""Passwordless sign-in on the pages: link, code, other device."""

from __future__ import annotations

from urllib.parse import urlsplit

from tests.support.accounts.mailbox import code_in, link_in, mails_to
from tests.support.oauth.world import World
from tests.support.visitors.visitor import VisitedPage

ADA, NEW = "ada@example.com", "new@example.com"


NUMBER, E164 = "020 7946 0123", "+442079460123"


FREE = {"sign_in_per_minute_per_address": 0, "passwordless_per_minute_per_address": 0}


ALL_METHODS = {"passwordless_email": True, "passwordless_sms": True, "smart_login": True, "limits": FREE}


def link_path(world: World, email: str = ADA) -> str:
    parts = urlsplit(link_in(mails_to(world.services, world.tenant_id, email)[-1]))
    return f"{parts.path}?{parts.query}"


def code(world: World, email: str = ADA) -> str:
    return code_in(mails_to(world.services, world.tenant_id, email)[-1])


def by_mail(page: VisitedPage, name: str = ADA) -> VisitedPage:
    return page.follow("Get an email link").press("Email me a link", identifier=name)


def by_device(page: VisitedPage, name: str = ADA) -> VisitedPage:
    return page.follow("Approve on another device").press("Email me a sign-in request", identifier=name)


def number_on(page: VisitedPage) -> str:
    return page.html.partition('class="number" dir="ltr">')[2][:2]
