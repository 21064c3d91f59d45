"""Registration with the tenant's form, with a password, a passkey or a federated identity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from flask import Response

from app.contract import errors
from app.contract.captcha import captcha_pages
from app.contract.captcha.models import CaptchaUse, LockChallenge
from app.contract.federation.pages.connection_pages import (
    ConnectedProfile,
    ConnectedProfileRequest,
    is_organization_connection,
    read_profile,
)
from app.contract.federation.pages.connection_pages import register as register_for_organization
from app.contract.page_models import NoParameters
from app.contract.registration.form import TERMS, FormField, Option
from app.contract.registration.registration_pages import begin_with_passkey
from app.contract.registration.registration_pages import register as operation
from app.contract.sign_in import sign_in_pages
from app.contract.steps import LoginStep, RegisterStep, StepResponse
from app.contract.tenants.settings import PasswordPolicy
from app.hub import journey
from app.hub.components import sign_in_methods
from app.hub.components.captcha_link import continues, mail_link
from app.hub.components.carried_identifier import carry_identifier, is_phone, prefilled_identifier
from app.hub.components.sign_in_methods import (
    CONNECTION,
    PASSKEY,
    PASSWORD,
    SignInMethod,
    provider_targets,
    requires_connection,
)
from app.hub.components.sign_in_refusals import RefusalReason, sign_in_notice, too_many_notice
from app.hub.forms import captcha
from app.hub.forms.passkey import PASSKEY_REFUSALS, options_response, read_credential
from app.hub.forms.password_rules import Rule, problem_of, rules_of, sample_refusals
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import pages
from app.hub.pages.registration.registration_form import RegisterForm
from app.hub.pages.registration.registration_off import registration_off
from app.hub.rendering.cached_pages import cached_page
from app.hub.rendering.page import Notice, Page
from app.hub.tenants.captcha_widget import WidgetView
from app.hub.tenants.tenant import HubTenant, IdentifierKind, RegistrationView
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit, interaction_url
from app.kit.operations.errors import ApiError

PATH: Final = "/register"
_PASSKEY: Final = "passkey"
_FAILED: Final = Notice(_l("That passkey didn’t work"), _l("Try again, or choose a password."))
_SCRIPTLESS: Final = Notice(
    _l("Passkeys need JavaScript"),
    _l("Turn on JavaScript, or choose a password."),
    "note",
)


@dataclass(frozen=True)
class RegisterPage(Page):
    """The registration page with a password."""

    template = "pages/registration/register.html"
    scripts = (*Page.scripts, "tabs", "reveal", "rules", "work")
    query = {**Page.query, "with": 60}
    links_application = True
    own_rules: ClassVar[tuple[str, ...]] = ("sign-up",)
    refusals = {errors.TooManyRequests: too_many_notice, **dict.fromkeys(PASSKEY_REFUSALS, _FAILED)}

    form: RegisterForm
    rules: tuple[Rule, ...] = ()
    relying_party: str = ""
    connections: tuple[SignInMethod, ...] = ()
    """The tenant's federated connections."""
    provider_title: str = ""
    """Title of the provider of a federated registration, which has no password and no passkey."""
    is_connection_required: bool = False
    """Whether the page offers `connections` alone, because the organization of the sign-in demands them."""

    @property
    def has_passkey(self) -> bool:
        """Whether a passkey may replace the password."""
        return False

    @property
    def form_targets(self) -> tuple[str, ...]:
        return provider_targets(super().form_targets)

    @property
    def links(self) -> dict[str, str]:
        """The addresses of the tenant's terms and privacy notice; empty if it has none."""
        return {"terms": "", "privacy": "", **dict(current_visit().brand.links)}

    @classmethod
    def samples(cls) -> Mapping[str, RegisterPage]:
        rules, too_weak = rules_of(PasswordPolicy()), sample_refusals()["too weak"]
        every = rules_of(PasswordPolicy(require_lowercase=True, require_uppercase=True))
        marked = rules_of(PasswordPolicy(), refusal=too_weak)
        plain, typed = RegisterForm.of(_DEFAULT_FIELDS), {"email": "ada@example.com"}
        wrong = RegisterForm.of(_DEFAULT_FIELDS, {"email": "ada@example"})
        wrong.add_error("email", _l("Enter a valid email address."))
        wrong.add_error("password", problem_of(too_weak))
        full = RegisterForm.of(
            _ALL_FIELDS, data={"email": "ada@example.com", "first_name": "Ada", "username": "ada", "cf_size": "m"}
        )
        full.add_error("birth_date", _l("Enter your date of birth."))
        full.ask_again("password")
        full.add_error(TERMS, _l("Check this box to continue."))
        return {
            "fresh": cls(plain, rules),
            "for an application": cls(plain, rules, relying_party="Acme Shop"),
            **cls._federated_samples(),
            "every kind of field": cls(RegisterForm.of(_ALL_FIELDS), every, relying_party="Acme Shop"),
            "every kind of field refused": cls(full, every),
            "refused": cls(wrong, marked, relying_party="Acme Shop"),
            "connections of the organization alone": cls(
                plain, connections=sign_in_methods.sample_connection_methods()[:1], is_connection_required=True
            ),
            "with other providers": cls(plain, rules, connections=sign_in_methods.sample_connection_methods()[:2]),
            **cls._captcha_samples(rules, typed),
            "too many": cls(
                RegisterForm.of(_DEFAULT_FIELDS, typed), rules, page_notice=sign_in_notice(RefusalReason.TOO_MANY, 50)
            ),
            "token": cls(RegisterForm.of(_DEFAULT_FIELDS, typed).with_token_error(), rules),
        }

    @classmethod
    def _captcha_samples(cls, rules: tuple[Rule, ...], typed: dict[str, str]) -> Mapping[str, RegisterPage]:
        with_captcha, wrong_captcha = RegisterForm.of(_DEFAULT_FIELDS), RegisterForm.of(_DEFAULT_FIELDS, typed)
        with_captcha.captcha.prompt(captcha.sample())
        wrong_captcha.captcha.prompt(captcha.sample())
        wrong_captcha.add_error(*captcha.FAILED)
        with_widget, widget_refused, widget_only = (RegisterForm.of(_DEFAULT_FIELDS, typed) for _ in range(3))
        with_widget.captcha.prompt(captcha.sample(), WidgetView("hcaptcha", "a key"))
        widget_refused.captcha.prompt(captcha.sample(), WidgetView("recaptcha_v2", "a key"))
        widget_only.captcha.prompt(None, WidgetView("hcaptcha", "a key", has_fallback=False))
        for form in (widget_refused, widget_only):
            form.add_error(*captcha.FAILED)
        return {
            "with a captcha": cls(with_captcha, rules),
            "captcha refused": cls(wrong_captcha, rules),
            "captcha of a provider": cls(with_widget, rules),
            "captcha of a provider refused": cls(widget_refused, rules),
            "captcha of a provider alone refused": cls(widget_only, rules),
        }

    @classmethod
    def _federated_samples(cls) -> Mapping[str, RegisterPage]:
        with_profile, without_profile = (
            RegisterForm.of(_DEFAULT_FIELDS, data, connection="globex")
            for data in (_FEDERATED_PROFILE, {"connection": "globex"})
        )
        without_profile.add_error("email", _l("Enter your email."))
        of_organization = RegisterForm.of(
            _ORGANIZATION_FIELDS, _ORGANIZATION_PROFILE, connection=_ORGANIZATION_PROFILE["connection"]
        )
        return {
            "from another provider": cls(with_profile, relying_party="Acme Shop", provider_title="Globex"),
            "from another provider, no address": cls(without_profile, provider_title="Globex"),
            "from an organization’s provider": cls(of_organization, provider_title="Globex"),
        }


