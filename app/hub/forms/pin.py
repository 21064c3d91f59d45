"""The form of a new PIN, and its rules as text."""

from __future__ import annotations

from typing import Any

from wtforms import Field, PasswordField
from wtforms.validators import InputRequired

from app.contract import errors
from app.contract.pins.settings import Pins
from app.hub.forms.reauthentication import ReauthenticationForm
from app.hub.locale import lazy_gettext as _l
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError


class _RequiredUnlessSkipped(InputRequired):
    """Requires the field, except in a form that skips it."""

    def __call__(self, form: Any, field: Field) -> None:
        if not form.is_skipped:
            super().__call__(form, field)


class PinForm(ReauthenticationForm):
    """A new PIN, with the password if required. `one-time-code` keeps password managers from storing the PIN."""

    own_fields = ("pin",)
    is_skipped = False
    """Whether the sign-in continues without a PIN."""
    pin = PasswordField(
        _l("New PIN"),
        [_RequiredUnlessSkipped(_l("Choose a PIN."))],
        render_kw={"autocomplete": "one-time-code", "inputmode": "numeric", "dir": "ltr"},
    )

    def add_refusal(self, refusal: ApiError) -> bool:
        """Add the refusal to its field; return whether it belongs to one."""
        if isinstance(refusal, errors.BadParameter):
            rules, digits = current_visit().tenant.pin, sum(item.isdigit() for item in self.pin.data or "")
            is_long_enough = rules.min_length <= digits <= rules.max_length
            self.add_error("pin", _l("Too easy to guess.") if is_long_enough else _pin_length(rules))
            return True
        return super().add_refusal(refusal)


def _pin_length(rules: Pins) -> Any:
    if rules.min_length == rules.max_length:
        return _l("Use %(num)s digits.", num=rules.min_length)
    return _l("Use %(least)s to %(most)s digits.", least=rules.min_length, most=rules.max_length)


def pin_hint(rules: Pins) -> Any:
    """Return the rules of a PIN as text."""
    if rules.min_length == rules.max_length:
        return _l("%(num)s digits, nothing like 1111 or 1234.", num=rules.min_length)
    return _l(
        "%(least)s to %(most)s digits, nothing like 1111 or 1234.",
        least=rules.min_length,
        most=rules.max_length,
    )
