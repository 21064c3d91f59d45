"""acr_values: `2` asks for two factors where the account has them; one class authenticates anew and is echoed in `acr`
(federation.md section 4); others are wishes.
"""

import re

from app.identity.oauth.authorize.request import Asked

ONE, TWO = "1", "2"
"""What `acr` says of one factor and of more (published in the metadata)."""
_ANEW = re.compile(r"[A-Za-z0-9_-]{1,40}:nist:level:1:re-auth")


def check(asked: Asked) -> None:
    wanted = asked.values.get("acr_values", "").split(" ")
    asked.kept["acr"] = next((name for name in wanted if _ANEW.fullmatch(name)), None)
    asked.kept["wants_two"] = next((name for name in wanted if name in (ONE, TWO)), ONE) == TWO
