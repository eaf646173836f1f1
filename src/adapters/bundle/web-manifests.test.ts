import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { manifestText } from '../../core/bundle/manifest.ts'
import { tarHeader } from '../../core/bundle/tar-header.ts'
import { WebManifests } from './web-manifests.ts'

const never = new AbortController().signal
const manifest = {
  format: 1 as const,
  architecture: 'amd64' as const,
  files: [{ path: 'packages/deb/kubeadm_1.36.3-1.1_amd64.deb', bytes: 5_000_000, sha256: 'a'.repeat(64) }],
}
const text = manifestText(manifest)
const head = (path: string) => Buffer.concat([tarHeader({ path, bytes: text.length }), Buffer.from(text)])

describe('the manifest of a bundle on a server', () => {
  let server: Server
  let base: string
  let hungUp: Promise<void>

  beforeAll(async () => {
    server = createServer((request, response) => {
      if (request.url === '/endless') {
        hungUp = new Promise((resolve) => response.on('close', resolve))
        response.write(head('manifest.json'))
        const more = () => response.write(Buffer.alloc(65_536))
        response.on('drain', more)
        more()
      } else if (request.url === '/cut') response.end(head('manifest.json').subarray(0, 600))
      else if (request.url === '/other') response.end(head('packages/deb/a.deb'))
      else if (request.url === '/empty') response.end()
      else response.writeHead(404).end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  it('is read, and no more than that', async () => {
    expect(await new WebManifests().read(`${base}/endless`, never)).toEqual(manifest)
    await hungUp
  })

  it.each([
    ['/cut', 'BundleBroken', /cut off after 600 bytes/],
    ['/other', 'BundleBroken', /does not begin with manifest.json/],
    ['/empty', 'BundleBroken', /cut off after 0 bytes/],
    ['/gone', 'StagingFailed', /answers 404/],
  ])('%s', async (path, code, message) => {
    const reading = new WebManifests().read(`${base}${path}`, never)
    await expect(reading).rejects.toMatchObject({ code, message: expect.stringMatching(message) })
  })
})
