"""The field by which people name themselves: one, whatever the tenant lets them be named by."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Self

from flask_babel import lazy_gettext as _l
from wtforms import StringField
from wtforms.validators import InputRequired

from app.hub.forms.base import HubForm
from app.hub.tenancy import Identifier


class IdentifierForm(HubForm):
    """A form that asks who one is."""

    identifier = StringField(_l("Email"), [InputRequired(_l("Enter your email."))])

    def accept_identifiers(self, identifiers: Collection[Identifier]) -> Self:
        """Return the form as it asks for what a tenant's people may be named by."""
        label, missing = _words(frozenset(identifiers))
        self.identifier.label.text = label
        self.identifier.validators = [InputRequired(missing)]
        return self


def identifier_attributes(identifiers: tuple[Identifier, ...]) -> dict[str, str]:
    """Return what tells keyboards and password managers what the identifier is.

    No keyboard begins an `email` with a capital, and HTML knows no `autocapitalize` on it.
    """
    common = {"autocomplete": "username", "spellcheck": "false"}
    if identifiers == (Identifier.EMAIL,):
        return {**common, "type": "email"}
    typed = {**common, "type": "text", "autocapitalize": "none"}
    if identifiers == (Identifier.PHONE,):
        return {**typed, "inputmode": "tel", "dir": "ltr"}
    return {**typed, "dir": "auto"}


def _words(identifiers: frozenset[Identifier]) -> tuple[Any, Any]:
    """The label of the identifier field, and what is said when it is empty."""
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
