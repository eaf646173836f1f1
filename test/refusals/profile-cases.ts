import type { RefusalCase } from './cases.ts'

function profile(what: string, spec: object, field: string, words: string): RefusalCase {
  return { what: `a profile with ${what}`, kind: 'NodeProfile', spec, field, says: words }
}

const file = { path: '/etc/motd', content: 'hello\n' }
const escapes = ['/etc/../root/.ssh/authorized_keys', '/etc/./motd', '/etc//motd', '/etc/motd/', 'etc/motd', '/etc/..']

export const refusedProfiles: readonly RefusalCase[] = [
  profile('nothing', {}, 'spec', 'names nothing: set repositories'),
  profile(
    'a canary that wants an approval',
    { files: [file], strategy: { type: 'Canary' } },
    'spec.strategy',
    'asks for approval, and a NodeProfile has none',
  ),
  profile(
    'waves that want an approval',
    { files: [file], strategy: { waves: [{ size: 1, promotion: 'Manual' }, { size: '100%' }] } },
    'spec.strategy',
    'asks for approval, and a NodeProfile has none',
  ),
  ...escapes.map((path) =>
    profile(`the path ${path}`, { files: [{ ...file, path }] }, 'spec.files[0].path', 'must be an absolute path'),
  ),
  profile('a path twice', { files: [file, file] }, 'spec.files', 'lists one path twice'),
  profile('no content', { files: [{ path: '/etc/motd' }] }, 'spec.files[0]', 'must have exactly one of content'),
  profile(
    'two contents',
    { files: [{ ...file, secret: { name: 'motd', key: 'text' } }] },
    'spec.files[0]',
    'must have exactly one of content',
  ),
  profile(
    'a file of the kernel',
    { files: [{ ...file, path: '/proc/sys/vm/swappiness' }] },
    'spec.files[0]',
    'use sysctls for kernel settings',
  ),
  profile(
    'a file of our own',
    { files: [{ ...file, path: '/var/lib/slipway/agent.json' }] },
    'spec.files[0]',
    'Slipway keeps its own files there',
  ),
  profile('a mode in words', { files: [{ ...file, mode: 'rw' }] }, 'spec.files[0].mode', 'octal digits'),
  profile(
    'a package twice',
    { packages: [{ name: 'chrony' }, { name: 'chrony', state: 'Absent' }] },
    'spec.packages',
    'lists one name twice',
  ),
  profile(
    'a version of an absent package',
    { packages: [{ name: 'telnetd', state: 'Absent', version: '1.0' }] },
    'spec.packages[0]',
    'has neither version nor hold',
  ),
  profile('an option for a package', { packages: [{ name: '-y' }] }, 'spec.packages[0].name', 'the name of a package'),
  profile('no unit suffix', { units: [{ name: 'chrony' }] }, 'spec.units[0].name', 'with its suffix'),
  profile(
    'a drop-in that climbs',
    { units: [{ name: 'chrony.service', dropIns: [{ name: '../x.conf', content: '' }] }] },
    'spec.units[0].dropIns[0].name',
    'must be a file name such as limits.conf',
  ),
  profile(
    'a drop-in twice',
    { units: [{ name: 'a.service', dropIns: ['x', 'y'].map((content) => ({ name: 'a.conf', content })) }] },
    'spec.units[0].dropIns',
    'names a drop-in twice',
  ),
  profile('two lines of a sysctl', { sysctls: { 'vm.a': '1\n2' } }, 'spec.sysctls[vm.a]', 'one line of printable'),
  profile('a sysctl with a space', { sysctls: { 'vm a': '1' } }, 'spec.sysctls', 'the name of a kernel setting'),
  profile('a repository of nothing', { repositories: [{ name: 'a' }] }, 'spec.repositories[0]', 'set apt, dnf or both'),
  profile(
    'a kernel argument both ways',
    { kernelArguments: { add: ['quiet'], remove: ['quiet'] } },
    'spec.kernelArguments',
    'adds and removes one kernel argument',
  ),
  profile(
    'two kernel arguments in one',
    { kernelArguments: { add: ['a b'] } },
    'spec.kernelArguments.add[0]',
    'without spaces',
  ),
]

export const acceptedProfiles: readonly { readonly what: string; readonly spec: object }[] = [
  { what: 'a file', spec: { files: [{ ...file, mode: '0600', owner: 'root', restarts: ['chrony.service'] }] } },
  { what: 'hidden names', spec: { files: [{ ...file, path: '/root/.config/.profile' }] } },
  {
    what: 'all of it',
    spec: {
      nodeSelector: { matchLabels: { pool: 'a' } },
      priority: 10,
      repositories: [
        { name: 'kubernetes', apt: { uris: ['https://pkgs.example/deb/'], suites: ['/'], signedBy: 'KEY' } },
        { name: 'extras', dnf: { baseurl: 'https://pkgs.example/rpm/', gpgkey: 'KEY' } },
      ],
      packages: [
        { name: 'chrony', state: 'Present' },
        { name: 'containerd', version: '2.1.*', hold: true },
      ],
      files: [file, { path: '/etc/token', secret: { name: 'token', key: 'value' } }],
      units: [{ name: 'chrony.service', enabled: true, state: 'Running', dropIns: [{ name: 'a.conf', content: '' }] }],
      kernelArguments: { add: ['mitigations=auto'], remove: ['quiet'] },
      sysctls: { 'vm.max_map_count': '262144', 'net.ipv4.tcp_rmem': '4096 87380 6291456' },
      rollout: 'ByUpdate',
      disruption: 'Drain',
      whenRemoved: 'Keep',
      strategy: { maxUnavailable: '10%', maxFailures: 0 },
      drift: { check: '10m', action: 'Report' },
    },
  },
]
