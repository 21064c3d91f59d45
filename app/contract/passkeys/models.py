"""WebAuthn options and credentials; binary members are base64url without padding."""

from typing import Annotated, Any

from pydantic import Field

from app.contract import errors
from app.kit.operations.wire import Lower, Wire

Binary = Annotated[str, Field(max_length=2_000)]


class PublicKey(Wire):
    """Options of `navigator.credentials`, as WebAuthn writes them."""

    public_key: dict[str, Any] = Field(alias="publicKey")


class RegisterBegin(Wire):
    register_begin_credential: PublicKey


class OwnRegisterBegin(RegisterBegin):
    """Options for `navigator.credentials.create`. `publicKey` repeats them at the top level, where older clients read them."""

    public_key: dict[str, Any] = Field(alias="publicKey")


class LoginBegin(Wire):
    login_begin_credential: PublicKey


class CredentialResponse(Wire):
    """An attestation or an assertion of an authenticator."""

    client_data_json: str = Field(alias="clientDataJSON", max_length=8_000)
    attestation_object: str | None = Field(default=None, alias="attestationObject", max_length=30_000)
    authenticator_data: Binary | None = Field(default=None, alias="authenticatorData")
    signature: Binary | None = Field(default=None, alias="signature")
    user_handle: Annotated[str, Field(max_length=200)] | None = Field(default=None, alias="userHandle")
    transports: list[Annotated[str, Field(max_length=20)]] | None = Field(
        default=None, alias="transports", max_length=10
    )


class PresentedCredential(Wire):
    """A `PublicKeyCredential` as JSON."""

    id: Binary = Field(alias="id")
    raw_id: Binary = Field(alias="rawId")
    type: str = Field(alias="type", max_length=50)
    authenticator_attachment: str | None = Field(default=None, alias="authenticatorAttachment", max_length=50)
    response: CredentialResponse = Field(alias="response")


class CredentialParameter(Lower):
    """A credential under `PasskeyCredential`, or bare."""

    passkey_credential: PresentedCredential | None = Field(default=None, alias="PasskeyCredential")
    id: Binary | None = None
    raw_id: Binary | None = Field(default=None, alias="rawId")
    type: str | None = Field(default=None, max_length=50)
    authenticator_attachment: str | None = Field(default=None, alias="authenticatorAttachment", max_length=50)
    response: CredentialResponse | None = None

    @property
    def credential(self) -> PresentedCredential:
        """Return the credential from either form; raises BadParameter for an incomplete one."""
        if self.passkey_credential is not None:
            return self.passkey_credential
        bare = {"id": self.id, "rawId": self.raw_id, "type": self.type, "response": self.response}
        missing = next((name for name, value in bare.items() if value is None), None)
        if missing is not None:
            raise errors.BadParameter.names("PasskeyCredential" if missing == "id" else missing)
        return PresentedCredential.model_validate({**bare, "authenticatorAttachment": self.authenticator_attachment})


class ListedPasskey(Wire):
    """A passkey of an account. `Id` names it in this API; it isn't the WebAuthn credential ID."""

    id: str
    authenticator: str  # by its AAGUID
    identifier: str
    created_at: str


class ListedPasskeys(Wire):
    credentials: list[ListedPasskey]
