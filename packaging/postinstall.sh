#!/bin/sh
# Has systemd read the unit, and restarts a host that runs the version before: its rooms
# go on. Nobody's host is started for them.
set -e
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart muster.service
fi
