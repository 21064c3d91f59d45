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
from app.kit.operations.server import OperationServer

PAGES = Path(__file__).parents[2] / "pages"
FAMILIES = {
    "sign-in": ("sign_in/test_page", "sign_in/test_locked_sign_in", "sign_in/test_choose_account"),
    "registration": ("registration/test_register", "registration/test_by_passkey", "registration/test_schema"),
    "mailed links": (
        "registration/test_verification",
        "mailed_links/test_scanners_and_repeats",
        "mailed_links/test_handoff",
    ),
    "recovery": ("recovery/test_forgotten_password", "recovery/test_forgotten_pin"),
    "second factors": (
        "sign_in/second_factors/test_page",
        "sign_in/second_factors/test_codes",
        "security/test_backup_codes",
        "sign_in/second_factors/test_push_and_duo",
    ),
    "passkeys": ("security/test_passkeys",),
    "passwordless": ("sign_in/test_passwordless", "device/test_phone_sign_in"),
    "PIN": ("security/test_pin",),
    "reauthentication": ("security/test_reauthentication",),
    "account": (
        "account/test_delete_account",
        "account/test_edit_profile",
        "account/test_emails",
        "account/test_profile",
        "account/test_profile_and_sessions",
        "account/test_username",
        "registration/test_missing_fields",
        "sign_in/test_account_changed",
        "security/test_second_factors",
        "security/test_security_questions",
    ),
    "security alerts": ("recovery/test_security_alert",),
    "organizations": (
        "organizations/test_membership",
        "organizations/test_self_service",
        "organizations/test_invitation",
        "organizations/connections/test_sign_in",
        "organizations/connections/saml/test_saml_sign_in",
        "organizations/connections/saml/test_saml_logout",
        "organizations/connections/test_separation",
        "organizations/connections/test_required_form",
        "organizations/setup/test_journey",
        "organizations/setup/test_link_life",
    ),
    "providers": (
        "federation/test_account_confirmation",
        "federation/test_connections",
        "federation/test_apple",
        "federation/test_jwt_login_page",
        "saml/test_identity_provider",
        "federation/test_provider_domains",
        "federation/test_link_scopes",
        "federation/test_required_fields",
        "federation/test_saml_providers",
        "account/test_identities",
    ),
    "consent": ("consent/test_application_consent", "consent/test_consent_forms", "consent/test_privacy_policy"),
    "devices": ("device/test_authorize_device",),
    "sign-out": ("oauth/test_logout",),
    "redirects": ("oauth/test_authorize_parameters", "federation/test_web_sso"),
    "cookies": (
        "web/test_blocked_cookies",
        "sign_in/test_left_open",
        "themes/test_theme_previews",
        "themes/test_brands",
    ),
    "errors": ("themes/test_layouts", "themes/test_own_pages", "web/test_routing", "web/test_identity_service_down"),
}
"""A third of the modules of `tests/pages`, by what their pages are about."""
OVER_HTTP = frozenset(PAGES / f"{name}.py" for names in FAMILIES.values() for name in names)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--over-http", action="store_true", help="run every page module over HTTP, not a third of them")


def is_over_http(module: Path, *, is_all: bool) -> bool:
    """Return whether the hub of this module's tests calls over HTTP."""
    return module in OVER_HTTP or (is_all and PAGES in module.parents)


def make_hub(services: IdentityServices, identity_app: OperationServer, *, over_http: bool) -> Flask:
    """Return a hub that calls this identity service."""
    if over_http:
        return create_app(services.settings, httpx.WSGITransport(app=identity_app), services.clock)
    return create_app(services.settings, clock=services.clock, server=identity_app)
