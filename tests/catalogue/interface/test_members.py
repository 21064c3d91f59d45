"""Nothing that the interface's tables name is dropped silently: it is stored and returned, made by the server, or refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from app.contract.catalogue import load_catalogue
from app.kit.operations.operation import AnyOperation
from app.kit.operations.wire import From, shape_of
from app.kit.resources.operations import is_list
from app.kit.resources.resource import (
    CREATE,
    CREATED_AT,
    MASKED,
    MODIFIED_AT,
    ONCE,
    READ,
    READ_ONLY,
    UPDATE,
    NotListed,
    Resource,
    Verb,
)
from tests.support.operations.interface_members import MEMBERS, VALUES
from tests.support.operations.resource_samples import Body
from tests.support.operations.resources import EVERY, Manager, manager
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

KINDS = [op for op in EVERY if op.kind in MEMBERS]
ABSENT: Any = object()


def look(body: Any, member: str) -> Any:
    """Return a member of an answer, in any letter case, except that `AppId` and `AppID` are two."""
    for name in member.split("."):
        if not isinstance(body, dict):
            return ABSENT
        folded = {op.lower(): value for op, value in body.items()}
        body = body.get(name, ABSENT if name == "AppID" else folded.get(name.lower(), ABSENT))
    return body


def other(value: Any) -> Any:
    """Return another value of the type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, list | dict):
        return ["x"] if isinstance(value, list) else {"x": "x"}
    return f"{value}x" if isinstance(value, str) and value != MASKED else "another value"


def with_member(body: Body, member: str, value: Any) -> Body:
    first, _, rest = member.partition(".")
    stored = next((name for name in body if name.lower() == first.lower()), first)
    return {**body, stored: with_member(body.get(stored) or {}, rest, value) if rest else value}


def server_made(resource: Resource) -> set[str]:
    roles = {READ_ONLY, ONCE, CREATED_AT, MODIFIED_AT}
    return {
        member.request_name.lower()
        for member in resource.members
        if member.roles & roles or (member.key is not None and member.key.is_minted)
    }


def check(manage: Manager, verb: Verb, member: str, before: Any, body: Body) -> None:
    resource = manage.resource
    value = VALUES.get(resource.kind, {}).get(member, other(look(before, member)))
    answer = manage(verb, with_member(body, member, value), of=before)
    if answer.status_code != 200:
        said = answer.get_json()
        is_general = said["ErrorCode"] == resource.error_profile.bad_parameter.code
        assert answer.status_code < 500
        assert not is_general or member.split(".")[0].lower() in said["Description"].lower(), answer.text
        return
    shown = [answer.get_json()]
    read = manage(READ, of=answer.get_json()) if manage.does(READ) and not is_list(resource, READ) else None
    if read is not None and read.status_code == 200:  # a singleton may be off now
        shown.append(read.get_json())
    for op in shown:
        found = look(op, member)
        if member.lower() in server_made(resource):
            assert found not in (ABSENT, value), f"{member} is made by the server"
        else:
            assert found in (value, MASKED), f"{member} was {value!r} and is {found!r}"


@pytest.mark.parametrize("resource", KINDS, ids=lambda op: op.kind)
@pytest.mark.parametrize("verb", [CREATE, UPDATE], ids=lambda op: op.name.lower())
def test_member_of_the_tables_is_never_dropped(
    new_tenant_server: NewTenantServer, resource: Resource, verb: Verb, subtests: pytest.Subtests
) -> None:
    manage = manager(new_tenant_server, resource)
    if not manage.does(verb):
        return
    for number, member in enumerate(MEMBERS[resource.kind], 2):
        with subtests.test(member):
            manage = manager(new_tenant_server, resource)
            before = manage.stored()
            check(
                manage, verb, member, before, manage.sample.item(number) if verb is CREATE else manage.sample.change(1)
            )


def takes_known_members_alone(operation: AnyOperation) -> bool:
    shape = shape_of(operation.request)
    is_write = operation.method in ("POST", "PUT") and bool(shape.places[From.BODY])
    return is_write and operation.error_profile.refuses_unknown_members


def test_every_management_write_refuses_unknown_members(
    new_tenant_server: NewTenantServer, subtests: pytest.Subtests
) -> None:
    tenant = new_tenant_server()
    token = machine(tenant, "all")
    operations = [op for op in load_catalogue() if takes_known_members_alone(op)]
    assert len(operations) > 60
    for operation in operations:
        with subtests.test(operation.name):
            path = "/".join("x" if part.startswith("{") else part for part in operation.path.split("/"))
            answer = ask(tenant, token, operation.method, path, {"NoSuchMember": 1})
            bad = operation.error_profile.bad_parameter
            assert refused(answer) == (bad.status, bad.code)
            assert answer.get_json()["Description"].startswith("NoSuchMember: "), answer.text


