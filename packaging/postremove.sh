#!/bin/sh
# Forgets the rooms and lists of the machine's host where everything is to go.
set -e
if [ "$1" = purge ]; then
	rm -rf /var/lib/muster /var/lib/private/muster /var/cache/muster /var/cache/private/muster
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
