"""One-time codes: how they are typed, and the errors of a wrong one."""

from dataclasses import dataclass

from app.contract import errors
from app.kit.operations.errors import ApiError


@dataclass(frozen=True)
class CodeErrors:
    """The four errors of a code. The interface numbers them by the channel that sent the code."""

    wrong: type[ApiError]
    used: type[ApiError]
    expired: type[ApiError]
    closed: type[ApiError]

    @property
    def all(self) -> tuple[type[ApiError], ...]:
        return self.wrong, self.used, self.expired, self.closed


MAIL_CODE = CodeErrors(errors.WrongMailCode, errors.UsedMailCode, errors.ExpiredMailCode, errors.ClosedMailCode)
SMS_CODE = CodeErrors(errors.WrongSmsCode, errors.UsedSmsCode, errors.ExpiredSmsCode, errors.ClosedSmsCode)
