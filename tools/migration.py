"""Write a new revision from the difference between the schema in code and its history.

    python -m tools.migration "accounts keep several passkeys"

Then read it: what Alembic cannot see (row-level security, moved rows) is written by hand.
"""

import re
import sys
import tempfile
from pathlib import Path

from alembic import command

from app.identity.assembly import table_modules  # noqa: F401 - else Alembic knows no table, and drops them all
from app.identity.platform.store import migrate
from app.identity.platform.store.schema_state import read_schema_state

VERSIONS = Path(migrate.__file__).parent / "migrations" / "versions"


def main() -> None:
    message = " ".join(sys.argv[1:])
    number = (
        f"{max((int(file.name[:4]) for file in VERSIONS.glob('0*.py')), default=0) + 1:04d}"  # one number is missing
    )
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/history.db"
        if number != "0001":
            migrate.upgrade(url)
        with migrate.connected(url) as connection:
            config = migrate.config_of(connection)
            config.attributes["oldest_code"] = read_schema_state(
                connection
            ).oldest_code  # it only adds, until its author says otherwise
            config.set_main_option("file_template", "%%(rev)s_" + re.sub(r"\W+", "_", message.lower()))
            command.revision(config, message, autogenerate=True, rev_id=number)


if __name__ == "__main__":
    main()
