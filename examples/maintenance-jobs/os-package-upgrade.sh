#!/bin/sh
# Upgrades the operating system's packages on Debian and Ubuntu, except those that belong to Kubernetes and its container
# runtime: these are upgraded by a DirectUpdate or a job of their own. Packages a person holds back stay as they are.
# Safe to run again: what is up to date is left alone, and an interrupted run is repaired first.
set -eu

if ! command -v apt-get >/dev/null 2>&1; then
  echo "this job is for hosts with apt; there is none here" >&2
  exit 1
fi

DEBIAN_FRONTEND=noninteractive
export DEBIAN_FRONTEND
ours=' kubeadm kubelet kubectl kubernetes-cni cri-tools containerd containerd.io docker.io docker-ce docker-ce-cli moby-engine '

# A run that lost its power in the middle leaves half-configured packages.
dpkg --configure -a
apt-get -o DPkg::Lock::Timeout=600 -q update

# What an upgrade would change, without what is held back and without new packages.
packages=
for package in $(apt-get -q -s upgrade | awk '$1 == "Inst" { print $2 }'); do
  case $ours in
    *" $package "*) echo "left alone: $package" ;;
    *) packages="$packages $package" ;;
  esac
done

if [ -z "$packages" ]; then
  echo "everything is up to date"
else
  # shellcheck disable=SC2086 # a list of names
  apt-get -o DPkg::Lock::Timeout=600 -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold \
    -q -y --only-upgrade install $packages
fi

broken=$(dpkg --audit)
if [ -n "$broken" ]; then
  echo "packages are left broken:" >&2
  echo "$broken" >&2
  exit 1
fi
if [ -e /var/run/reboot-required ]; then
  echo "the upgrade asks for a reboot"
fi
