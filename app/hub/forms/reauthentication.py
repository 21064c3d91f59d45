"""The base of forms that require the password where the last authentication is too old."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from wtforms import Field, HiddenField, PasswordField
from wtforms.validators import ValidationError

from app.contract import errors
from app.contract.accounts.pages.reauthentication_pages import AccountView, RequiredReauthentication
from app.contract.visitor_claims import MAX_PASSWORD_CHARACTERS
from app.hub.locale import lazy_gettext as _l
from app.hub.rendering.form import HubForm, too_long
from app.kit.operations.errors import ApiError

NEEDED: Final = "1"


class ReauthenticationForm(HubForm):
    """A form that requires the password if the last authentication is too old."""

    own_fields: ClassVar[tuple[str, ...]] = ()
    """Names of the text fields above the password."""
    reauthentication = HiddenField(name="asks")
    """`NEEDED` if it requires the password."""
    account = HiddenField()
    """The username for password managers."""
    password = PasswordField(_l("Your password"), render_kw={"autocomplete": "current-password"})

    def validate_password(self, field: Field) -> None:
        """Refuse a password that is too long or has characters that the signed visit cannot hold."""
        if len(field.data or "") > MAX_PASSWORD_CHARACTERS:
            raise ValidationError(too_long(MAX_PASSWORD_CHARACTERS))

    @property
    def first_fields(self) -> tuple[str, ...]:
        return (*self.own_fields, *(("password",) if self.requires_password else ()))

    @property
    def requires_password(self) -> bool:
        return self.reauthentication.data == NEEDED

    def require_password(self) -> None:
        self.reauthentication.data = NEEDED

    @property
    def current_password(self) -> str | None:
        return self.password.data or None

    def add_refusal(self, refusal: ApiError) -> bool:
        """Ask for the password where it is missing; the first time this is no error."""
        if isinstance(refusal, errors.WrongCurrentPassword):
            self.is_first_prompt = not self.requires_password
            self.require_password()
            if not self.is_first_prompt:
                self.add_error("password", _WRONG if self.current_password else _MISSING)
            return True
        return super().add_refusal(refusal)


_WRONG: Final = _l("Wrong password.")


def reauthentication_data(view: AccountView) -> dict[str, str]:
    """Return the initial values of a form that may require the password."""
    is_recent = view.reauthentication is RequiredReauthentication.NONE
    return {"reauthentication": "" if is_recent else NEEDED, "account": view.person.label}


_MISSING: Final = _l("Enter your password.")


def text_of(value: Any) -> str:
    """Return a profile value as a field's text."""
    return value if isinstance(value, str) else ""
