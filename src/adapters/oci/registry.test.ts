import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { RegistryAccess } from '../../ports/registry.ts'
import { HttpRegistry } from './registry.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** A server whose answers the test writes; what it is asked is kept. */
class Scripted {
  readonly asked: { readonly path: string; readonly authorization: string | undefined }[] = []
  readonly #pages = new Map<string, Handler>()
  readonly #server: Server = createServer((request, response) => {
    const path = request.url ?? ''
    this.asked.push({ path, authorization: request.headers.authorization })
    const handler = this.#pages.get(path) ?? this.#pages.get(path.split('?')[0] ?? '')
    if (handler) handler(request, response)
    else response.writeHead(404).end('{"errors":[{"code":"NAME_UNKNOWN","message":"no"}]}')
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

  on(path: string, answer: Handler | string): void {
    this.#pages.set(path, typeof answer === 'string' ? (_, response) => response.end(answer) : answer)
  }

  forget(): void {
    this.#pages.clear()
    this.asked.length = 0
  }
}

const [registry, other] = [new Scripted(), new Scripted()]
beforeAll(async () => {
  await registry.start()
  await other.start()
})
afterAll(() => {
  registry.stop()
  other.stop()
})
afterEach(() => {
  registry.forget()
  other.forget()
})

const never = new AbortController().signal
const digestOf = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`
const plain: RegistryAccess = { plain: true }
const secret = { username: 'reader', password: 'hunter2-secret' }
const basic = `Basic ${Buffer.from('reader:hunter2-secret').toString('base64')}`

const config = JSON.stringify({ architecture: 'amd64', os: 'linux', config: {} })
const layer = { digest: digestOf('layer'), size: 5 }
const image = JSON.stringify({
  schemaVersion: 2,
  config: { digest: digestOf(config), size: config.length },
  layers: [layer],
})
const index = JSON.stringify({
  schemaVersion: 2,
  manifests: [
    { digest: digestOf('a'), size: 1, platform: { os: 'linux', architecture: 'amd64' } },
    { digest: digestOf('b'), size: 1, platform: { os: 'linux', architecture: 'arm64', variant: 'v8' } },
    { digest: digestOf('c'), size: 1, platform: { os: 'unknown', architecture: 'unknown' } },
  ],
})
const manifest = '/v2/team/os/manifests/1.0'
const reference = () => `${registry.host}/team/os:1.0`

function serveImage(server: Scripted = registry): void {
  server.on(manifest, image)
  server.on(`/v2/team/os/blobs/${digestOf(config)}`, config)
}

const look = (access: RegistryAccess = plain, text = reference()) => new HttpRegistry().look(text, access, never)
const failureOf = (asking: Promise<unknown>) =>
  asking.then(
    () => expect.unreachable('it was answered'),
    (error: unknown) => error as { code: string; message: string; retryAfterMs?: number; nextStep?: string },
  )

describe('an image', () => {
  it('is known by the digest of its manifest and the platform of its configuration', async () => {
    serveImage()
    expect(await look()).toEqual({
      digest: digestOf(image),
      platforms: [{ os: 'linux', architecture: 'amd64', digest: digestOf(image) }],
    })
  })

  it('for several platforms is known by its list; attestations are none', async () => {
    registry.on(manifest, index)
    const platforms = [
      { os: 'linux', architecture: 'amd64', digest: digestOf('a') },
      { os: 'linux', architecture: 'arm64', digest: digestOf('b') },
    ]
    expect(await look()).toEqual({ digest: digestOf(index), platforms })
  })

  it('is asked for by digest where the reference has one, and must have it', async () => {
    registry.on(`/v2/team/os/manifests/${digestOf(index)}`, index)
    const pinned = `${registry.host}/team/os:1.0@${digestOf(index)}`
    expect((await look(plain, pinned)).digest).toBe(digestOf(index))
    registry.on(`/v2/team/os/manifests/${digestOf(index)}`, image)
    expect(await failureOf(look(plain, pinned))).toMatchObject({ code: 'CannotReach' })
  })

  it.each([
    ['another digest than its content has', { 'docker-content-digest': digestOf('else') }, index, 'but it has'],
    ['a page of some proxy', {}, '<html>Please log in</html>', 'no manifest'],
    ['nothing', {}, '', 'no manifest'],
    ['more than anybody reads', {}, 'x'.repeat(9 * 1024 * 1024), 'longer than'],
  ])('is not taken when the answer is %s', async (_, headers, body, says) => {
    registry.on(manifest, (_request, response) => response.writeHead(200, headers).end(body))
    expect(await failureOf(look())).toMatchObject({ code: 'CannotReach', message: expect.stringContaining(says) })
  })

  it('whose configuration is another than its manifest says is not taken', async () => {
    serveImage()
    registry.on(`/v2/team/os/blobs/${digestOf(config)}`, config.replace('amd64', 'arm64'))
    expect(await failureOf(look())).toMatchObject({ code: 'CannotReach' })
  })
})

describe('what a registry answers', () => {
  it.each([
    [401, 'RegistryRefused', 'wants credentials'],
    [403, 'RegistryRefused', 'wants credentials'],
    [404, 'RegistryRefused', 'no such name'],
    [410, 'RegistryRefused', '410'],
    [408, 'CannotReach', '408'],
    [429, 'CannotReach', 'too often'],
    [500, 'CannotReach', 'fault'],
    [503, 'CannotReach', 'fault'],
    [501, 'RegistryRefused', '501'],
  ])('%s is %s', async (status, code, says) => {
    registry.on(manifest, (_, response) => response.writeHead(status).end())
    const failure = await failureOf(look())
    expect(failure).toMatchObject({ code, message: expect.stringContaining(says) })
    expect(failure.message).toContain(`${registry.host}${manifest}`)
    expect(failure.nextStep).toBeTruthy()
  })

  it('is quoted by its code alone', async () => {
    const body = JSON.stringify({ errors: [{ code: 'TOOMANYREQUESTS', message: 'you sent hunter2-secret' }] })
    registry.on(manifest, (_, response) => response.writeHead(429).end(body))
    const { message } = await failureOf(look())
    expect(message).toContain('429 TOOMANYREQUESTS')
    expect(message).not.toContain('hunter2')
  })

  it.each([
    ['120', 120_000],
    ['999999999', 3_600_000],
    ['Fri, 02 Jan 2026 10:00:30 GMT', 30_000],
    ['soon', undefined],
  ])('429 says when to ask again: %s', async (after, retryAfterMs) => {
    const headers = { 'retry-after': after, date: 'Fri, 02 Jan 2026 10:00:00 GMT' }
    registry.on(manifest, (_, response) => response.writeHead(429, headers).end())
    expect(await failureOf(look())).toMatchObject({ retryAfterMs })
  })

  it('nothing in time can be asked for again', async () => {
    registry.on(manifest, () => undefined)
    const late = new HttpRegistry({ timeoutMs: 100 }).look(reference(), plain, never)
    expect(await failureOf(late)).toMatchObject({ code: 'CannotReach', message: expect.stringContaining('0.1 s') })
  })

  it('nobody listens, or the answer breaks off: it can be asked again', async () => {
    expect(await failureOf(look(plain, '127.0.0.1:1/team/os:1.0'))).toMatchObject({ code: 'CannotReach' })
    registry.on(manifest, (_, response) => {
      response.writeHead(200, { 'content-length': 1000 })
      response.write('{', () => response.destroy())
    })
    expect(await failureOf(look())).toMatchObject({ code: 'CannotReach' })
  })

  it('comes through the proxy of the environment', async () => {
    other.on(`http://${registry.host}${manifest}`, index)
    const proxied = new HttpRegistry({ proxyEnv: { HTTP_PROXY: `http://${other.host}` } })
    expect((await proxied.look(reference(), plain, never)).digest).toBe(digestOf(index))
    expect(registry.asked).toEqual([])
    registry.on(manifest, index)
    const direct = new HttpRegistry({ proxyEnv: { HTTP_PROXY: `http://${other.host}`, NO_PROXY: '127.0.0.1' } })
    await direct.look(reference(), plain, never)
    expect(registry.asked).toHaveLength(1)
  })

  it('the one who asks can stop', async () => {
    registry.on(manifest, () => undefined)
    const stop = new AbortController()
    const asked = new HttpRegistry().look(reference(), plain, stop.signal)
    setTimeout(() => stop.abort(new Error('stopped')), 20)
    await expect(asked).rejects.toThrow('stopped')
  })
})

