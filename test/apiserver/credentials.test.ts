// A token that ends while its bearer runs: nothing is done meanwhile, it is said, and the next token is taken without a restart.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { nodes } from '../../src/api/kube.ts'
import { nodeStates } from '../../src/api/node-state.ts'
import { type ApiServer, startApiServer } from '../bed/api-server.ts'
import { freePorts } from '../bed/child-program.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import { readStream, type StreamReader } from '../browser/stream-reader.ts'
import { installSlipway, kubectl, namespace } from '../rollout-rig/installation.ts'
import { SlipwayProcess } from '../rollout-rig/slipway-process.ts'
import { type RealClient, realClient, writeKubeconfig } from './real-client.ts'

const missing = await whyNoApiServer()
const { signal } = new AbortController()
const within = { timeout: 180_000, interval: 200 }

describe.skipIf(missing)('credentials that end', () => {
  let server: ApiServer
  let admin: RealClient
  let operator: SlipwayProcess
  let console: SlipwayProcess
  let reader: StreamReader
  let at: string
  let headers: Record<string, string>
  let serial = 0

  beforeAll(async () => {
    server = await startApiServer({ controllers: false })
    await installSlipway(server)
    admin = await realClient(server.kubeconfigPath)
    await newToken()
    const kubeconfig = await writeKubeconfig(server, 'account.conf', { tokenFile: 'account-token' })
    const [port = 0] = await freePorts(1)
    const log = (name: string) => join(server.dir, `${name}.log`)
    const known = ['--kubeconfig', kubeconfig, '--namespace', namespace]
    operator = new SlipwayProcess(
      'operator',
      ['operator', ...known, '--metrics-address', `127.0.0.1:${port}`],
      log('operator'),
    )
    console = new SlipwayProcess('console', ['console', ...known], log('console'))
    operator.start()
    console.start()
    await vi.waitFor(() => expect(console.log).toContain('console: http://127.0.0.1:'), within)
    const url = new URL(/http:\S+/.exec(console.log)?.[0] ?? '')
    const token = url.searchParams.get('token') ?? ''
    at = url.origin
    headers = { authorization: `Bearer ${token}` }
    reader = await readStream({ port: Number(url.port), token })
  })

  afterAll(async () => {
    reader?.close()
    await console?.stop()
    await operator?.stop()
    await admin?.api.close()
    await server?.stop()
  })

  /** Good for as long as its Secret is there. */
  const newToken = async () => {
    const bound = `bound-${++serial}`
    await kubectl(server, ['create', 'secret', 'generic', bound, '-n', namespace])
    const to = ['--bound-object-kind=Secret', `--bound-object-name=${bound}`]
    const token = await kubectl(server, ['create', 'token', 'slipway-operator', '-n', namespace, ...to])
    await writeFile(join(server.dir, 'account-token'), token)
  }
  const joined = (name: string) => admin.api.create(nodes, { metadata: { name }, spec: {} }, signal)
  const states = async () => (await admin.api.list(nodeStates, {}, signal)).items.map(({ metadata }) => metadata.name)

  test('the operator works with the first, not without, and with the second', async () => {
    await joined('w1')
    await expect.poll(states, within).toEqual(['w1'])
    await kubectl(server, ['delete', 'secret', `bound-${serial}`, '-n', namespace])
    await expect.poll(() => operator.log, within).toContain('Unauthorized')
    await joined('w2')
    // A token counts for some seconds after its end, and a watch that is open stays open: what is asked now is refused.
    const asked = async () => (await fetch(`${at}/api/rights`, { headers })).json()
    await expect
      .poll(asked, within)
      .toMatchObject({ code: 'NotPermitted', nextStep: expect.stringContaining('log in again') })
    expect(await states()).toEqual(['w1'])
    await newToken()
    await expect.poll(states, within).toEqual(['w1', 'w2'])
    await expect.poll(asked, within).toHaveProperty('user')
    await expect.poll(() => Object.keys(reader.state.nodes), within).toEqual(['w1', 'w2'])
  })
})
