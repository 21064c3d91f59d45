"""Views of a tenant and of a session for the hub's pages."""

from __future__ import annotations

from app.contract import hub
from app.contract.captcha import Widget
from app.contract.configuration import Captcha
from app.contract.hub_models import BrandView
from app.identity.authentication.federation import service as connections
from app.identity.authentication.passwordless import methods
from app.identity.authentication.passwordless.methods import PHONE
from app.identity.authentication.sign_in.sessions import BrowserSession
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import joining
from app.identity.directory.tenants import registration_form, webauthn_origins
from app.identity.platform.context import Context
from app.identity.protocols.oauth import views as oauth
from app.kit.clock import iso
from app.kit.user_agents import parse_user_agent


def tenant(context: Context) -> hub.TenantView:
    """Return the tenant's configuration for the pages."""
    settings, brand = context.tenant.settings, context.tenant.brand
    return hub.TenantView(
        name=context.tenant.name,
        display_name=context.tenant.display_name,
        version=context.tenant.version_tag,
        brand=BrandView(**brand.model_dump(exclude={"display_name"})),
        locales=list(settings.locales),
        default_locale=settings.default_locale,
        identifiers=list(settings.login_kinds),
        remember_me=settings.remember_me,
        connections=[
            hub.ConnectionView(name=connection.name, title=connection.title, mark=connection.mark)
            for connection in connections.active_connections(context)
        ],
        ways=[*methods.enabled_methods(context), *([PHONE] if settings.qr_sign_on else [])],
        one_touch=settings.one_touch and settings.registration and not settings.registration_captcha,
        passkeys=settings.passkey_settings.selection if settings.passkeys else "",
        related_origins=webauthn_origins.origins(context)[1:],
        registration=settings.registration,
        security_questions=settings.security_questions if settings.lockout.type == "security_question" else {},
        every_question=settings.security_questions,
        registration_form=list(registration_form.fields_of(settings)),
        consent_forms=list(settings.consent_forms),
        privacy_policy=settings.privacy_policy,
        registration_captcha=settings.registration_captcha,
        captcha=_widget(settings.captcha),
        deletion_days=settings.deletion_days,
        organizations=settings.organizations.enabled,
        creates_organizations=settings.organizations.self_service_creation,
        skip_backup_codes=settings.second_factors.skip_backup_codes,
        pin=settings.pin,
        password_policy=settings.password_policy,
        session_management=settings.session_management,
        organization_domains=settings.organizations.enabled and settings.organizations.dns,
        uses_https=context.services.settings.public_scheme == "https",
    )


def person(context: Context, account: Account) -> hub.PersonView:
    """Return the account of an account page, with the tab of organizations where it has or may ask for one."""
    shown = oauth.person(account)
    return shown.model_copy(update={"has_organizations": joining.sees_organizations(context, account)})


def _widget(captcha: Captcha) -> Widget | None:
    if captcha.provider == "own":
        return None
    return Widget(provider=captcha.provider, site_key=captcha.site_key, has_question=captcha.fallback)


def cookie(context: Context, session: BrowserSession, text: str) -> hub.Session:
    """Return the session for the hub's cookie: it outlives the browser only if the session is remembered."""
    lifetime_seconds = int((session.expires_at - context.now).total_seconds()) if session.is_remembered else None
    return hub.Session(token=text, lifetime_seconds=lifetime_seconds)


def session(context: Context, shown: BrowserSession, current: BrowserSession) -> hub.SessionView:
    """Return an entry of the list of sessions."""
    names = [
        oauth.name_of(context, application)
        for client_id in shown.relying_parties
        if (application := context.application(client_id=client_id))
    ]
    agent = parse_user_agent(shown.agent)
    grant_client = context.application(client_id=shown.client_id) if shown.client_id else None
    return hub.SessionView(
        id=shown.session_id,
        application=oauth.name_of(context, grant_client) if grant_client else shown.client_id,
        is_current=shown.session_id == current.session_id,
        browser=agent.browser,
        os=agent.system,
        device_type=agent.device_type,
        address=shown.address or None,
        signed_in_at=iso(shown.authenticated_at) or "",
        last_seen_at=iso(shown.seen_at) or "",
        relying_parties=names,
    )
