import { describe, expect, it } from 'vitest'
import { AgentBench, scriptOrder } from '../../../../test/agent/agent-bench.ts'
import { configMaps } from '../../../api/kube.ts'
import { agentStatusSchema, type Order } from '../../../api/node-state.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import type { JobWork } from '../../../api/work.ts'
import type { Download } from '../../../ports/download.ts'
import { sha256 } from '../../journal/sealed-file.ts'
import { JobRecord } from './job-record.ts'
import { jobReporter } from './job-reporter.ts'
import { jobsDriver } from './jobs.ts'

const upgrade = 'apt-get -y upgrade\n'
const check = 'systemctl --failed\n'
const rotate = '#!/bin/sh\nrotate\n'
const content = (name: string, text: string) => ({ configMap: name, namespace: 'slipway-system', sha256: sha256(text) })

const upgradeJob: JobWork = {
  name: 'upgrade',
  script: content('upgrade', upgrade),
  sha256: sha256(upgrade),
  validate: content('check', check),
}
const rotateJob: JobWork = { name: 'rotate.disks', url: 'https://example.com/rotate.sh', sha256: sha256(rotate) }

const order = (jobs: JobWork[], part: Partial<Order> = {}) =>
  scriptOrder({ kind: 'Maintenance', work: { jobs }, ...part })

class JobBench extends AgentBench {
  readonly record = new JobRecord('/var/lib/slipway')
  fetches = 0
  away = false
  readonly download: Download = {
    fetch: async ({ url, to }) => {
      this.fetches += 1
      if (this.away) throw new SlipwayError('StagingFailed', `${url} does not answer`)
      await this.disk.makeFolder(to.slice(0, to.lastIndexOf('/')))
      await this.disk.write(to, rotate)
      return undefined
    },
  }

  constructor() {
    super()
    for (const [name, text] of Object.entries({ upgrade, check })) {
      this.cluster.api.put(configMaps, { metadata: { name, namespace: 'slipway-system' }, data: { script: text } })
    }
  }

  launch(): void {
    this.disk.budget = Number.POSITIVE_INFINITY
    this.start({ drivers: [jobsDriver(this)], sideTasks: [jobReporter(this.record)] })
  }

  async carryOut(given: Order, end = 'Succeeded'): Promise<void> {
    this.cluster.place(given)
    await this.clock.until(() => this.order?.id === given.id && this.order?.state === end)
    await this.clock.advance(10)
  }

  get ran(): readonly string[] {
    return this.host.executions.map(({ step }) => step)
  }
}

const failing = (step: string) => (job: { readonly env: Readonly<Record<string, string>> }) => ({
  ms: 10,
  exitCode: job.env.SLIPWAY_STEP === step ? 3 : 0,
})

