// Programs that are not ours, in a language that is not ours, each with a certificate and rights of its own.

import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { z } from 'zod'
import { writeKubeconfig } from '../apiserver/real-client.ts'
import type { ApiServer } from '../bed/api-server.ts'
import { makePair } from '../bed/certificates.ts'
import { ChildProgram } from '../bed/child-program.ts'
import { kubectl } from './installation.ts'

const run = promisify(execFile)
const patienceMs = 60_000
const folder = fileURLToPath(new URL('../foreign/', import.meta.url))

/** Undefined where python3 can be run. */
export async function whyNoPython(): Promise<string | undefined> {
  return run('python3', ['-c', 'import ssl']).then(
    () => undefined,
    () => 'python3 with its ssl module is not here: the foreign witness is written in it',
  )
}

const mostSchema = z.object({ away: z.int(), at: z.string(), names: z.array(z.string()) })
const testimonySchema = z.object({
  nodes: z.int(),
  /** How often a node went away or came back. */
  changes: z.int(),
  most: mostSchema.nullable(),
  zones: z.record(z.string(), mostSchema),
  /** At moments in which a node of the stranger's was among them. */
  besideStranger: mostSchema.nullable(),
  awayNow: z.array(z.string()),
})
const watchedSchema = testimonySchema.extend({ since: z.string(), until: z.string(), lists: z.int(), outages: z.int() })
const auditedSchema = testimonySchema.extend({ requests: z.int(), writes: z.int() })

export type Watched = z.infer<typeof watchedSchema>
export type Audited = z.infer<typeof auditedSchema>

export interface Rights {
  readonly verbs: readonly string[]
  readonly resources: readonly string[]
}

/** Watches nodes from the moment this resolves. */
export class Witness {
  readonly #server: ApiServer
  readonly #program: ChildProgram
  readonly #log: string

  private constructor(server: ApiServer, program: ChildProgram, log: string) {
    this.#server = server
    this.#program = program
    this.#log = log
  }

  static async start(server: ApiServer): Promise<Witness> {
    const rights = [{ verbs: ['list', 'watch'], resources: ['nodes'] }]
    const kubeconfig = await foreignAccess(server, 'witness', rights)
    const log = join(server.dir, 'witness.log')
    const program = python(['witness.py', 'watch', kubeconfig, resultPath(server)], log)
    await program.ready(async () => readFileSync(log, 'utf8').includes('watching'))
    return new Witness(server, program, log)
  }

  /** Until it has seen all that happened so far: what it has not, it may never see where the server is killed. */
  async catchUp(): Promise<void> {
    const heard = () => readFileSync(this.#log, 'utf8').split('caught up').length
    const before = heard()
    process.kill(this.#program.pid, 'SIGUSR1')
    await this.#program.ready(async () => heard() > before)
  }

  /** What it has seen; it watches no longer. */
  async testify(): Promise<Watched> {
    await this.#program.stop('SIGTERM', patienceMs)
    return watchedSchema.parse(JSON.parse(readFileSync(resultPath(this.#server), 'utf8')))
  }

  async stop(): Promise<void> {
    await this.#program.stop('SIGKILL')
  }
}

/** The same questions, answered from the audit log; moments before that resource version are not judged. */
export async function auditTestimony({ auditLogPath, dir }: ApiServer, since: string): Promise<Audited> {
  const out = join(dir, 'audit-testimony.json')
  await run('python3', [`${folder}witness.py`, 'audit', auditLogPath, since, out])
  return auditedSchema.parse(JSON.parse(readFileSync(out, 'utf8')))
}

const rebootSchema = z.object({ node: z.string(), taken: z.string(), given: z.string() })

/** Reboots nodes under kured's lock, at random moments. */
export class Stranger {
  readonly #program: ChildProgram
  readonly #log: string

  private constructor(program: ChildProgram, log: string) {
    this.#program = program
    this.#log = log
  }

  static async start(server: ApiServer, lock: string, seed: number): Promise<Stranger> {
    const kubeconfig = await foreignAccess(server, 'stranger', [
      { verbs: ['get', 'list', 'patch'], resources: ['nodes', 'nodes/status'] },
      { verbs: ['get', 'patch'], resources: ['daemonsets.apps'] },
    ])
    const log = join(server.dir, 'stranger.log')
    return new Stranger(python(['stranger.py', kubeconfig, lock, String(seed)], log), log)
  }

  reboots(): readonly z.infer<typeof rebootSchema>[] {
    const lines = existsSync(this.#log) ? readFileSync(this.#log, 'utf8').split('\n') : []
    return lines.filter((line) => line !== '').map((line) => rebootSchema.parse(JSON.parse(line)))
  }

  /** Ends what it has begun. */
  async stop(): Promise<void> {
    await this.#program.stop('SIGTERM', patienceMs)
  }
}

function python([program = '', ...args]: readonly string[], log: string): ChildProgram {
  return new ChildProgram('python3', [`${folder}${program}`, ...args], log)
}

function resultPath({ dir }: ApiServer): string {
  return join(dir, 'witness.json')
}

/** A kubeconfig with a certificate of that name, and these rights in the whole cluster. */
async function foreignAccess(server: ApiServer, name: string, rights: readonly Rights[]): Promise<string> {
  for (const [index, { verbs, resources }] of rights.entries()) {
    const role = `${name}-${index}`
    await kubectl(server, ['create', 'clusterrole', role, `--verb=${verbs}`, `--resource=${resources}`])
    await kubectl(server, ['create', 'clusterrolebinding', role, `--clusterrole=${role}`, `--user=${name}`])
  }
  const { certificate, key } = makePair(server.authority, { name })
  return await writeKubeconfig(server, `${name}.conf`, {
    'client-certificate-data': Buffer.from(certificate).toString('base64'),
    'client-key-data': Buffer.from(key).toString('base64'),
  })
}
