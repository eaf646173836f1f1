// fake-gcs-server, built from its module. Of the XML API that GCS shares with S3 it reads, lists and removes; what it stores comes in by
// the JSON API. It checks no credentials.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ChildProgram, freePorts } from './child-program.ts'
import { fakeGcsServer } from './program-set.ts'
import { programFolder, sayToStderr } from './programs.ts'

export interface FakeGcs {
  readonly endpoint: string
  makeBucket(name: string): Promise<string>
  /** By the JSON API. */
  upload(bucket: string, name: string, content: Uint8Array): Promise<void>
  stop(): Promise<void>
}

export async function startFakeGcs(): Promise<FakeGcs> {
  const [port = 0] = await freePorts(1)
  const program = join(await programFolder(fakeGcsServer, sayToStderr), 'fake-gcs-server')
  const folder = await mkdtemp(join(tmpdir(), 'slipway-gcs-'))
  const place = ['-scheme', 'http', '-host', '127.0.0.1', '-port', String(port), '-public-host', `127.0.0.1:${port}`]
  const running = new ChildProgram(program, ['-backend', 'memory', ...place], join(folder, 'gcs.log'))
  const endpoint = `http://127.0.0.1:${port}`
  await running.ready(async () => (await fetch(`${endpoint}/_internal/healthcheck`)).ok)
  return {
    endpoint,
    makeBucket: async (name) => {
      await posted(`${endpoint}/storage/v1/b`, JSON.stringify({ name }))
      return name
    },
    upload: async (bucket, name, content) => {
      const query = new URLSearchParams({ uploadType: 'media', name })
      await posted(`${endpoint}/upload/storage/v1/b/${bucket}/o?${query}`, content)
    },
    stop: async () => {
      await running.stop('SIGKILL')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function posted(url: string, body: string | Uint8Array): Promise<void> {
  const answer = await fetch(url, { method: 'POST', body: Buffer.from(body) })
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}: ${await answer.text()}`)
}
