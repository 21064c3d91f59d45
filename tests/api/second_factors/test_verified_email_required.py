"""Second factors can be enabled only where email verification is required."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.identity.administration.configuration import apply_configuration
from app.identity.administration.configuration.file.read_configuration import read
from app.identity.administration.configuration.file.yaml_document import ConfigurationError
from app.identity.directory.tenants import tenant_writes
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.services.identity_service import on_one_database
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

CONFIG = "/v2/manage/2fa/config"
ON, OFF = {"IsSecondFactorAuthenticatorEnabled": True}, {"IsSecondFactorAuthenticatorEnabled": False}
FILE = "tenants:\n  - {{name: acme, settings: {{{settings}}}}}\n"
on_sqlite = pytest.mark.parametrize("own_database", ["sqlite"], indirect=True)


@on_one_database
@pytest.mark.parametrize(
    ("settings", "change", "expected"),
    [
        ({}, ON, (200, None)),
        ({"email_verification": "optional"}, ON, (400, 7900)),
        ({"email_verification": "disabled"}, ON, (400, 7900)),
        ({"email_verification": "optional"}, OFF, (200, None)),
        ({"email_verification": "optional", "two_factor": "optional"}, ON, (200, None)),  # enabled before
    ],
    ids=str,
)
def test_second_factors_require_email_verification(
    new_tenant_server: NewTenantServer,
    settings: dict[str, str],
    change: dict[str, bool],
    expected: tuple[int, int | None],
) -> None:
    tenant = new_tenant_server(**settings)
    token = machine(tenant, "security:update", "security:read")
    answer = ask(tenant, token, "PUT", CONFIG, change)
    assert refused(answer) == expected
    is_refused = bool(expected[1])
    shown = answered(ask(tenant, token, "GET", CONFIG))["IsSecondFactorAuthenticatorEnabled"]
    assert shown is (not is_refused and change is ON)
    if is_refused:
        assert "email_verification: required" in answer.get_json()["Description"]


def apply_settings(services: IdentityServices, folder: Path, settings: str) -> str:
    """Apply a configuration file; return the error message, or an empty string."""
    try:
        apply_configuration.apply(services, read(FILE.format(settings=settings).encode(), "acme.yaml", folder))
    except ConfigurationError as refusal:
        return str(refusal)
    finally:
        services.directory.clear_cache()
    return ""


REFUSED = (
    "acme.yaml:2: tenants[0].settings.two_factor: expected disabled: second factors need email_verification: required"
)


@on_sqlite
def test_file_with_second_factor_and_optional_email_is_refused(own_services: IdentityServices, tmp_path: Path) -> None:
    assert apply_settings(own_services, tmp_path, "two_factor: optional, email_verification: optional") == REFUSED
    assert own_services.directory.by_name("acme") is None
    assert apply_settings(own_services, tmp_path, "two_factor: optional") == ""
    assert apply_settings(own_services, tmp_path, "two_factor: required, email_verification: disabled") == REFUSED
    assert apply_settings(own_services, tmp_path, "two_factor: disabled, email_verification: disabled") == ""


@on_sqlite
def test_existing_tenant_with_both_settings_can_be_applied(own_services: IdentityServices, tmp_path: Path) -> None:
    assert apply_settings(own_services, tmp_path, "two_factor: optional") == ""
    tenant = own_services.directory.by_name("acme")
    assert tenant is not None
    with UnitOfWork(own_services.database, tenant.tenant_id).separate_transaction() as work:
        existing = tenant_writes.lock(work)
        assert existing is not None
        tenant_writes.change(work, settings={**existing.settings, "email_verification": "optional"})
    assert apply_settings(own_services, tmp_path, "two_factor: required, email_verification: optional") == ""
    own_services.directory.clear_cache()
    stored = own_services.directory.by_name("acme")
    assert stored is not None
    assert (stored.settings.two_factor, stored.settings.email_verification) == ("required", "optional")
