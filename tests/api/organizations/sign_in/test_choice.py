"""The step that chooses an organization: when it comes, and what a forged or late choice gets."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select, update

from app.contract.steps import AnyStep, ConsentStep, LoginStep, RedirectStep, SelectOrganizationStep, StartAgainStep
from app.identity.authentication.sign_in.tables import interactions
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness
from tests.support.oauth.relying_party import RelyingParty, code_of, parameters_of
from tests.support.oauth.world import World
from tests.support.organizations.invitations import InvitingBusiness
from tests.support.organizations.management import NO_ORG, Business
from tests.support.organizations.members import Company, organization_in
from tests.support.organizations.open_organization import OpenOrganization
from tests.support.services.identity_service import pass_time
from tests.support.tenants.tenant_server import NewTenantServer, answered


@pytest.fixture
def two(company: Company) -> tuple[str, str]:
    """Two organizations of Ada."""
    ids = (
        company.business.create("Globex"),
        company.business.create("Initech", Display={"LogoURL": "https://a.test/l.png"}),
    )
    company.join(company.ada, ids[0], "Editor")
    company.join(company.ada, ids[1], "Owner", "org:own")
    return ids


@pytest.fixture
def app(world: World) -> RelyingParty:
    return world.application("Crm", organization_usage="require")


def claims_of(company: Company, client: RelyingParty, step: Any) -> dict[str, Any]:
    return organization_in(answered(client.redeem(code_of(step)))["id_token"])


def test_several_organizations_are_offered(company: Company, app: RelyingParty, two: tuple[str, str]) -> None:
    company.business.member(two[0])
    step = company.open(app)
    assert (step.kind, step.allows_personal) == (SelectOrganizationStep, False)
    assert [
        (organization.id, organization.name, organization.roles, organization.people, organization.logo)
        for organization in step.organizations
    ] == [
        (two[0], "Globex", ["Editor"], 2, None),
        (two[1], "Initech", ["Owner"], 1, "https://a.test/l.png"),
    ]
    assert step.person is not None
    assert step.person.label == company.ada.email
    chosen = company.browser.choose(step.interaction_id or "", two[1])
    assert claims_of(company, app, chosen)["org_name"] == "Initech"


@pytest.mark.both_databases
def test_last_used_organization_comes_first(
    company: Company, world: World, app: RelyingParty, two: tuple[str, str]
) -> None:
    step = company.open(app)
    company.browser.choose(step.interaction_id or "", two[1])
    shown = company.open(app).organizations
    assert [(organization.name, organization.is_last_used) for organization in shown] == [
        ("Initech", True),
        ("Globex", False),
    ]
    other = world.application("Other", organization_usage="require")
    assert not any(organization.is_last_used for organization in company.open(other).organizations), (
        "each application has its own"
    )


@pytest.mark.both_databases
def test_only_organization_is_taken_without_a_page(company: Company, app: RelyingParty) -> None:
    org = company.business.create("Globex")
    company.join(company.ada, org, "Editor")
    for prompt in (None, "none", "select_organization"):
        assert claims_of(company, app, company.open(app, prompt=prompt))["org_id"] == org


def test_account_without_organization_is_refused_if_required(company: Company, app: RelyingParty) -> None:
    company.business.create("Globex")
    assert company.error(app) == ("access_denied", "The user is not a member of an organization.")


def test_silent_request_cannot_choose(company: Company, app: RelyingParty, two: tuple[str, str]) -> None:
    assert company.error(app, prompt="none")[0] == "interaction_required"


def test_existing_applications_show_no_new_page(company: Company, world: World, two: tuple[str, str]) -> None:
    client = world.application("Shop")
    assert claims_of(company, client, company.open(client)) == {}


@pytest.mark.parametrize(
    ("usage", "parameters"), [("allow", {"prompt": "select_organization"}), ("prompt", {})], ids=["asked", "prompt"]
)
def test_personal_account_can_be_chosen(
    company: Company, world: World, two: tuple[str, str], usage: str, parameters: dict[str, Any]
) -> None:
    client = world.application("Shop", organization_usage=usage)
    step = company.open(client, **parameters)
    assert (step.kind, step.allows_personal, len(step.organizations)) == (SelectOrganizationStep, True, 2)
    assert claims_of(company, client, company.browser.choose(step.interaction_id or "", "")) == {}


@pytest.mark.parametrize(
    ("usage", "parameters"), [("allow", {"prompt": "select_organization"}), ("prompt", {})], ids=["asked", "prompt"]
)
def test_account_without_organization_sees_no_page(
    company: Company, world: World, usage: str, parameters: dict[str, Any]
) -> None:
    client = world.application("Shop", organization_usage=usage)
    assert claims_of(company, client, company.open(client, **parameters)) == {}


def test_forged_choices_show_the_page_again(
    company: Company, app: RelyingParty, two: tuple[str, str], new_tenant_server: NewTenantServer
) -> None:
    """Another organization, another tenant's, an inactive one, none at all: each is as if nothing was chosen."""
    inactive = company.business.create("Idle")
    company.join(company.ada, inactive, "Editor")
    company.business.deactivate(inactive)
    foreign = Business(new_tenant_server()).create()
    step = company.open(app)
    for org in (company.business.create("Hazel"), foreign, inactive, NO_ORG, "", "Globex", "x" * 64):
        again = company.browser.choose(step.interaction_id or "", org)
        assert (again.kind, len(again.organizations)) == (SelectOrganizationStep, 2), org
    assert claims_of(company, app, company.browser.choose(step.interaction_id or "", two[0]))["org_id"] == two[0]


