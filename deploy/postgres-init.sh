#!/bin/bash
# Runs once, when the postgres container makes its database: the two roles of Gatehouse.
set -euo pipefail
psql --username postgres --dbname "$POSTGRES_DB" --no-psqlrc \
    --set owner=gatehouse_owner --set owner_password="$OWNER_PASSWORD" \
    --set runtime=gatehouse_runtime --set runtime_password="$RUNTIME_PASSWORD" \
    --file /gatehouse/postgres-roles.sql
