#!/bin/sh
# Asks for a reboot of this host, as its own packages would. With spec.reboots of the MaintenancePolicy set to this file, the
# node is rebooted in the same drain, before it goes back to work.
set -eu

sentinel=${REBOOT_SENTINEL:-/var/run/reboot-required}

: >"$sentinel"
echo "asked for a reboot: $sentinel"
