import { expect, it } from 'vitest'
import { etcdLeap } from './etcd-leap.ts'

const atOnce = (from: string, to: string) =>
  `VersionSkipsMinor: etcd is upgraded one minor version at a time: etcd-server ${from} cannot become ${to} at once`
const zombies = (from: string, to: string) =>
  `VersionSkipsMinor: etcd-server ${from} must become 3.5.26 or a later 3.5 before ${to}, or members removed long ago come back (https://etcd.io/blog/2025/zombie_members_upgrade/); install that, or pin it and try again`

it.each<[string | undefined, string, string | undefined]>([
  ['3.4.23', '3.5.9-1', undefined],
  ['3.4.23', '3.6.8+ds-1', atOnce('3.4.23', '3.6.8+ds-1')],
  ['3.5.16+dfsg1-1', '3.6.8-1', zombies('3.5.16+dfsg1-1', '3.6.8-1')],
  ['1:3.5.25-1', '1:3.6.0-1', zombies('1:3.5.25-1', '1:3.6.0-1')],
  ['3.5~git', '3.6.0-1', zombies('3.5~git', '3.6.0-1')],
  ['3.5.26-1', '3.6.8-1', undefined],
  ['3.5.100-1', '3.6.8-1', undefined],
  ['3.5.9', '3.5.26-1', undefined],
  ['3.6.5', '3.6.8', undefined],
  ['3.6.5', '3.7.0', undefined],
  ['3.6.5', '4.0.0', atOnce('3.6.5', '4.0.0')],
  [undefined, '3.6.8', undefined],
])('from %s to %s', (previous, version, said) => {
  const traits = { architecture: 'amd64', wanted: true, held: false, automatic: false }
  const found = etcdLeap([{ name: 'etcd-server', version, ...(previous !== undefined && { previous }), ...traits }])
  expect(found && `${found.code}: ${found.message}`).toBe(said)
})

it('a client has no members that come back', () => {
  const traits = { architecture: 'amd64', wanted: true, held: false, automatic: false }
  expect(etcdLeap([{ name: 'etcd-client', version: '3.6.8', previous: '3.5.9', ...traits }])).toBeUndefined()
})

it('a package that is only brought along is not asked', () => {
  const brought = {
    name: 'libfoo',
    version: '9.0',
    previous: '1.0',
    architecture: 'amd64',
    held: false,
    automatic: true,
  }
  expect(etcdLeap([{ ...brought, wanted: false }])).toBeUndefined()
})
