"""Which operations may compute a password hash, and so wait in the queue for hashing (decisions/0152).

PINs and security answers are hashed as passwords are. An operation declares one of these as `hashing=`. One that hashes
without declaring it works while the CPU is free, logs `hashing.undeclared` and is refused with 503 if it would have to
wait; in tests it fails.
"""

from typing import Final

from app.kit.operation import Hashing

SECRETS: Final = ("password", "pin", "answer")

HASHES: Final = Hashing("sign-in")
HASHES_SECRETS: Final = Hashing("sign-in", SECRETS)
"""Only if the request contains a password, a PIN or an answer."""
HASHES_IN_BULK: Final = Hashing("bulk")
HASHES_SECRETS_IN_BULK: Final = Hashing("bulk", SECRETS)
