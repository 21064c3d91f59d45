"""A mapping is tried on a sample answer of a provider, and nothing is stored."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select, update

from app.contract.jwt.jwt_operations import PROVIDERS
from app.identity.assembly.table_modules import metadata
from app.identity.platform.resource_storage.resource_store import resources
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.connecting import finished, led
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.services.identity_service import on_one_database
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered, refused

pytestmark = on_one_database
TRY = "/v2/manage/custom-providers/try-mapping"
ANSWER: dict[str, Any] = {
    "sub": "1815", "email": "ada@example.test", "email_verified": True, "given_name": "Ada", "family_name": "Lovelace",
    "person": {"names": {"first": "Augusta"}, "id": 1815}, "hd": "example.test",
}  # fmt: skip


@pytest.fixture
def acme(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> TenantServer:
    made = new_tenant_server()
    fake_provider.known_to(made, "company", claims={"first_name": "person.names.first"})
    return made


def tried(tenant: TenantServer, claims: dict[str, Any] = ANSWER, **mapping: Any) -> dict[str, Any]:
    body = {"Claims": claims, **(mapping or {"Connection": "company"})}
    return answered(ask(tenant, machine(tenant, "provider:read"), "POST", TRY, body))


def missing(trial: dict[str, Any]) -> dict[str, str]:
    return {item["Field"]: item["Found"] for item in trial["Missing"]}


def test_trial_returns_what_a_sign_in_makes(acme: TenantServer, fake_provider: FakeProvider) -> None:
    trial = tried(acme)
    fake_provider.claims.update(ANSWER)
    identity, _ = finished(acme, fake_provider.signs_in(led(acme, "company"), **ANSWER))
    assert (trial["IsAccepted"], trial["ID"], trial["Email"], trial["EmailVerified"]) == (
        True, identity.subject, identity.email, identity.email_verified,
    )  # fmt: skip
    assert trial["Profile"]["FirstName"] == "Augusta"
    assert {name: identity.profile.get(name) for name in trial["Profile"]} == trial["Profile"]
    assert (trial["Missing"], trial["UnusedClaims"]) == ([], ["given_name", "hd"])


@pytest.mark.parametrize(
    "mapping",
    [
        {"DataMap": {"ID": "person.id", "FirstName": "person.names.first"}},
        {"Mapping": {"person.id": "ID", "person.names.first": "FirstName"}},
    ],
    ids=["of an OAuth provider", "of a JWT provider"],
)
def test_draft_is_tried_before_it_is_stored(acme: TenantServer, mapping: dict[str, Any]) -> None:
    trial = tried(acme, **mapping)
    assert (trial["ID"], trial["Profile"]["FirstName"]) == ("1815", "Augusta")


def test_stored_jwt_provider_is_tried(acme: TenantServer) -> None:
    body = {"AppName": "Partner", "Algo": "HS256", "Key": "k" * 32, "Mapping": {"person.id": "ID"}}
    answered(ask(acme, machine(acme, "all"), "POST", "/v2/manage/custom-providers/jwt", body))
    assert tried(acme, Connection="jwt:Partner")["ID"] == "1815"


def test_stored_mapping_of_an_unfillable_field_is_tried(acme: TenantServer) -> None:
    """An earlier version stored such fields."""
    body = {"AppName": "Partner", "Algo": "HS256", "Key": "k" * 32, "Mapping": {"person.id": "ID"}}
    answered(ask(acme, machine(acme, "all"), "POST", "/v2/manage/custom-providers/jwt", body))
    with UnitOfWork(acme.services.database, acme.tenant_id).separate_transaction() as work:
        where = (resources.c.tenant_id == acme.tenant_id, resources.c.kind == PROVIDERS.kind)
        (row,) = work.all(select(resources.c.content).where(*where))
        content = {**row.content, "mapping": {**row.content["mapping"], "roles": "Roles"}}
        work.run(update(resources).where(*where).values(content=content))
    assert tried(acme, Connection="jwt:Partner")["ID"] == "1815"


SUBJECTS: dict[str, tuple[Any, str]] = {
    "none": (None, "missing"), "a list": ([1815], "a list"), "true": (True, "true or false"), "an object": ({"a": 1}, "an object"),
    "a fraction": (0.5, "a fraction"), "a blank at its end": ("ada ", "text of 4 characters"), "empty": ("", "text of 0 characters"),
    "long": ("a" * 256, "text of 256 characters"), "with a line": ("a\nb", "text with control characters"),
}  # fmt: skip


@pytest.mark.parametrize(("subject", "found"), SUBJECTS.values(), ids=SUBJECTS)
def test_answer_without_usable_subject_is_not_accepted(acme: TenantServer, subject: Any, found: str) -> None:
    trial = tried(acme, {**ANSWER, "sub": subject})
    assert (trial["IsAccepted"], trial["ID"], missing(trial)) == (False, None, {"ID": found})
    assert trial["Profile"]["LastName"] == "Lovelace", "the rest is shown all the same"


def test_what_is_missing_is_named_without_values(acme: TenantServer) -> None:
    trial = tried(acme, {"sub": "1", "email": "nobody", "person": {"names": []}})
    assert missing(trial) == {"Email": "text of 6 characters", "FirstName": "missing"}
    assert trial["RequiredAtSignUp"] == ["email"]
    assert tried(acme)["RequiredAtSignUp"] == []


def test_required_fields_that_no_claim_fills_are_named(new_tenant_server: NewTenantServer) -> None:
    form = [
        {"name": "email", "required": True},
        {"name": "last_name", "required": True},
        {"name": "phone", "required": True},
    ]
    tenant = new_tenant_server(registration_form=form)
    assert tried(tenant, DataMap={"ID": "sub"})["RequiredAtSignUp"] == ["phone"]


@pytest.mark.parametrize(
    "mapping",
    [
        {"Connection": "unknown"}, {"Connection": "jwt:unknown"}, {"DataMap": {"Uid": "sub"}}, {"Mapping": {"sub": "Roles"}},
        {"Connection": "company", "DataMap": {"ID": "sub"}}, {"DataMap": {"ID": ""}},
    ],
    ids=str,
)  # fmt: skip
def test_mapping_that_cannot_be_stored_is_refused(acme: TenantServer, mapping: dict[str, Any]) -> None:
    answer = ask(acme, machine(acme, "provider:read"), "POST", TRY, {"Claims": ANSWER, **mapping})
    assert refused(answer)[0] in (400, 422)


def test_connection_of_another_tenant_is_not_tried(acme: TenantServer, new_tenant_server: NewTenantServer) -> None:
    other = new_tenant_server()
    body = {"Claims": ANSWER, "Connection": "company"}
    assert refused(ask(other, machine(other, "provider:read"), "POST", TRY, body))[0] in (400, 422)
    assert refused(ask(acme, machine(acme, "profile:read"), "POST", TRY, body))[0] == 403


def test_trial_stores_nothing(acme: TenantServer) -> None:
    token = machine(acme, "provider:read")
    before = rows_of(acme)
    answered(ask(acme, token, "POST", TRY, {"Claims": {**ANSWER, "sub": "never-stored"}, "Connection": "company"}))
    assert rows_of(acme) == before


def rows_of(tenant: TenantServer) -> dict[str, int]:
    work = UnitOfWork(tenant.services.database, tenant.tenant_id)
    try:
        return {
            name: len(work.all(table.select().where(table.c.tenant_id == tenant.tenant_id)))
            for name, table in metadata.tables.items()
        }
    finally:
        work.rollback()
