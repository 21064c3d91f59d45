"""The words of PKCE (RFC 7636 section 4) that the authorization request and the grant of its code share."""

import re
from typing import Final

S256: Final = "S256"
PLAIN: Final = "plain"
VERIFIER: Final = re.compile(r"[A-Za-z0-9._~-]{43,128}")
