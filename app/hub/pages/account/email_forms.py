"""The form of the buttons beside an email address of the account."""

from __future__ import annotations

from wtforms import HiddenField

from app.hub.rendering.form import HubForm


class PrimaryEmailForm(HubForm):
    """A button beside an address."""

    address = HiddenField()
    reauthentication = HiddenField(name="asks")
    account = HiddenField()
