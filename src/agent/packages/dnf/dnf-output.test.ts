// Outputs recorded from dnf 4.14.

import { describe, expect, it } from 'vitest'
import { withoutExcludes } from './dnf-folder.ts'
import { fetchFailure, isRefusedByUs, parseDependents, parseOffers, parseSize, solveFailure } from './dnf-output.ts'
import { parseRpmStatus } from './rpm-status.ts'
import { parseLocks } from './version-locks.ts'

const failed = (stderr: string, stdout = '') => ({ exitCode: 1, stdout, stderr })

describe('what dnf prints', () => {
  const tried = `Dependencies resolved.
================================================================================
 Package        Architecture     Version          Repository               Size
================================================================================
Removing:
 lib            x86_64           1.0-1            @@commandline             3  
Removing dependent packages:
 tool           x86_64           1.0-1            @@commandline            19  

Transaction Summary
================================================================================
Remove  2 Packages

Total download size: 1.5 M
Installed size: 22  
Operation aborted.
`

  it('tells sizes, dependents and our own refusal', () => {
    expect(parseSize(tried, 'Total download size')).toBe(1_572_864)
    expect(parseSize(tried, 'Installed size')).toBe(22)
    expect(parseSize('Nothing to do.', 'Installed size')).toBe(0)
    expect(parseDependents(tried)).toEqual(['tool'])
    expect(parseDependents('Nothing to do.')).toEqual([])
    expect(isRefusedByUs(failed('', tried))).toBe(true)
    expect(isRefusedByUs(failed('Error: Unable to find a match: tool-9.9'))).toBe(false)
  })

  it('offers the newest first', () => {
    const text = 'Last metadata expiration check: 0:00:02 ago\nkubelet|0:1.35.3-1\nkubelet|0:1.35.4-1\nother|1:2.0-1\n'
    expect(parseOffers(text)).toEqual(
      new Map([
        ['kubelet', ['1.35.4-1', '1.35.3-1']],
        ['other', ['1:2.0-1']],
      ]),
    )
  })

  // RepoQueryCommand.run of dnf 4.14 prints a set of lines after `sorted`, which knows nothing of versions.
  it('offers the newest first, though dnf lists versions as text', () => {
    const text = [
      ...['containerd.io|0:1.7.10-3.1.el9', 'containerd.io|0:1.7.27-3.1.el9', 'containerd.io|0:1.7.9-3.1.el9'],
      ...['docker-ce|1:9.0.0-1.el9', 'docker-ce|3:27.5.1-1.el9', 'docker-ce|3:28.0.1~rc.1-1.el9'],
      ...['kubelet|0:1.36.0-150500.1.1', 'kubelet|0:1.36.0~rc.1-150500.1.1', 'kubelet|0:1.36.10-150500.2.1'],
    ].join('\n')
    expect(parseOffers(text)).toEqual(
      new Map([
        ['containerd.io', ['1.7.27-3.1.el9', '1.7.10-3.1.el9', '1.7.9-3.1.el9']],
        ['docker-ce', ['3:28.0.1~rc.1-1.el9', '3:27.5.1-1.el9', '1:9.0.0-1.el9']],
        ['kubelet', ['1.36.10-150500.2.1', '1.36.0-150500.1.1', '1.36.0~rc.1-150500.1.1']],
      ]),
    )
  })
})

describe('fetchFailure', () => {
  const cannot = "Error: Failed to download metadata for repo 'x': Cannot download repomd.xml: All mirrors were tried"

  it.each([
    ['Error: GPG check FAILED', 'RepositoryUntrusted'],
    [
      "Error: Failed to download metadata for repo 'bad': repomd.xml GPG signature verification error: Bad GPG signature",
      'RepositoryUntrusted',
    ],
    [`  - Status code: 404 for http://h/nothing/repodata/repomd.xml (IP: 10.77.8.1)\n${cannot}`, 'RepositoryMissing'],
    ['OSError: [Errno 28] No space left on device', 'DiskTooFull'],
  ])('%s', (stderr, code) => {
    expect(fetchFailure(failed(stderr)).code).toBe(code)
  })

  it('may pass when the server is away', () => {
    const away = `  - Curl error (7): Couldn't connect to server for http://h:9/x/repodata/repomd.xml\n${cannot}`
    expect(() => fetchFailure(failed(away))).toThrow(expect.objectContaining({ code: 'StagingFailed' }))
    expect(() => solveFailure(failed(away), [])).toThrow(expect.objectContaining({ code: 'StagingFailed' }))
  })
})

describe('the rpm database', () => {
  it('knows holds, foreign architectures, kernels side by side and a package that is there twice', () => {
    const text = [
      'kubelet\t0:1.35.4-150500.1.1\tx86_64',
      'glibc\t0:2.34-1\tx86_64',
      'glibc\t0:2.34-1\ti686',
      'kernel\t0:5.14.0-2\tx86_64',
      'kernel\t0:5.14.0-10\tx86_64',
      'kernel\t0:5.14.0-9\tx86_64',
      'kmod-x\t0:1-1\tx86_64',
      'kmod-x\t0:2-1\tx86_64',
      'kernel-tools\t0:5.14.0-10\tx86_64',
      'kernel-tools\t0:5.14.0-9\tx86_64',
      'tool\t1:1.0-1\tnoarch',
      'tool\t1:2.0-1\tnoarch',
    ].join('\n')
    const locks = parseLocks(
      '\n# Added lock on Sun Nov 15 09:30:55 2026\nkubelet-0:1.35.4-150500.1.1.*\n!glibc-0:2.35-1.*\n',
    )
    const status = parseRpmStatus(text, 'x86_64', locks, new Set(['kmod-x']))
    expect([...status.keys()]).toEqual(['kubelet', 'glibc', 'glibc.i686', 'kernel', 'kmod-x', 'kernel-tools', 'tool'])
    expect(status.get('kubelet')).toMatchObject({ version: '1.35.4-150500.1.1', held: true, whole: true })
    expect(status.get('glibc')).toMatchObject({ held: false, whole: true })
    expect(status.get('kernel')).toMatchObject({
      version: '5.14.0-10',
      olderVersions: ['5.14.0-9', '5.14.0-2'],
      whole: true,
    })
    expect(status.get('kmod-x')?.whole).toBe(true)
    expect(status.get('kernel-tools')).toMatchObject({ version: '5.14.0-10', whole: false })
    expect(status.get('tool')).toMatchObject({ version: '1:2.0-1', whole: false })
  })
})

describe('withoutExcludes', () => {
  it('lets through what is asked for by name, and nothing else', () => {
    const file = '[kubernetes]\nexclude=kubelet kubeadm, kubectl\nexcludepkgs = kubelet\n'
    expect(withoutExcludes(file, ['kubelet'])).toBe('[kubernetes]\nexclude=kubeadm kubectl\nexcludepkgs =\n')
  })

  it.each([
    ['kube*', ''],
    ['*', '*'],
    ['cri-* kubectl*', 'cri-* kubectl*'],
  ])('of %s leaves %j', (patterns, left) => {
    expect(withoutExcludes(`exclude=${patterns}\n`, ['kubelet'])).toBe(`exclude=${left}\n`)
  })
})
