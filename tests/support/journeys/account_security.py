"""A signed-in visitor on the security pages of the account."""

from __future__ import annotations

from typing import Any

import pyotp

from tests.support.accounts.mailbox import sent_messages
from tests.support.journeys.second_factors import app_of, code_now
from tests.support.oauth.relying_party import Person, RelyingParty, claims_in
from tests.support.oauth.world import World
from tests.support.services.identity_service import pass_time
from tests.support.visitors.visitor import VisitedPage, Visitor

APP_ALONE = {"second_factors": {"email": False, "passkey": False}}


def signed_in(visitor: Visitor, ada: Person, page: str = "/second-factors") -> VisitedPage:
    """Open a page, signing in if asked."""
    seen = visitor.open(page)
    needs_sign_in = seen.is_sign_in
    return seen.press("Sign in", identifier=ada.email, password=ada.password) if needs_sign_in else seen


def choose_app(page: VisitedPage) -> VisitedPage:
    """Choose the authenticator app."""
    return page.press("Authenticator app")


def add_app(visitor: Visitor, tenant: World, ada: Person) -> tuple[pyotp.TOTP, VisitedPage]:
    page = choose_app(signed_in(visitor, ada))
    app = app_of(page)
    return app, page.press("Verify", code=code_now(tenant, app))


def mails(tenant: World, ada: Person) -> list[str]:
    return [mail["subject"] for mail in sent_messages(tenant.services, tenant.tenant_id) if mail["to"] == ada.email]


def one_factor_session(visitor: Visitor, tenant: World, ada: Person) -> pyotp.TOTP:
    """Sign in with the password, then enrol TOTP."""
    page = visitor.open("/second-factors").press("Sign in", identifier=ada.email, password=ada.password)
    page = page.press("Authenticator app")
    app = app_of(page)
    page.press("Verify", code=code_now(tenant, app))
    pass_time(tenant.services, seconds=30)
    return app


def authentication_claims(shop: RelyingParty, answer: VisitedPage) -> dict[str, Any]:
    """Return the ID token's claims about the authentication."""
    claims = claims_in((shop.redeem(answer.query["code"]).json or {})["id_token"])
    return {name: claims[name] for name in ("acr", "amr", "auth_time")}
