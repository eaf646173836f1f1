// The root every machine starts from: Debian with systemd and what a kubelet needs from the system, made once.

import { createHash } from 'node:crypto'
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { cachedFolder } from './cache-folder.ts'
import { needHostPackages } from './host-packages.ts'
import { runProgram } from './run-program.ts'

const release = 'bookworm'
const packages = [
  ...['systemd', 'systemd-sysv', 'dbus', 'iproute2', 'iputils-ping', 'ca-certificates', 'procps', 'kmod', 'curl'],
  ...['netbase', 'gpgv', 'jq', 'iptables', 'conntrack', 'ethtool', 'socat', 'ebtables', 'runc', 'busybox-static'],
]

// systemd-nspawn mounts the old controllers read-only; the machine's own part of them is its to write.
export const writableCgroups = `[Unit]
Description=make the controllers of this machine's own cgroup namespace writable
DefaultDependencies=no
Before=sysinit.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c 'mount -o remount,rw /sys/fs/cgroup; for d in /sys/fs/cgroup/*/; do mount -o remount,bind,rw $d; done; mount --make-rshared /; true'
[Install]
WantedBy=sysinit.target
`

const files: Readonly<Record<string, string>> = {
  // Filled at the first boot: no two machines share it.
  'etc/machine-id': '',
  'etc/apt/sources.list': '',
  'etc/apt/apt.conf.d/90bed': 'Acquire::Languages "none";\nAcquire::Retries "0";\n',
  'etc/sysctl.d/99-kubernetes.conf': 'net.ipv4.ip_forward = 1\n',
  'etc/systemd/system/writable-cgroups.service': writableCgroups,
}
// There are no devices to find, no network to configure, nobody to show a login prompt to, and nothing to do by the clock.
const masked = [
  'systemd-networkd-wait-online.service',
  'systemd-udevd.service',
  'systemd-resolved.service',
  'console-getty.service',
  'apt-daily.timer',
  'apt-daily-upgrade.timer',
  'dpkg-db-backup.timer',
  'fstrim.timer',
  'e2scrub_all.timer',
]

export async function baseRoot(): Promise<string> {
  const recipe = createHash('sha256')
    .update(JSON.stringify([release, packages, files, masked]))
    .digest('hex')
  return cachedFolder(`debian-${release}-${process.arch}-${recipe.slice(0, 12)}`, async (root) => {
    await needHostPackages()
    const include = `--include=${packages.join(',')}`
    await runProgram('debootstrap', ['--variant=minbase', include, release, root, await debianMirror()])
    // mkdtemp made it for us alone; a root must be open to its users.
    await chmod(root, 0o755)
    await rm(join(root, 'var/lib/dbus/machine-id'), { force: true })
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(root, path)), { recursive: true })
      await writeFile(join(root, path), content)
    }
    await mkdir(join(root, 'etc/apt/keyrings'), { recursive: true })
    await runProgram('chroot', [root, 'systemctl', 'enable', 'writable-cgroups.service'])
    await runProgram('chroot', [root, 'systemctl', 'mask', ...masked])
    await runProgram('chroot', [root, 'apt-get', 'clean'])
  })
}

/** Where this machine has its own Debian packages from, so that the bed asks nobody else. */
export async function debianMirror(): Promise<string> {
  const sites = await runProgram('apt-get', ['indextargets', '--format', '$(SITE)', 'Created-By: Packages'])
  const mirror = sites.split('\n').find((site) => /^http:.*\/debian\/?$/.test(site))
  return mirror ?? 'http://deb.debian.org/debian'
}
