"""What an application asks to do once (RFC 9396), as pages show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from app.contract.oauth.models import DetailLine, DetailView
from app.hub.forms.registration_fields import localized
from app.hub.locale import lazy_gettext as _l

_LABELS: Final = {
    "actions": _l("Actions"),
    "locations": _l("Where"),
    "datatypes": _l("Data"),
    "identifier": _l("Item"),
    "privileges": _l("Permissions"),
}


@dataclass(frozen=True)
class Detail:
    """What the application asks to do, once (RFC 9396)."""

    view: DetailView

    @property
    def title(self) -> str:
        return localized(self.view.title) or self.view.type

    @property
    def lines(self) -> list[tuple[Any, list[str]]]:
        """Labels, each with its values."""
        return [(localized(line.label) or _LABELS.get(line.name) or line.name, line.values) for line in self.view.lines]


SAMPLE_PAYMENT: Final = DetailView(
    type="payment",
    title={"en": "Make a payment", "de": "Zahlung ausführen", "ar": "تنفيذ دفعة"},
    lines=[
        DetailLine(name="amount", label={"en": "Amount", "de": "Betrag", "ar": "المبلغ"}, values=["EUR 123.50"]),
        DetailLine(
            name="creditor",
            label={"en": "Recipient", "de": "Empfänger", "ar": "المستلم"},
            values=["Merchant A", "iban: DE02 1001 0010 9307 1186 03"],
        ),
        DetailLine(name="locations", values=["https://bank.example.com/payments"]),
    ],
)  # fmt: skip
"""A sample."""
