"""Sign-in within an organization: the tokens' claims, and their end with the membership (decision 0191)."""

from __future__ import annotations

from functools import partial

import pytest

from app.contract.steps import LoginStep
from app.identity.platform.services import IdentityServices
from tests.support.oauth.relying_party import Person, RelyingParty, code_of, moved, parameters_of
from tests.support.oauth.world import World
from tests.support.organizations.management import NO_ORG, Business
from tests.support.organizations.members import Company, organization_in
from tests.support.tenants.tenant_server import NewTenantServer, answered

NOT_A_MEMBER = ("access_denied", "The user is not a member of this organization.")
ALL = "openid permissions"


@pytest.fixture
def app(world: World) -> RelyingParty:
    """An application with signed access tokens and the scope `permissions`."""
    return world.application("Crm", access_token_format="jwt", scope="openid profile email permissions")


@pytest.fixture
def globex(company: Company) -> str:
    """An organization where Ada may edit."""
    org = company.business.create("Globex Gardens", Display={"Name": "Globex"})
    company.join(company.ada, org, "Editor", "plants:write", "plants:read")
    return org


def test_all_tokens_name_the_organization(company: Company, app: RelyingParty, globex: str) -> None:
    expected = {
        "org_id": globex,
        "org_name": "Globex Gardens",
        "org_roles": ["Editor"],
        "org_permissions": ["plants:read", "plants:write"],
    }
    stored = company.tokens(app, organization=globex, scope=ALL)
    assert organization_in(stored["access_token"]) == expected
    assert organization_in(stored["id_token"]) == expected
    assert {name: app.userinfo(stored["access_token"]).get_json()[name] for name in expected} == expected
    assert {name: app.introspect(stored["access_token"])[name] for name in expected} == expected
    assert app.introspect(stored["refresh_token"])["org_id"] == globex
    later = answered(app.refresh(stored["refresh_token"]))
    assert organization_in(later["access_token"]) == organization_in(later["id_token"]) == expected


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("text", ["Globex Gardens", "  globex   GARDENS ", "Ｇlobex Gardens"])
def test_name_selects_in_any_form(company: Company, app: RelyingParty, globex: str, text: str) -> None:
    assert organization_in(company.tokens(app, organization=text)["id_token"])["org_id"] == globex


def test_permissions_need_scope_and_registration(
    company: Company, world: World, app: RelyingParty, globex: str
) -> None:
    assert "org_permissions" not in organization_in(company.tokens(app, organization=globex)["id_token"])
    stored = company.tokens(app, organization=globex, scope=ALL)
    world.change(app, scope="openid profile email")
    later = answered(app.refresh(stored["refresh_token"]))
    assert organization_in(later["id_token"]).keys() == {"org_id", "org_name", "org_roles"}


def test_request_without_organization_is_personal(company: Company, app: RelyingParty, globex: str) -> None:
    stored = company.tokens(app)
    assert organization_in(stored["access_token"]) == organization_in(stored["id_token"]) == {}
    assert not any(name.startswith("org_") for name in app.introspect(stored["access_token"]))


@pytest.mark.both_databases
def test_others_organizations_get_one_error(company: Company, app: RelyingParty, globex: str) -> None:
    """Unknown, inactive, without the account, by id or by name: one error."""
    idle = company.business.create("Idle")
    company.join(company.ada, idle, "Editor")
    company.business.deactivate(idle)
    company.business.create("Hazel Labs")
    for text in (NO_ORG, idle, "Idle", "Hazel Labs", "Nothing", company.business.create("Other"), "org_x", "*"):
        assert company.error(app, organization=text) == NOT_A_MEMBER, text
        assert company.error(app, organization=text, prompt="none") == NOT_A_MEMBER, text


def test_signed_out_browser_learns_nothing_of_organizations(
    world: World, app: RelyingParty, company: Company, globex: str
) -> None:
    for text in (globex, NO_ORG):
        step = world.browser().authorize(app.authorization_parameters(organization=text))
        assert (step.kind, step.reason) == (LoginStep, None)