describe('maintenance jobs', () => {
  it('run in the order given, each with its validation, and are noted and told', async () => {
    const bench = new JobBench()
    bench.launch()
    await bench.carryOut(order([upgradeJob, rotateJob]))
    const word = `job-rotate-disks-${sha256('rotate.disks').slice(0, 8)}`
    expect(bench.ran).toEqual(['job-upgrade', 'job-upgrade-validate', word])
    expect(bench.cluster.agent?.jobs).toMatchObject([
      { name: 'upgrade', sha256: sha256(upgrade) },
      { name: 'rotate.disks', sha256: sha256(rotate) },
    ])
    expect(agentStatusSchema.safeParse(bench.cluster.agent).error).toBeUndefined()
  })

  it('never run twice with the same name and content, and run again with another', async () => {
    const bench = new JobBench()
    bench.launch()
    await bench.carryOut(order([upgradeJob, rotateJob]))
    await bench.carryOut(order([upgradeJob, rotateJob], { id: 'op-2' }))
    expect(bench.ran).toHaveLength(3)
    expect(bench.fetches).toBe(1)
    await bench.carryOut(order([{ ...rotateJob, name: 'again' }], { id: 'op-3' }))
    expect(bench.ran).toHaveLength(4)
  })

  it('are not forgotten for versions of another job, however many', async () => {
    const bench = new JobBench()
    bench.launch()
    await bench.carryOut(order([upgradeJob]))
    for (let version = 1; version <= 65; version++) {
      const script = `rotate ${version}\n`
      bench.cluster.api.put(configMaps, {
        metadata: { name: 'rotate', namespace: 'slipway-system' },
        data: { script },
      })
      const job: JobWork = { name: 'rotate', script: content('rotate', script), sha256: sha256(script) }
      await bench.carryOut(order([job], { id: `rotate-${version}` }))
    }
    const done = bench.cluster.agent?.jobs ?? []
    expect(done).toHaveLength(64)
    expect(done.at(-1)).toMatchObject({ name: 'rotate', sha256: sha256('rotate 65\n') })
    expect(done).toContainEqual(expect.objectContaining({ name: 'upgrade' }))
    const before = bench.ran.length
    await bench.carryOut(order([upgradeJob], { id: 'op-again' }))
    expect(bench.ran).toHaveLength(before)
  })

  it('are told again by the next agent, and still not run again', async () => {
    const bench = new JobBench()
    bench.launch()
    await bench.carryOut(order([upgradeJob]))
    bench.kill()
    bench.cluster.removeNode()
    bench.cluster.place(undefined, 'node-uid', 'state-uid-2')
    bench.launch()
    await bench.clock.until(() => bench.cluster.agent?.jobs?.length === 1)
    await bench.carryOut(order([upgradeJob], { id: 'op-2' }))
    expect(bench.ran).toHaveLength(2)
  })

  it.each([
    { failed: 'job-upgrade', ran: ['job-upgrade'] },
    { failed: 'job-upgrade-validate', ran: ['job-upgrade', 'job-upgrade-validate'] },
  ])('fail when $failed does: not noted, and nothing after it', async ({ failed, ran }) => {
    const bench = new JobBench()
    bench.host.behave = failing(failed)
    bench.launch()
    await bench.carryOut(order([upgradeJob, rotateJob]), 'Failed')
    expect(bench.ran).toEqual(ran)
    expect(bench.order?.reason).toMatchObject({ code: 'StepFailed' })
    expect(bench.cluster.agent?.jobs).toBeUndefined()
  })

  it.each(['job-upgrade', 'job-upgrade-validate'])(
    'that were killed while no agent looked have failed: %s',
    async (step) => {
      const bench = new JobBench()
      bench.launch()
      bench.cluster.place(order([upgradeJob, rotateJob]))
      await bench.clock.until(() => bench.ran.includes(step))
      const before = [...bench.ran]
      bench.kill()
      bench.host.killJobs()
      bench.launch()
      await bench.clock.until(bench.hasEnded('Failed'))
      expect(bench.ran).toEqual(before)
      expect(bench.order?.reason?.message).toContain('whether it did its work is not known')
      expect(bench.cluster.agent?.jobs).toBeUndefined()
    },
  )

  const nothing = '#!/bin/sh\ntrue\n'

  it.each([
    { first: upgradeJob, ran: ['job-upgrade', 'job-upgrade-validate'] },
    { first: { ...rotateJob, name: 'a' }, ran: ['job-a'] },
  ])('keep their steps where one has the name of a step of $first.name', async ({ first, ran }) => {
    const name = `${first.name}-${first.validate ? 'validate' : 'done'}`
    const second: JobWork = { name, script: content('nothing', nothing), sha256: sha256(nothing) }
    for (const jobs of [
      [first, second],
      [second, first],
    ]) {
      const bench = new JobBench()
      const metadata = { name: 'nothing', namespace: 'slipway-system' }
      bench.cluster.api.put(configMaps, { metadata, data: { script: nothing } })
      bench.launch()
      await bench.carryOut(order(jobs))
      const other = `job-${name}-${sha256(name).slice(0, 8)}`
      expect(bench.ran).toEqual(jobs[0] === first ? [...ran, other] : [other, ...ran])
      expect(bench.cluster.agent?.jobs?.map((done) => done.name)).toEqual(jobs.map((job) => job.name))
      await bench.carryOut(order(jobs, { id: 'op-2' }))
      expect(bench.ran).toHaveLength(ran.length + 1)
    }
  })

  it('keep their names where the other has no such step', async () => {
    const bench = new JobBench()
    const [first, second] = ['a', 'a-validate'].map((name) => ({ ...rotateJob, name }))
    bench.launch()
    await bench.carryOut(order([first, second].filter((job) => job !== undefined)))
    expect(bench.ran).toEqual(['job-a', 'job-a-validate'])
  })

  it('keep what was done before the one that failed', async () => {
    const bench = new JobBench()
    bench.host.behave = failing('job-second')
    bench.launch()
    await bench.carryOut(order([upgradeJob, { ...rotateJob, name: 'second' }]), 'Failed')
    expect(bench.cluster.agent?.jobs).toMatchObject([{ name: 'upgrade' }])
  })

  it('are fetched before anything runs, and waited for while the server is away', async () => {
    const bench = new JobBench()
    bench.away = true
    bench.launch()
    bench.cluster.place(order([upgradeJob, rotateJob]))
    await bench.clock.advance(60_000)
    expect(bench.order).toMatchObject({ state: 'Accepted', reason: { code: 'StagingFailed' } })
    expect(bench.ran).toEqual([])
    bench.away = false
    await bench.clock.until(bench.hasEnded('Succeeded'))
  })

  it.each([
    {
      name: 'no such ConfigMap',
      job: { ...upgradeJob, name: 'x', script: content('nowhere', upgrade) },
      code: 'ScriptMissing',
    },
    { name: 'other content', job: { ...rotateJob, name: 'x', sha256: 'a'.repeat(64) }, code: 'ContentMismatch' },
    { name: 'neither ConfigMap nor address', job: { name: 'x', sha256: 'a'.repeat(64) }, code: 'ScriptMissing' },
  ])('are refused before the node is touched: $name', async ({ job, code }) => {
    const bench = new JobBench()
    bench.launch()
    await bench.carryOut(order([rotateJob, job]), 'Failed')
    expect(bench.order?.reason).toMatchObject({ code })
    expect(bench.ran).toEqual([])
  })
})
