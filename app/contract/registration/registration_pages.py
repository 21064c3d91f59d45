"""Operations for the registration page."""

from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.captcha.models import CaptchaAnswer
from app.contract.catalogue import HASHES_IN_BULK, hub_operation
from app.contract.error_groups import PASSKEY
from app.contract.passkeys.models import PresentedCredential
from app.contract.passkeys.passkey_pages import PasskeyOptions
from app.contract.registration.form import MAX_LETTERS
from app.contract.registration.registration_operations import REGISTRATION_ERRORS
from app.contract.steps import StepResponse
from app.kit.operations.wire import Wire

FieldText = Annotated[str, Field(max_length=MAX_LETTERS + 24)]  # one character too many is reported by the field


class RegisterRequest(Wire):
    """The registration form: values by the field names of the tenant's form. `interaction_id` as at sign-in."""

    interaction_id: str | None = None
    fields: dict[str, FieldText] = Field(max_length=60)
    captcha: CaptchaAnswer | None = None
    credential: PresentedCredential | None = None  # a passkey instead of a password
    is_connected: bool = False  # the form is prefilled with a provider's profile, which the interaction holds
    finds_connection: bool = False  # answer with the connection that the organization of the address demands


register = hub_operation(
    "hub.register", "POST /hub/register", RegisterRequest, StepResponse, heavy_work=HASHES_IN_BULK,
    errors=(*REGISTRATION_ERRORS, *PASSKEY, errors.WrongCaptcha),
    summary="Register. The response is the same for an address that has an account; its owner gets an email.",
)  # fmt: skip
begin_with_passkey = hub_operation(
    "hub.begin_register_with_passkey", "POST /hub/register/passkey", RegisterRequest, PasskeyOptions,
    errors=(*REGISTRATION_ERRORS, *PASSKEY, errors.WrongCaptcha, errors.PasskeyNeedsEmail),
    summary="Start a registration with a passkey. The form is validated before the browser creates the passkey.",
)  # fmt: skip
