"""The functions of the identity service that complete a sign-in, begin a session or issue what stands for an account, and who calls
them: read from the source, and watched while a path is gone."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, Final

import app.identity

ROOT: Final = Path(app.identity.__file__).parent
SIGN_IN: Final = "authentication/sign_in"
MAKERS: Final = {
    f"{SIGN_IN}/completion": (
        "after_first_factor", "without_asking", "after_registration", "after_second_factor", "after_earlier_request",
        "after_handoff", "finish",
    ),
    f"{SIGN_IN}/password_sign_in": ("sign_in_with_password",),
    f"{SIGN_IN}/sessions/sessions": ("start", "start_for_grant"),
    f"{SIGN_IN}/sessions/session_renewal": ("renew", "mark_reauthenticated"),
    f"{SIGN_IN}/api_tokens": ("issue",),
    "credentials/tokens/tokens": ("issue", "slide", "prolong", "record_reauthentication"),
    "protocols/oauth/tokens/token_response": ("token_response",),
    "protocols/oauth/tokens/id_token": ("signed", "exchanged"),
    "protocols/oauth/tokens/authorization_codes": ("issue",),
    "protocols/jwt_sign_on/signing": ("sign",),
    "authentication/federation/token_handoff": (
        "access_token", "request_token", "exchange", "finish_sign_in", "redeem_sign_in",
    ),
    "authentication/passwordless/cross_device": ("redeem",),
    "authentication/passwordless/password_login": ("sign_in",),
    "authentication/passwordless/smart_login": ("redeem",),
    "pages_api/interactions/page_sign_in": ("present", "try_after_first_factor"),
    "pages_api/interactions/return_codes": ("issue",),
    "public_api/sign_in/sign_in_responses": ("present", "session"),
    "public_api/sign_in/complete_challenge": ("complete",),
    "public_api/passwordless/messages": ("complete",),
    "public_api/storefronts/multipass": ("token",),
    "public_api/storefronts/bigcommerce": ("BigCommerce",),
}  # fmt: skip
"""What makes a session, tokens or a JWT of an account, or passes it on, by module."""
SHARED: Final = frozenset(
    {
        f"{SIGN_IN}/completion:_record",
        f"{SIGN_IN}/completion:after_second_factor",
        f"{SIGN_IN}/password_sign_in:sign_in_with_password",
        f"{SIGN_IN}/api_tokens:issue",
        "authentication/federation/token_handoff:access_token",
        "authentication/federation/token_handoff:exchange",
        "authentication/passwordless/password_login:sign_in",
        "pages_api/interactions/page_sign_in:_begin_session",
        "pages_api/interactions/page_sign_in:try_after_first_factor",
        "credentials/tokens/tokens:slide",
        "protocols/oauth/tokens/token_response:token_response",
        "public_api/passwordless/messages:complete",
        "public_api/sign_in/complete_challenge:complete",
        "public_api/sign_in/sign_in_responses:present",
        "public_api/sign_in/sign_in_responses:session",
    }
)
"""The callers that many paths have in common, which no path names."""
OF_NO_ACCOUNT: Final = frozenset(
    {"protocols/oauth/grants/client_credentials:exchange", "protocols/oauth/tokens/machine_tokens:issue"}
)
"""The callers whose tokens are a client's own."""


@cache
def callers() -> frozenset[str]:
    """Return the functions that refer to one of the makers, as `module:function`; in a class with its name before a dot."""
    return frozenset(f"{module}:{function}" for module in _modules() for function in _Reader(module).functions)


@contextmanager
def watched() -> Iterator[set[str]]:
    """Collect which of the callers run in this thread."""
    seen: set[str] = set()
    known, base = callers(), f"{ROOT}/"

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(base):
            name = code.co_qualname.replace("<locals>.", "")
            caller = f"{code.co_filename.removeprefix(base).removesuffix('.py')}:{name}"
            if caller in known:
                seen.add(caller)

    former = sys.getprofile()
    sys.setprofile(note)
    try:
        yield seen
    finally:
        sys.setprofile(former)


@contextmanager
def unwatched() -> Iterator[None]:
    """Let requests that only look at the outcome of a path not count."""
    former = sys.getprofile()
    sys.setprofile(None)
    try:
        yield
    finally:
        sys.setprofile(former)


def _modules() -> Iterator[str]:
    return (str(file.relative_to(ROOT).with_suffix("")) for file in ROOT.rglob("*.py"))


class _Reader(ast.NodeVisitor):
    """Reads which functions of a module refer to a maker, called or handed on."""

    def __init__(self, module: str) -> None:
        self.functions: set[str] = set()
        self._names: dict[str, str] = {name: f"{module}.{name}" for name in MAKERS.get(module, ())}
        self._inside: list[str] = []
        self.visit(ast.parse((ROOT / f"{module}.py").read_text()))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        origin = (node.module or "").removeprefix("app.identity.").replace(".", "/")
        for item in node.names:
            name = item.asname or item.name
            if item.name in MAKERS.get(origin, ()):
                self._names[name] = f"{origin}.{item.name}"
            elif f"{origin}/{item.name}" in MAKERS:
                self._names[name] = f"{origin}/{item.name}"

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._enter(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._enter(node)

    def _enter(self, node: ast.FunctionDef | ast.ClassDef) -> None:
        self._inside.append(node.name)
        self.generic_visit(node)
        self._inside.pop()

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.value, ast.Name) and node.attr in MAKERS.get(self._names.get(node.value.id, ""), ()):
            self.functions.add(".".join(self._inside))
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if "." in self._names.get(node.id, ""):
            self.functions.add(".".join(self._inside))
