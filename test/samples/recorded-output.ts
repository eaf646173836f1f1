// What programs that could not be had here print about their version, as people have recorded it in public. Each says where.

export interface Recording {
  /** What was typed. */
  readonly argv: readonly [program: string, ...words: string[]]
  readonly output: string
  /** Who recorded it, or which source prints it. */
  readonly source: string
}

const kata = 'https://github.com/kata-containers/kata-containers/issues'

/** An older and a newer one of each runtime. */
export const recordedRuntimes = {
  'cri-o': [
    {
      argv: ['crio', '--version'],
      source: `${kata}/4164`,
      output: `crio version 1.23.2
Version:          1.23.2
GitCommit:        9a36bb83172c02ebd060586086abd6c160e8a550
GitTreeState:     clean
BuildDate:        2022-04-22T03:48:15Z
GoVersion:        go1.17.3
Compiler:         gc
Platform:         linux/amd64
Linkmode:         dynamic
BuildTags:        exclude_graphdriver_devicemapper, seccomp, selinux
SeccompEnabled:   true
AppArmorEnabled:  false
`,
    },
    {
      argv: ['crio', '--version'],
      source: `${kata}/11281`,
      output: `crio version 1.29.1
Version:        1.29.1
GitCommit:      unknown
GitCommitDate:  unknown
GitTreeState:   clean
BuildDate:      2025-01-14T08:57:58Z
GoVersion:      go1.21.6
Compiler:       gc
Platform:       linux/amd64
Linkmode:       dynamic
BuildTags:      
  containers_image_ostree_stub
  exclude_graphdriver_btrfs
  btrfs_noversion
  exclude_graphdriver_devicemapper
  libdm_no_deferred_remove
  seccomp
LDFlags:          unknown
SeccompEnabled:   true
AppArmorEnabled:  false
`,
    },
  ],
  // Nobody seems to have published one: the words are those its source prints, and the first has the version and the commit of a
  // release. The second is composed: a later version with the commit of the source that was read.
  iSulad: [
    {
      argv: ['isulad', '--version'],
      source:
        'https://github.com/openeuler-mirror/iSulad/blob/6acaf8797dbc6afdebe9ef9b64c3173167470579/src/cmd/isulad/isulad_commands.c',
      output: 'Version 2.0.18, commit cbbf3711bc84e5f3ef3147b4e15d85888f33cb39\n',
    },
    {
      argv: ['isulad', '--version'],
      source:
        'https://github.com/openeuler-mirror/iSulad/blob/6acaf8797dbc6afdebe9ef9b64c3173167470579/src/cmd/isulad/isulad_commands.c',
      output: 'Version 2.1.5, commit 6acaf8797dbc6afdebe9ef9b64c3173167470579\n',
    },
  ],
} as const satisfies Readonly<Record<string, readonly [older: Recording, newer: Recording]>>

/** Of the programs that come as one file. */
export const recordedBinaries = {
  k3s: [
    {
      argv: ['k3s', '--version'],
      source: 'https://github.com/k3s-io/k3s/issues/6587',
      output: 'k3s version v1.23.14+k3s-9fc26d72 (9fc26d72)\ngo version go1.17.13\n',
    },
    {
      argv: ['k3s', '--version'],
      source: 'https://github.com/k3s-io/k3s/issues/10854',
      output: 'k3s version v1.31.1+k3s1 (452dbbc1)\ngo version go1.22.6\n',
    },
  ],
  rke2: [
    {
      argv: ['rke2', '--version'],
      source: 'https://github.com/rancher/rke2/issues/6926',
      output:
        'rke2 version v1.31.1-rc1+rke2r2 (a1d5456aec21b761ac85f0348a1926290e48c38b)\ngo version go1.22.6 X:boringcrypto\n',
    },
    {
      argv: ['rke2', '--version'],
      source: 'https://github.com/rancher/rke2/issues/7842',
      output:
        'rke2 version v1.31.6+rke2r1 (f75cdf813703af4bc224b91bfb3c48d10aeb9fd0)\ngo version go1.22.12 X:boringcrypto\n',
    },
  ],
  // It has a word for it and no flag.
  k0s: [
    { argv: ['k0s', 'version'], source: 'https://github.com/k0sproject/k0s/issues/602', output: 'v0.8.1\n' },
    { argv: ['k0s', 'version'], source: 'https://github.com/k0sproject/k0s/issues/3977', output: 'v1.26.2+k0s.0\n' },
  ],
} as const satisfies Readonly<Record<string, readonly [older: Recording, newer: Recording]>>
