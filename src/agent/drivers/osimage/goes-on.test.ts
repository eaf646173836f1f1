import { expect, it } from 'vitest'
import { AgentBench, scriptOrder } from '../../../../test/agent/agent-bench.ts'
import { PretendImageTools, pretendImage, repository } from '../../../../test/agent/pretend-image-tools.ts'
import { keyPairSignatures } from '../../../adapters/oci/key-pair-signatures.ts'
import type { Order } from '../../../api/node-state.ts'
import { osImageDriver } from './osimage-driver.ts'

const minuteMs = 60_000
const [old, next] = [pretendImage('3.0'), pretendImage('4.0')]

/** A machine that takes ten minutes to stage the image; rpm-ostree goes on when who asked it is killed. */
class SlowMachine {
  readonly bench = new AgentBench()
  readonly tools: PretendImageTools

  constructor(engine: 'rpm-ostree' | 'bootc' = 'rpm-ostree') {
    this.tools = new PretendImageTools(this.bench, engine, old)
    this.bench.drivers = [osImageDriver({ clock: this.bench.clock, signatures: keyPairSignatures })]
    this.tools.publish('stable', next)
  }

  place(part: Partial<Order>): void {
    this.bench.cluster.place(
      scriptOrder({ work: { os: { image: `${repository}:stable` } }, rollback: 'Image', ...part }),
    )
  }

  async stagesBy(step: string): Promise<void> {
    this.tools.stagesInMs = 10 * minuteMs
    await this.bench.clock.until(() => this.bench.host.executions.some((one) => one.step.startsWith(step)))
  }

  /** What was staged is lost with the power, and is being staged again. */
  async stagesAgain(part: Partial<Order>): Promise<void> {
    this.place(part)
    this.bench.start()
    await this.bench.clock.until(() => this.bench.host.reboots === 1)
    this.tools.boot('power loss')
    await this.stagesBy('stage-image-again')
  }

  /** The agent dies while the image is staged again, and finds its order changed. */
  async comesBackTo(part: Partial<Order>): Promise<void> {
    this.bench.kill()
    this.place(part)
    this.bench.restart()
  }

  async isAsBefore(): Promise<void> {
    await this.bench.clock.advance(20 * minuteMs)
    expect(this.tools.staged).toBeUndefined()
    expect(this.tools.booted.digest).toBe(old.digest)
  }
}

it('an image whose staging took too long is not staged after the last word', async () => {
  const host = new SlowMachine()
  host.place({ timeout: '5m' })
  host.bench.start()
  await host.stagesBy('stage-image')
  await host.bench.clock.until(host.bench.hasEnded('Failed'))
  await host.isAsBefore()
})

it('an image that is staged again when its order is withdrawn is not staged after the last word', async () => {
  const host = new SlowMachine()
  await host.stagesAgain({ rollback: 'Never' })
  await host.comesBackTo({ rollback: 'Never', desired: 'Withdraw' })
  await host.bench.clock.until(host.bench.hasEnded('Withdrawn'))
  await host.isAsBefore()
})

it.each(['rpm-ostree', 'bootc'] as const)('an image that is staged again is asked back (%s)', async (engine) => {
  const host = new SlowMachine(engine)
  await host.stagesAgain({})
  let hasEndedBeforeItWasTakenBack = false
  host.tools.override = (argv) => {
    if (argv.includes('disable')) hasEndedBeforeItWasTakenBack = host.bench.host.ended_.length > 0
    return undefined
  }
  await host.comesBackTo({ desired: 'PutBack' })
  await host.bench.clock.until(host.bench.hasEnded('Withdrawn'))
  expect(hasEndedBeforeItWasTakenBack).toBe(true)
  await host.isAsBefore()
})

it('a tool that does not stop keeps the order open, and says so', async () => {
  const host = new SlowMachine()
  await host.stagesAgain({ rollback: 'Never' })
  host.tools.heedsCancel = false
  await host.comesBackTo({ rollback: 'Never', desired: 'Withdraw' })
  await host.bench.clock.until(() => host.bench.order?.reason?.code === 'ImageToolFailed')
  expect(host.bench.order).toMatchObject({
    state: 'Running',
    reason: { message: expect.stringContaining('told to stop, and is still busy with “Rebase”') },
  })
  await host.bench.clock.until(host.bench.hasEnded('Withdrawn'))
  await host.isAsBefore()
})

it.each([
  ['an upgrade, after its own staging', 'upgrade', 'boot-image'],
  ['a rebase, before its own', 'rebase', 'set-boot-guard'],
])('what the tool does for somebody else is waited for (%s)', async (_, word, last) => {
  const host = new SlowMachine()
  const { bench, tools } = host
  tools.override = (argv) => {
    const isThere = last === 'boot-image' ? bench.host.reboots > 0 : argv.includes('enable')
    if (!isThere || tools.transaction) return undefined
    tools.transaction = ['rpm-ostree', word]
    host.place({ desired: 'Withdraw' })
    tools.override = () => undefined
    return undefined
  }
  host.place({})
  bench.start()
  if (last === 'boot-image') {
    await bench.clock.until(() => bench.host.reboots === 1)
    await host.comesBackTo({})
  }
  await bench.clock.until(() => bench.order?.reason?.message.includes('busy with') === true)
  expect(bench.order?.state).toBe('Running')
  expect(tools.asked).not.toContain('rpm-ostree cancel')
  tools.transaction = undefined
  await bench.clock.until(bench.hasEnded('Withdrawn'))
  await host.isAsBefore()
})
