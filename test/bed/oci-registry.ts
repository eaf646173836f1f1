// A real OCI registry on loopback: Debian's docker-registry, unpacked into the cache. Open and plain, or with TLS and a password, over
// the same content.

import { mkdir, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { cachedFolder } from './cache-folder.ts'
import type { Pair } from './certificates.ts'
import { ChildProgram } from './child-program.ts'
import { unpackPackages } from './host-packages.ts'
import { sayToStderr } from './programs.ts'

export interface OciRegistryOptions {
  /** Where its settings and its log lie, and its content unless another folder is named. */
  readonly folder: string
  readonly content?: string
  readonly port: number
  readonly tls?: Pair
  /** A line of htpasswd, with bcrypt. */
  readonly htpasswd?: string
  /** Who asks must show a token of this server, signed under this authority (PEM). */
  readonly token?: {
    readonly realm: string
    readonly service: string
    readonly issuer: string
    readonly authority: string
  }
}

export async function startOciRegistry(options: OciRegistryOptions): Promise<ChildProgram> {
  const { folder, port, tls, htpasswd, token } = options
  const content = options.content ?? join(folder, 'content')
  const program = await registryProgram()
  const path = (name: string) => join(folder, `${port}-${name}`)
  await mkdir(content, { recursive: true })
  if (tls) {
    await writeFile(path('certificate.pem'), tls.certificate)
    await writeFile(path('key.pem'), tls.key)
  }
  if (htpasswd !== undefined) await writeFile(path('htpasswd'), `${htpasswd}\n`)
  if (token) await writeFile(path('authority.pem'), token.authority)
  // JSON is YAML.
  const settings = {
    version: 0.1,
    log: { level: 'warn' },
    storage: { filesystem: { rootdirectory: content }, delete: { enabled: true } },
    http: {
      addr: `127.0.0.1:${port}`,
      ...(tls && { tls: { certificate: path('certificate.pem'), key: path('key.pem') } }),
    },
    ...(token && { auth: { token: { ...token, authority: undefined, rootcertbundle: path('authority.pem') } } }),
    ...(htpasswd !== undefined && { auth: { htpasswd: { realm: 'bed', path: path('htpasswd') } } }),
  }
  await writeFile(path('config.yml'), JSON.stringify(settings))
  const running = new ChildProgram(program, ['serve', path('config.yml')], path('registry.log'))
  await running.ready(() => listens(port))
  return running
}

/** With a certificate nobody knows only the socket can be asked. */
function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

/** For `describe.skipIf`: why there is none to test with. In CI the tests run and fail with the reason. */
export async function whyNoOciRegistry(): Promise<string | undefined> {
  try {
    await registryProgram()
    return undefined
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    sayToStderr(`\n*** REGISTRY TESTS SKIPPED: ${reason}. They need apt-get and Debian’s docker-registry.\n`)
    return process.env.CI ? undefined : reason
  }
}

async function registryProgram(): Promise<string> {
  const folder = await cachedFolder(`docker-registry-${process.platform}-${process.arch}`, (fresh) =>
    unpackPackages(['docker-registry'], fresh),
  )
  return join(folder, 'usr/bin/docker-registry')
}
