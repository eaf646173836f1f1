// Debian with a real dnf or zypper and an rpm database of its own, as a layer over the base of the bed's machines.

import { baseRoot } from '../base-root.ts'
import { debianLayer } from '../debian-root.ts'

export type PackageManager = 'dnf' | 'zypper'

// One root each: Debian's dnf-plugins-core breaks zypper.
const packages: Readonly<Record<PackageManager, readonly string[]>> = {
  dnf: ['dnf', 'dnf-plugins-core', 'createrepo-c', 'rpm', 'file', 'gpg', 'gpg-agent'],
  zypper: ['zypper', 'rpm', 'file', 'gpg'],
}

// The database starts empty. One package stands for what dpkg has installed, so that dependencies, scriptlets and
// $releasever work.
const settle = `mkdir -p /etc/rpm /var/lib/rpm /etc/yum.repos.d
# Debian's rpm keeps its database in the caller's home unless told.
echo '%_dbpath /var/lib/rpm' > /etc/rpm/macros.bed
rpm --initdb
printf '%s\\n' 'Name: bed-base' 'Version: 9' 'Release: 1' 'Summary: what dpkg has installed' 'License: none' 'BuildArch: noarch' \\
  'Provides: /bin/sh /bin/bash /usr/bin/sh systemd iptables ethtool conntrack-tools socat iproute util-linux' \\
  'Provides: system-release = 9 system-release(releasever) = 9 distribution-release = 9' \\
  '%description' 'Stands for the packages of another package manager.' '%files' > /run/bed-base.spec
rpmbuild --quiet -bb --define '_topdir /run/rpmbuild' /run/bed-base.spec
rpm --force-debian -i /run/rpmbuild/RPMS/noarch/bed-base-9-1.noarch.rpm
# Debian ships the local plugin enabled, and every transaction then fails on its missing repository.
[ ! -e /etc/dnf/plugins/local.conf ] || sed -i 's/^enabled *=.*/enabled = false/' /etc/dnf/plugins/local.conf`

/** The uppermost first. */
export async function rpmLayers(manager: PackageManager): Promise<readonly string[]> {
  const base = await baseRoot()
  return [await debianLayer(base, packages[manager], settle), base]
}
