import { describe, expect, it } from 'vitest'
import { AgentBench, scriptOrder } from '../../../test/agent/agent-bench.ts'
import { fixedRandom } from '../../../test/fakes/fixed-random.ts'
import { WebDownload } from '../../adapters/download/web-download.ts'
import { keyPairSignatures } from '../../adapters/oci/key-pair-signatures.ts'
import { nodeRequests } from '../../adapters/secure-requests/node-requests.ts'
import { allDrivers, asFarAsWanted } from './all-drivers.ts'
import { JobRecord } from './jobs/job-record.ts'

describe('an agent for reboots only', () => {
  const bench = new AgentBench()
  const drivers = allDrivers({
    ...{ clock: bench.clock, random: fixedRandom(), download: new WebDownload({ proxyEnv: {} }) },
    ...{ signatures: keyPairSignatures, jobRecord: new JobRecord('/var/lib/slipway'), requests: nodeRequests },
    stateDir: '/var/lib/slipway',
  })

  it('has no driver that brings anything onto the host', () => {
    expect(asFarAsWanted('reboots', drivers).map(({ name }) => name)).toEqual([
      'control-plane',
      'maintenance',
      'reboot',
    ])
    expect(asFarAsWanted(undefined, drivers)).toEqual(drivers)
  })

  it('refuses all other work, and says why', async () => {
    bench.cluster.place(scriptOrder())
    bench.start({ drivers: asFarAsWanted('reboots', drivers) })
    await bench.clock.until(bench.hasEnded('Refused'))
    expect(bench.order?.reason).toMatchObject({ code: 'DriverMissing', message: expect.stringContaining('script') })
    expect(bench.host.executions).toEqual([])
  })
})
