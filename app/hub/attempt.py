"""An attempt, one sign-in in one tab, as far as its pages draw it; and the sealed cookie that carries it.

The identity service owns the attempt and decides; what stands here only lets a page be drawn without asking.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from operator import itemgetter
from typing import Any, Final

from app.contract.hub import Next
from app.hub.keys import CookieCipher
from app.kit import randomness

MOST: Final = 5
"""How many attempts one browser may have open; the oldest gives way."""
MOST_ASKED: Final = 8
"""How many attempts that gave way are still known by who had asked."""
KEPT_SECONDS: Final = 24 * 3600
"""How long the cookie outlives its attempt: "start again" still knows who had asked."""


@dataclass(frozen=True, slots=True)
class Interaction:
    """What the pages of one attempt show."""

    id: str
    binding: str
    """Ties the attempt to the browser that began it."""
    relying_party: str = ""
    """The name of the application that asked."""
    home: str = ""
    """Where to begin again at that application when the attempt is gone."""
    redirect_origin: str = ""
    """Scheme or origin that the last step will redirect to."""
    languages: tuple[str, ...] = ()
    """`ui_locales` of the request, or what was clicked since."""
    hint: str = ""
    """`login_hint`: stands in the identifier field."""
    display: str = ""
    """`display` of the request; a pop-up keeps its tie to the page that opened it."""
    opened_at: int = 0
    """Seconds since 1970."""
    expires_at: int = 0

    @property
    def redirect_scheme(self) -> str:
        """The scheme that redirects after this attempt's forms may use (`https:`); empty where none is known.

        A whole origin would stop the application's own next redirect: browsers hold `form-action` against every hop.
        """
        return self.redirect_origin.partition(":")[0] + ":" if self.redirect_origin else ""

    def with_language(self, language: str) -> Interaction:
        """The same attempt, in the language that was chosen on its page."""
        return replace(self, languages=(language,))


def interaction_from_step(step: Next, binding: str, now: int) -> Interaction:
    """Return the attempt that an answer of the identity service begins."""
    asking = step.relying_party
    return Interaction(
        id=step.attempt or "",
        binding=binding,
        relying_party=asking.name[:80] if asking else "",
        home=(asking.home or "")[:200] if asking else "",
        redirect_origin=(asking.redirect_origin or "")[:120] if asking else "",
        languages=tuple((step.ui_locales or "").split()[:5]),
        hint=(step.login_hint or "")[:120],
        display=(step.display or "")[:10],
        opened_at=now,
        expires_at=now + step.attempt_lifetime_seconds,
    )


class InteractionCookies:
    """Reads and writes the attempts of one browser, one sealed cookie each.

    Args:
        prefix: what the cookies' names begin with, `__Host-` included where the browser is to enforce it.
    """

    def __init__(self, seal: CookieCipher, prefix: str) -> None:
        self._seal = seal
        self._prefix = f"{prefix}gatehouse-attempt-"

    def name_of(self, attempt_id: str) -> str:
        """The cookie's name tells nothing of the attempt's id."""
        return self._prefix + randomness.digest(attempt_id)[:12]

    def read(self, cookies: Mapping[str, str], tenant: str, attempt_id: str) -> Interaction | None:
        """Return the attempt if this browser began it."""
        name = self.name_of(attempt_id)
        attempt = self._opened(cookies.get(name, ""), tenant, name)
        return attempt if attempt is not None and attempt.id == attempt_id else None

    def write(self, attempt: Interaction, tenant: str) -> tuple[str, str]:
        """Return the cookie's name and value."""
        name = self.name_of(attempt.id)
        held = [
            list(value) if isinstance(value, tuple) else value
            for value in (getattr(attempt, f.name) for f in fields(attempt))
        ]
        return name, self._seal.close(held, f"{tenant} {name}")

    def too_many(self, cookies: Mapping[str, str], tenant: str, keeping: str) -> dict[str, Interaction | None]:
        """Return the cookies that give way to one more, by their names, each with its attempt where it can be read."""
        aged = []
        for name, value in cookies.items():
            if name.startswith(self._prefix) and name != keeping:
                attempt = self._opened(value, tenant, name)
                aged.append((attempt.opened_at if attempt else 0, name, attempt))
        aged.sort(key=itemgetter(0, 1), reverse=True)
        return {name: attempt for _, name, attempt in aged[MOST - 1 :]}

    @property
    def asked_cookie(self) -> str:
        """Remembers who had asked in attempts that gave way, so that their tabs find the way back."""
        return self._prefix.replace("attempt-", "asked")

    def remember(self, cookies: Mapping[str, str], tenant: str, gone: Mapping[str, Interaction | None]) -> str:
        """Return the value of that cookie with the attempts that give way now; the oldest of too many are forgotten."""
        told = [[name, known.relying_party[:40], known.home[:160]] for name, known in gone.items() if known]
        kept = [*self._asked(cookies, tenant), *(entry for entry in told if entry[2])]
        return self._seal.close(kept[-MOST_ASKED:], f"{tenant} asked")

    def remembered_relying_party(self, cookies: Mapping[str, str], tenant: str, attempt_id: str) -> tuple[str, str]:
        """Return name and home of the application that had asked in an attempt that gave way; empty where unknown."""
        name = self.name_of(attempt_id)
        return next(((asked[1], asked[2]) for asked in self._asked(cookies, tenant) if asked[0] == name), ("", ""))

    def _asked(self, cookies: Mapping[str, str], tenant: str) -> list[list[str]]:
        held: Any = self._seal.open(cookies.get(self.asked_cookie, ""), f"{tenant} asked")
        return held if isinstance(held, list) else []

    def _opened(self, value: str, tenant: str, name: str) -> Interaction | None:
        held: Any = self._seal.open(value, f"{tenant} {name}")
        if not isinstance(held, list) or len(held) != len(fields(Interaction)):
            return None
        known = dict(zip((f.name for f in fields(Interaction)), held, strict=True))
        return Interaction(**{**known, "languages": tuple(known["languages"])})
