#!/bin/sh
# Upgrades containerd (Debian's containerd or Docker's containerd.io) to the newest version on offer and restarts it. Running
# containers go on meanwhile, but the node must be empty all the same: a new runtime may not come up.
# A hold on the package is kept as it was found.
set -eu

DEBIAN_FRONTEND=noninteractive
export DEBIAN_FRONTEND

package=
for name in containerd.io containerd; do
  if dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null | grep -qx installed; then
    package=$name
    break
  fi
done
if [ -z "$package" ]; then
  echo "neither containerd nor containerd.io is installed" >&2
  exit 1
fi

# apt forgets a hold when it changes the package. Only a power loss in the middle of the upgrade can lose it.
held=$(apt-mark showhold "$package")
hold_again() {
  # shellcheck disable=SC2086 # a list of names
  if [ -n "$held" ]; then apt-mark hold $held; fi
}
trap hold_again EXIT
trap 'exit 143' INT TERM

dpkg --configure -a
apt-get -o DPkg::Lock::Timeout=600 -q update
before=$(dpkg-query -W -f '${Version}' "$package")
apt-get -o DPkg::Lock::Timeout=600 -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold \
  -q -y --allow-change-held-packages --only-upgrade install "$package"
after=$(dpkg-query -W -f '${Version}' "$package")

if [ "$before" = "$after" ]; then
  echo "$package $before is the newest on offer"
else
  echo "$package: $before -> $after"
  systemctl daemon-reload
  systemctl restart containerd.service
fi

# Up means that it answers, not only that its process is there.
tries=0
until systemctl -q is-active containerd.service && ctr --timeout 5s version >/dev/null 2>&1; do
  tries=$((tries + 1))
  if [ "$tries" -ge 30 ]; then
    echo "containerd does not answer after its upgrade" >&2
    systemctl --no-pager status containerd.service >&2 || true
    exit 1
  fi
  sleep 2
done
