"""The consent forms of a tenant, as configuration: options, events, and which options are required. The scopes that an
account grants to applications are a different consent."""

from typing import Annotated

from pydantic import Field, model_validator

from app.contract.configuration_model import ConfigurationModel, Tag, WebUrl

REGISTER, FIRST_LOGIN, LOGIN = "Register", "FirstLogin", "Login"
EVENTS = (REGISTER, FIRST_LOGIN, LOGIN)
"""The events of every tenant; any other name is a custom event."""
MAX_OPTIONS = 30

Sentence = Annotated[str, Field(min_length=1, max_length=300)]
Paragraph = Annotated[str, Field(min_length=1, max_length=2_000)]


class ConsentOption(ConfigurationModel):
    """One option. `id` is `ConsentOptionId`; options of one id in several forms are one consent."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
    title: dict[Tag, Sentence] = Field(min_length=1)  # by language
    description: dict[Tag, Paragraph] = Field(default_factory=dict)
    link: WebUrl | None = None  # the address of the full text
    mandatory: bool = False  # required, and cannot be withdrawn


class ConsentForm(ConfigurationModel):
    """A consent form for an `event`: Register, FirstLogin, Login, or a custom event of the tenant's programs."""

    event: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,59}$")]
    version: int = Field(default=1, ge=1, le=1_000_000)  # a higher version must be answered again
    title: dict[Tag, Sentence] = Field(default_factory=dict)
    text: dict[Tag, Paragraph] = Field(default_factory=dict)
    mandatory: bool = True  # Register, FirstLogin and Login require an answer
    options: tuple[ConsentOption, ...] = Field(min_length=1, max_length=MAX_OPTIONS)

    @property
    def is_custom(self) -> bool:
        return self.event not in EVENTS

    @model_validator(mode="after")
    def _agrees(self) -> "ConsentForm":
        ids = [option.id for option in self.options]
        if len(set(ids)) < len(ids):
            raise ValueError("options: each id once")
        if any(self.event.lower() == known.lower() for known in EVENTS) and self.is_custom:
            raise ValueError("event: Register, FirstLogin or Login, spelled exactly like that, or a name of your own")
        return self


def agree(forms: tuple[ConsentForm, ...]) -> tuple[ConsentForm, ...]:
    """Refuse forms that contradict one another."""
    events = [form.event for form in forms]
    if len(set(events)) < len(events):
        raise ValueError("one form for each event")
    if LOGIN in events and FIRST_LOGIN not in events:
        raise ValueError("a form for FirstLogin as well, because there is one for Login")
    return forms
