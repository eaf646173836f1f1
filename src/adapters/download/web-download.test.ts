import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { WebDownload } from './web-download.ts'

const content = `#!/bin/sh\n${'echo hello\n'.repeat(20_000)}`
const sha256 = createHash('sha256').update(content).digest('hex')
const never = new AbortController().signal

const answers: Readonly<Record<string, (response: ServerResponse) => void>> = {
  '/good': (response) => response.end(content),
  '/moved': (response) => response.writeHead(302, { location: '/good' }).end(),
  '/round': (response) => response.writeHead(302, { location: '/round' }).end(),
  '/strange': (response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
  '/busy': (response) => response.writeHead(503).end(),
  '/later': (response) => response.writeHead(429).end(),
  '/broken': (response) => {
    response.writeHead(200, { 'content-length': content.length })
    response.write(content.slice(0, 1000), () => response.destroy())
  },
  '/silent': () => undefined,
}

let server: Server
let folder: string
let base: string
let asked: string[]

beforeAll(async () => {
  server = createServer((request, response) => {
    const path = request.url ?? ''
    asked.push(path)
    const answer = answers[path]
    if (answer) answer(response)
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-download-'))
  asked = []
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const request = (
  path: string,
  part: { readonly maxBytes?: number; readonly sha256?: string; readonly to?: string } = {},
) => ({
  url: `${base}${path}`,
  sha256,
  to: join(folder, 'jobs/script'),
  mode: 0o700,
  maxBytes: 1024 * 1024,
  ...part,
})

describe('WebDownload', () => {
  it.each(['/good', '/moved'])('keeps what has the SHA-256 asked for: %s', async (path) => {
    expect(await new WebDownload().fetch(request(path), never)).toBeUndefined()
    expect(await readFile(join(folder, 'jobs/script'), 'utf8')).toBe(content)
    expect((await stat(join(folder, 'jobs/script'))).mode & 0o777).toBe(0o700)
    expect(await readdir(join(folder, 'jobs'))).toEqual(['script'])
  })

  it('fetches nothing that is there already, and anew what is damaged', async () => {
    const download = new WebDownload()
    await download.fetch(request('/good'), never)
    expect(await download.fetch(request('/good'), never)).toBeUndefined()
    expect(asked).toEqual(['/good'])
    await writeFile(join(folder, 'jobs/script'), 'half')
    expect(await download.fetch(request('/good'), never)).toBeUndefined()
    expect(await readFile(join(folder, 'jobs/script'), 'utf8')).toBe(content)
  })

  it.each([
    { name: 'another content', path: '/good', part: { sha256: 'a'.repeat(64) }, code: 'ContentMismatch', says: sha256 },
    { name: 'not there', path: '/nowhere', part: {}, code: 'DownloadRefused', says: '404' },
    { name: 'too large', path: '/good', part: { maxBytes: 1000 }, code: 'DownloadRefused', says: '1000 bytes' },
  ])('gives the reason and keeps nothing: $name', async ({ path, part, code, says }) => {
    const reason = await new WebDownload().fetch(request(path, part), never)
    expect(reason).toMatchObject({ code, message: expect.stringContaining(says) })
    expect(await readdir(join(folder, 'jobs'))).toEqual([])
  })

  it('gives the reason when the disk is full', async () => {
    await symlink('/dev/full', join(folder, 'full.part'))
    const reason = await new WebDownload().fetch(request('/good', { to: join(folder, 'full') }), never)
    expect(reason).toMatchObject({ code: 'DiskTooFull' })
  })

  it.each(['/busy', '/later', '/broken', '/round', '/strange', '/silent'])(
    'throws what may pass, and keeps nothing: %s',
    async (path) => {
      const download = new WebDownload({ silenceMs: 200 })
      await expect(download.fetch(request(path), never)).rejects.toMatchObject({ code: 'StagingFailed' })
      expect(await readdir(join(folder, 'jobs'))).toEqual([])
    },
  )

  it('throws what may pass when nobody listens', async () => {
    const nobody = { ...request('/good'), url: 'http://127.0.0.1:1/x' }
    await expect(new WebDownload().fetch(nobody, never)).rejects.toMatchObject({ code: 'StagingFailed' })
  })

  it('can be stopped in the middle', async () => {
    const stop = new AbortController()
    const fetched = new WebDownload().fetch(request('/silent'), stop.signal)
    setTimeout(() => stop.abort(new Error('stopped')), 50)
    await expect(fetched).rejects.toThrow()
    expect(await readdir(join(folder, 'jobs'))).toEqual([])
  })
})
