"""Sends push messages through Amazon SNS with the tenant's key: `push` sends a request to a device, `push_platform` uploads
the tenant's credentials of Google or Apple. The payload is complete, and encrypted until it is sent.
"""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, pkcs12

from app.identity.platform.outbox.sender import DeliveryError, Message, Sender
from app.kit.clock import Clock
from app.kit.outbound.aws_signature import AwsKey, signed

if TYPE_CHECKING:
    import httpx

TIMEOUT_SECONDS: Final = 15
_FORM: Final = "application/x-www-form-urlencoded; charset=utf-8"
_MAX_BYTES: Final = 64_000
_ENDPOINT = re.compile(r"<EndpointArn>\s*([^<\s]+)\s*</EndpointArn>")
_EXISTING_ENDPOINT = re.compile(r"Endpoint (arn:\S+) already exists")
_CODE = re.compile(r"<Code>\s*([A-Za-z.]{1,60})\s*</Code>")
_RETRYABLE: Final = frozenset({"Throttled", "Throttling", "ThrottlingException", "ThrottledException", "InternalError"})


class Sns(Sender):
    """Delivers `push` and `push_platform` messages.

    Args:
        url: address of SNS, if not Amazon's own in the tenant's region.
    """

    def __init__(self, url: str, clock: Clock) -> None:
        self._url = url
        self._clock = clock
        self._http: httpx.Client | None = None

    def send(self, message: Message) -> None:
        """Deliver one message. Raises DeliveryError, final if SNS refuses it permanently or the request has expired."""
        payload = message.payload
        if message.kind == "push_platform":
            self._call(payload, "SetPlatformApplicationAttributes", _platform(payload))
            return
        if payload["expires_at"] <= self._clock.now().timestamp():
            raise DeliveryError("nobody waits for it any more", is_final=True)
        form = {"TargetArn": self._endpoint(payload), "Message": _message(payload), "MessageStructure": "json"}
        self._call(payload, "Publish", {**form, **_attributes(payload)})

    def close(self) -> None:
        """Close the connection."""
        if self._http is not None:
            self._http.close()
            self._http = None

    def _endpoint(self, payload: dict[str, Any]) -> str:
        """Return the endpoint ARN of the device: the same for the same device token."""
        form = {"PlatformApplicationArn": payload["platform_arn"], "Token": payload["device_token"]}
        try:
            text = self._call(payload, "CreatePlatformEndpoint", form)
        except _RefusedError as refusal:
            if (existing := _EXISTING_ENDPOINT.search(refusal.text)) is None:
                raise
            return existing[1]
        match = _ENDPOINT.search(text)
        if match is None:
            raise DeliveryError("SNS named no endpoint")
        return match[1]

    def _call(self, payload: dict[str, Any], action: str, form: dict[str, str]) -> str:
        import httpx

        from app.identity.platform.outbound.bounded_transport import tls_context

        self._http = self._http or httpx.Client(timeout=TIMEOUT_SECONDS, follow_redirects=False, verify=tls_context())
        url = (
            self._url
            or f"https://sns.{payload['region']}.amazonaws.com{'.cn' if payload['region'][:3] == 'cn-' else ''}/"
        )
        content = urlencode({"Action": action, "Version": "2010-03-31", **form}).encode()
        key = AwsKey(payload["access_key_id"], payload["secret_access_key"])
        headers = signed(key, payload["region"], "sns", url, content, _FORM, self._clock.now())
        try:
            response = self._http.post(url, content=content, headers=headers)
        except httpx.HTTPError as problem:
            raise DeliveryError(f"{type(problem).__name__}: {problem}") from None
        text = response.content[:_MAX_BYTES].decode("utf-8", "replace")
        if response.is_success:
            return text
        match = _CODE.search(text)
        code = match[1] if match else ""
        is_final = response.is_client_error and code not in _RETRYABLE
        raise _RefusedError(f"{action}: SNS answered {response.status_code} {code}".strip(), text, is_final=is_final)


class _RefusedError(DeliveryError):
    """SNS refused a request. The text may contain a device token."""

    def __init__(self, problem: str, text: str, *, is_final: bool) -> None:
        super().__init__(problem, is_final=is_final)
        self.text = text


def _message(payload: dict[str, Any]) -> str:
    """Return one message per push service, each as JSON within JSON, as SNS requires."""
    alert = {"title": payload["data"]["title"], "body": payload["message"]}
    messages: dict[str, Any] = {"default": payload["message"]}
    if payload["apple"] is None:
        messages["GCM"] = json.dumps({"notification": alert, "data": payload["data"], "priority": "high"})
    else:
        name = "APNS_SANDBOX" if payload["apple"]["is_sandbox"] else "APNS"
        messages[name] = json.dumps({"aps": {"alert": alert, "sound": "default"}, **payload["data"]})
    return json.dumps(messages)


def _attributes(payload: dict[str, Any]) -> dict[str, str]:
    """Return the lifetime of the message, and its topic at Apple."""
    apple, prefix = payload["apple"], "AWS.SNS.MOBILE"
    if apple is None:
        attributes = {f"{prefix}.GCM.TTL": payload["lives_for_seconds"]}
    else:
        name = "APNS_SANDBOX" if apple["is_sandbox"] else "APNS"
        attributes = {f"{prefix}.{name}.TTL": payload["lives_for_seconds"], f"{prefix}.APNS.PUSH_TYPE": "alert"}
        if apple["bundle_id"]:
            attributes[f"{prefix}.APNS.TOPIC"] = apple["bundle_id"]
    form: dict[str, str] = {}
    for number, (name, value) in enumerate(attributes.items(), 1):
        entry = f"MessageAttributes.entry.{number}"
        form |= {f"{entry}.Name": name, f"{entry}.Value.DataType": "String", f"{entry}.Value.StringValue": str(value)}
    return form


def _platform(payload: dict[str, Any]) -> dict[str, str]:
    """Return the attributes with which SNS authenticates at Google or Apple for the tenant."""
    if payload.get("service_json"):
        attributes = {"PlatformCredential": str(payload["service_json"])}
    else:
        try:
            key, certificate, _ = pkcs12.load_key_and_certificates(base64.b64decode(payload["apns_certificate"]), None)
        except ValueError:
            key = certificate = None
        if key is None or certificate is None:
            raise DeliveryError("the APNs certificate is no PKCS 12 file without a password", is_final=True)
        private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        attributes = {
            "PlatformCredential": private,
            "PlatformPrincipal": certificate.public_bytes(Encoding.PEM).decode(),
        }
    form = {"PlatformApplicationArn": str(payload["platform_arn"])}
    for number, (name, value) in enumerate(attributes.items(), 1):
        form |= {f"Attributes.entry.{number}.key": name, f"Attributes.entry.{number}.value": value}
    return form