def test_choice_cannot_replace_the_requested_organization(company: Company, world: World, two: tuple[str, str]) -> None:
    """The request names one organization; a forged post during its consent step names another."""
    client = world.application("Asking", require_consent=True)
    step = company.open(client, organization="Globex")
    assert step.kind is ConsentStep
    assert company.browser.choose(step.interaction_id or "", two[1]).kind is ConsentStep
    stored = claims_of(company, client, company.browser.consent(step.interaction_id or "", allow=True))
    assert stored["org_id"] == two[0]


def test_choice_comes_before_consent(company: Company, world: World, two: tuple[str, str]) -> None:
    client = world.application("Asking", require_consent=True, organization_usage="require")
    step = company.open(client)
    assert company.browser.consent(step.interaction_id or "", allow=True).kind is SelectOrganizationStep
    assert company.browser.choose(step.interaction_id or "", two[0]).kind is ConsentStep
    stored = claims_of(company, client, company.browser.consent(step.interaction_id or "", allow=True))
    assert stored["org_id"] == two[0]


def test_membership_that_ends_before_consent_asks_again(company: Company, world: World, two: tuple[str, str]) -> None:
    third = company.business.create("Third")
    role = company.join(company.ada, third, "Editor")
    client = world.application("Asking", require_consent=True, organization_usage="require")
    step = company.open(client)
    assert company.browser.choose(step.interaction_id or "", third).kind is ConsentStep
    company.leave(company.ada, third, role)
    again = company.browser.consent(step.interaction_id or "", allow=True)
    assert (again.kind, len(again.organizations)) == (SelectOrganizationStep, 2)


def test_second_account_does_not_inherit_the_choice(company: Company, world: World, two: tuple[str, str]) -> None:
    """Switching the account at consent asks the other one, even if it is a member too."""
    bob = world.person("bob@example.test")
    for org, name in zip(two, ("Guest", "Visitor"), strict=True):
        company.join(bob, org, name)
    client = world.application("Asking", require_consent=True, organization_usage="require")
    step = company.open(client)
    assert company.browser.choose(step.interaction_id or "", two[0]).kind is ConsentStep
    company.browser._post("/hub/switch-account", {"InteractionId": step.interaction_id}, step.interaction_id)
    other = company.browser.sign_in(step.interaction_id, bob.email, bob.password)
    assert other.kind is SelectOrganizationStep


def test_second_submit_repeats_only_the_same_choice(company: Company, app: RelyingParty, two: tuple[str, str]) -> None:
    step = company.open(app)
    for _ in range(2):
        chosen = company.browser.choose(step.interaction_id or "", two[0])
        assert claims_of(company, app, chosen)["org_id"] == two[0]
    assert company.browser.choose(step.interaction_id or "", two[1]).kind is StartAgainStep


@pytest.mark.both_databases
def test_repeat_after_removal_gets_no_code(company: Company, app: RelyingParty, two: tuple[str, str]) -> None:
    third = company.business.create("Third")
    role = company.join(company.ada, third, "Editor")
    step = company.open(app)
    code_of(company.browser.choose(step.interaction_id or "", third))
    company.leave(company.ada, third, role)
    assert company.browser.choose(step.interaction_id or "", third).kind is StartAgainStep