@dataclass(frozen=True)
class PasskeyRegisterPage(RegisterPage):
    """The registration page with a password or a passkey."""

    scripts = (*RegisterPage.scripts, "passkey")  # after `work`, whose pending submit it must see
    own_rules = (*RegisterPage.own_rules, "sign-up-passkey")
    allows_fetch = True

    @property
    def has_passkey(self) -> bool:
        return True

    @property
    def is_password_open(self) -> bool:
        """Whether the password takes the place of the passkey: it was sent and refused, or no script ran."""
        has_errors = any(f.errors for field, f in self.form.rows if field.type == "password")
        was_sent = current_visit().is_post and not self.form.is_by_passkey
        return has_errors or was_sent or self.page_notice is _SCRIPTLESS

    @classmethod
    def samples(cls) -> Mapping[str, PasskeyRegisterPage]:
        rules, typed = rules_of(PasswordPolicy()), {"email": "ada@example.com"}
        with_captcha = RegisterForm.of(_DEFAULT_FIELDS, is_by_passkey=True)
        with_captcha.captcha.prompt(captcha.sample())
        empty = RegisterForm.of(_DEFAULT_FIELDS, is_by_passkey=True)
        empty.add_error("email", _l("Enter your email."))
        weak = RegisterForm.of(_DEFAULT_FIELDS, typed)
        weak.add_error("password", problem_of(sample_refusals()["too weak"]))
        marked = rules_of(PasswordPolicy(), refusal=sample_refusals()["too weak"])
        return {
            "with a passkey": cls(RegisterForm.of(_DEFAULT_FIELDS), rules, relying_party="Acme Shop"),
            "with a passkey and a captcha": cls(with_captcha, rules),
            "with a passkey, no address": cls(empty, rules),
            "with a passkey, password refused": cls(weak, marked),
            "with a passkey, without a script": cls(
                RegisterForm.of(_DEFAULT_FIELDS, typed), rules, page_notice=_SCRIPTLESS
            ),
            "with a passkey, refused": cls(RegisterForm.of(_DEFAULT_FIELDS, typed), rules, page_notice=_FAILED),
        }


