"""What a tenant may switch of PINs (interface user.md section 10)."""

from typing import Self

from pydantic import Field, model_validator

from app.contract.configuration_model import ConfigurationModel

SHORTEST, LONGEST = 4, 6  # digits: interface limits.md section 6


class Pins(ConfigurationModel):
    """A few digits beside the password. Who knows them alone comes in nowhere: they open a session of a program that was
    signed in before, or say once more who is signed in. Wrong ones count with wrong passwords."""

    is_on: bool = False
    required: bool = False  # a PIN is required: programs receive error 1243, the hosted pages ask for it
    ask_on_registration: bool = False  # where required, a registration without one is refused: 1234
    ask_on_login: bool = False  # our pages offer to set one, and it can be skipped
    ask_only_on_first_login: bool = False  # they offer it then alone
    login: bool = False  # sign-ins of programs get a session_token, which a PIN makes a session again
    session_minutes: int = Field(default=1_440, ge=1, le=525_600)  # for so long
    min_length: int = Field(default=SHORTEST, ge=SHORTEST, le=LONGEST)
    max_length: int = Field(default=LONGEST, ge=SHORTEST, le=LONGEST)
    common_check: bool = True  # neither 1111 nor 1234 nor 9876

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.min_length > self.max_length:
            raise ValueError(f"max_length: at least min_length, which is {self.min_length}; found {self.max_length}")
        return self
