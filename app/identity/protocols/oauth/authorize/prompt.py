"""prompt: which pages must or must not be shown (OpenID Connect Core section 3.1.2.1, Initiating User Registration 1.0)."""

from app.identity.protocols.oauth.authorize.request import Asked, Redirected

NONE, LOGIN, CONSENT, SELECT, CREATE = "none", "login", "consent", "select_account", "create"
SUPPORTED = (NONE, LOGIN, CONSENT, SELECT, CREATE)


def check(asked: Asked) -> None:
    wanted = frozenset(name for name in asked.values.get("prompt", "").split(" ") if name)
    if not wanted <= set(SUPPORTED):
        raise Redirected("invalid_request", "The prompt is not valid.")
    if NONE in wanted and len(wanted) > 1:
        raise Redirected("invalid_request", "The prompt none stands alone.")
    asked.kept["prompt"] = wanted | ({LOGIN} if asked.client.settings.force_reauthentication else set())
