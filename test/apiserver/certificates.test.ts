// Certificates that end or are replaced while their bearer runs: it is said, and the next ones are taken without a restart.

import { mkdir, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SystemClock } from '../../src/adapters/clock/system-clock.ts'
import { inClusterConnection } from '../../src/adapters/kubeconfig/in-cluster-connection.ts'
import { SystemRandom } from '../../src/adapters/random/system-random.ts'
import { nodes } from '../../src/api/kube.ts'
import { nodeStates } from '../../src/api/node-state.ts'
import { asSlipwayError } from '../../src/core/failure.ts'
import { HttpKubeApi } from '../../src/kube/http/http-kube-api.ts'
import { type ApiServer, adminToken, startApiServer } from '../bed/api-server.ts'
import { type Authority, makeAuthority, makePair } from '../bed/certificates.ts'
import { freePorts } from '../bed/child-program.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import { installSlipway, namespace } from '../rollout-rig/installation.ts'
import { SlipwayProcess } from '../rollout-rig/slipway-process.ts'
import { type RealClient, realClient, writeKubeconfig } from './real-client.ts'

const missing = await whyNoApiServer()
const { signal } = new AbortController()
const within = { timeout: 180_000, interval: 200 }
/** Long enough for an operator to start on a busy machine. */
const lifeMs = 30_000
const base64 = (text: string) => Buffer.from(text).toString('base64')

describe.skipIf(missing)('certificates that are replaced', () => {
  const next = makeAuthority('slipway-test-next')
  let server: ApiServer
  let admin: RealClient
  let operator: SlipwayProcess

  beforeAll(async () => {
    server = await startApiServer({ controllers: false })
    await installSlipway(server)
    // The person who looks on believes both from the start.
    await writeFile(join(server.dir, 'both.crt'), server.authority.certificate + next.certificate)
    const both = { 'certificate-authority': 'both.crt' }
    admin = await realClient(await writeKubeconfig(server, 'onlooker.conf', { token: adminToken }, both))
  })

  afterAll(async () => {
    await operator?.stop()
    await admin?.api.close()
    await server?.stop()
  })

  /** As a kubelet keeps it: certificate and key in one file, reached by a link that is replaced. */
  const writePair = async (name: string, life?: number) => {
    const subject = { name: `system:node:${name}`, group: 'system:masters' }
    const pair = makePair(server.authority, life === undefined ? subject : { ...subject, lifeMs: life })
    const file = `${name}-${performance.now()}.pem`
    await writeFile(join(server.dir, file), pair.certificate + pair.key)
    await symlink(file, join(server.dir, 'new'))
    await rename(join(server.dir, 'new'), join(server.dir, `${name}-current.pem`))
  }
  const pairOf = (name: string) => ({
    'client-certificate': `${name}-current.pem`,
    'client-key': `${name}-current.pem`,
  })
  const failureOf = async (asking: Promise<unknown>) =>
    asSlipwayError(
      await asking.then(
        () => undefined,
        (error: unknown) => error,
      ),
    )
  const joined = (name: string) => admin.api.create(nodes, { metadata: { name }, spec: {} }, signal)
  const states = async () => (await admin.api.list(nodeStates, {}, signal)).items.map(({ metadata }) => metadata.name)

  test('a client certificate ends: it is said with what to do, and the next one is taken', async () => {
    const endsMs = Date.now() + lifeMs
    await writePair('w1', lifeMs)
    const { api, requests } = await realClient(await writeKubeconfig(server, 'w1.conf', pairOf('w1')))
    await writePair('operator', lifeMs)
    await writeFile(join(server.dir, 'trusted.crt'), server.authority.certificate)
    const trusting = { 'certificate-authority': 'trusted.crt' }
    const kubeconfig = await writeKubeconfig(server, 'operator.conf', pairOf('operator'), trusting)
    const [port = 0] = await freePorts(1)
    const known = ['--kubeconfig', kubeconfig, '--namespace', namespace]
    const args = ['operator', ...known, '--metrics-address', `127.0.0.1:${port}`]
    operator = new SlipwayProcess('operator', args, join(server.dir, 'operator.log'))
    operator.start()
    try {
      await joined('n1')
      await expect.poll(states, within).toEqual(['n1'])
      await api.list(nodes, {}, signal)
      await delay(Math.max(0, endsMs + 2_000 - Date.now()))
      expect(await failureOf(api.list(nodes, {}, signal))).toMatchObject({
        code: 'NotPermitted',
        message: expect.stringMatching(/Unauthorized: the client certificate ended at \d{4}-/),
        nextStep: expect.stringContaining('renew the client certificate'),
        cause: { code: 'Unauthorized', status: 401 },
      })
      await expect.poll(() => operator.log, within).toContain('the client certificate ended at')
      expect(operator.log).toContain('"nextStep":"renew the client certificate')
      await writePair('w1')
      requests.length = 0
      await api.list(nodes, {}, signal)
      expect(requests.map(({ status }) => status)).toEqual([401, 200])
      await joined('n2')
      expect(await states()).toEqual(['n1'])
      await writePair('operator')
      await expect.poll(states, within).toEqual(['n1', 'n2'])
    } finally {
      await api.close()
    }
  })

  test('the server shows a certificate of another authority: pod, host and operator go on with the new bundle', async () => {
    const folder = join(server.dir, 'account')
    await mkdir(folder)
    for (const [name, text] of Object.entries({ token: adminToken, 'ca.crt': server.authority.certificate, namespace }))
      await writeFile(join(folder, name), text)
    const pod = await podClient(server.url, folder)
    const user = { token: adminToken }
    const held = ({ certificate }: Authority) => ({ 'certificate-authority-data': base64(certificate) })
    const writeHeld = (authority: Authority) =>
      writeKubeconfig(server, 'kubelet.conf', user, { 'certificate-authority': undefined, ...held(authority) })
    const host = await realClient(await writeHeld(server.authority))
    const all = [pod, host.api]
    try {
      for (const api of all) await api.list(nodes, {}, signal)
      await server.restartApi(next)
      for (const api of all) {
        expect(await failureOf(api.list(nodes, {}, signal))).toMatchObject({
          code: 'CannotReach',
          message: expect.stringContaining('unable to verify the first certificate'),
          nextStep: expect.stringContaining('certificate-authority'),
          cause: { code: 'Unreachable', cause: { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' } },
        })
      }
      await joined('n3')
      await expect.poll(() => operator.log, within).toContain('"nextStep":"bring the certificate-authority')
      expect(await states()).toEqual(['n1', 'n2'])

      await writeFile(join(folder, 'ca.crt'), next.certificate)
      await writeHeld(next)
      const names = ['n1', 'n2', 'n3']
      // A write, too: none has left while the server was not believed.
      for (const [index, api] of all.entries()) {
        await api.create(nodes, { metadata: { name: `m${index}` }, spec: {} }, signal)
        names.push(`m${index}`)
      }
      await writeFile(join(server.dir, 'trusted.crt'), next.certificate)
      await expect.poll(async () => (await states()).toSorted(), within).toEqual(names.toSorted())
    } finally {
      for (const api of all) await api.close()
    }
  })
})

/** The client of a pod with this service account. */
async function podClient(url: string, folder: string): Promise<HttpKubeApi> {
  const clock = new SystemClock()
  const { hostname: host, port } = new URL(url)
  const connection = await inClusterConnection({ host, port, folder, clock })
  return new HttpKubeApi({ connection, clock, random: new SystemRandom(), userAgent: 'slipway/test (pod)' })
}
