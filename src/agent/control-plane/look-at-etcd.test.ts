import { describe, expect, it } from 'vitest'
import { kubernetesOrder } from '../../../test/agent/agent-bench.ts'
import { RecordedEtcd } from '../../../test/agent/recorded-etcd.ts'
import { StepBench } from '../../../test/agent/step-bench.ts'
import { pretendManifests } from '../../sim/pretend-control-plane.ts'
import { lookAtEtcd } from './look-at-etcd.ts'

const members = ['cp1', 'cp2', 'cp3'].map((name, index) => ({
  id: String(index + 1),
  name,
  url: `http://${name}:2379`,
}))

async function look(part: Parameters<StepBench['answers']>[0], etcd = new RecordedEtcd(members)) {
  const bench = new StepBench(kubernetesOrder())
  bench.answers(part)
  await bench.put('/run/systemd/system', '')
  const manifests = Object.entries(part).length === 0 ? Object.entries(pretendManifests('cp1')) : []
  for (const [path, content] of manifests) await bench.put(path, content)
  return await lookAtEtcd(bench.host, etcd, bench.signal)
}

describe('a look at etcd', () => {
  it('of a host without one', async () => {
    expect(await look({ systemctl: 'LoadState=not-found\n' })).toMatchObject({ place: 'None' })
  })

  it('whose service nobody tells about takes it to be there', async () => {
    const report = await look({ systemctl: { exitCode: 1, stderr: 'Connection reset by peer' } })
    expect(report).toMatchObject({ place: 'Local', reason: { code: 'EtcdUnknown' } })
  })

  it('takes this host’s member at its own word where the others cannot reach it', async () => {
    const etcd = new RecordedEtcd(members)
    etcd.hidden.add('cp1')
    const report = await look({}, etcd)
    expect(report.members[0]).toMatchObject({ name: 'cp1', leader: true, healthy: false })
  })
})
