"""An attempt, one sign-in in one tab, as far as its pages draw it.

The identity service owns the attempt and decides; what stands here only lets a page be drawn without asking.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Attempt:
    """What the pages of one attempt show."""

    id: str
    binding: str
    """Ties the attempt's forms to the browser that began it."""
    relying_party: str = ""
    """The name of the application that asked."""
    home: str = ""
    """Where to begin again at that application when the attempt is gone."""
    redirect_origin: str = ""
    """Scheme or origin that the last step will redirect to, for the `form-action` of the attempt's pages."""
    languages: tuple[str, ...] = ()
    """`ui_locales` of the request, or what was clicked since."""
    hint: str = ""
    """`login_hint`: stands in the identifier field."""
    step: str = "login"
    opened_at: int = 0
    """Seconds since 1970; the oldest attempts of a browser give way."""
