// RPM packages made on the spot, as the spec files that rpmbuild makes them from.

export interface RpmPackage {
  readonly name: string
  readonly version: string
  readonly release?: string
  readonly requires?: readonly string[]
  /** By path; those below a `bin` are executable. Files below /etc are configuration, kept when changed. */
  readonly files: Readonly<Record<`/${string}`, string>>
  /** A shell program run after the installation; its failure is the package's. */
  readonly afterInstall?: string
}

export interface StubKubeletOptions {
  /** Its script after the installation fails. */
  readonly broken?: boolean
}

/** Shaped like the package of that name: it says its version, and otherwise waits. */
export function stubKubelet(version: string, { broken = false }: StubKubeletOptions = {}): RpmPackage {
  return {
    name: 'kubelet',
    version,
    release: '150500.1.1',
    requires: ['iptables', 'ethtool'],
    files: {
      '/usr/bin/kubelet': `#!/bin/sh\necho "Kubernetes v${version}"\n[ "$1" = --version ] || exec sleep infinity\n`,
      '/usr/lib/systemd/system/kubelet.service':
        '[Unit]\nDescription=kubelet\n[Service]\nExecStart=/usr/bin/kubelet\nRestart=always\n[Install]\nWantedBy=multi-user.target\n',
      '/etc/sysconfig/kubelet': 'KUBELET_EXTRA_ARGS=\n',
    },
    ...(broken ? { afterInstall: 'echo "the scriptlet fails" >&2; exit 1' } : {}),
  }
}

export function specOf(rpm: RpmPackage): string {
  const paths = Object.keys(rpm.files)
  return [
    '%global debug_package %{nil}',
    `Name: ${rpm.name}`,
    `Version: ${rpm.version}`,
    `Release: ${rpm.release ?? '1'}`,
    `Summary: stub ${rpm.name} ${rpm.version}`,
    'License: none',
    ...(rpm.requires ?? []).map((name) => `Requires: ${name}`),
    '%description',
    'Made for a test.',
    '%install',
    ...Object.entries(rpm.files).flatMap(([path, content]) => installLines(path, content)),
    ...(rpm.afterInstall === undefined ? [] : ['%post', rpm.afterInstall]),
    '%files',
    ...paths.map((path) => (path.startsWith('/etc/') ? `%config(noreplace) ${path}` : path)),
    '',
  ].join('\n')
}

/** The content goes through base64: a spec file has its own ideas about quotes and percent signs. */
function installLines(path: string, content: string): string[] {
  const target = `%{buildroot}${path}`
  return [
    `mkdir -p $(dirname ${target})`,
    `echo ${Buffer.from(content).toString('base64')} | base64 -d > ${target}`,
    `chmod ${path.includes('/bin/') ? '755' : '644'} ${target}`,
  ]
}
