"""Apps accept an invitation to an organization in the sign-in with a provider's credential."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from app.contract.federation.native_sign_in_operations import NativeSignIn
from app.identity.authentication.federation import native_credentials
from app.identity.platform.context import Context
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.fakes.native_apps import WHO, AppServer, an_app
from tests.support.organizations.invitations import PATH, InvitingBusiness, inviting_business
from tests.support.organizations.management import OFF
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused


@pytest.fixture
def app(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> AppServer:
    app = an_app(new_tenant_server, fake_provider)
    app.changes("google", trusts_email=True)
    return app


@pytest.fixture
def inviter(app: AppServer) -> InvitingBusiness:
    return inviting_business(app.tenant)


def test_first_sign_in_joins_the_organization(app: AppServer, inviter: InvitingBusiness) -> None:
    inviter.invite(WHO["email"])
    token = inviter.token(WHO["email"])
    first = app.ask("google", google_access_token=app.upstream.access_token(), invitation_token=token)
    uid = app.profile(first)["Uid"]
    assert [role["RoleId"] for role in inviter.members() if role["Uid"] == uid] == [inviter.member_role]
    again = app.ask("google", google_access_token=app.upstream.access_token(), invitation_token=token)
    assert refused(again) == (400, 8175)


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], Any]]:
    """Return a list of calls that run while the sign-in asks the provider."""
    calls, verify = list[Callable[[], Any]](), native_credentials.verify

    def delayed(context: Context, req: NativeSignIn) -> Any:
        verified = verify(context, req)
        for call in calls:
            call()
        return verified

    monkeypatch.setattr(native_credentials, "verify", delayed)
    return calls


def test_roles_changed_during_the_sign_in_are_given(
    app: AppServer, inviter: InvitingBusiness, meanwhile: list[Any]
) -> None:
    made, lesser = inviter.invite(WHO["email"]), inviter.role("Reader")
    requested: dict[str, Any] = {
        "google_access_token": app.upstream.access_token(),
        "invitation_token": inviter.token(WHO["email"]),
    }
    meanwhile.append(lambda: answered(inviter.send("PUT", f"{PATH}/{made['Id']}", {"RoleIds": [lesser]})))
    uid = app.profile(app.ask("google", **requested))["Uid"]
    assert [role["RoleId"] for role in inviter.members() if role["Uid"] == uid] == [lesser]


@pytest.mark.both_databases("first")
@pytest.mark.parametrize(("method", "path"), [("POST", "/resend"), ("DELETE", "")])
def test_link_that_ended_during_the_sign_in_is_refused(
    app: AppServer, inviter: InvitingBusiness, meanwhile: list[Any], method: str, path: str
) -> None:
    made = inviter.invite(WHO["email"])
    requested: dict[str, Any] = {
        "google_access_token": app.upstream.access_token(),
        "invitation_token": inviter.token(WHO["email"]),
    }
    inviter.wait(minutes=2)
    meanwhile.append(lambda: answered(inviter.send(method, f"{PATH}/{made['Id']}{path}")))
    assert refused(app.ask("google", **requested)) == (400, 8175)
    assert len(inviter.members()) == 1


def test_another_address_gets_no_session(app: AppServer, inviter: InvitingBusiness) -> None:
    inviter.invite("eve@example.com")
    token = inviter.token("eve@example.com")
    answer = app.ask("google", google_access_token=app.upstream.access_token(), invitation_token=token)
    assert refused(answer) == (400, 8137)
    assert len(inviter.members()) == 1


def test_inactive_or_full_organization_is_refused(app: AppServer, inviter: InvitingBusiness) -> None:
    inviter.invite(WHO["email"])
    requested: dict[str, Any] = {
        "google_access_token": app.upstream.access_token(),
        "invitation_token": inviter.token(WHO["email"]),
    }
    inviter.set_policy(MemberPolicy={"Seats": 1})
    assert refused(app.ask("google", **requested)) == (403, 8188)
    inviter.deactivate(inviter.org)
    assert refused(app.ask("google", **requested)) == (403, 8180)
    app.tenant.change_settings(**OFF)
    assert refused(app.ask("google", **requested)) == (400, 8175)


def test_address_that_the_provider_did_not_verify_is_refused(app: AppServer, inviter: InvitingBusiness) -> None:
    inviter.invite(WHO["email"])
    requested: dict[str, Any] = {"google_access_token": app.upstream.access_token(email_verified=False)}
    assert refused(app.ask("google", **requested, invitation_token=inviter.token(WHO["email"]))) == (400, 8137)


def test_sign_in_without_invitation_joins_nothing(app: AppServer, inviter: InvitingBusiness) -> None:
    inviter.invite(WHO["email"])
    answered(app.ask("google", google_access_token=app.upstream.access_token()))
    assert len(inviter.members()) == 1
