import { describe, expect, it } from 'vitest'
import { aptRepositoryFiles, dnfRepositoryFiles } from './repository-files.ts'

const key = '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmDME\n-----END PGP PUBLIC KEY BLOCK-----'

describe('aptRepositoryFiles', () => {
  it('writes a key given as text into a file of its own', () => {
    const apt = { uris: ['https://a/', 'https://b/'], suites: ['/'], signedBy: key }
    expect(aptRepositoryFiles({ name: 'tools', apt })).toEqual([
      { path: '/etc/apt/keyrings/slipway-tools.asc', content: `${key}\n` },
      {
        path: '/etc/apt/sources.list.d/slipway-tools.sources',
        content: 'Types: deb\nURIs: https://a/ https://b/\nSuites: /\nSigned-By: /etc/apt/keyrings/slipway-tools.asc\n',
      },
    ])
  })

  it('names a keyring that lies on the host', () => {
    const apt = {
      uris: ['https://a/'],
      suites: ['stable'],
      components: ['main'],
      signedBy: '/usr/share/keyrings/a.gpg',
    }
    expect(aptRepositoryFiles({ name: 'a', apt }).map((file) => file.content)).toEqual([
      'Types: deb\nURIs: https://a/\nSuites: stable\nComponents: main\nSigned-By: /usr/share/keyrings/a.gpg\n',
    ])
  })

  it('has nothing for a repository of another package manager', () => {
    expect(aptRepositoryFiles({ name: 'a', dnf: { baseurl: 'https://a/', gpgkey: key } })).toEqual([])
  })
})

describe('dnfRepositoryFiles', () => {
  it('writes the key into a file of its own', () => {
    const [keyFile, repo] = dnfRepositoryFiles({ name: 'a', dnf: { baseurl: 'https://a/', gpgkey: key } })
    expect(keyFile?.path).toBe('/etc/pki/rpm-gpg/RPM-GPG-KEY-slipway-a')
    expect(repo).toEqual({
      path: '/etc/yum.repos.d/slipway-a.repo',
      content:
        '[slipway-a]\nname=a\nbaseurl=https://a/\nenabled=1\ngpgcheck=1\ngpgkey=file:///etc/pki/rpm-gpg/RPM-GPG-KEY-slipway-a\n',
    })
  })
})

describe('what could reach further than its file', () => {
  const apt = { uris: ['https://a/'], suites: ['/'], signedBy: '/k.gpg' }

  it.each(['../evil', 'a/b', '', 'A', '-a'])('refuses the name %j', (name) => {
    expect(() => aptRepositoryFiles({ name, apt })).toThrow(/repository name/)
    expect(() => dnfRepositoryFiles({ name, dnf: { baseurl: 'https://a/', gpgkey: key } })).toThrow(/repository name/)
  })

  it('refuses a value that brings its own fields', () => {
    expect(() => aptRepositoryFiles({ name: 'a', apt: { ...apt, suites: ['/\nTrusted: yes'] } })).toThrow(/line end/)
    expect(() => dnfRepositoryFiles({ name: 'a', dnf: { baseurl: 'https://a/\ngpgcheck=0', gpgkey: key } })).toThrow(
      /line end/,
    )
  })
})
