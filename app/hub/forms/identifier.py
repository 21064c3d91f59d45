"""The identifier field: one field for all kinds of identifiers that the tenant accepts."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final, Self

from wtforms import Field, StringField
from wtforms.validators import DataRequired, InputRequired

from app.hub.locale import lazy_gettext as _l
from app.hub.rendering.form import HubForm
from app.hub.tenants.tenant import IdentifierKind


class _Required(InputRequired):
    """Requires more than blanks, in words for the kinds of identifiers that the form accepts."""

    def __call__(self, form: Any, field: Field) -> None:
        _, missing, _ = _texts(form.identifiers)
        DataRequired(missing)(form, field)


class IdentifierForm(HubForm):
    """A form with the identifier field."""

    first_fields: tuple[str, ...] = ("identifier",)
    identifiers: Collection[IdentifierKind] = (IdentifierKind.EMAIL,)
    identifier = StringField(_l("Email"), [_Required()])

    def accept_identifiers(self, identifiers: Collection[IdentifierKind]) -> Self:
        """Return the form with label and error text for these kinds of identifiers."""
        self.identifiers = identifiers
        self.identifier.label.text, _, _ = _texts(identifiers)
        return self


def identifier_attributes(identifiers: tuple[IdentifierKind, ...]) -> dict[str, str]:
    """Return the HTML attributes of the field, for keyboards and password managers.

    HTML has no `autocapitalize` for `type=email`; no keyboard capitalizes it.
    """
    common = {"autocomplete": "username", "spellcheck": "false"}
    if identifiers == (IdentifierKind.EMAIL,):
        return {**common, "type": "email"}
    typed = {**common, "type": "text", "autocapitalize": "none"}
    if identifiers == (IdentifierKind.PHONE,):
        return {**typed, "inputmode": "tel", "dir": "ltr"}
    return {**typed, "dir": "auto"}


def wrong_pair_text(identifiers: Collection[IdentifierKind]) -> Any:
    """Return the text for a wrong identifier or password, which doesn't tell which of them is wrong."""
    return _texts(identifiers)[2]


_EMAIL, _PHONE, _USERNAME = IdentifierKind.EMAIL, IdentifierKind.PHONE, IdentifierKind.USERNAME
_TEXTS: Final = {
    frozenset({_EMAIL}): (_l("Email"), _l("Enter your email."), _l("Wrong email or password.")),
    frozenset({_PHONE}): (
        _l("Phone number"),
        _l("Enter your phone number."),
        _l("Wrong phone number or password."),
    ),
    frozenset({_USERNAME}): (_l("Username"), _l("Enter your username."), _l("Wrong username or password.")),
    frozenset({_EMAIL, _PHONE}): (
        _l("Email or phone number"),
        _l("Enter your email or phone number."),
        _l("Wrong email or password."),
    ),
    frozenset({_EMAIL, _USERNAME}): (
        _l("Email or username"),
        _l("Enter your email or username."),
        _l("Wrong email or password."),
    ),
    frozenset({_PHONE, _USERNAME}): (
        _l("Phone number or username"),
        _l("Enter your phone number or username."),
        _l("Wrong phone number, username or password."),
    ),
}
_TEXTS_OF_ALL: Final = (
    _l("Email, phone number or username"),
    _l("Enter your email, phone number or username."),
    _l("Wrong email or password."),
)


def _texts(identifiers: Collection[IdentifierKind]) -> tuple[Any, Any, Any]:
    """Return the label of the field, the error of an empty one, and the error of a wrong one or a wrong password."""
    return _TEXTS.get(frozenset(identifiers), _TEXTS_OF_ALL)
