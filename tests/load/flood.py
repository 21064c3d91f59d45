"""A tenant whose clients flood the sign-in, and one whose clients do not."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Awaitable, Callable

from app.kit import randomness

DRILL_SECONDS = float(os.environ.get("GATEHOUSE_TESTS_NOISY_SECONDS", "0"))


QUIET_PER_SECOND = 4


PASSWORD = "Correct-horse-7-battery"


CLIENT, CLIENT_SECRET = "robot", "a-secret-of-the-robot-0123456789"


KEYS = {name: randomness.guid() for name in ("acme", "noisy")}


def tenant(name: str, argon2: dict[str, int]) -> dict[str, object]:
    limits = dict.fromkeys(("sign_in_per_minute", "sign_in_per_minute_per_address", "token_per_minute_per_client"), 0)
    robot = {
        "name": CLIENT, "protocol": "openid", "client_id": CLIENT, "client_secret": CLIENT_SECRET,
        "grant_types": ["client_credentials"], "token_endpoint_auth_method": "client_secret_basic", "redirect_uris": [],
        "scope": "report:read",
    }  # fmt: skip
    return {
        "name": name,
        "api_key": KEYS[name],
        "settings": {"email_verification": "optional", "limits": limits, "argon2": argon2},
        "applications": [robot] if name == "acme" else [],
        "accounts": [{"email": "ada@example.com", "password": PASSWORD, "email_verified": True}],
    }


async def ask(port: int, host: str, path: str, body: bytes, *fields: str) -> tuple[int, bytes]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = [f"POST {path} HTTP/1.1", f"Host: {host}.localhost:{port}", f"Content-Length: {len(body)}", *fields]
    writer.write("\r\n".join([*head, "Connection: close", "", ""]).encode() + body)
    answer = await reader.read()
    writer.close()
    return int(answer.split(b" ", 2)[1]), answer


async def sign_in(port: int, name: str) -> tuple[int, bytes]:
    body = json.dumps({"email": "ada@example.com", "password": PASSWORD}).encode()
    return await ask(
        port, "api", f"/identity/v2/auth/login?apikey={KEYS[name]}", body, "Content-Type: application/json"
    )


async def paced(ends_at: float, per_second: float, do: Callable[[], Awaitable[None]]) -> None:
    """Start `per_second` tasks a second, whether earlier ones have ended or not."""
    async with asyncio.TaskGroup() as group:
        while time.monotonic() < ends_at:
            group.create_task(do())  # type: ignore[arg-type]  # a coroutine
            await asyncio.sleep(1 / per_second)
