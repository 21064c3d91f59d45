-- Prepares a database on Citus for Gatehouse. Run once as superuser on the coordinator, in the database of Gatehouse, after
-- postgres-roles.sql:
--   psql -v owner=gatehouse_owner -v runtime=gatehouse_runtime -f citus.sql
-- Before it, in that database on the coordinator and on each worker node:
--   CREATE EXTENSION citus;
-- and on the coordinator, for itself and for each worker node:
--   SELECT citus_set_coordinator_host('coordinator.example.net', 5432);
--   SELECT citus_add_node('worker-1.example.net', 5432);
-- Then 'gatehouse migrate' distributes the tables.
\set ON_ERROR_STOP on

-- The tenant of a transaction reaches the nodes, where row-level security asks for it.
ALTER ROLE :"runtime" SET citus.propagate_set_commands = 'local';

-- The schema as postgres-roles.sql leaves it on the coordinator. Citus passes the rights on once a table is distributed, also
-- to nodes that are added later.
SELECT set_config('gatehouse.rights', format(
    'ALTER SCHEMA public OWNER TO %1$I; REVOKE ALL ON SCHEMA public FROM PUBLIC; GRANT USAGE ON SCHEMA public TO %2$I',
    :'owner', :'runtime'), false) \g /dev/null
DO $$ DECLARE refusal record; BEGIN
    IF EXISTS (SELECT FROM pg_dist_object WHERE classid = 'pg_namespace'::regclass AND objid = 'public'::regnamespace) THEN RETURN; END IF;
    FOR refusal IN SELECT nodeid, result FROM run_command_on_all_nodes(current_setting('gatehouse.rights')) WHERE NOT success LOOP
        RAISE EXCEPTION 'node % refused: %', refusal.nodeid, refusal.result;
    END LOOP;
END $$;