def test_every_machine_write_has_a_profile_that_refuses() -> None:
    """Account operations have the older profile, whose clients send profiles back as they read them."""
    lenient = {
        op.name
        for op in load_catalogue()
        if op.method in ("POST", "PUT") and op.path.startswith("/v2/manage/") and shape_of(op.request).places[From.BODY]
        and not op.error_profile.refuses_unknown_members
    }  # fmt: skip
    assert lenient == set()


DEEP: list[tuple[dict[str, Any], str]] = [
    ({"BackChannelLogout": {"LogoutURIs": [], "Nothing": 1}}, "BackChannelLogout.Nothing"),
    ({"BackChannelLogout": {"LogoutInitiator": {"Intiators": {"Nothing": 1}}}}, "BackChannelLogout.LogoutInitiator.Intiators.Nothing"),
    ({"AssertionIssuers": [{"Issuer": "https://a.example", "Nothing": 1}]}, "AssertionIssuers.Nothing"),
    ({"Localized": {"de": {"DisplayName": "Laden", "Nothing": 1}}}, "Localized.de.Nothing"),
    ({"DeviceCodeConfig": {"VerificationUrl": None}}, "DeviceCodeConfig.VerificationUrl"),
]  # fmt: skip


def test_unknown_member_within_is_named_with_its_place(
    new_tenant_server: NewTenantServer, subtests: pytest.Subtests
) -> None:
    tenant = new_tenant_server()
    token = machine(tenant, "all")
    for members, name in DEEP:
        with subtests.test(name):
            body = {"AppName": "Shop", "RedirectURIs": ["https://shop.example/in"], **members}
            answer = ask(tenant, token, "POST", "/v2/manage/oauth-clients", body)
            assert refused(answer) == (400, 7900)
            assert answer.get_json()["Description"].startswith(f"{name}: "), answer.text


NEAR: list[tuple[str, str, dict[str, Any], str]] = [
    ("PUT", "default-workflow", {"Workflow": "Careful"}, "Workflow: this operation has no such member; did you mean WorkflowName?"),
    ("POST", "oauth-clients", {"RedirectUris2": []}, "RedirectUris2: this operation has no such member; did you mean RedirectURIs?"),
    ("POST", "oauth-clients", {"BackChannelLogout": {"LogoutURLs": []}},
     "BackChannelLogout.LogoutURLs: this operation has no such member; did you mean LogoutURIs?"),
    ("POST", "workflows", {"IsRunable": True}, "IsRunable: this operation has no such member."),
    ("PUT", "default-workflow", {"W" * 5_000: ""}, "W" * 200 + ": this operation has no such member."),
]  # fmt: skip
"""Members of which some are near one that the request sets; one that only responses have is suggested to nobody."""


def test_unknown_member_is_refused_with_a_near_name(
    new_tenant_server: NewTenantServer, subtests: pytest.Subtests
) -> None:
    tenant = new_tenant_server()
    token = machine(tenant, "all")
    for method, path, body, sentence in NEAR:
        with subtests.test(sentence[:50]):
            answer = ask(tenant, token, method, f"/v2/manage/{path}", body)
            assert refused(answer) == (400, 7900)
            assert answer.get_json()["Description"] == sentence


def test_free_maps_and_known_names_in_any_case_pass(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server()
    token = machine(tenant, "all")
    body = {
        "appname": "Shop", "redirect_uris": ["https://shop.example/in"], "METADATA": {"Any": "thing"},
        "AudienceScopes": {"https://x.example": ["a"]},
    }  # fmt: skip
    answer = ask(tenant, token, "POST", "/v2/manage/oauth-clients", body)
    assert answer.status_code == 200, answer.text
    made = answer.get_json()
    again = ask(tenant, token, "PUT", "/v2/manage/oauth-clients/Shop", made)
    assert (again.status_code, again.get_json()) == (200, {**made, "ClientSecret": MASKED}), (
        "what was read may be sent back"
    )


def test_item_that_was_read_may_be_sent_back_in_any_case(
    new_tenant_server: NewTenantServer, subtests: pytest.Subtests
) -> None:
    for resource in EVERY:
        manage = Manager(new_tenant_server(), resource)
        if not all(map(manage.does, (Verb.CREATE, Verb.LIST, Verb.UPDATE))):
            continue
        with subtests.test(resource.kind):
            manage = Manager(new_tenant_server(**(manage.sample.settings or {})), resource)
            made = answered(manage.create(1))
            left_out = [member.request_name for member in resource.members if member.mark(NotListed)]
            for names in (str, str.lower):
                item = {**manage.listed()[0], **{name: made[name] for name in left_out}}
                answered(manage(Verb.UPDATE, {names(name): value for name, value in item.items()}, item))
