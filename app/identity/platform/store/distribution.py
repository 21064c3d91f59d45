"""Distributes the tables over the nodes of Citus, and finds what is not distributed (decision 0390).

A database counts as distributed from the extension on; its tables are distributed once it has nodes to hold them.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import text
from sqlalchemy.engine import Connection

from app.settings import SettingsError

REFERENCE_TABLES: Final = frozenset({"tenants", "custom_hosts"})
"""Copied to every node: they are read to find the tenant of a host or key."""
LOCAL_TABLES: Final = frozenset({"alembic_version"})
"""On the coordinator alone."""
FIRST_TABLE: Final = "accounts"
"""The table whose shards lie where those of all others lie."""
HAS_CITUS: Final = "SELECT 1 FROM pg_extension WHERE extname = 'citus'"
_HAS_NODES: Final = "SELECT 1 FROM pg_dist_node WHERE groupid <> 0 AND isactive LIMIT 1"
_DESCRIBED: Final = """SELECT extversion, (SELECT count(*) FROM pg_dist_node WHERE groupid <> 0 AND isactive AND noderole = 'primary')
    FROM pg_extension WHERE extname = 'citus'"""
_UNREACHABLE: Final = """SELECT concat(nodename, ':', nodeport) FROM pg_dist_node WHERE isactive AND noderole = 'primary'
    AND NOT citus_check_connection_to_node(nodename, nodeport) ORDER BY 1"""
_NOT_DISTRIBUTED: Final = """SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace
    AND relkind IN ('r', 'p') AND NOT relispartition AND relname <> ALL (:local)
    AND NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = pg_class.oid)
    AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'e') ORDER BY relname"""
_SETTING: Final = "SELECT current_setting('citus.propagate_set_commands', true), current_user"
_HIDES_ROWS: Final = """SELECT relname::text FROM pg_class c WHERE relname = ANY (:tables) AND relnamespace = 'public'::regnamespace
    AND (pg_relation_size(c.oid) > 0 OR EXISTS (SELECT FROM pg_partition_tree(c.oid) WHERE pg_relation_size(relid) > 0))
    AND EXISTS (SELECT FROM pg_roles WHERE rolname = current_user AND NOT rolsuper AND NOT rolbypassrls)
    ORDER BY relname LIMIT 1"""

_CAST: Final = "(tenant_id)::text"
_CAST_POLICIES: Final = """SELECT polname::text AS name, polrelid::regclass::text AS relation, pg_get_expr(polqual, polrelid) AS seen,
    pg_get_expr(polwithcheck, polrelid) AS written FROM pg_policy JOIN pg_class ON pg_class.oid = polrelid
    WHERE relnamespace = 'public'::regnamespace AND NOT relispartition AND concat(polqual, polwithcheck) LIKE '%\\:relabelformat 1 %'
    ORDER BY relation, name"""


def local_tables(connection: Connection) -> list[str]:
    """Return the tables that should be distributed and are not: none without Citus, or before it has nodes."""
    if not _is_true(connection, HAS_CITUS) or not _is_true(connection, _HAS_NODES):
        return []
    found = connection.execute(text(_NOT_DISTRIBUTED), {"local": sorted(LOCAL_TABLES)})
    return [str(name) for name in found.scalars()]


def fault(connection: Connection) -> str | None:
    """Return why Gatehouse can't serve this database over its nodes, in one sentence; None if it can."""
    if not _is_true(connection, HAS_CITUS):
        return None
    if tables := local_tables(connection):
        return (
            f"The database has Citus nodes, but these tables aren't distributed: {', '.join(tables)}. "
            "Run 'gatehouse migrate' with the owner's role in GATEHOUSE_MIGRATE_URL."
        )
    if _is_true(connection, _HAS_NODES) and _is_true(connection, _CAST_POLICIES):
        return (
            "The row-level security was restored from a dump, in a form by which Citus does not see the tenant. "
            "Run 'gatehouse migrate' with the owner's role in GATEHOUSE_MIGRATE_URL."
        )
    setting, role = connection.execute(text(_SETTING)).one()
    if setting != "local":
        return (
            f"The role {role!r} doesn't pass the tenant on to the Citus nodes. Run deploy/citus.sql, or as superuser: "
            f"ALTER ROLE \"{role}\" SET citus.propagate_set_commands = 'local'"
        )
    return None


def unreachable_nodes(connection: Connection) -> list[str]:
    """Return the nodes that the coordinator can't connect to in the name of this role, as host:port."""
    if not _is_true(connection, HAS_CITUS):
        return []
    return [str(node) for node in connection.execute(text(_UNREACHABLE)).scalars()]


def described(connection: Connection) -> str:
    """Return on how many nodes the tables are."""
    if not _is_true(connection, HAS_CITUS):
        return "on one server"
    version, nodes = connection.execute(text(_DESCRIBED)).one()
    return f"distributed by Citus {version} over {nodes} nodes" if nodes else f"on one server with Citus {version}"


def distribute(connection: Connection) -> list[str]:
    """Distribute the tables that are not, all in one transaction; return their names.

    Raises:
        SettingsError: a table has rows, and the role does not see them all, so that they would be lost.
    """
    if not _is_true(connection, HAS_CITUS) or not _is_true(connection, _HAS_NODES):
        connection.rollback()
        return []
    connection.rollback()
    with connection.begin():
        _uncast_policies(connection)
        tables = local_tables(connection)
        if not tables:
            return []
        if hidden := connection.execute(text(_HIDES_ROWS), {"tables": tables}).scalar():
            raise SettingsError(
                f"The table {hidden} has rows, which only a superuser sees all. "
                "Run 'gatehouse migrate' once with a superuser in GATEHOUSE_MIGRATE_URL, to distribute them."
            )
        connection.execute(text("SET LOCAL citus.multi_shard_modify_mode = 'sequential'"))
        for table in sorted(tables, key=lambda name: (name not in REFERENCE_TABLES, name != FIRST_TABLE, name)):
            if table in REFERENCE_TABLES:
                connection.execute(text(f"SELECT create_reference_table('{table}')"))
            else:
                beside = "default" if table == FIRST_TABLE else FIRST_TABLE
                connection.execute(
                    text(f"SELECT create_distributed_table('{table}', 'tenant_id', colocate_with => '{beside}')")
                )
    return tables


def _uncast_policies(connection: Connection) -> None:
    """State the policies of a restored dump as the migrations do: Citus does not see the tenant in a cast that a text spells out."""
    for policy in connection.execute(text(_CAST_POLICIES)).all():
        conditions = (("USING", policy.seen), ("WITH CHECK", policy.written))
        stated = [f"{name} ({said.replace(_CAST, 'tenant_id')})" for name, said in conditions if said]
        connection.exec_driver_sql(f"ALTER POLICY {policy.name} ON {policy.relation} {' '.join(stated)}")


def _is_true(connection: Connection, statement: str) -> bool:
    return connection.execute(text(statement)).scalar() is not None