describe('credentials', () => {
  const behind =
    (wanted: string, challenge: string, then: Handler) => (request: IncomingMessage, response: ServerResponse) => {
      if (request.headers.authorization === wanted) then(request, response)
      else response.writeHead(401, { 'www-authenticate': challenge }).end()
    }

  it('are a name and a password where the registry asks for them, and not before', async () => {
    serveImage()
    registry.on(
      manifest,
      behind(basic, 'Basic realm="registry"', (_, response) => response.end(image)),
    )
    expect((await look({ ...plain, ...secret })).digest).toBe(digestOf(image))
    expect(registry.asked.map(({ authorization }) => authorization)).toEqual([undefined, basic, basic])
  })

  it.each([
    ['wrong ones', { ...secret, password: 'wrong-secret' }, 'does not take the credentials'],
    ['none', {}, 'wants credentials'],
  ])('%s are told apart, without what they are', async (_, given, says) => {
    registry.on(
      manifest,
      behind(basic, 'Basic realm="registry"', (_request, response) => response.end(image)),
    )
    const failure = await failureOf(look({ ...plain, ...given }))
    expect(failure).toMatchObject({ code: 'RegistryRefused', message: expect.stringContaining(says) })
    expect(JSON.stringify(failure)).not.toMatch(/secret/)
  })

  const wantsToken = () => {
    const bearer = `Bearer realm="http://${other.host}/token",service="reg",scope="repository:team/os:pull"`
    registry.on(
      manifest,
      behind('Bearer ticket-1', bearer, (_, response) => response.end(index)),
    )
  }

  it.each([
    ['with nobody’s name', {}, undefined, 'token'],
    ['with a password', secret, basic, 'access_token'],
  ])('are a token of another server, asked %s', async (_, given, authorization, field) => {
    wantsToken()
    other.on('/token', JSON.stringify({ [field]: 'ticket-1' }))
    expect((await look({ ...plain, ...given })).digest).toBe(digestOf(index))
    expect(other.asked).toEqual([{ path: '/token?service=reg&scope=repository%3Ateam%2Fos%3Apull', authorization }])
  })

  it.each([
    ['it refuses', 401, '', 'RegistryRefused'],
    ['it is away', 503, '', 'CannotReach'],
    ['it gives none', 200, '{}', 'CannotReach'],
    ['it gives another', 200, '{"token":"ticket-2"}', 'RegistryRefused'],
  ])('cannot be had where the token server does not help: %s', async (_, status, body, code) => {
    wantsToken()
    other.on('/token', (_request, response) => response.writeHead(status).end(body))
    expect(await failureOf(look({ ...plain, ...secret }))).toMatchObject({ code })
  })

  it('do not go along to another server by a redirect', async () => {
    registry.on(
      manifest,
      behind(basic, 'Basic realm="registry"', (_, response) =>
        response.writeHead(307, { location: `http://${other.host}/stored` }).end(),
      ),
    )
    other.on('/stored', index)
    expect((await look({ ...plain, ...secret })).digest).toBe(digestOf(index))
    expect(other.asked).toEqual([{ path: '/stored', authorization: undefined }])
  })

  it('are not shown to a server that a redirect led to, though it asks for them', async () => {
    registry.on(manifest, (_, response) => response.writeHead(307, { location: `http://${other.host}/stored` }).end())
    other.on(
      '/stored',
      behind(basic, 'Basic realm="me too"', (_, response) => response.end(index)),
    )
    expect(await failureOf(look({ ...plain, ...secret }))).toMatchObject({ code: 'RegistryRefused' })
    expect(other.asked).toEqual([{ path: '/stored', authorization: undefined }])
  })

  it.each(['file:///etc/passwd', '/v2/team/os/manifests/1.0'])(
    'are led nowhere by a redirect to %s',
    async (location) => {
      registry.on(manifest, (_, response) => response.writeHead(302, { location }).end())
      expect(['CannotReach', 'RegistryRefused']).toContain((await failureOf(look())).code)
    },
  )
})

