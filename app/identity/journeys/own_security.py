"""The overview of an account's security on our pages: what opens it, where it is signed in, who else may read it."""

from __future__ import annotations

from app.contract import hub_security as contract
from app.contract.groups import Posted
from app.contract.hub import ScopeView
from app.contract.second_factors.challenge import FactorKind
from app.identity.accounts import linked
from app.identity.accounts.account import Account
from app.identity.accounts.identifiers import shown_phone
from app.identity.call import Call
from app.identity.connections import service as connections
from app.identity.credentials import store as credentials
from app.identity.journeys import own_account, own_factors, views
from app.identity.oauth import access
from app.identity.oauth import views as oauth_views
from app.identity.oauth.access import Access
from app.identity.second_factors import trusted
from app.identity.second_factors.trusted import Trusted
from app.identity.sign_in import sessions
from app.kit.clock import iso
from app.kit.server import Server
from app.kit.user_agents import parse_user_agent


def register(server: Server) -> None:
    """Implement the operations."""
    server.implements(contract.read)(read)
    server.implements(contract.forget_browsers)(forget_browsers)
    server.implements(contract.applications)(applications)
    server.implements(contract.revoke_application)(revoke_application)


def read(call: Call, req: contract.OwnRead) -> contract.SecurityView:  # noqa: ARG001 - the session says whose
    session, account = own_account.owner(call)
    settings = call.tenant.settings
    sessions.touch(call, session)
    return contract.SecurityView(
        person=oauth_views.person(account),
        has_password=account.password_hash is not None,
        password_changed_at=iso(account.password_changed_at),
        has_pin=account.has_pin,
        factors=own_factors.view(call, session, account) if settings.two_factor != "disabled" else None,
        passkeys=_passkeys(call, account) if settings.passkeys else None,
        identities=_identities(call, account),
        phone=shown_phone(account.phone) if account.phone else None,
        answered=len(account.security_answers),
        sessions=[views.session(call, held, session) for held in sessions.of_account(call, session.uid)],
        browsers=[_browser(one) for one in trusted.of_account(call, account)],
        applications=len(_known(call, account)),
    )


def forget_browsers(call: Call, req: contract.BrowserNamed) -> Posted:
    _, account = own_account.owner(call)
    if req.every:
        trusted.forget(call, account.uid)
        call.ledger.record("browser.forgotten", uid=account.uid)
    else:
        trusted.forget_one(call, account.uid, req.id)
    return Posted()


def applications(call: Call, req: contract.OwnRead) -> contract.ApplicationsView:  # noqa: ARG001 - as above
    _, account = own_account.owner(call)
    listed = [_application(call, one) for one in _known(call, account)]
    return contract.ApplicationsView(person=oauth_views.person(account), applications=listed)


def revoke_application(call: Call, req: contract.ApplicationNamed) -> Posted:
    """What ends less than there was needs no proof: whoever steals a session gains nothing by it."""
    _, account = own_account.owner(call)
    access.revoke(call, account.uid, req.client_id)
    return Posted()


def _known(call: Call, account: Account) -> list[Access]:
    """The applications that are still there: of one that the tenant removed nothing is left that works."""
    return [one for one in access.of_account(call, account.uid) if call.application(client_id=one.client_id)]


def _application(call: Call, one: Access) -> contract.ApplicationView:
    client = call.application(client_id=one.client_id)
    shown = oauth_views.relying_party(client, None) if client is not None else None
    return contract.ApplicationView(
        client_id=one.client_id,
        name=(shown.name if shown else "") or one.client_id,
        home=shown.home if shown else None,
        scopes=[ScopeView(name=name) for name in one.scopes],
        since=iso(one.since) or "",
    )


def _browser(one: Trusted) -> contract.BrowserView:
    agent = parse_user_agent(one.agent)
    return contract.BrowserView(
        id=one.browser_id,
        browser=agent.browser,
        os=agent.system,
        device_type=agent.device_type,
        trusted_at=iso(one.trusted_at) or "",
        ends_at=iso(one.ends_at) or "",
    )


def _identities(call: Call, account: Account) -> int | None:
    can_link = call.tenant.settings.account_linking and connections.offered(call)
    return len(linked.of(account)) or (0 if can_link else None)


def _passkeys(call: Call, account: Account) -> int:
    return sum(one.is_enrolled for one in credentials.of_kind(call, account.uid, FactorKind.PASSKEY))
