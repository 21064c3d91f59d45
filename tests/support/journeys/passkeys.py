"""Passkeys on the pages: added, used for a sign-in."""

from __future__ import annotations

import json
import secrets
from typing import Any

from tests.support.credentials.software_authenticator import Authenticator
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import World
from tests.support.visitors.visitor import VisitedPage, Visitor


def options(visitor: Visitor, page: VisitedPage, path: str) -> dict[str, Any]:
    """Fetch the WebAuthn options as the page's script does."""
    form = page.form("Sign in with a passkey") if path.startswith("/login") else page.form("Create passkey")
    answer = visitor.send("POST", f"{visitor.home}{path}", dict(form.fields))
    assert answer.status == 200, answer.html
    return dict(json.loads(answer.html))


def sign_in_and_add_passkey(visitor: Visitor, ada: Person, device: Authenticator) -> None:
    visitor.open("/passkeys/add").press("Sign in", identifier=ada.email, password=ada.password)
    add_passkey(visitor, device)


def add_passkey(visitor: Visitor, device: Authenticator) -> None:
    page = visitor.open("/passkeys/add")
    attestation = device.makes(options(visitor, page, "/passkeys/options"))
    assert page.press("Create passkey", credential=json.dumps(attestation)).heading == "Passkeys"


def sign_in_by_passkey(
    visitor: Visitor, tenant: World, device: Authenticator, remember: str = "", **changes: Any
) -> VisitedPage:
    page = visitor.authorize(tenant.application(f"shop{secrets.token_hex(3)}", client_name="Acme Shop"))
    assertion = device.shows(options(visitor, page, "/login/passkey/options"), device.passkeys[0], **changes)
    return page.press("Sign in with a passkey", credential=json.dumps(assertion), remember=remember)


def sign_out(visitor: Visitor) -> None:
    visitor.forget("session")
