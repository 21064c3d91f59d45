"""What a tenant may switch of second factors (interface mfa.md section 5)."""

from pydantic import Field

from app.contract.stated import Stated


class SecondFactors(Stated):
    """Which authenticators people may use beside the first factor, where `two_factor` is not `disabled`."""

    totp: bool = True  # an authenticator app
    sms: bool = False
    email: bool = True
    security_questions: bool = False
    push: bool = False
    duo: bool = False
    passkey: bool = True
    minimum_questions: int = Field(default=2, ge=1, le=10)  # answers asked of whoever uses security questions
    backup_codes: bool = True  # ten codes on paper, for whoever lost the rest
    trusted_browser_days: int = Field(default=30, ge=0, le=365)  # "do not ask again here"; 0: always asked
    step_up: bool = True  # programs may let people prove again who they are (mfa.md section 7)
