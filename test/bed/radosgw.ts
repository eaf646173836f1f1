// An S3 server that checks signatures: Ceph's gateway over a file of SQLite, no cluster of Ceph behind it. From Debian trixie, in a root
// of its own, so it needs root.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ChildProgram, freePorts } from './child-program.ts'
import { inRoot } from './closed-root.ts'
import { debianLayer, debianRoot } from './debian-root.ts'
import { runProgram } from './run-program.ts'
import type { S3Server } from './s3-server.ts'

const keys = { accessKeyID: 'SLIPWAYTEST', secretAccessKey: 'not+a/secret/but+a+test' }

/** Now and then it hangs when all is done, waiting for a thread of its own. Where all is not done, the first request fails. */
const adminSeconds = 15
const killed = 137

async function layers(): Promise<readonly string[]> {
  const root = await debianRoot('trixie', ['ca-certificates'])
  return [await debianLayer(root, ['radosgw']), root]
}

export async function startRadosgw(): Promise<S3Server> {
  const [port = 0] = await freePorts(1)
  const folder = await mkdtemp(join(tmpdir(), 'slipway-radosgw-'))
  await mkdir(join(folder, 'db'))
  await writeFile(join(folder, 'ceph.conf'), configuration(port))
  const root = { layers: await layers(), binds: { '/rgw': folder } }
  const common = ['-c', '/rgw/ceph.conf', '-n', 'client.admin', '--no-mon-config']
  const start = async () => {
    const program = new ChildProgram(...inRoot(root, ['radosgw', ...common, '-f']), join(folder, 'radosgw.log'))
    await program.ready(async () => (await fetch(`http://127.0.0.1:${port}/`)).status > 0)
    return program
  }
  const user = ['--uid=test', '--display-name=test', `--access-key=${keys.accessKeyID}`]
  const make = ['radosgw-admin', ...common, 'user', 'create', ...user, `--secret-key=${keys.secretAccessKey}`]
  const admin = ['timeout', '--signal=KILL', String(adminSeconds), ...make]
  // The first start makes the tables the user goes into.
  await (await start()).stop('SIGKILL')
  await runProgram(...inRoot(root, admin)).catch((error: unknown) => {
    if (!(error instanceof Error && error.message.includes(`ended with ${killed}`))) throw error
  })
  let running = await start()
  return {
    name: 'radosgw',
    endpoint: `http://127.0.0.1:${port}`,
    keys,
    checksSignatures: true,
    // Over SQLite it takes parts, and gives back the last one again and again.
    knowsParts: false,
    restart: async () => {
      running = await start()
    },
    kill: () => running.stop('SIGKILL'),
    stop: async () => {
      await running.stop('SIGKILL')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function configuration(port: number): string {
  const settings = {
    rgw_backend_store: 'dbstore',
    rgw_config_store: 'dbstore',
    dbstore_config_uri: 'file:/rgw/db/config.db',
    dbstore_db_dir: '/rgw/db',
    rgw_data: '/rgw',
    rgw_frontends: `beast endpoint=127.0.0.1:${port}`,
    rgw_enable_lc_threads: 'false',
    rgw_enable_gc_threads: 'false',
    log_file: '/rgw/rgw.log',
    run_dir: '/rgw',
    admin_socket: '',
  }
  const lines = Object.entries(settings).map(([name, value]) => `  ${name} = ${value}`)
  return `[global]\n${lines.join('\n')}\n`
}
