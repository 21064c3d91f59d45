"""The identifier field: one field for all kinds of identifiers that the tenant accepts."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Self

from flask_babel import lazy_gettext as _l
from wtforms import StringField
from wtforms.validators import InputRequired

from app.hub.forms.base import HubForm
from app.hub.tenancy import Identifier


class IdentifierForm(HubForm):
    """A form with the identifier field."""

    identifier = StringField(_l("Email"), [InputRequired(_l("Enter your email."))])

    def accept_identifiers(self, identifiers: Collection[Identifier]) -> Self:
        """Return the form with label and error text for these kinds of identifiers."""
        label, missing = _texts(frozenset(identifiers))
        self.identifier.label.text = label
        self.identifier.validators = [InputRequired(missing)]
        return self


def identifier_attributes(identifiers: tuple[Identifier, ...]) -> dict[str, str]:
    """Return the HTML attributes of the field, for keyboards and password managers.

    HTML has no `autocapitalize` for `type=email`; no keyboard capitalizes it.
    """
    common = {"autocomplete": "username", "spellcheck": "false"}
    if identifiers == (Identifier.EMAIL,):
        return {**common, "type": "email"}
    typed = {**common, "type": "text", "autocapitalize": "none"}
    if identifiers == (Identifier.PHONE,):
        return {**typed, "inputmode": "tel", "dir": "ltr"}
    return {**typed, "dir": "auto"}


def _texts(identifiers: frozenset[Identifier]) -> tuple[Any, Any]:
    """Return the label of the field and the error of an empty one."""
    email, phone, username = Identifier.EMAIL, Identifier.PHONE, Identifier.USERNAME
    names = {
        frozenset({email}): (_l("Email"), _l("Enter your email.")),
        frozenset({phone}): (_l("Phone number"), _l("Enter your phone number.")),
        frozenset({username}): (_l("Username"), _l("Enter your username.")),
        frozenset({email, phone}): (_l("Email or phone number"), _l("Enter your email or phone number.")),
        frozenset({email, username}): (_l("Email or username"), _l("Enter your email or username.")),
        frozenset({phone, username}): (_l("Phone number or username"), _l("Enter your phone number or username.")),
    }
    all_three = (_l("Email, phone number or username"), _l("Enter your email, phone number or username."))
    return names.get(identifiers, all_three)
