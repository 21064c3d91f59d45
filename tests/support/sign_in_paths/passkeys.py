"""Sign-ins by passkey."""

from __future__ import annotations

import json
from typing import Any

from tests.support.journeys import passkeys
from tests.support.sign_in_paths.account import SigningAccount
from tests.support.sign_in_paths.path import SignInPath, Steps
from tests.support.sign_in_paths.results import BLOCKED_PAGE, Credential, of_page, of_program
from tests.support.visitors.visitor import VisitedPage

BUTTON = "Sign in with a passkey"


def by_program(who: SigningAccount) -> Steps:
    who.add_passkey()
    yield
    assertion = who.device.shows(who.asks_sign_in())
    yield
    return of_program(who.gives("/identity/v2/auth/login/passkey/finish", assertion))


def by_autofill_of_program(who: SigningAccount) -> Steps:
    who.add_passkey()
    yield
    return of_program(who.sign_in_by_autofill())


def by_page(who: SigningAccount) -> Steps:
    who.add_passkey()
    visitor = who.browser()
    yield
    page = visitor.open("/login")
    credential = shown(who, page)
    yield
    return of_page(page.press(BUTTON, credential=credential))


def by_page_with_passkey_of_phone(who: SigningAccount) -> Steps:
    """Sign in by the passkey of another device: our page then offers to create one here."""
    who.add_passkey()
    visitor, shop = who.browser(), who.application()
    yield
    page = visitor.authorize(shop)
    offer = page.press(BUTTON, credential=shown(who, page, attachment="cross-platform"))
    yield
    return of_page(offer.press("Not now"))


def shown(who: SigningAccount, page: VisitedPage, **overrides: Any) -> str:
    """Return what the browser answers the page's script with."""
    options = passkeys.options(page.visitor, page, "/login/passkey/options")
    return json.dumps(who.device.shows(options, who.device.passkeys[0], **overrides))


_PAGE = "pages_api/sign_in/passkeys"
_ON: dict[str, Any] = {"passkeys": True, "passkey_settings": {"progressive_enrollment": False}}
PATHS = (
    SignInPath("passkey, program", by_program, ("public_api/sign_in/passkeys:_sign_in",), settings=_ON),
    SignInPath(
        "passkey by autofill, program", by_autofill_of_program, ("public_api/sign_in/passkeys:_sign_in",), settings=_ON
    ),
    SignInPath("passkey, page", by_page, (f"{_PAGE}:sign_in",), Credential.SESSION, BLOCKED_PAGE, settings=_ON),
    SignInPath(
        "passkey of a phone, page for an application",
        by_page_with_passkey_of_phone,
        (f"{_PAGE}:sign_in", f"{_PAGE}:_offer_local", "protocols/oauth/authorize/responses/sent_parameters:issue"),
        Credential.CODE,
        BLOCKED_PAGE,
        ("Sign in",),
        settings=_ON,
        signed_in_at=1,
    ),
)
