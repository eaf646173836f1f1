import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { RegistryAccess } from '../../ports/registry.ts'
import { HttpRegistry } from './registry.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

const never = new AbortController().signal
const digest = (digit: string) => `sha256:${digit.repeat(64)}`
const [list, instance] = [digest('1'), digest('2')]
const pathOf = (of: string) => `/v2/team/os/referrers/${of}`
const index = (...digests: readonly string[]) =>
  JSON.stringify({ schemaVersion: 2, manifests: digests.map((one) => ({ digest: one, size: 3, artifactType: 'a/b' })) })

class Answers {
  readonly asked: string[] = []
  readonly pages = new Map<string, Handler>()
  readonly #server: Server = createServer((request, response) => {
    this.asked.push(request.url ?? '')
    const page = this.pages.get(request.url ?? '')
    if (page) page(request, response)
    else response.writeHead(404).end('404 page not found')
  })

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
  }

  stop(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  say(path: string, body: string, headers: Readonly<Record<string, string>> = {}, status = 200): void {
    this.pages.set(path, (_, response) => response.writeHead(status, headers).end(body))
  }
}

const [registry, mirror] = [new Answers(), new Answers()]
beforeAll(async () => {
  await registry.start()
  await mirror.start()
})
afterAll(() => {
  registry.stop()
  mirror.stop()
})
beforeEach(() => {
  for (const one of [registry, mirror]) {
    one.asked.length = 0
    one.pages.clear()
  }
})

const mirrored = (): RegistryAccess => ({ plain: true, mirrors: [{ url: `http://${mirror.host}` }] })
async function found(access: RegistryAccess = { plain: true }, digests: readonly string[] = [list]) {
  const referrers = await new HttpRegistry().referrers(`${registry.host}/team/os`, digests, access, never)
  return referrers.map((one) => one.digest)
}

describe('what refers to an image', () => {
  it('is listed by the registry, for each digest', async () => {
    registry.say(pathOf(list), index(digest('a'), digest('b')))
    registry.say(pathOf(instance), index(digest('c')))
    expect(await found({ plain: true }, [list, instance])).toEqual([digest('a'), digest('b'), digest('c')])
  })

  it('comes in pages', async () => {
    registry.say(pathOf(list), index(digest('a')), { link: `<${pathOf(list)}?last=a>; rel="next"` })
    registry.say(`${pathOf(list)}?last=a`, index(digest('b')))
    expect(await found()).toEqual([digest('a'), digest('b')])
  })

  it('comes in pages that end, though the registry repeats them', async () => {
    registry.say(pathOf(list), index(digest('a')), { link: `<${pathOf(list)}>; rel="next"` })
    expect(await found()).toEqual([digest('a')])
    expect(registry.asked).toHaveLength(2)
  })

  it('is not asked of another server', async () => {
    registry.say(pathOf(list), index(digest('a')), { link: `<http://${mirror.host}/more>; rel="next"` })
    await expect(found()).rejects.toMatchObject({ code: 'CannotReach' })
    expect(mirror.asked).toEqual([])
  })

  it.each([400, 403, 404, 405, 406, 501])(
    'is nothing where the registry keeps no list and answers %s',
    async (status) => {
      registry.say(pathOf(list), '', {}, status)
      expect(await found()).toEqual([])
    },
  )

  it('is nothing where the answer is a page for people', async () => {
    registry.say(pathOf(list), '<html>')
    expect(await found()).toEqual([])
  })

  it.each([429, 500, 503])('is asked again where the registry answers %s', async (status) => {
    registry.say(pathOf(list), '', {}, status)
    await expect(found()).rejects.toMatchObject({ code: 'CannotReach' })
  })

  it('is not read without end', async () => {
    registry.say(pathOf(list), 'x'.repeat(9 * 1024 * 1024))
    await expect(found()).rejects.toMatchObject({ code: 'CannotReach', message: expect.stringContaining('longer') })
  })

  it('is asked for with the credentials of the registry', async () => {
    const wanted = `Basic ${Buffer.from('a:b').toString('base64')}`
    registry.pages.set(pathOf(list), ({ headers }, response) => {
      if (headers.authorization === wanted) response.end(index(digest('a')))
      else response.writeHead(401, { 'www-authenticate': 'Basic realm="r"' }).end()
    })
    expect(await found({ plain: true, username: 'a', password: 'b' })).toEqual([digest('a')])
  })
})

describe('a mirror', () => {
  it('is asked first', async () => {
    mirror.say(pathOf(list), index(digest('a')))
    expect(await found(mirrored())).toEqual([digest('a')])
    expect(registry.asked).toEqual([])
  })

  it.each([
    ['knows of nothing', 200, index()],
    ['keeps no list', 404, ''],
    ['is ill', 500, ''],
  ])('that %s is passed over', async (_, status, body) => {
    mirror.say(pathOf(list), body, {}, status)
    registry.say(pathOf(list), index(digest('b')))
    expect(await found(mirrored())).toEqual([digest('b')])
  })

  it('that is ill keeps nobody where the registry knows of nothing', async () => {
    mirror.say(pathOf(list), '', {}, 500)
    registry.say(pathOf(list), index())
    expect(await found(mirrored())).toEqual([])
  })
})