@pytest.mark.both_databases
def test_other_tenants_organization_is_refused(
    company: Company, app: RelyingParty, new_tenant_server: NewTenantServer
) -> None:
    foreign = Business(new_tenant_server())
    for text in (foreign.create("Far Away"), "Far Away"):
        assert company.error(app, organization=text) == NOT_A_MEMBER


def test_organization_named_like_an_id_does_not_win(company: Company, app: RelyingParty, globex: str) -> None:
    """An id is an id, even if another organization of the account has it as its name."""
    decoy = company.business.create(NO_ORG)
    company.join(company.ada, decoy, "Editor")
    assert company.error(app, organization=NO_ORG) == NOT_A_MEMBER


def test_client_that_denies_organizations_refuses(company: Company, world: World, globex: str) -> None:
    client = world.application("Plain", organization_usage="deny")
    assert company.error(client, organization=globex)[0] == "invalid_request"
    assert company.error(client, prompt="select_organization")[0] == "invalid_request"
    assert organization_in(company.tokens(client)["id_token"]) == {}


def test_contradictory_requests_are_refused(company: Company, app: RelyingParty, globex: str) -> None:
    assert company.error(app, organization=globex, prompt="select_organization")[0] == "invalid_request"
    assert company.error(app, organization="x" * 401)[0] == "invalid_request"
    assert company.error(app, prompt="none select_organization")[0] == "invalid_request"


def test_tenant_without_organizations_has_no_members(
    company: Company, world: World, app: RelyingParty, globex: str
) -> None:
    stored = company.tokens(app, organization=globex)
    world.change_settings(organizations={"enabled": False})
    assert company.error(app, organization=globex) == NOT_A_MEMBER
    assert app.introspect(stored["access_token"])["active"] is False


def test_member_removed_before_the_exchange_gets_no_token(company: Company, app: RelyingParty) -> None:
    org = company.business.create()
    role = company.join(company.ada, org, "Editor")
    code = code_of(company.open(app, organization=org))
    company.leave(company.ada, org, role)
    answer = app.redeem(code)
    assert (answer.status_code, answer.get_json()["error"]) == (400, "invalid_grant")


@pytest.mark.parametrize("how", ["leave", "deactivate", "delete"])
def test_tokens_end_with_the_membership(company: Company, app: RelyingParty, how: str) -> None:
    org = company.business.create()
    role = company.join(company.ada, org, "Editor")
    personal = company.tokens(app)
    stored = company.tokens(app, organization=org)
    if how == "leave":
        company.leave(company.ada, org, role)
    elif how == "deactivate":
        company.business.deactivate(org)
    else:
        answered(company.business.send("DELETE", f"/v2/manage/organizations/{org}"))
    assert app.introspect(stored["access_token"]) == {"active": False}
    assert app.introspect(stored["refresh_token"]) == {"active": False}
    assert app.userinfo(stored["access_token"]).status_code == 401
    answer = app.refresh(stored["refresh_token"])
    assert (answer.status_code, answer.get_json()["error"]) == (400, "invalid_grant")
    assert app.userinfo(personal["access_token"]).status_code == 200
    assert app.refresh(personal["refresh_token"]).status_code == 200


def test_family_of_former_member_does_not_return(company: Company, app: RelyingParty) -> None:
    org = company.business.create()
    role = company.join(company.ada, org, "Editor")
    stored = company.tokens(app, organization=org)
    company.leave(company.ada, org, role)
    assert app.refresh(stored["refresh_token"]).status_code == 400
    answered(company.business.assign(company.ada.uid, org, role))
    assert app.refresh(stored["refresh_token"]).get_json()["error"] == "invalid_grant"


def test_former_members_token_opens_no_own_account(company: Company, world: World) -> None:
    """An application's token for the account's operations ends too."""
    client = world.application("Desk", interface_access="full")
    org = company.business.create()
    role = company.join(company.ada, org, "Editor")
    stored = company.tokens(client, organization=org, scope="openid account:read")
    read = partial(company.business.tenant.send, "GET", "/identity/v2/auth/account", bearer=stored["access_token"])
    assert read().status_code == 200
    company.leave(company.ada, org, role)
    assert read().status_code in (401, 403)


