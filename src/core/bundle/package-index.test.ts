import { describe, expect, it } from 'vitest'
import { debIndexEntry } from './deb-index.ts'
import { fileListsXml, primaryXml, type RpmLook, readRpmLook, repositoryXml, rpmQueryFormat } from './rpm-index.ts'

const sha256 = 'b'.repeat(64)
const deb = { path: 'packages/deb/a_1.0_all.deb', bytes: 12, sha256 }

describe('the index for apt', () => {
  it.each([
    [
      'Package: a\nVersion: 1.0\nDescription: short\n long\n .\n more\n',
      'Package: a\nVersion: 1.0\nDescription: short\n long\n .\n more\n',
    ],
    // What a package says about its own file is not believed, and an empty line would begin another package.
    ['Package: a\nFilename: /etc/shadow\nSHA256: 0\n\nVersion: 1.0\n\n', 'Package: a\nVersion: 1.0\n'],
  ])('of %j', (control, fields) => {
    expect(debIndexEntry(control, deb)).toBe(`${fields}Filename: ./a_1.0_all.deb\nSize: 12\nSHA256: ${sha256}\n`)
  })

  it.each(['', 'Package: a\n', 'Version: 1.0\n', 'garbage'])('has nothing of %j', (control) => {
    expect(debIndexEntry(control, deb)).toBeUndefined()
  })
})

// As rpm 4.18 answers our query format; an epoch, an alternative and an obsoleted package were added.
const answer = [
  'package\tkubectl\t0\t1.36.3\t150500.1.1\tx86_64\t60000000\t1784736000',
  'provides\tkubectl\t8\t1.36.3-150500.1.1',
  'provides\tkubectl(x86-64)\t8\t1.36.3-150500.1.1',
  'requires\t/bin/sh\t1280\t',
  'requires\tlib\t12\t1:1.5',
  'requires\trpmlib(PayloadIsZstd)\t16777226\t5.4.18-1',
  'requires\t(a if b)\t0\t',
  'obsoletes\told-kubectl\t2\t1.0',
  'file\t/usr/bin/kubectl',
  'file\t/usr/share/kubectl/a&b',
  '',
].join('\n')
const file = { path: 'packages/rpm/kubectl.x86_64.rpm', bytes: 34, sha256 }

function lookOf(text: string): RpmLook {
  const look = readRpmLook(text)
  if (!look) throw new Error('it is a package')
  return look
}

describe('the index for dnf', () => {
  it('asks rpm for all that it needs', () => {
    expect(rpmQueryFormat).toContain('[requires\t%{REQUIRENAME}\t%{REQUIREFLAGS}\t%{REQUIREVERSION}\n]')
  })

  it('names what the package has and needs', () => {
    const xml = primaryXml([{ look: lookOf(answer), file }])
    for (const part of [
      '<version epoch="0" ver="1.36.3" rel="150500.1.1"/>',
      `<checksum type="sha256" pkgid="YES">${sha256}</checksum>`,
      '<location href="kubectl.x86_64.rpm"/>',
      '<rpm:entry name="kubectl" flags="EQ" epoch="0" ver="1.36.3" rel="150500.1.1"/>',
      '<rpm:entry name="/bin/sh"/>',
      '<rpm:entry name="lib" flags="GE" epoch="1" ver="1.5"/>',
      '<rpm:entry name="(a if b)"/>',
      '<rpm:obsoletes>\n<rpm:entry name="old-kubectl" flags="LT" epoch="0" ver="1.0"/>\n</rpm:obsoletes>',
      '<file>/usr/bin/kubectl</file>',
    ]) {
      expect(xml).toContain(part)
    }
    expect(xml).not.toContain('rpmlib')
    expect(xml).not.toContain('conflicts')
    expect(xml).not.toContain('/usr/share')
  })

  it('lists all files, and the two parts by their sums', () => {
    expect(fileListsXml([{ look: lookOf(answer), file }])).toContain('<file>/usr/share/kubectl/a&amp;b</file>')
    const xml = repositoryXml([{ type: 'primary', sha256, bytes: 5 }])
    expect(xml).toContain(`<checksum type="sha256">${sha256}</checksum>`)
    expect(xml).toContain('<location href="repodata/primary.xml"/>')
  })

  it.each(['', 'package\ta\n', `${answer}${answer}`, answer.replace('\t0\t', '\t(none)\t')])(
    'has nothing of %j',
    (text) => {
      expect(readRpmLook(text)).toBeUndefined()
    },
  )
})