_FEDERATED_PROFILE = {"email": "ada@example.com", "connection": "globex"}
_ORGANIZATION_PROFILE = {"email": "ada@example.com", "connection": "conn_AbCdEfGhIjKlMnOp"}
_PASSWORD = FormField(name="password", type="password", required=True)
_DEFAULT_FIELDS = (FormField(name="email", required=True), _PASSWORD)
_ORGANIZATION_FIELDS = (*_DEFAULT_FIELDS, FormField(name=TERMS, type="multi", required=True))
_ALL_FIELDS = (
    FormField(name="first_name", required=True),
    FormField(name="last_name"),
    FormField(name="email", required=True),
    FormField(name="username", required=True),
    FormField(name="phone"),
    FormField(name="birth_date", required=True),
    FormField(
        name="cf_size",
        label={"en": "T-shirt size", "de": "T-Shirt-Größe", "ar": "مقاس القميص"},
        type="option",
        options=(Option(value="m", text={"en": "Medium", "de": "Mittel", "ar": "متوسط"}), Option(value="xl")),
    ),
    FormField(name="about", type="text"),
    _PASSWORD,
    FormField(name="is_email_subscribed", type="multi"),
    FormField(name=TERMS, type="multi", required=True),
)


@pages.get(PATH)
def show_register() -> Response:
    """Render the form, or continue for a signed-in browser. Without a session only a captcha makes an API call."""
    visit = current_visit()
    journey.refuse_expired_interaction()
    connection = visit.query.get("with", "")
    identity = _federated_identity() if connection else None
    if visit.session and not (identity is not None and is_organization_connection(connection)):
        response = _resume()
        if not isinstance(response.step, LoginStep | RegisterStep):
            return journey.follow(response)
    if (opened := journey.open_for_workflow("register")) is not None:
        return opened
    registration = _registration_for(connection if identity is not None else "")
    if registration is None or not sign_in_methods.is_taken(CONNECTION if connection else PASSWORD):
        return registration_off()
    if identity is not None:
        form = RegisterForm.of(registration.form, {**identity.fields, "connection": connection}, connection=connection)
        return _page(_with_captcha(form) if registration.has_captcha else form, provider_title=identity.title).render()
    typed, is_invited = _typed_fields(registration), visit.interaction is not None and visit.interaction.invitation
    if registration.has_captcha:
        return _page(_with_captcha(RegisterForm.of(registration.form, data=typed))).render()
    if typed or is_invited or current_visit().query.keys() - {"attempt"}:
        return _page(RegisterForm.of(registration.form, data=typed)).render()
    return first_register_page()


def _requires_captcha(tenant: HubTenant) -> bool:
    return tenant.registration is not None and tenant.registration.has_captcha


@cached_page(PATH, waits=_requires_captcha)
def first_register_page() -> Page:
    registration = current_visit().tenant.registration
    return _page(RegisterForm.of(registration.form if registration else ()))


@pages.post("/register/passkey/options")
def registration_options() -> Response:
    """Return WebAuthn creation options to the script; nothing if the form has errors, which the page then shows."""
    registration = current_visit().tenant.registration
    form = RegisterForm.of(registration.form if registration else (), is_by_passkey=True)
    return options_response(form, lambda: api()(begin_with_passkey, form.to_request()))


