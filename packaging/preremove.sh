#!/bin/sh
# Ends the host before its program goes, and leaves none to be started. An upgrade, which
# Debian calls by name and others by the number 1, restarts it afterwards.
set -e
case "$1" in
remove | 0)
	if [ -d /run/systemd/system ]; then
		systemctl disable --now muster.service
	else
		rm -f /etc/systemd/system/multi-user.target.wants/muster.service
	fi
	;;
esac
