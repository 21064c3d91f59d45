"""response_mode: how the answer travels (OAuth 2.0 Multiple Response Types section 2.1, Form Post Response Mode)."""

from app.identity.protocols.oauth.authorize.request import Asked, Redirected

MODES = ("query", "fragment", "form_post")


def check(asked: Asked) -> None:
    mode = asked.values.get("response_mode", "query")
    if mode not in MODES:
        raise Redirected("invalid_request", "The response_mode is not valid.")
    asked.kept["response_mode"] = mode
