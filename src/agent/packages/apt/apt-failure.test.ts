// Failures recorded from apt 2.6.1; those of older ones are marked.

import { describe, expect, it } from 'vitest'
import { downloadFailure, solveFailure, updateFailure } from './apt-failure.ts'

const failed = (stderr: string, stdout = '', exitCode = 100) => ({ exitCode, stdout, stderr })

describe('updateFailure', () => {
  it.each([
    [
      "W: GPG error: http://h/deb  InRelease: The following signatures couldn't be verified because the public key is not available: NO_PUBKEY CE7A78E0D400E562\nE: The repository 'http://h/deb  InRelease' is not signed.",
      'RepositoryUntrusted',
    ],
    ["E: The repository 'http://h/deb  Release' is not signed.", 'RepositoryUntrusted'],
    ['E: Failed to fetch store:/x  Error writing to output file - write (28: No space left on device)', 'DiskTooFull'],
  ])('%s', (stderr, code) => {
    expect(updateFailure(failed(stderr), 'Host')?.code).toBe(code)
  })

  it('knows an address at which there is no repository', () => {
    const stdout = 'Err:2 http://h/nosuch  Release\n  404  Not Found [IP: 10.77.1.1 39103]\n'
    const stderr = "E: The repository 'http://h/nosuch  Release' does not have a Release file."
    expect(updateFailure(failed(stderr, stdout), 'Host')?.code).toBe('RepositoryMissing')
  })

  it.each([
    'E: Failed to fetch http://h:9/x/InRelease  Could not connect to h:9 (10.77.1.1). - connect (111: Connection refused)',
    'E: Failed to fetch http://h/x/InRelease  502  Bad Gateway [IP: 10.77.1.1 43969]',
    "E: Clearsigned file isn't valid, got 'NOSPLIT' (does the network require authentication?)\nE: The repository 'http://h InRelease' is not signed.",
  ])('may pass: %s', (stderr) => {
    expect(() => updateFailure(failed(stderr), 'Host')).toThrow(expect.objectContaining({ code: 'StagingFailed' }))
  })

  it('does not believe an old apt that ends well although an index is old', () => {
    const old = failed(
      'W: Failed to fetch http://h/x  Connection failed\nW: Some index files failed to download.',
      '',
      0,
    )
    expect(() => updateFailure(old, 'Host')).toThrow(/Connection failed/)
    expect(updateFailure(failed('', 'Reading package lists...', 0), 'Host')).toBeUndefined()
  })

  it('does not ask who signed the index of a bundle', () => {
    expect(updateFailure(failed('W: GPG error: copy:/b ./ InRelease: NO_PUBKEY CE7A', '', 0), 'Folder')).toBeUndefined()
  })
})

describe('solveFailure', () => {
  const unmet = `The following packages have unmet dependencies:
 kubelet : Depends: kubernetes-cni (>= 1.6) but 1.5.0-1.1 is to be installed
E: Unable to correct problems, you have held broken packages.`

  it('names the package a person holds', () => {
    const reason = solveFailure(failed('', unmet), ['kubernetes-cni', 'other'])
    expect(reason.code).toBe('PackageHeld')
    expect(reason.message).toMatch(/^kubernetes-cni would/)
  })

  it('quotes a conflict of another kind', () => {
    expect(solveFailure(failed('', unmet), ['other'])).toMatchObject({
      code: 'PackageConflict',
      message: expect.stringContaining('Depends: kubernetes-cni (>= 1.6)'),
    })
  })
})

describe('downloadFailure', () => {
  it('tells a full disk from a network that may come back', () => {
    const full = "E: You don't have enough free space in /var/lib/slipway/archives/."
    expect(downloadFailure(failed(full)).code).toBe('DiskTooFull')
    const broken = 'E: Failed to fetch http://h/a.deb  Connection failed [IP: 10.77.1.1 39103]'
    expect(() => downloadFailure(failed(broken))).toThrow(expect.objectContaining({ code: 'StagingFailed' }))
    expect(() => downloadFailure(failed('E: Failed to fetch http://h/a.deb  Hash Sum mismatch'))).toThrow(/Hash Sum/)
  })
})
