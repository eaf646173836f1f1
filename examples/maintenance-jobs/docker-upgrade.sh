#!/bin/sh
# Upgrades Docker (docker-ce, Debian's docker.io or Microsoft's moby-engine) with the parts of it that are installed, and
# restarts what changed. Without live-restore all containers stop while Docker restarts; the node is empty, so this is said only.
# Holds are kept as they were found.
set -eu

DEBIAN_FRONTEND=noninteractive
export DEBIAN_FRONTEND

packages=
for name in docker-ce docker-ce-cli docker-buildx-plugin docker-compose-plugin docker.io moby-engine moby-cli moby-buildx; do
  if dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null | grep -qx installed; then
    packages="$packages $name"
  fi
done
if [ -z "$packages" ]; then
  echo "no Docker of a package we know is installed" >&2
  exit 1
fi

if [ "$(docker info --format '{{.LiveRestoreEnabled}}' 2>/dev/null)" != true ]; then
  echo "live-restore is off: containers stop while Docker restarts"
fi

# shellcheck disable=SC2086 # a list of names
versions() { dpkg-query -W -f '${Package} ${Version}\n' $packages; }

# apt forgets a hold when it changes the package. Only a power loss in the middle of the upgrade can lose it.
# shellcheck disable=SC2086 # a list of names
held=$(apt-mark showhold $packages)
hold_again() {
  # shellcheck disable=SC2086 # a list of names
  if [ -n "$held" ]; then apt-mark hold $held; fi
}
trap hold_again EXIT
trap 'exit 143' INT TERM

dpkg --configure -a
apt-get -o DPkg::Lock::Timeout=600 -q update
before=$(versions)
# shellcheck disable=SC2086
apt-get -o DPkg::Lock::Timeout=600 -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold \
  -q -y --allow-change-held-packages --only-upgrade install $packages
after=$(versions)

if [ "$before" = "$after" ]; then
  echo "Docker is the newest on offer"
else
  echo "$after"
  systemctl daemon-reload
  systemctl restart docker.service
  # A kubelet that talks to Docker (through cri-dockerd) has lost its connection.
  if systemctl -q is-active cri-docker.service; then systemctl restart cri-docker.service kubelet.service; fi
fi

tries=0
until docker version --format '{{.Server.Version}}' 2>/dev/null; do
  tries=$((tries + 1))
  if [ "$tries" -ge 30 ]; then
    echo "Docker does not answer after its upgrade" >&2
    systemctl --no-pager status docker.service >&2 || true
    exit 1
  fi
  sleep 2
done