@pages.post(PATH)
def submit_register() -> Response:
    visit = current_visit()
    journey.refuse_unknown_interaction()
    by_passkey = visit.form.get("do") == _PASSKEY or bool(visit.form.get("credential"))
    connection = "" if by_passkey else visit.form.get("with") or ""
    registration = _registration_for(connection)
    is_demanded = not connection and requires_connection(is_direct=False)
    if registration is None or is_demanded:
        return redirect_to(interaction_url("/login")) if is_demanded else registration_off()
    form = RegisterForm.of(registration.form, is_by_passkey=by_passkey, connection=connection)
    if not form.validate():
        return _page(form).render(form.error_status)
    try:
        if by_passkey and read_credential(form) is None:
            return _without_script(registration, form)
        if form.captcha.needs_link and form.email_typed:
            return mail_link(CaptchaUse.REGISTER, form.email_typed, form.typed_texts)
        response = api()(register_for_organization if form.is_of_organization else operation, form.to_request())
    except errors.RegistrationOff:
        return registration_off()
    except ApiError as refusal:
        lock = LockChallenge.model_validate(refusal.data or {})
        if lock.captcha is not None or isinstance(refusal, errors.WrongCaptcha):
            form.captcha.prompt(lock.captcha)
        return _page(form, refusal).render_refusal(refusal)
    followed = journey.follow(response)
    if isinstance(response.step, LoginStep) and (response.step.connection or response.step.method_limit):
        return carry_identifier(followed, form.email_typed)
    if connection:
        return followed
    return sign_in_methods.begin_method(
        followed, response, sign_in_methods.PASSKEY if by_passkey else sign_in_methods.PASSWORD
    )


def _without_script(registration: RegistrationView, form: RegisterForm) -> Response:
    """Show the form's errors, which the script leaves to the page; without errors, that JavaScript is missing."""
    api()(begin_with_passkey, form.to_request())
    register_form = _with_captcha(form) if registration.has_captcha else form
    return replace(_page(register_form), page_notice=_SCRIPTLESS).render(422)


def _registration_for(connection: str) -> RegistrationView | None:
    """Return the form of a registration by a connection; that of an organization has one where registration is closed, too, and no
    captcha, as its provider knows the person. None where registration is closed.
    """
    tenant = current_visit().tenant
    return RegistrationView(tenant.form) if is_organization_connection(connection) else tenant.registration


def _typed_fields(registration: RegistrationView) -> dict[str, str]:
    """Return the form field and value to prefill: the identifier typed on the login page, or the application's login hint."""
    identifier = prefilled_identifier()
    name = "email" if "@" in identifier else "phone" if is_phone(identifier) else "username"
    return {name: identifier} if identifier and name in {field.name for field in registration.form} else {}


def _federated_identity() -> ConnectedProfile | None:
    """Return the federated identity of this interaction; None if there is none."""
    interaction = current_visit().interaction
    try:
        return api()(read_profile, ConnectedProfileRequest(interaction_id=interaction.id)) if interaction else None
    except errors.UnknownAccount:
        return None


def _with_captcha(form: RegisterForm) -> RegisterForm:
    """Return the form with a new captcha."""
    widget = current_visit().tenant.captcha
    has_challenge = widget is None or widget.has_fallback
    form.captcha.prompt(api()(captcha_pages.read, NoParameters()) if has_challenge else None)
    return form


@continues(CaptchaUse.REGISTER)
def continue_registration(link: captcha_pages.CaptchaLinkView) -> Response:
    registration = current_visit().tenant.registration
    if registration is None:
        return registration_off()
    form = RegisterForm.of(registration.form, link.typed, connection=link.typed.get("connection", ""))
    form.captcha.prompt(link.captcha)
    return _page(form).render()


def _has_passkeys(registration: RegistrationView) -> bool:
    tenant = current_visit().tenant
    names = {field.name for field in registration.form}
    return bool(tenant.passkeys) and "email" in names and IdentifierKind.EMAIL in tenant.identifiers


def _resume() -> StepResponse:
    if current_visit().interaction is not None:
        return journey.present_step()
    return api()(sign_in_pages.open_return, sign_in_pages.ReturnRequest(action="register"))


def _page(
    form: RegisterForm,
    refusal: ApiError | None = None,
    *,
    provider_title: str = "",
) -> RegisterPage:
    visit = current_visit()
    relying_party = visit.relying_party
    rules = rules_of(visit.tenant.password_policy, refusal=refusal)
    registration = visit.tenant.registration
    if form.is_connected:
        identity = None if provider_title else _federated_identity()
        title = provider_title or (identity.title if identity else "")
        return RegisterPage(form, (), relying_party, provider_title=title)
    has_passkeys = registration is not None and _has_passkeys(registration) and sign_in_methods.is_taken(PASSKEY)
    kind = PasskeyRegisterPage if has_passkeys else RegisterPage
    connections = sign_in_methods.offered_connections() if sign_in_methods.is_taken(CONNECTION) else ()
    is_required = requires_connection(is_direct=False)
    return kind(form, rules, relying_party, connections=connections, is_connection_required=is_required)
