"""The login page in its states: password, passkey, identifier first, reauthentication."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from app.contract.organizations.settings import MethodLimit
from app.contract.step_reasons import LoginReason
from app.hub.components import sign_in_methods
from app.hub.components.reauthentication import Reauthentication
from app.hub.components.sign_in_methods import PASSKEY, PASSWORD, PHONE, SignInMethod
from app.hub.components.sign_in_refusals import (
    CHALLENGED,
    NEEDS,
    RESETTABLE,
    STOPPED,
    RefusalReason,
    denial_notice,
    method_notice,
    sign_in_notice,
)
from app.hub.forms.identifier import identifier_attributes, wrong_pair_text
from app.hub.locale import lazy_gettext as _l
from app.hub.pages.sign_in.login.form import FormStep, LoginForm
from app.hub.rendering.page import Notice, Page
from app.hub.tenants.branding import initials
from app.hub.tenants.tenant import IdentifierKind
from app.hub.web.visit import FAILED_REFERENCE, current_visit, interaction_url

GOOGLE: Final = "connection:google"
"""A key for samples."""
MAX_FIRST: Final = 3
"""Maximum number of methods above the form, and below the form of a step."""
_NEEDS_NO_IDENTIFIER: Final = (PASSKEY, PHONE)
CONNECTS: Final = "connects"
"""Value of `needs`: the sign-in links a federated identity. Only the identity that the page displayed is linked."""


_WRONG_PASSWORD = _l("Wrong password.")


@dataclass(frozen=True)
class LoginPage(Page):
    """The login page with a password field."""

    template = "pages/sign_in/login.html"
    scripts = (*Page.scripts, "tabs", "reveal", "choose")
    query = {**Page.query, "reset": 7, "needs": 8, "step": 10, "direct": 1, FAILED_REFERENCE: 64}
    links_application = True

    form: LoginForm
    identifiers: tuple[IdentifierKind, ...] = (IdentifierKind.EMAIL,)
    relying_party: str = ""
    has_remember_me: bool = True
    refusal: RefusalReason | None = None
    wait_seconds: int = 0
    """Seconds until the next try is allowed; 0 if unknown."""
    needs: str = ""
    """Why the sign-in is not complete: a key of `NEEDS`."""
    reference: str = ""
    """The reference of the request that a provider's answer failed in; empty for other reasons."""
    is_reset: bool = False
    """Whether a new password was just set."""
    methods: tuple[SignInMethod, ...] = ()
    """The tenant's passwordless methods."""
    connections: tuple[SignInMethod, ...] = ()
    """The tenant's federated connections."""
    is_passkey_set: bool = False
    """Whether a new passkey was just set by a mailed link."""
    unknown: str = ""
    """The id of an unknown passkey, which the password manager may delete."""
    reauthentication: Reauthentication | None = None
    """The signed-in account that must reauthenticate, if any."""
    last_key: str = ""
    """The key of the method that this browser used last."""
    limit: MethodLimit | None = None
    """The methods that the account's organization allows, after a sign-in by a method that it refused."""
    required: MethodLimit | None = None
    """The connections that the organization of the sign-in demands, before it is known who signs in."""
    entry: frozenset[str] = frozenset()
    """The methods that the workflow of the sign-in takes; empty for all."""
    denial: str | None = None
    """What a workflow says that refused the sign-in; empty if it says nothing, None if none refused it."""
    is_returning: bool = False
    """Whether this browser signed in before."""
    step: FormStep | None = None
    """What the page of an identifier-first tenant asks for; None where one page asks for all."""

    def __post_init__(self) -> None:
        if self.refusal is RefusalReason.WRONG and self.asks_password:
            text = _WRONG_PASSWORD if self.reauthentication is not None else wrong_pair_text(self.identifiers)
            self.form.add_error("password", text)

    @property
    def _own_methods(self) -> tuple[SignInMethod, ...]:
        """The passkey, if the page has a button for it, then the tenant's other methods beside the password."""
        passkey = sign_in_methods.passkey_method(is_again=self.reauthentication is not None)
        return (passkey, *self.methods) if self.has_button else self.methods

    @property
    def last_method(self) -> SignInMethod | None:
        """The browser's last used method, if the page offers it and it is not the password."""
        if self.reauthentication is not None:
            return None
        return next((method for method in (*self._own_methods, *self.connections) if method.key == self.last_key), None)

    @property
    def first_methods(self) -> tuple[SignInMethod, ...]:
        """The methods above the form: the last used one, the passkey if there are providers, then providers. Without a password all
        methods stand there, and above the form of a step only the last used one.
        """
        last = self.last_method
        if self.step is not None:
            return (last,) if last else ()
        passkeys = tuple(method for method in self._own_methods if method.key == PASSKEY and self.connections)
        others = (*passkeys, *self.connections) if self.takes_password else (*self.connections, *self._own_methods)
        ranked = (*((last,) if last else ()), *(method for method in others if method != last))
        return ranked[:MAX_FIRST] if self.takes_password else ranked

    @property
    def step_methods(self) -> tuple[SignInMethod, ...]:
        """The methods in sight below the form: the passkey. Below that of a step, beside the identifier first those that need none,
        beside the password the tenant's own.
        """
        if self.step is None:
            return tuple(method for method in self._later_methods if method.key == PASSKEY and self.takes_password)
        return self._later_methods[:MAX_FIRST]

    @property
    def more_methods(self) -> tuple[SignInMethod, ...]:
        """The further methods below the form: the tenant's own, then providers for which there is no room above it."""
        return tuple(method for method in self._later_methods if method not in self.step_methods)

    @property
    def _later_methods(self) -> tuple[SignInMethod, ...]:
        own, first = self._own_methods, self.first_methods
        ranked = [*own, *self.connections]
        if self.step is FormStep.IDENTIFIER:
            alone = [method for method in own if method.key in _NEEDS_NO_IDENTIFIER]
            ranked = [*alone, *self.connections, *(method for method in own if method not in alone)]
        return tuple(method for method in ranked if method not in first)

    @property
    def offers_passkey_reset(self) -> bool:
        """Whether the page shows at once how to go on without a passkey: one was used here, was tried, or is required."""
        is_alone = self.takes(PASSKEY) and not self.takes_password
        return is_alone or self.last_key == PASSKEY or self.refusal is RefusalReason.PASSKEY

    @property
    def first_fields(self) -> tuple[str, ...]:
        if self.last_method is not None:
            return ()  # it leads, and a focus on a field below it would say otherwise
        return self.form.first_fields if self.asks_identifier else ("password",)

    @property
    def connects(self) -> str:
        """The title of the provider that a sign-in to the account of the page connects; empty where none is."""
        return self.reauthentication.connects if self.reauthentication is not None else ""

    @property
    def takes_password(self) -> bool:
        if self.reauthentication is not None:
            return self.reauthentication.has_password
        return self.takes(PASSWORD)

    @property
    def asks_identifier(self) -> bool:
        """Whether the page has a field for the identifier."""
        return self.reauthentication is None and self.step is not FormStep.PASSWORD

    @property
    def asks_password(self) -> bool:
        """Whether the page has a field for the password in sight."""
        return self.takes_password and self.step is not FormStep.IDENTIFIER

    @property
    def takes_email(self) -> bool:
        """Whether the form takes an email address as the identifier."""
        return self.reauthentication is None and IdentifierKind.EMAIL in self.identifiers

    def takes(self, method: str) -> bool:
        """Return whether the account's organization and the workflow of the sign-in allow a method."""
        return sign_in_methods.is_allowed(method, self.limit or self.required, self.entry)

    @property
    def carries(self) -> bool:
        """Whether the page carries the typed identifier to its other pages; a signed-in account's identifier is known there."""
        return self.takes_password and self.reauthentication is None

    @property
    def has_autofill(self) -> bool:
        """Whether the identifier field offers passkeys by autofill."""
        return False

    @property
    def has_button(self) -> bool:
        """Whether the page has a passkey button."""
        return False

    @staticmethod
    def url_of(path: str) -> str:
        return interaction_url(path)

    @property
    def form_targets(self) -> tuple[str, ...]:
        return sign_in_methods.provider_targets(super().form_targets)

    @property
    def run(self) -> tuple[str, ...]:
        return (*super().run, "identifier") if self.step is FormStep.IDENTIFIER else super().run

    @property
    def has_step_title(self) -> bool:
        """Whether the title says what the second step asks for, unless the notice says it."""
        return self.step is FormStep.PASSWORD and self.needs not in (LoginReason.PASSWORD, LoginReason.BROWSER)

    @property
    def initials(self) -> str:
        """One or two characters for the identifier of the second step."""
        return initials((self.form.identifier.data or "").lstrip("+ "))[:2]

    @property
    def identifier_url(self) -> str:
        """The address where the identifier can be changed."""
        address, is_demanded = step_url(FormStep.IDENTIFIER), sign_in_methods.requires_connection(is_direct=False)
        return f"{address}&direct=y" if self.form.direct.data and is_demanded else address

    @property
    def has_direct_page(self) -> bool:
        """Whether the page was limited before it was known who signs in, so that the limit may not bind the visitor."""
        return self.required is not None or (self.limit is not None and self.limit.is_of_domain)

    @property
    def direct_url(self) -> str:
        """The address of the page with every method."""
        address = interaction_url("/login")
        return f"{address}{'&' if '?' in address else '?'}direct=y"

    @property
    def help(self) -> str:
        """The tenant's support address; empty if it has none."""
        return dict(current_visit().brand.links).get("help", "")

    @property
    def has_registration(self) -> bool:
        """Whether the tenant allows self-registration, and the workflow a sign-in by the new password."""
        return current_visit().tenant.registration is not None and self.takes(PASSWORD)

    @property
    def is_stopped(self) -> bool:
        """Whether the account cannot sign in now by any method of this page."""
        return self.refusal in STOPPED

    @property
    def is_resettable(self) -> bool:
        """Whether a password reset ends the lock."""
        return self.refusal in RESETTABLE

    @property
    def is_denied(self) -> bool:
        """Whether the page says why a workflow refused the sign-in, instead of asking for another. A signed-in account reads it above
        the form.
        """
        return self.denial is not None and not self.refusal and self.reauthentication is None

    @property
    def is_closed(self) -> bool:
        """Whether the workflow refuses every account, so that another sign-in leads back here."""
        return self.is_denied and self.needs == LoginReason.CLOSED

    @property
    def notice(self) -> Notice | None:
        if self.denial is not None and not self.refusal:
            return denial_notice(self.denial)
        if self.limit is not None and not self.refusal:
            return method_notice(self.limit)
        if self.needs in NEEDS and not self.refusal and not (self.needs == CONNECTS and self.connects):
            return replace(NEEDS[self.needs], reference=self.reference)
        if self.is_reset and not self.refusal:
            return Notice(_l("Password changed"), _l("Sign in with your new password."), "ok")
        if self.is_passkey_set and not self.refusal:
            return Notice(_l("Passkey created"), _l("Use it to sign in."), "ok")
        if self.refusal is RefusalReason.WRONG and self.asks_password:
            return None  # the error is at the password field
        return sign_in_notice(self.refusal, self.wait_seconds) if self.refusal else super().notice

    @property
    def attributes(self) -> dict[str, Any]:
        """The identifier field's HTML attributes for keyboards and password managers."""
        has_focus = self.step is FormStep.IDENTIFIER and self.notice is None  # also a filled one, which can be changed
        return {**identifier_attributes(self.identifiers), **({"autofocus": True} if has_focus else {})}

    @classmethod
    def samples(cls) -> Mapping[str, LoginPage]:
        from app.hub.components.limited_samples import of_all  # noqa: PLC0415 - for the gallery alone

        email, phone, username = IdentifierKind.EMAIL, IdentifierKind.PHONE, IdentifierKind.USERNAME
        typed = {"data": {"identifier": "ada@example.com"}}
        refusals = {refusal.value: refusal for refusal in RefusalReason if refusal not in CHALLENGED}
        empty, others = LoginForm.of((email,)), sign_in_methods.sample_connection_methods()[1:4]
        empty.add_error("identifier", _l("Enter your email."))
        empty.add_error("password", _l("Enter your password."))
        return {
            "fresh": cls(LoginForm.of((email,))),
            "with other providers": cls(LoginForm.of((email,)), connections=others),
            "with other ways": cls(
                LoginForm.of((email,)), relying_party="Acme Shop", methods=sign_in_methods.sample_methods()
            ),
            "with a hint": cls(LoginForm.of((email,), **typed), relying_party="Acme Shop"),
            "for an application": cls(LoginForm.of((email,)), relying_party="Acme Shop"),
            "in a known browser": cls(LoginForm.of((email,)), relying_party="Acme Shop", is_returning=True),
            "after one step of two": cls(LoginForm.of((email,), **typed), needs="password"),
            **of_all(cls, LoginForm.of((email,), **typed)),
            "connects an account": cls(LoginForm.of((email,), data={"connects": "yes"}), needs=CONNECTS),
            "after a new password": cls(LoginForm.of((email,), **typed), relying_party="Acme Shop", is_reset=True),
            "by phone": cls(LoginForm.of((phone,)), (phone,)),
            "by phone, wrong": cls(LoginForm.of((phone,)), (phone,), refusal=RefusalReason.WRONG),
            "by any name": cls(LoginForm.of((email, phone, username)), (email, phone, username)),
            "with a phone": cls(LoginForm.of((email,)), methods=sign_in_methods.sample_methods(sign_in_methods.PHONE)),
            **cls._reauthentication_samples(),
            **cls._step_samples(),
            "without remember me": cls(LoginForm.of((email,)), has_remember_me=False),
            "empty": cls(empty, relying_party="Acme Shop"),
            **{
                name: cls(LoginForm.of((email,), **typed), relying_party="Acme Shop", refusal=refusal, wait_seconds=840)
                for name, refusal in refusals.items()
            },
        }

    @classmethod
    def _step_samples(cls) -> Mapping[str, LoginPage]:
        email, typed = (IdentifierKind.EMAIL,), {"data": {"identifier": "ada@example.com"}}
        shop: dict[str, Any] = {"relying_party": "Acme Shop"}
        empty = LoginForm.of(email)
        empty.add_error("identifier", _l("Enter your email."))
        connections = sign_in_methods.sample_connection_methods()[:2]
        first: dict[str, Any] = {"step": FormStep.IDENTIFIER, "connections": connections, **shop}
        then: dict[str, Any] = {"step": FormStep.PASSWORD, **shop}
        return {
            "identifier first": cls(LoginForm.of(email), **first),
            "identifier first, empty": cls(empty, **first),
            "identifier first, changed": cls(LoginForm.of(email, **typed), **first),
            "identifier first, no application": cls(LoginForm.of(email), step=FormStep.IDENTIFIER),
            "password then": cls(LoginForm.of(email, **typed), **then),
            "password then, wrong": cls(LoginForm.of(email, **typed), refusal=RefusalReason.WRONG, **then),
            "password then, after one step of two": cls(LoginForm.of(email, **typed), needs="password", **then),
            "password then, with other ways": cls(
                LoginForm.of(email, **typed), methods=sign_in_methods.sample_methods(), connections=connections, **then
            ),
        }

    @classmethod
    def _reauthentication_samples(cls) -> Mapping[str, LoginPage]:
        def reauthentication_page(*methods: str, **fields: Any) -> LoginPage:
            form = LoginForm.of((IdentifierKind.EMAIL,), data={"identifier": "ada@example.com"})
            return cls(form, has_remember_me=False, reauthentication=Reauthentication.sample(*methods), **fields)

        google = sign_in_methods.sample_connection_methods()[:1]
        return {
            "reauthentication": reauthentication_page("password", relying_party="Acme Shop"),
            "reauthentication, wrong": reauthentication_page(
                "password", relying_party="Acme Shop", refusal=RefusalReason.WRONG
            ),
            "reauthentication, without a password": reauthentication_page(
                "mail", "sms", "device", methods=sign_in_methods.sample_methods()
            ),
            "reauthentication, without anything": reauthentication_page(),
            "reauthentication, at another provider": reauthentication_page(GOOGLE, connections=google),
        }


def step_url(step: FormStep) -> str:
    """Return the address of a step of the login page, within the interaction of the visit if there is one."""
    address = interaction_url("/login")
    return f"{address}{'&' if '?' in address else '?'}step={step}"
