"""The account page of security: credentials, sessions, trusted browsers and applications with access."""

from __future__ import annotations

from app.contract.accounts.pages import security_pages
from app.contract.oauth.models import ScopeView
from app.contract.page_models import NoParameters
from app.contract.shared_responses import Posted
from app.identity.authentication.federation import offered_connections
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.credentials.passkeys import passkey_store
from app.identity.credentials.second_factors import second_factors, trusted_browsers
from app.identity.credentials.second_factors.authenticators.authenticator import AccountFactors
from app.identity.credentials.second_factors.trusted_browsers import TrustedBrowser
from app.identity.directory.accounts import linked_identities
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.identifiers import display_phone
from app.identity.pages_api import signed_in_account, views
from app.identity.pages_api.accounts import account_second_factors, security_checkup
from app.identity.platform.context import Context
from app.identity.protocols.oauth import oauth_views, third_party_initiated_login
from app.identity.protocols.oauth.consents import authorized_applications
from app.identity.protocols.oauth.consents.authorized_applications import ApplicationAccess
from app.kit.clock import iso
from app.kit.web.user_agents import parse_user_agent


@security_pages.read.implements
def read(context: Context, req: NoParameters) -> security_pages.SecurityView:
    session, account = signed_in_account.require_account(context)
    settings, factors = context.tenant.settings, second_factors.of_account(context, account)
    sessions.touch(context, session)
    return security_pages.SecurityView(
        person=views.person(context, account),
        has_password=account.password_hash is not None,
        password_changed_at=iso(account.password_changed_at),
        has_pin=account.has_pin,
        factors=account_second_factors.view(context, session, factors) if settings.two_factor != "disabled" else None,
        passkeys=_passkeys(factors) if settings.passkeys else None,
        identities=_identities(context, account),
        phone=display_phone(account.phone) if account.phone else None,
        answered=len(account.security_answers),
        sessions=[views.session(context, other, session) for other in sessions.of_account(context, session.uid)],
        browsers=[_browser(browser) for browser in trusted_browsers.by_account(context, account)],
        applications=len(_known(context, account)),
        checkup=security_checkup.view(context, factors),
    )


@security_pages.forget_browsers.implements
def forget_browsers(context: Context, req: security_pages.ForgetBrowserRequest) -> Posted:
    _, account = signed_in_account.require_account(context)
    if req.every:
        trusted_browsers.revoke_all(context, account.uid)
        context.audit.record("browser.forgotten", uid=account.uid)
    else:
        trusted_browsers.revoke(context, account.uid, req.id)
    return Posted()


@security_pages.applications.implements
def applications(context: Context, req: NoParameters) -> security_pages.ApplicationsView:
    _, account = signed_in_account.require_account(context)
    listed = [_application(context, account, item) for item in _known(context, account)]
    has_to_do = security_checkup.has_task(context, account)
    return security_pages.ApplicationsView(
        person=views.person(context, account), applications=listed, has_to_do=has_to_do
    )


@security_pages.revoke_application.implements
def revoke_application(context: Context, req: security_pages.RevokeApplicationRequest) -> Posted:
    """Revoke an application's access; that needs no reauthentication, because it gives an attacker nothing."""
    _, account = signed_in_account.require_account(context)
    authorized_applications.revoke(context, account.uid, req.client_id)
    return Posted()


def _known(context: Context, account: Account) -> list[ApplicationAccess]:
    """Return the applications with access that the tenant still has."""
    return [
        application
        for application in authorized_applications.of_account(context, account.uid)
        if context.application(client_id=application.client_id)
    ]


def _application(context: Context, account: Account, item: ApplicationAccess) -> security_pages.ApplicationView:
    client = context.application(client_id=item.client_id)
    relying_party = oauth_views.relying_party(context, client, None) if client is not None else None
    opens = None
    if client is not None:
        hint = third_party_initiated_login.login_hint(context, client, account, item.scopes)
        target = oauth_views.home_of(context, client)
        opens = third_party_initiated_login.start_url(context, client, target=target, login_hint=hint)
    return security_pages.ApplicationView(
        client_id=item.client_id,
        name=(relying_party.name if relying_party else "") or item.client_id,
        home=relying_party.home if relying_party else None,
        opens=opens,
        scopes=[ScopeView(name=name) for name in item.scopes],
        since=iso(item.since) or "",
    )


def _browser(item: TrustedBrowser) -> security_pages.BrowserView:
    agent = parse_user_agent(item.agent)
    return security_pages.BrowserView(
        id=item.browser_id,
        browser=agent.browser,
        os=agent.system,
        device_type=agent.device_type,
        trusted_at=iso(item.trusted_at) or "",
        ends_at=iso(item.ends_at) or "",
    )


def _passkeys(factors: AccountFactors) -> list[str]:
    return [passkey_store.display_name(passkey) for passkey in passkey_store.passkeys_among(factors.credentials)]


def _identities(context: Context, account: Account) -> int | None:
    can_link = context.tenant.settings.account_linking and offered_connections.listed_connections(context)
    return len(linked_identities.of(account)) or (0 if can_link else None)
