"""A tenant's settings of PINs. The docstrings are published."""

from typing import Self

from pydantic import Field, model_validator

from app.contract.configuration_model import ConfigurationModel

MIN_PIN_LENGTH, MAX_PIN_LENGTH = 4, 6  # digits


class Pins(ConfigurationModel):
    """PINs: a few digits beside the password. A PIN alone is no sign-in: with a session
    token it renews a program's session, and it reauthenticates a signed-in account. Wrong PINs count with wrong passwords."""

    is_on: bool = False
    required: bool = False  # programs receive error 1243, the hosted pages ask for a PIN
    ask_on_registration: bool = False  # with `required`, a registration without a PIN is refused: 1234
    ask_on_login: bool = False  # the hosted pages offer to set a PIN; it can be skipped
    ask_only_on_first_login: bool = False  # only at the first sign-in
    login: bool = False  # sign-ins of programs receive a session_token, which renews the session with a PIN
    session_minutes: int = Field(default=1_440, ge=1, le=525_600)  # lifetime of the session_token
    min_length: int = Field(default=MIN_PIN_LENGTH, ge=MIN_PIN_LENGTH, le=MAX_PIN_LENGTH)
    max_length: int = Field(default=MAX_PIN_LENGTH, ge=MIN_PIN_LENGTH, le=MAX_PIN_LENGTH)
    common_check: bool = True  # refuse repeated and consecutive digits: 1111, 1234, 9876

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.min_length > self.max_length:
            raise ValueError(f"max_length: at least min_length, which is {self.min_length}; found {self.max_length}")
        return self