def test_named_organization_after_removal_gets_no_code(company: Company, world: World) -> None:
    client = world.application("Asking", require_consent=True)
    org = company.business.create("Third")
    role = company.join(company.ada, org, "Editor")
    step = company.open(client, organization=org)
    code_of(company.browser.consent(step.interaction_id or "", allow=True))
    company.leave(company.ada, org, role)
    expired = company.browser.consent(step.interaction_id or "", allow=True)
    assert parameters_of(expired)["error"] == "access_denied"


def test_other_browser_cannot_choose(company: Company, world: World, app: RelyingParty, two: tuple[str, str]) -> None:
    step = company.open(app)
    thief = world.browser()
    thief.signed_in(world.person("thief@example.test"))
    assert thief.choose(step.interaction_id or "", two[0]).kind is StartAgainStep
    assert world.browser().choose("unknown", two[0]).kind is StartAgainStep


def test_choice_without_a_session_leads_to_sign_in(
    company: Company, world: World, app: RelyingParty, two: tuple[str, str]
) -> None:
    browser = world.browser()
    step = browser.authorize(app.authorization_parameters())
    assert browser.choose(step.interaction_id or "", two[0]).kind is LoginStep
    after = browser.sign_in(step.interaction_id, company.ada.email, company.ada.password)
    assert after.kind is SelectOrganizationStep, "a choice before sign-in does not count"


@pytest.mark.both_databases
def test_tampered_stored_choice_is_checked_again(company: Company, app: RelyingParty, two: tuple[str, str]) -> None:
    """The stored choice is only a wish: an organization of another account there gives nothing."""
    step, hazel = company.open(app), company.business.create("Hazel")
    with UnitOfWork(company.world.services.database, company.world.tenant_id).separate_transaction() as work:
        where = interactions.c.interaction_hash == randomness.digest(step.interaction_id or "")
        stored = work.run(select(interactions.c.request).where(where)).scalar_one()
        forged = {**stored, "org_id": hazel, "org_uid": company.ada.uid}
        work.run(update(interactions).where(where).values(request=forged))
    assert company.browser.resume(step.interaction_id or "").kind is SelectOrganizationStep


@pytest.mark.both_databases
def test_statements_do_not_grow_with_organizations(company: Company, app: RelyingParty, two: tuple[str, str]) -> None:
    for _ in range(2):  # the first request fills caches
        company.open(app)
    before = company.browser.spent()
    for number in range(8):
        company.join(company.ada, company.business.create(f"Org {number}"), "Editor")
    assert len(company.open(app).organizations) == 10
    assert company.browser.spent() == before


def test_offers_are_read_where_the_page_shows_them_and_once(open_org: OpenOrganization, world: World) -> None:
    team, app = open_org.team, world.application("Crm", organization_usage="require")
    company, ada = team.company, open_org.ada

    def cost(steps: type[AnyStep], number: int) -> int:
        for _ in range(2):  # the first request fills caches
            step = company.open(app, ada)
            assert (step.kind, len(step.joinable or ())) == (steps, number)
        return company.browser.spent()["sql"]

    company.join(ada, company.business.create("Initech"), "Editor")
    open_org.set_policy(JITPolicy={"RequireApproval": False})
    redirected = cost(RedirectStep, 0)
    open_org.set_policy(JITPolicy={"RequireApproval": True})
    assert cost(RedirectStep, 0) == redirected, "a member is asked nothing, so nothing is read"
    company.join(ada, company.business.create("Hazel"), "Editor")
    open_org.set_policy(JITPolicy={"RequireApproval": False})
    shown = cost(SelectOrganizationStep, 0)
    open_org.set_policy(JITPolicy={"RequireApproval": True})
    assert cost(SelectOrganizationStep, 1) == shown + 3, "memberships, requests and organizations"


@pytest.mark.both_databases
def test_pending_invitations_are_read_once(company: Company, world: World) -> None:
    guest, business = world.person("guest@else.test"), InvitingBusiness(company.business.tenant)
    app, costs = world.application("Crm", organization_usage="require"), []
    business.invite(guest.email)
    for creates in (
        True,
        False,
    ):  # an account that may create one gets the page without its invitations being read before
        world.change_settings(organizations={"self_service_creation": creates})
        pass_time(world.services, seconds=5)
        for _ in range(2):
            step = company.open(app, guest)
        assert (step.kind, step.invitations.count, step.can_create) == (SelectOrganizationStep, 1, creates)
        costs.append(company.browser.spent()["sql"])
    assert costs[0] == costs[1]
