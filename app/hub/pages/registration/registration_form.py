"""The registration form: the tenant's fields, and a captcha if the tenant requires one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from wtforms import HiddenField

from app.contract import errors
from app.contract.captcha.models import CaptchaAnswer
from app.contract.federation.pages.connection_pages import is_organization_connection
from app.contract.registration.form import IDENTIFIERS, TERMS, FormField
from app.contract.registration.registration_pages import RegisterRequest
from app.hub.forms import captcha
from app.hub.forms.captcha import CaptchaField
from app.hub.forms.passkey import PASSKEY_REFUSALS, read_credential
from app.hub.forms.password_rules import problem_of
from app.hub.forms.registration_fields import USERNAME_FORMAT, to_wire_value, widget
from app.hub.forms.tenant_forms import tenant_form
from app.hub.locale import lazy_gettext as _l
from app.hub.rendering.form import HubForm
from app.hub.web.errors import shown_for
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

_CHECK: Final = _l("That doesn’t look right. Check it and try again.")
_CHECK_ALL: Final = _l("Check the fields below and try again.")
_NOT_HERE: Final = _l("This email can’t be used here. Use another one.")
_ABOUT_NO_FIELD: Final[tuple[type[ApiError], ...]] = (errors.TooManyRequests, *PASSKEY_REFUSALS)
ASKED_AGAIN: Final = _l("Enter your password again.")


class RegisterForm(HubForm):
    """A form with the tenant's fields, built as a subclass by `of`."""

    captcha = CaptchaField()
    credential = HiddenField()
    connection = HiddenField(name="with")
    refusals = {
        errors.PasskeyNeedsEmail: ("email", _l("Enter your email.")),
        errors.MalformedEmail: ("email", _l("Enter a valid email address.")),
        errors.EmailRefused: ("email", _NOT_HERE),
        errors.EmailDomainRefused: ("email", _NOT_HERE),
        errors.UsernameTaken: ("username", _l("Already in use. Choose another one.")),
        errors.UsernameMissing: ("username", _l("Choose a username.")),
        errors.MalformedUsername: ("username", _l("Use 1 to 32 characters, without spaces.")),
        errors.UsernameFormatRefused: ("username", USERNAME_FORMAT),
        errors.PhoneTaken: ("phone", _l("This number is already in use.")),
        errors.MalformedPhone: ("phone", _l("Start with + and the country code.")),
        errors.PhoneMissing: ("phone", _l("Enter your phone number with + and the country code.")),
        errors.PasswordMissing: ("password", _l("Choose a password.")),
        errors.MalformedDate: ("birth_date", _l("Enter a valid date.")),
        errors.TooYoung: ("birth_date", _l("You’re not old enough to create an account here.")),
        errors.PolicyNotAccepted: (TERMS, _l("Check this box to continue.")),
    }
    short_names = {TERMS: _l("Terms")}
    form_fields: ClassVar[tuple[FormField, ...]] = ()
    is_by_passkey: ClassVar[bool] = False
    is_connected: ClassVar[bool] = False

    @classmethod
    def of(
        cls,
        form: tuple[FormField, ...],
        data: Mapping[str, Any] | None = None,
        *,
        is_by_passkey: bool = False,
        connection: str = "",
    ) -> RegisterForm:
        """Return the form with these fields; the password is optional with a passkey, and absent for a federated identity, unless the
        tenant asks for one, too, and it is not of an organization.

        Args:
            connection: of the federated identity.
        """
        registration, is_connected = current_visit().tenant.registration, bool(connection)
        asks_password = registration is not None and registration.has_federated_password
        has_none = is_connected and (is_organization_connection(connection) or not asks_password)
        form = tuple(field for field in form if not (has_none and _is_password(field)))

        def members() -> dict[str, Any]:
            names = [field.name for field in form if field.name in IDENTIFIERS]
            fields = tuple(_optional_password(field) if is_by_passkey else field for field in form)
            widgets = {field.name: widget(field, is_second_name=field.name in names[1:]) for field in fields}
            return {**widgets, "form_fields": form, "is_by_passkey": is_by_passkey, "is_connected": is_connected}

        return tenant_form(cls, form, members, is_by_passkey, is_connected)(data=data)

    @property
    def is_of_organization(self) -> bool:
        """Whether an organization's provider verified the address, which the account therefore gets."""
        return self.is_connected and is_organization_connection(self.connection.data or "")

    @property
    def rows(self) -> list[tuple[FormField, Any]]:
        """The fields with their WTForms fields, without the terms."""
        return [(field, self[field.name]) for field in self.form_fields if field.name != TERMS]

    @property
    def first_fields(self) -> tuple[str, ...]:
        return tuple(field.name for field, _ in self.rows if field.type != "multi")

    @property
    def terms(self) -> Any:
        """The checkbox of the terms; None if there is none."""
        return self._fields.get(TERMS)

    @property
    def has_own_terms(self) -> bool:
        """Whether the tenant wrote the label of the terms."""
        return any(field.name == TERMS and field.label for field in self.form_fields)

    def validate(self, extra_validators: Any = None) -> bool:
        is_valid = super().validate(extra_validators)
        if not is_valid:
            self._ask_for_passwords_again()
        return is_valid

    def to_request(self) -> RegisterRequest:
        sent = [field for field in self.form_fields if not (self.is_by_passkey and field.name == "password")]
        typed = {field.name: to_wire_value(field, self[field.name].data) for field in sent}
        new_credential = read_credential(self) if self.is_by_passkey else None
        return RegisterRequest(
            interaction_id=current_visit().interaction_id,
            fields=typed,
            captcha=self.answered,
            credential=new_credential,
            is_connected=self.is_connected,
            finds_connection=current_visit().tenant.finds_connections and not current_visit().session,
        )

    def add_refusal(self, refusal: ApiError) -> bool:
        """Add an error to each refused field, else to the form; return whether the page has no notice for the refusal."""
        if isinstance(refusal, _ABOUT_NO_FIELD):
            return False
        for name, message in self._refused_fields(refusal):
            self.add_error(name, message)
        self._ask_for_passwords_again()
        return True

    def _refused_fields(self, refusal: ApiError) -> list[tuple[str, Any]]:
        """Return the refused fields, each with its message."""
        if isinstance(refusal, errors.WrongCaptcha):
            return [captcha.FAILED]
        by_wire = {field.wire_name.lower(): field.name for field in self.form_fields}
        if isinstance(refusal, errors.FieldsRefused):
            refused_names = {by_wire.get(name.lower(), name.lower()) for name, _ in refusal.problems or ()}
            return [(name, problem_of(refusal) if name == "password" else _CHECK) for name in sorted(refused_names)]
        if isinstance(refusal, errors.BadParameter):
            words = {word.strip(".:").lower() for word in refusal.description.replace("CustomFields.", "cf_").split()}
            return [(name, _CHECK) for wire, name in by_wire.items() if wire in words] or [("", _CHECK_ALL)]
        if (message := problem_of(refusal)) is not None:
            return [("password", message)]
        return [shown_for(refusal, self.refusals) or ("", _CHECK_ALL)]

    def _ask_for_passwords_again(self) -> None:
        """Add an error to each typed password, which the page that shows the form again does not repeat."""
        for field, f in self.rows:
            if _is_password(field) and f.data and not f.errors and not self.is_by_passkey:
                self.ask_again(field.name)

    def ask_again(self, name: str) -> None:
        """Add the error of a password that nothing was wrong with."""
        self.add_error(name, ASKED_AGAIN)

    @property
    def email_typed(self) -> str:
        """The typed email; empty if the form has no field for it."""
        return str(self._fields["email"].data or "").strip() if "email" in self._fields else ""

    @property
    def typed_texts(self) -> dict[str, str]:
        """What was typed, by field, for a form that is shown again in another browser; without passwords."""
        kept = {field.name: f.data for field, f in self.rows if not _is_password(field)}
        texts = {name: "y" if data is True else data for name, data in kept.items()}
        connection = {"connection": self.connection.data} if self.is_connected else {}
        return {name: text for name, text in {**texts, **connection}.items() if text and isinstance(text, str)}

    @property
    def answered(self) -> CaptchaAnswer | None:
        return self.captcha.answer


def _is_password(field: FormField) -> bool:
    return "password" in (field.name, field.matches)


def _optional_password(field: FormField) -> FormField:
    return field.model_copy(update={"required": False}) if _is_password(field) else field
