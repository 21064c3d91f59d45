"""acr_values: one class is known, which authenticates anew and is echoed in `acr` (federation.md section 4); others are wishes."""

import re

from app.identity.oauth.authorize.request import Asked

_ANEW = re.compile(r"[A-Za-z0-9_-]{1,40}:nist:level:1:re-auth")


def check(asked: Asked) -> None:
    wanted = asked.values.get("acr_values", "").split(" ")
    asked.kept["acr"] = next((name for name in wanted if _ANEW.fullmatch(name)), None)