describe('mirrors', () => {
  const mirrored = (access: RegistryAccess = {}): RegistryAccess => ({
    ...plain,
    ...secret,
    mirrors: [{ url: `http://${other.host}` }],
    ...access,
  })

  it('are asked first', async () => {
    other.on(manifest, index)
    expect((await look(mirrored())).digest).toBe(digestOf(index))
    expect(registry.asked).toEqual([])
  })

  it('may keep everything in a folder', async () => {
    other.on('/v2/quay/team/os/manifests/1.0', index)
    const mirrors = [{ url: `http://${other.host}/quay/` }]
    expect((await look(mirrored({ mirrors }))).digest).toBe(digestOf(index))
  })

  it.each([404, 401, 429, 500])('that answer %s are passed over, and never see the credentials', async (status) => {
    other.on(manifest, (_, response) => {
      response.writeHead(status, { 'www-authenticate': 'Basic realm="mirror"' }).end()
    })
    registry.on(manifest, index)
    expect((await look(mirrored())).digest).toBe(digestOf(index))
    expect(other.asked).toEqual([{ path: manifest, authorization: undefined }])
  })

  it('have credentials of their own', async () => {
    other.on(manifest, (request, response) => {
      if (request.headers.authorization) response.end(index)
      else response.writeHead(401, { 'www-authenticate': 'Basic realm="mirror"' }).end()
    })
    const mirrors = [{ url: `http://${other.host}`, username: 'm', password: 'p' }]
    await look(mirrored({ mirrors }))
    expect(other.asked[1]?.authorization).toBe(`Basic ${Buffer.from('m:p').toString('base64')}`)
  })

  it('that lie about the content are passed over', async () => {
    const pinned = `${registry.host}/team/os@${digestOf(index)}`
    other.on(`/v2/team/os/manifests/${digestOf(index)}`, image)
    registry.on(`/v2/team/os/manifests/${digestOf(index)}`, index)
    expect((await look(mirrored(), pinned)).digest).toBe(digestOf(index))
  })

  it.each([
    [503, 404, 'CannotReach'],
    [404, 503, 'CannotReach'],
    [404, 404, 'RegistryRefused'],
  ])('and the registry, %s and %s: %s', async (mirror, own, code) => {
    other.on(manifest, (_, response) => response.writeHead(mirror).end())
    registry.on(manifest, (_, response) => response.writeHead(own).end())
    const failure = await failureOf(look(mirrored()))
    expect(failure.code).toBe(code)
    expect(failure.message).toContain(other.host)
    expect(failure.message).toContain(registry.host)
  })
})

