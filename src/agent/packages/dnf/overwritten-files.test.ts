import { expect, it } from 'vitest'
import { isLeftOver } from './overwritten-files.ts'

// As rpm 4.18 says it, the digests cut short. It is asked to install 2.0 beside 1.0: with `program` it refuses, and only an upgrade that
// is killed before it removes the old version leaves both; all others it takes.
const program = (version: string, digest: string, architecture = 'noarch') =>
  `cut\t0:${version}-1\t${architecture}\n\t/opt/cut\n\t/opt/cut/link\n${digest}\t/opt/cut/only-${version}\n${digest}\t/opt/cut/version\n`
const versioned = (version: string, digest: string) =>
  `cut\t0:${version}-1\tnoarch\n\t/opt/cut\n\t/opt/cut/${version}\n${digest}\t/opt/cut/${version}/x\n\t/opt/cut/current\n`
const licensed = (version: string, digest: string) =>
  `${versioned(version, digest)}\t/opt/cut/log\nd9e6\t/usr/share/licenses/cut/LICENSE\n`
const folders = (version: string) => `cut\t0:${version}-1\tnoarch\n\t/opt/cut\n`
const empty = (version: string) => `cut\t0:${version}-1\tnoarch\n`

it.each([
  ['share a file with other content', program('2.0', 'd526') + program('1.0', '5717'), true],
  [
    'are three, and one shares no file',
    program('2.0', 'd526') + program('1.0', '5717') + versioned('0.9', '88aa'),
    false,
  ],
  ['have files in folders of their own', versioned('1.0', '5717') + versioned('2.0', 'd526'), false],
  ['share a licence and a ghost, too', licensed('1.0', '5717') + licensed('2.0', 'd526'), false],
  ['share a folder only', folders('1.0') + folders('2.0'), false],
  ['have no files', empty('1.0') + empty('2.0'), false],
  ['are the same, which rpm installs but once', program('2.0', 'd526') + program('2.0', 'd526'), true],
  ['went from one kind to the other', program('2.0', 'd526', 'x86_64') + program('1.0', '5717'), true],
  ['are of another architecture', program('2.0', 'd526', 'x86_64') + program('1.0', '5717', 'i686'), false],
  ['are not there any more', 'package cut is not installed\n', false],
])('versions that %s', (_, said, left) => {
  expect(isLeftOver(said, 'cut', '2.0-1', 'x86_64')).toBe(left)
})
