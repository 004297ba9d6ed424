#!/bin/sh
# The command of the standby: copies the primary at its first start.
set -eu

if [ ! -s "$PGDATA/PG_VERSION" ]; then
    until PGPASSWORD=$REPLICATION_PASSWORD pg_basebackup -h "$PRIMARY" -U replication \
        -D "$PGDATA" -R -X stream -c fast; do
        sleep 1
    done
    # It must not wait for a standby of its own when it is promoted.
    echo "synchronous_standby_names = ''" >>"$PGDATA/postgresql.auto.conf"
fi
exec docker-entrypoint.sh postgres