describe('tags', () => {
  const tags = (access: RegistryAccess = plain) => new HttpRegistry().tags(`${registry.host}/team/os`, access, never)
  const page = (names: readonly string[], next?: string): Handler => {
    return (_, response) => {
      if (next !== undefined) response.setHeader('link', `<${next}>; rel="next"`)
      response.end(JSON.stringify({ name: 'team/os', tags: names }))
    }
  }

  it('come page by page', async () => {
    registry.on('/v2/team/os/tags/list?n=1000', page(['1.0', '1.1'], '/v2/team/os/tags/list?last=1.1&n=1000'))
    registry.on('/v2/team/os/tags/list?last=1.1&n=1000', page(['1.2']))
    expect(await tags()).toEqual(['1.0', '1.1', '1.2'])
  })

  it('are none where the repository has none', async () => {
    registry.on('/v2/team/os/tags/list', '{"name":"team/os","tags":null}')
    expect(await tags()).toEqual([])
  })

  it.each([
    ['a round of pages', '/v2/team/os/tags/list?n=1000'],
    ['pages of another server', 'http://192.0.2.1/v2/team/os/tags/list'],
  ])('are not taken from %s', async (_, next) => {
    registry.on('/v2/team/os/tags/list', page(['1.0'], next))
    expect(await failureOf(tags())).toMatchObject({ code: 'CannotReach' })
  })

  it('of nobody are refused', async () => {
    expect(await failureOf(tags())).toMatchObject({
      code: 'RegistryRefused',
      message: expect.stringContaining('NAME_UNKNOWN'),
    })
  })

  it('of what is no name are refused without asking', async () => {
    const asked = failureOf(Promise.resolve().then(() => new HttpRegistry().tags('not a name', plain, never)))
    expect(await asked).toMatchObject({ code: 'RegistryRefused' })
  })
})
