"""After `gatehouse secrets rotate` nothing needs the previous secret."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.identity.administration.reencryption import reencrypt
from app.identity.assembly.worker import Worker
from app.identity.directory.tenants.keys.signing_keys import StoredSigningKeys
from app.identity.platform.encryption import Encryption
from app.identity.platform.services import IdentityServices
from tests.support.accounts.customers import NEW, a_customer
from tests.support.accounts.pinned import PINS, pinned, session, sign_in_with_pin
from tests.support.fakes.smtp_server import mailbox
from tests.support.oauth.relying_party import Person, claims_in
from tests.support.oauth.world import World
from tests.support.operation_cases.cases import account_holder
from tests.support.services.identity_service import SECRET
from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, TenantServer, answered, refused

pytestmark = pytest.mark.both_databases

NEXT = b"another secret of the tests, as long as the first"


@pytest.fixture
def services(own_services: IdentityServices) -> IdentityServices:
    """Services of the test's own: rotation re-encrypts all data in them."""
    return own_services


def rotated(services: IdentityServices) -> int:
    """Rotate the secret, and continue without the previous one; return the number of re-encrypted values."""
    services.encryption = Encryption((NEXT, SECRET))
    count = reencrypt(services)
    services.encryption = Encryption((NEXT,))
    services.directory.clear_cache()
    return count


def test_queued_mail_and_its_link_survive_rotation(
    services: IdentityServices, new_tenant_server: NewTenantServer
) -> None:
    customer = a_customer(new_tenant_server)
    token = customer.token()
    assert rotated(services) == 2  # the mail and the API secret
    with mailbox() as server:
        sender: dict[str, Any] = {"mail_url": f"smtp://127.0.0.1:{server.port}", "mail_from": "noreply@id.example.com"}
        Worker(replace(services.settings, secrets=(NEXT,), **sender), services.database, services.clock).deliver_due()
        (mail,) = server.mails
    assert mail["To"] == customer.email
    assert token in mail.get_body(("plain",)).get_content()  # type: ignore[union-attr]  # the mail has a plain text part
    answered(customer.reset(resettoken=token, password=NEW))
    answered(customer.logs_in(NEW))


def test_registration_data_code_survives_rotation(services: IdentityServices, acme: TenantServer) -> None:
    path = "/identity/v2/manage/registrationdata"
    answered(acme.send("POST", path, {"Data": [{"type": "town", "key": "b", "value": "Bonn", "code": "s3cret"}]}))
    assert rotated(services) == 2
    (entry,) = answered(acme.send("GET", f"{path}/town"))
    assert entry["Code"] == "s3cret"  # type: ignore[index]  # a list


def test_pin_survives_rotation(services: IdentityServices, new_tenant_server: NewTenantServer) -> None:
    ada = pinned(account_holder(new_tenant_server, **PINS))
    token = session(ada)
    assert rotated(services) >= 2
    assert answered(sign_in_with_pin(ada, token))["Profile"]["Uid"] == ada.uid


@pytest.mark.parametrize("lines", [(SECRET, NEXT), (NEXT, SECRET)])
def test_sent_code_is_valid_beside_new_secret(
    services: IdentityServices, new_tenant_server: NewTenantServer, lines: tuple[bytes, ...]
) -> None:
    customer = a_customer(new_tenant_server)
    code = customer.code()
    services.settings = replace(services.settings, secrets=lines)
    answered(customer.by_code(code))
    assert answered(customer.logs_in(NEW))["Profile"]["Uid"] == customer.uid


@pytest.mark.parametrize("exists", [True, False])
def test_lockout_survives_new_secret(
    services: IdentityServices, new_tenant_server: NewTenantServer, exists: bool
) -> None:
    """For an account and for an unknown identifier: the responses are indistinguishable."""
    lockout = {"type": "suspend", "suspend_seconds": 600, "maximum_failed_attempts": 3}
    customer = a_customer(new_tenant_server, hide_unknown_accounts=True, lockout=lockout)
    if not exists:
        customer.email = "absent@example.test"
    customer.guesses(2)
    services.settings = replace(services.settings, secrets=(NEXT, SECRET))
    customer.guesses(1)
    assert refused(customer.logs_in()) == (403, 1198)
    services.settings = replace(services.settings, secrets=(SECRET, NEXT))
    assert refused(customer.logs_in()) == (403, 1198)


def test_data_under_unknown_secret_is_answered_503(
    services: IdentityServices, new_tenant_server: NewTenantServer
) -> None:
    """Another process has encrypted it under a line that this process reads at its next start."""
    customer = a_customer(new_tenant_server)
    services.encryption = Encryption((NEXT, SECRET))
    assert reencrypt(services)
    services.encryption = Encryption((SECRET,))
    services.directory.clear_cache()
    answer = customer.tenant.send("GET", f"{MANAGE}/{customer.uid}")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")


def test_pairwise_subject_survives_rotation(services: IdentityServices, world: World, ada: Person) -> None:
    """Another secret would give each account another `sub` at applications of type pairwise."""
    shop = world.application("shop", subject_type="pairwise")

    def subject() -> str:
        browser = world.browser()
        return str(claims_in((shop.redeem(browser.code(shop, ada)).json or {})["id_token"])["sub"])

    before = subject()
    assert rotated(services) == 3  # the API secret, the signing key and the secret of subjects
    services.signing_keys = StoredSigningKeys(services.encryption, services.clock)
    services.subject_secrets.clear()
    assert subject() == before
