"""Returns a tenant as the hub's pages need it, and the changed tenants of the hub's cache; loaded before every other handler."""

from __future__ import annotations

from typing import TypedDict

from app.contract.captcha.models import CaptchaWidget
from app.contract.tenants import tenant_pages
from app.contract.tenants.settings import Captcha
from app.contract.tenants.tenant_pages import BrandView, ThemeView
from app.identity.authentication.passwordless import methods
from app.identity.authentication.passwordless.methods import PHONE
from app.identity.directory.tenants import registration_form, themed_tenant
from app.identity.directory.tenants.urls import webauthn_origins
from app.identity.platform.context import Context


@tenant_pages.tenant.implements
def read_tenant(context: Context, req: tenant_pages.TenantRequest) -> tenant_pages.TenantResponse:
    """Return the tenant; nothing if the hub has this version already."""
    if req.version == context.tenant.version_tag:
        return tenant_pages.TenantResponse()
    return tenant_pages.TenantResponse(tenant=tenant(context))


@tenant_pages.changed_tenants.implements
def read_changed_tenants(context: Context, req: tenant_pages.HeldTenants) -> tenant_pages.ChangedTenants:
    """Return where another version is now than the hub has cached."""
    present = context.services.directory.current_tags(req.versions, context.work)
    return tenant_pages.ChangedTenants(
        versions={host: tag for host, tag in present.items() if tag != req.versions[host]}
    )


def tenant(context: Context) -> tenant_pages.TenantView:
    """Return the tenant's configuration for the pages."""
    settings, brand, host = context.tenant.settings, context.tenant.brand, context.visit.host if context.visit else ""
    return tenant_pages.TenantView(
        name=context.tenant.name,
        display_name=context.tenant.display_line,
        version=context.tenant.version_tag,
        brand=BrandView(**brand.model_dump(exclude={"display_name"})),
        locales=list(settings.locales),
        default_locale=settings.default_locale,
        identifiers=list(settings.login_kinds),
        remember_me=settings.remember_me,
        identifier_first=settings.identifier_first,
        sign_in_page_hours=settings.sign_in_page_hours,
        **_federation(context),
        passwordless_methods=[*methods.enabled_methods(context), *([PHONE] if settings.qr_sign_on else [])],
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
        has_default_workflow=settings.default_workflow is not None,
        themes=_themes(context),
        host_theme=themed_tenant.host_theme(context, host),
        script_origins=list(settings.theme_scripts.origins) if themed_tenant.custom_domain(context, host) else [],
        organization_domains=settings.organizations.enabled and settings.organizations.dns,
        uses_https=context.services.settings.public_scheme == "https",
    )


class _Federation(TypedDict):
    """The members of a `TenantView` about connections."""

    connections: list[tenant_pages.ConnectionView]
    finds_connections: bool
    federated_password: bool


def _federation(context: Context) -> _Federation:
    """Return the connections that pages offer, whether domains lead to any, and whether people who sign up by one choose a password."""
    from app.identity.authentication.federation import home_realms, offered_connections  # noqa: PLC0415 - the start needs neither

    offered = [
        tenant_pages.ConnectionView(name=connection.name, title=connection.title, mark=connection.mark)
        for connection in offered_connections.sign_in_buttons(context)
    ]
    return {
        "connections": offered,
        "finds_connections": home_realms.has_any(context),
        "federated_password": context.tenant.settings.federated_password,
    }


def _themes(context: Context) -> dict[str, ThemeView]:
    return {
        str(theme["name"]): ThemeView(key=theme.get("brand_key") or "", brand=themed_tenant.members_of(theme))
        for theme in themed_tenant.themes(context)
    }


def _widget(captcha: Captcha) -> CaptchaWidget | None:
    if captcha.provider == "own":
        return None
    return CaptchaWidget(provider=captcha.provider, site_key=captcha.site_key, has_fallback=captcha.fallback)