def test_tokens_show_their_own_organization_alone(company: Company, world: World, app: RelyingParty) -> None:
    """A resource server of one organization sees that the token is for the other."""
    first, second = company.business.create("First"), company.business.create("Second")
    company.join(company.ada, first, "Owner", "org:own")
    company.join(company.ada, second, "Guest", "plants:read")
    server = world.application("Api", resource_server=True)
    stored = company.tokens(app, organization=second, scope=ALL)
    seen = server.introspect(stored["access_token"])
    assert (seen["org_id"], seen["org_roles"], seen["org_permissions"]) == (second, ["Guest"], ["plants:read"])
    assert app.userinfo(stored["access_token"]).get_json()["org_permissions"] == ["plants:read"]
    assert answered(app.refresh(stored["refresh_token"], organization=first))
    assert organization_in(company.tokens(app, organization=first)["id_token"])["org_roles"] == ["Owner"]


def test_refresh_reads_roles_again(company: Company, app: RelyingParty, globex: str) -> None:
    stored = company.tokens(app, organization=globex, scope=ALL)
    company.join(company.ada, globex, "Buyer", "orders:write")
    later = organization_in(answered(app.refresh(stored["refresh_token"]))["access_token"])
    assert later["org_roles"] == ["Buyer", "Editor"]
    assert later["org_permissions"] == ["orders:write", "plants:read", "plants:write"]


@pytest.mark.both_databases
def test_oversized_permissions_are_left_to_userinfo(company: Company, app: RelyingParty) -> None:
    org = company.business.create()
    names = tuple(f"{'p' * 90}:{number}" for number in range(40))
    company.join(company.ada, org, "Everything", *names)
    stored = company.tokens(app, organization=org, scope=ALL)
    assert organization_in(stored["access_token"]).keys() == {"org_id", "org_name", "org_roles"}
    assert len(app.userinfo(stored["access_token"]).get_json()["org_permissions"]) == 40
    assert len(app.introspect(stored["access_token"])["org_permissions"]) == 40


def test_sign_in_continues_to_the_organization(
    world: World, company: Company, app: RelyingParty, globex: str, ada: Person
) -> None:
    browser = world.browser()
    step = browser.authorize(app.authorization_parameters(organization=globex))
    code = code_of(browser.sign_in(step.interaction_id, ada.email, ada.password))
    assert organization_in(answered(app.redeem(code))["id_token"])["org_id"] == globex
    outsider, other = world.person("outsider@example.test"), world.browser()
    step = other.authorize(app.authorization_parameters(organization=globex))
    assert (
        parameters_of(other.sign_in(step.interaction_id, outsider.email, outsider.password))["error"] == "access_denied"
    )


def test_organization_tokens_cost_the_same_for_many_members(
    services: IdentityServices, company: Company, app: RelyingParty, globex: str
) -> None:
    """The statements of userinfo do not grow with the organizations of the account."""
    stored = company.tokens(app, organization=globex)
    before = company.browser.spent(app.userinfo(stored["access_token"]))
    for _ in range(5):
        company.join(company.ada, company.business.create(), "Editor")
    assert company.browser.spent(app.userinfo(stored["access_token"])) == before


def test_expired_access_token_stays_expired(
    services: IdentityServices, company: Company, app: RelyingParty, globex: str
) -> None:
    stored = company.tokens(app, organization=globex)
    with moved(services, hours=30):
        assert app.introspect(stored["access_token"]) == {"active": False}


def test_metadata_names_claims_and_standard_prompts(company: Company, app: RelyingParty) -> None:
    """Spring Security refuses a provider that names another prompt."""
    document = app.get("/.well-known/openid-configuration").get_json()
    assert {"org_id", "org_name", "org_roles", "org_permissions"} <= set(document["claims_supported"])
    assert document["prompt_values_supported"] == ["none", "login", "consent", "select_account", "create"]
