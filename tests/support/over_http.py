"""The page modules whose hub calls the identity service over HTTP, signed, as between processes. pytest loads it as a plugin.

All other tests call within the process. `--over-http` (`make test-http`) runs every page module over HTTP.
"""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from flask import Flask

from app.hub import create_app
from app.identity.platform.services import IdentityServices
from app.kit.server import OperationServer

PAGES = Path(__file__).parents[1] / "pages"
FAMILIES = {
    "sign-in": ("sign_in", "locked_sign_in", "choose_account"),
    "registration": ("register", "register_by_passkey", "registration_schema"),
    "mailed links": ("verification", "mailed_links", "link_handover"),
    "recovery": ("forgotten_password", "forgotten_pin"),
    "second factors": ("second_factor", "second_factor_codes", "backup_codes", "push_and_duo"),
    "passkeys": ("passkeys",),
    "passwordless": ("passwordless", "phone_sign_in"),
    "PIN": ("pin",),
    "reauthentication": ("confirm",),
    "account": ("self_service", "profile_and_sessions", "account_changed", "second_factors"),
    "security alerts": ("security_alert",),
    "organizations": ("organizations", "organization_self_service", "invitation"),
    "providers": ("connections", "identities"),
    "consent": ("consent", "consent_forms"),
    "devices": ("device",),
    "sign-out": ("logout",),
    "redirects": ("authorize_parameters", "web_sso"),
    "cookies": ("blocked_cookies", "left_open"),
    "errors": ("routing", "identity_service_down"),
}
"""A third of the modules of `tests/pages`, by what their pages are about."""
OVER_HTTP = frozenset(PAGES / f"test_{name}.py" for names in FAMILIES.values() for name in names)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--over-http", action="store_true", help="run every page module over HTTP, not a third of them")


def is_over_http(module: Path, *, is_all: bool) -> bool:
    """Return whether the hub of this module's tests calls over HTTP."""
    return module in OVER_HTTP or (is_all and module.parent == PAGES)


def make_hub(services: IdentityServices, identity_app: OperationServer, *, over_http: bool) -> Flask:
    """Return a hub that calls this identity service."""
    if over_http:
        return create_app(services.settings, httpx.WSGITransport(app=identity_app), services.clock)
    return create_app(services.settings, clock=services.clock, server=identity_app)
