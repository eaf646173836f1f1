// An S3 server that behaves like S3 in its corners (it checks no signatures): moto, from PyPI, in a folder of the cache.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cachedFolder } from './cache-folder.ts'
import { ChildProgram, freePorts } from './child-program.ts'
import { runProgram } from './run-program.ts'
import type { S3Server } from './s3-server.ts'
import { motoVersion } from './versions.ts'

/** Not a virtual environment: that one cannot be moved to its place when it is whole. */
async function motoFolder(): Promise<string> {
  const python = (await runProgram('python3', ['-c', 'import sys; print(sys.version_info.minor)'])).trim()
  return cachedFolder(`moto-${motoVersion}-python3.${python}-${process.arch}`, async (folder) => {
    const wanted = `moto[server,s3]==${motoVersion}`
    await runProgram('python3', ['-m', 'pip', 'install', '--quiet', '--no-input', '--target', folder, wanted])
  })
}

export async function startMoto(): Promise<S3Server> {
  const [port = 0] = await freePorts(1)
  const packages = await motoFolder()
  const folder = await mkdtemp(join(tmpdir(), 'slipway-moto-'))
  const args = [`PYTHONPATH=${packages}`, 'python3', '-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)]
  const start = async () => {
    const program = new ChildProgram('env', args, join(folder, 'moto.log'))
    await program.ready(async () => (await fetch(`http://127.0.0.1:${port}/`)).status > 0)
    return program
  }
  let running = await start()
  return {
    name: 'moto',
    endpoint: `http://127.0.0.1:${port}`,
    keys: { accessKeyID: 'anyone', secretAccessKey: 'anything' },
    checksSignatures: false,
    knowsParts: true,
    kill: () => running.stop('SIGKILL'),
    restart: async () => {
      running = await start()
    },
    stop: async () => {
      await running.stop('SIGKILL')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** What lies there, read past our own client. It wants to be told of a key, whichever. */
export function fromMoto({ endpoint }: S3Server, path: string): Promise<Response> {
  const credential = 'Credential=anyone/20260101/us-east-1/s3/aws4_request'
  const authorization = `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=host, Signature=none`
  return fetch(`${endpoint}/${path}`, { headers: { authorization } })
}
