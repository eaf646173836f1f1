// Receivers that really listen: what operators tell them, signed, and under which address that nobody else learns.

import { createHash, createHmac } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { maintenancePolicies, policyName } from '../../src/api/maintenance-policy.ts'
import { createScript } from '../../src/sim/workloads.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import { kubectl, namespace } from '../rollout-rig/installation.ts'
import { RolloutRig } from '../rollout-rig/rollout-rig.ts'

const missing = await whyNoApiServer()
const { signal } = new AbortController()
const within = { timeout: 120_000, interval: 200 }
const script = '#!/bin/sh\ntrue\n'
const key = 'a-key-to-sign-with'

interface Heard {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

describe.skipIf(missing)('receivers', () => {
  let rig: RolloutRig
  let web: Server
  const heard: Heard[] = []

  beforeAll(async () => {
    web = createServer(async (request, answer) => {
      heard.push({ path: request.url ?? '', headers: request.headers, body: await text(request) })
      answer.end()
    })
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
    const address = `http://127.0.0.1:${(web.address() as AddressInfo).port}`
    rig = await RolloutRig.start({ controlPlane: 1, workers: 1, agentProcesses: 1, work: '1s', version: 'v1.36.3' })
    await createScript(rig.api, 'work', script, signal)
    const literals = [`--from-literal=key=${key}`, `--from-literal=address=${address}/hidden`]
    await kubectl(rig.server, ['create', 'secret', 'generic', 'receivers', '-n', namespace, ...literals])
    const secret = (of: string) => ({ name: 'receivers', key: of })
    const notifications = [
      { name: 'program', webhook: { url: `${address}/program`, signingSecret: secret('key') } },
      { name: 'chat', webhook: { urlSecret: secret('address'), format: 'Slack' }, on: ['Started', 'Finished'] },
    ]
    const body = { spec: { notifications } }
    await rig.api.patch(maintenancePolicies, { name: policyName }, { type: 'merge', body }, signal)
    const known = async () => (await rig.policy()).status?.notifications?.map(({ receiver }) => receiver).toSorted()
    await vi.waitFor(async () => expect(await known()).toEqual(['chat', 'program']), within)
  })

  afterAll(async () => {
    await rig?.stop()
    web?.closeAllConnections()
    web?.close()
  })

  test('hear of an update from its beginning to its end, each in its own form', async () => {
    const sha256 = createHash('sha256').update(script).digest('hex')
    await rig.createUpdate('told', { script: { configMap: 'work', sha256 } })
    expect((await rig.ended('told', 120_000)).status?.phase).toBe('Succeeded')
    const to = (path: string) => heard.filter((one) => one.path === path)
    const kinds = () => to('/program').map(({ body }) => JSON.parse(body).kind)
    await expect.poll(kinds, within).toEqual(['Started', 'Finished'])
    await expect.poll(() => to('/hidden').length, within).toBe(2)

    for (const { headers, body } of to('/program')) {
      const [, seconds = '', sum = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['slipway-signature'])) ?? []
      expect(sum).toBe(createHmac('sha256', key).update(`${seconds}.${body}`).digest('hex'))
      expect(Math.abs(Number(seconds) - Date.now() / 1000)).toBeLessThan(300)
    }
    expect(new Set(to('/program').map(({ headers }) => headers['idempotency-key'])).size).toBe(2)
    const [started, finished] = to('/hidden').map(({ body }) => JSON.parse(body).text)
    expect(started).toBe('▶ *Started* (Started): update told began, 2 node(s)')
    expect(finished).toMatch(/^✔ \*Finished\* \(Succeeded\): update told: /)
    expect(to('/hidden').every(({ headers }) => headers['slipway-signature'] === undefined)).toBe(true)
  })
})
