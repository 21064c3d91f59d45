"""prompt: which pages must or must not be shown (OpenID Connect Core section 3.1.2.1)."""

from app.identity.oauth.authorize.request import Asked, Redirected

NONE, LOGIN, CONSENT, SELECT = "none", "login", "consent", "select_account"


def check(asked: Asked) -> None:
    wanted = frozenset(name for name in asked.values.get("prompt", "").split(" ") if name)
    if not wanted <= {NONE, LOGIN, CONSENT, SELECT}:
        raise Redirected("invalid_request", "The prompt is not valid.")
    if NONE in wanted and len(wanted) > 1:
        raise Redirected("invalid_request", "The prompt none stands alone.")
    asked.kept["prompt"] = wanted | ({LOGIN} if asked.client.settings.force_reauthentication else set())
