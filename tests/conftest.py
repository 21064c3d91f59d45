"""What every test stands on. Fixtures live in tests/support, one module per subject."""

import hypothesis

pytest_plugins = [
    "tests.support.network",
    "tests.support.translations",
    "tests.support.services",
    "tests.support.house",
    "tests.support.oauth_world",
    "tests.support.tenant_server",
    "tests.support.samples",
    "tests.support.browsers",
    "tests.support.visitor",
    "tests.support.hub_in_browser",
]

# A busy machine is no failure: hypothesis measures nothing here.
hypothesis.settings.register_profile("house", deadline=None, print_blob=True)
hypothesis.settings.load_profile("house")
