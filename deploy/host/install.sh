#!/bin/sh
# Installs the Slipway agent as a service of this host, or brings it up to date:
#   sh install.sh [--node-name NAME] [--only reboots] [--no-start]
# What it was told before holds until it is told otherwise: --node-name %H is the name of the host, --only all every driver.
# Takes it off again: sh install.sh --remove
set -eu

folder=/opt/slipway
unit=/etc/systemd/system/slipway-agent.service
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)

fail() {
  printf 'error: %s\nnext: %s\n' "$1" "$2" >&2
  exit 1
}

# What the unit that is there says to the agent.
before() {
  [ "$remove" = yes ] || [ ! -e "$unit" ] || sed -n "s|^ExecStart=.* --$1=\([^ ]*\).*|\1|p" "$unit"
}

node_name=
only=
start=yes
remove=no
while [ $# -gt 0 ]; do
  case $1 in
    --node-name) node_name=${2:?error: --node-name needs the name of the node}; shift ;;
    --node-name=?*) node_name=${1#*=} ;;
    --only) only=${2:?error: --only needs reboots or all}; shift ;;
    --only=reboots | --only=all) only=${1#*=} ;;
    --no-start) start=no ;;
    --remove) remove=yes ;;
    *) fail "install.sh knows no $1" 'sh install.sh [--node-name NAME] [--only reboots] [--no-start] | --remove' ;;
  esac
  shift
done
kept=
if [ -z "$node_name" ]; then
  node_name=$(before node-name)
  : "${node_name:=%H}"
  [ "$node_name" = %H ] || kept="$kept --node-name=$node_name"
fi
if [ -z "$only" ]; then
  only=$(before only)
  [ -z "$only" ] || kept="$kept --only=$only"
fi
case $only in
  '' | all | reboots) ;;
  *) fail "install.sh knows no --only=$only" 'say --only reboots, or --only all for every driver' ;;
esac
case $node_name in
  %H) ;;
  *[!a-z0-9.-]*) fail "$node_name is no name of a node" 'take it from: kubectl get nodes' ;;
esac
[ "$(id -u)" = 0 ] || fail 'only root can install a service' 'run it as root'

if [ "$remove" = yes ]; then
  systemctl disable --now slipway-agent.service 2>/dev/null || true
  rm -rf "$unit" "$folder"
  systemctl daemon-reload
  echo 'removed; the journal in /var/lib/slipway stays: rm -r /var/lib/slipway takes it away, too'
  exit 0
fi

# Before anything is changed: the Node that is brought needs glibc 2.28 and libstdc++ of the host.
"$here/node" "$here/slipway.mjs" --version >/dev/null ||
  fail 'the Node of this bundle does not run here' "look that the bundle is for this machine ($(uname -m)), and that it has glibc 2.28 or newer and libstdc++"

command -v systemctl >/dev/null 2>&1 ||
  fail 'there is no systemctl: the agent runs as a service of systemd' 'run it on a host with systemd'

# Made beside its place and moved there whole; an agent that runs keeps the files it has open.
rm -rf "$folder.new" "$folder.old"
mkdir -p "$folder.new"
cp -R "$here/." "$folder.new/"
chown -R 0:0 "$folder.new"
[ ! -e "$folder" ] || mv "$folder" "$folder.old"
mv "$folder.new" "$folder"
rm -rf "$folder.old"
flags=
[ "$only" != reboots ] || flags=' --only=reboots'
sed "s|^\(ExecStart=.*\)--node-name=%H\(.*\)|\1--node-name=$node_name\2$flags|" "$folder/slipway-agent.service" > "$unit.new"
mv "$unit.new" "$unit"
if command -v restorecon >/dev/null 2>&1; then restorecon -R "$folder" "$unit"; fi

systemctl daemon-reload
systemctl enable --quiet slipway-agent.service ||
  fail 'systemd does not start the agent at boot' 'put right what systemctl says above, and run this again'
if [ "$start" = yes ]; then systemctl restart slipway-agent.service; fi
[ -z "$kept" ] || echo "as before:$kept"
echo "installed Slipway $("$folder/slipway" --version) in $folder; see: systemctl status slipway-agent"
