"""Why a directory server cannot be used, and why the password of a person is not accepted."""

from __future__ import annotations

from enum import StrEnum

from app.identity.platform.outbound.findings import UpstreamRefusal


class LdapUnavailable(UpstreamRefusal):
    """The directory cannot answer whose password this is: it is wrongly configured, does not answer, or answers wrongly.

    The text is logged. `check` names the step that failed.
    """


class PasswordProblem(StrEnum):
    """Why a bind as the person did not succeed."""

    WRONG = "wrong"  # or the directory does not tell: nothing may tell the person more
    DISABLED = "disabled"  # the directory confirmed the password, and lets the account not sign in
    EXPIRED = "expired"  # the directory confirmed the password, which must be changed first


class PasswordRefused(Exception):
    """The directory does not accept the password of a person. `detail` is for logs and traces: result codes alone."""

    def __init__(self, problem: PasswordProblem, detail: str = "") -> None:
        super().__init__(detail)
        self.problem = problem
        self.detail = detail

    @property
    def is_notable(self) -> bool:
        """Whether the directory gave another reason than that name and password do not match."""
        return self.detail not in ("empty", "unknown", "49", "49 52e", "32", "34")


class NewPasswordRefused(Exception):
    """The directory does not accept the new password: its own rules refuse it, or the person may not change it."""
