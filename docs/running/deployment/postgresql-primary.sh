#!/bin/sh
# Runs once, when the data of the primary has been created; docker-entrypoint.sh of the official image
# runs the files in /docker-entrypoint-initdb.d then.
set -eu

psql -v ON_ERROR_STOP=1 -v shop="$SHOP_PASSWORD" -v replication="$REPLICATION_PASSWORD" \
    -U postgres -d postgres <<'SQL'
CREATE ROLE shop LOGIN PASSWORD :'shop';
CREATE DATABASE shop OWNER shop;
CREATE ROLE replication LOGIN REPLICATION PASSWORD :'replication';
-- For the checks of HAProxy: no rights, no password, and only the database "postgres".
CREATE ROLE haproxy LOGIN;
-- A commit waits until the standby has it, so nothing is lost that was answered.
ALTER SYSTEM SET synchronous_standby_names = '*';
SQL
{
    echo "host postgres haproxy samenet trust"
    echo "host replication replication samenet scram-sha-256"
    cat "$PGDATA/pg_hba.conf"
} >"$PGDATA/pg_hba.new"
mv "$PGDATA/pg_hba.new" "$PGDATA/pg_hba.conf"
