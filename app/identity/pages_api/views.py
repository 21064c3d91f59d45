"""Builds the views of an account and of a session for the hub's pages."""

from __future__ import annotations

from app.contract.accounts.models import PersonView
from app.contract.sessions.pages import sign_out_pages
from app.identity.authentication.sign_in.sessions import session_ends
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations.memberships import just_in_time_membership
from app.identity.platform.context import Context
from app.identity.protocols.oauth import oauth_views
from app.kit.clock import iso
from app.kit.web.user_agents import parse_user_agent


def person(context: Context, account: Account) -> PersonView:
    """Return the account of an account page, with the tab of organizations where it has or may ask for one."""
    return oauth_views.person(account, sees_organizations=just_in_time_membership.sees_organizations(context, account))


def _name_of(context: Context, participant: str) -> str | None:
    """Return the name of an application that took part in a session; None for one that is gone."""
    if (service_provider := session_ends.service_provider_of(participant)) is not None:
        return service_provider
    application = context.application(client_id=participant)
    return oauth_views.name_of(context, application) if application is not None else None


def session(context: Context, shown: BrowserSession, current: BrowserSession) -> sign_out_pages.SessionView:
    """Return an entry of the list of sessions."""
    names = [name for participant in shown.relying_parties if (name := _name_of(context, participant)) is not None]
    agent = parse_user_agent(shown.agent)
    grant_client = context.application(client_id=shown.client_id) if shown.client_id else None
    return sign_out_pages.SessionView(
        id=shown.session_id,
        application=oauth_views.name_of(context, grant_client) if grant_client else shown.client_id,
        is_current=shown.session_id == current.session_id,
        browser=agent.browser,
        os=agent.system,
        device_type=agent.device_type,
        address=shown.address or None,
        signed_in_at=iso(shown.authenticated_at) or "",
        last_seen_at=iso(shown.seen_at) or "",
        relying_parties=names,
    )
