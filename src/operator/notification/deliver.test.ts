import { expect, it } from 'vitest'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { fixedRandom } from '../../../test/fakes/fixed-random.ts'
import { ManualClock } from '../../../test/fakes/manual-clock.ts'
import { RecordingLog } from '../../../test/fakes/recording-log.ts'
import { secrets } from '../../api/kube.ts'
import type { Web } from '../../ports/web.ts'
import { deliver } from './deliver.ts'

const { signal } = new AbortController()
const namespace = 'slipway-system'
const news = { key: 'k', kind: 'Started', at: '2026-01-05T09:00:00Z', code: 'Started', message: 'it began' } as const
/** As a client says it: with the address. */
const web: Web = {
  request: ({ url }) => Promise.reject(Object.assign(new TypeError('Invalid URL'), { input: url })),
}

it.each(['http://hooks:99999/T0P5ECRET', 'https://', 'https://hooks:port/T0P5ECRET', 'hooks/T0P5ECRET'])(
  'gives up on an address that is none, and says nothing of it: %s',
  async (address) => {
    const api = new FakeKubeApi().put(secrets, {
      metadata: { name: 'chat', namespace },
      data: { url: Buffer.from(address).toString('base64') },
    })
    const log = new RecordingLog()
    const ports = { api, clock: new ManualClock(), random: fixedRandom(), log, web }
    const receiver = { name: 'ops', webhook: { urlSecret: { name: 'chat', key: 'url' } } }
    const failure = await deliver({ ports, namespace }, receiver, news, signal)
    expect(failure).toMatchObject({ mayPass: false, message: expect.stringContaining('its address') })
    expect(JSON.stringify([failure, log.lines])).not.toContain('T0P5ECRET')
  },
)
