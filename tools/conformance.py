"""Write docs/conformance.md: the plans of the OpenID Foundation's conformance suite, module by module, with the tests that show
the same here. Usage: `python -m tools.conformance`. The plans are in conformance.toml.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from tools.specifications import links_to_tests, tests_named

ROOT = Path(__file__).resolve().parent.parent
PLANS = Path(__file__).with_name("conformance.toml")
TARGET = ROOT / "docs" / "conformance.md"
INTRODUCTION = """# OpenID conformance

The OpenID Foundation certifies providers with its [conformance suite](https://www.certification.openid.net). Gatehouse isn’t
certified. This page lists every module of the suite’s plans for Gatehouse, with our own tests of the same behavior.

<!-- Written by `python -m tools.conformance`. -->

## Run the suite

The suite calls the provider over https, so you need Gatehouse at a public host with a certificate ([Operating](operating.md)).

1. In `examples/conformance.yaml`, replace `SUITE` in the redirect URIs with the host of the suite, and the secrets and public keys
   with your own.
2. Run `gatehouse apply examples/conformance.yaml`. It creates the tenant `conformance`.
3. In the suite, choose a plan, the alias `gatehouse`, and the discovery address
   `https://conformance.<hub domain>/.well-known/openid-configuration`. Enter the plan’s clients from the file:

   | Plan | Clients |
   | --- | --- |
   | Basic, Hybrid, Implicit, Form Post, RP-Initiated Logout, Session Management | `suite-basic`, `suite-post`, `suite-second` |
   | Back-Channel Logout | `suite-backchannel` |
   | Front-Channel Logout | `suite-frontchannel` |
   | FAPI 2.0 with `private_key_jwt` and DPoP | `suite-fapi`, `suite-fapi-second` |
   | FAPI 2.0 with mTLS | `suite-fapi-mtls`, `suite-fapi-mtls-second` |
   | FAPI 2.0 Message Signing with `private_key_jwt` and DPoP | `suite-signed-key-dpop`, `suite-signed-key-dpop-second` |
   | FAPI 2.0 Message Signing with `private_key_jwt` and mTLS | `suite-signed-key-mtls`, `suite-signed-key-mtls-second` |
   | FAPI 2.0 Message Signing with mTLS and DPoP | `suite-signed-mtls-dpop`, `suite-signed-mtls-dpop-second` |
   | FAPI 2.0 Message Signing with mTLS alone | `suite-signed-mtls-mtls`, `suite-signed-mtls-mtls-second` |
   | Dynamic, Third-Party-Initiated | none: the suite registers its own |

   For Message Signing, choose signed requests and JARM. With mTLS, you need [a suitable proxy](operating.md#client-certificates).

4. Sign in as `ada@example.com` with the password in the file, and allow access. The suite warns about claims that this account
   doesn’t have, such as `address` and `picture`. To add them, use `PUT /identity/v2/manage/account/{uid}`.
5. In `fapi2-security-profile-final-user-rejects-authentication`, clear the browser’s cookies, sign in as `grace@example.com`, and
   choose **Don’t allow**. The same consent is asked for only once, so never allow anything with this account.

Session Management and Front-Channel Logout need third-party cookies, which browsers block by default. Run these plans in a browser
that allows them.
"""


def read() -> dict[str, dict[str, Any]]:
    """Return the plans, by name: `title`, and `modules` with the names of tests or the reason why the suite skips it.

    Raises:
        ValueError: a test does not exist.
    """
    plans: dict[str, dict[str, Any]] = tomllib.loads(PLANS.read_text())["plans"]
    return plans


def document() -> str:
    """Return the page as Markdown."""
    lines = [INTRODUCTION]
    for name, plan in read().items():
        lines += [f"## {plan['title']}\n", f"Plan `{name}`.\n", "| Module | Our tests |", "|---|---|"]
        lines += [f"| {module} | {_shown(what)} |" for module, what in plan["modules"].items()]
        lines.append("")
    return "\n".join(lines)


def _shown(what: list[str] | dict[str, str]) -> str:
    if isinstance(what, dict):
        return f"skipped: {what['skips']}"
    found = sorted({path for name in what for path in tests_named(name)})
    return links_to_tests(tuple(found))


if __name__ == "__main__":
    TARGET.write_text(document())
    print(f"{TARGET.relative_to(ROOT)} is written.")
