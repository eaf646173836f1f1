import { describe, expect, it } from 'vitest'
import { AgentBench, scriptOrder } from '../../../test/agent/agent-bench.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { sleep } from '../../kube/sleep.ts'
import type { ActStep, Driver } from '../drivers/driver.ts'
import { followLogs } from '../local-socket/follow-logs.ts'
import type { SideTask } from '../side-task.ts'

const logPath = '/var/lib/slipway/orders/op-1/logs/step-01-settings.1.log'
const attributes = { mode: 0o640, owner: 'root', group: 'adm' }

function driver(act: ActStep['act']): Driver {
  return {
    name: 'script',
    concerns: () => true,
    inspect: () => Promise.resolve({}),
    steps: () => [{ name: 'settings', disruptive: false, attempts: 1, act }],
    undo: { possible: false, because: 'it is of no use', endsUndo: 'Never' },
  }
}

/** An agent whose only step does that. */
function agentThat(act: ActStep['act']): AgentBench {
  const bench = new AgentBench()
  bench.drivers = [driver(act)]
  bench.host.answer = () => ({ exitCode: 0, stdout: '', stderr: '' })
  bench.cluster.place(scriptOrder())
  bench.start()
  return bench
}

async function logOf(act: ActStep['act'], prepare: (bench: AgentBench) => void = () => undefined) {
  const bench = agentThat(act)
  prepare(bench)
  await bench.clock.until(() => bench.order?.finishedAt !== undefined)
  return { bench, log: bench.disk.files.get(logPath)?.content, step: bench.order?.steps[0] }
}

describe('the log of a step the agent does itself', () => {
  it('has each command with its complaints, and each file that was changed', async () => {
    const { log, step } = await logOf(
      async ({ host }, signal) => {
        await host.files.write('/etc/new', 'content', attributes)
        await host.files.rename('/etc/new', '/etc/other')
        await host.files.remove('/etc/other')
        await host.run({ argv: ['systemctl', 'restart', '--', `it's.service`, ''] }, signal)
        await host.run({ argv: ['sysctl', '-w', 'vm.swappiness=10'] }, signal)
        await host.reboot(signal)
      },
      (bench) => {
        bench.host.answer = ({ argv }) =>
          argv[0] === 'sysctl'
            ? { exitCode: 0, stdout: 'vm.swappiness = 10', stderr: 'it will not last' }
            : { exitCode: 3, stdout: 'out\n', stderr: 'complaint\n' }
      },
    )
    const said = [
      'write /etc/new (0640 root:adm)',
      'move /etc/new to /etc/other',
      'remove /etc/other',
      `$ systemctl restart -- 'it'\\''s.service' ''`,
      'out',
      'complaint',
      '[exit code 3]',
      '$ sysctl -w vm.swappiness=10',
      'it will not last',
      'boot the machine anew',
      '',
    ]
    expect(log).toBe(said.join('\n'))
    expect(step).toMatchObject({ state: 'Succeeded', logTail: log })
  })

  it('has nothing of what a file holds or a command reads, though the command prints it', async () => {
    const { log } = await logOf(
      async ({ host }, signal) => {
        await host.files.write('/etc/key', 'the secret', attributes)
        await host.run({ argv: ['tee', '/etc/key'], input: 'the secret', env: { KEY: 'the secret' } }, signal)
      },
      (bench) => {
        bench.host.answer = ({ input = '' }) => ({ exitCode: 1, stdout: input, stderr: 'no room\n' })
      },
    )
    expect(log).toBe('write /etc/key (0640 root:adm)\n$ tee /etc/key\nno room\n[exit code 1]\n')
  })

  it('has nothing of what a command was asked for', async () => {
    const { log } = await logOf(
      async ({ host }, signal) => {
        await host.run({ argv: ['systemctl', 'show', '--property=Environment', 'etcd.service'] }, signal)
      },
      (bench) => {
        bench.host.answer = () => ({ exitCode: 0, stdout: 'Environment=ETCD_PASSWORD=secret\n', stderr: '' })
      },
    )
    expect(log).toBe('$ systemctl show --property=Environment etcd.service\n')
  })

  it('has all of what the reason has no room for, and the reason says the cause alone', async () => {
    const complaint = `${'line\n'.repeat(500)}the end\n`
    const { log, step } = await logOf(
      async ({ host }, signal) => {
        await host.run({ argv: ['grubby'] }, signal)
        throw new SlipwayError('UnitFailed', 'the cause')
      },
      (bench) => {
        bench.host.answer = () => ({ exitCode: 1, stdout: '', stderr: complaint })
      },
    )
    expect(log).toBe(`$ grubby\n${complaint}[exit code 1]\n`)
    expect(step).toMatchObject({
      reason: { code: 'UnitFailed', message: 'step settings failed: the cause' },
      logTail: log,
    })
  })

  it('says which command a dead agent was at', async () => {
    const bench = agentThat(({ host }, signal) => host.run({ argv: ['update-grub'] }, signal).then(() => undefined))
    bench.host.answer = () => {
      bench.kill()
      return { exitCode: 0, stdout: 'never heard', stderr: '' }
    }
    await bench.clock.until(() => bench.disk.files.has(logPath))
    expect(bench.disk.files.get(logPath)?.content).toBe('$ update-grub\n')
  })

  it('says why a command gave no answer', async () => {
    const { log } = await logOf(
      ({ host }, signal) => host.run({ argv: ['update-grub'] }, signal).then(() => undefined),
      (bench) => {
        bench.host.answer = () => {
          throw new SlipwayError('CommandTimedOut', 'it took too long')
        }
      },
    )
    expect(log).toBe('$ update-grub\n[it took too long]\n')
  })

  it('keeps its beginning and its end, and of a long output the end', async () => {
    const { log = '' } = await logOf(
      async ({ host }, signal) => {
        for (let run = 1; run <= 40; run++) await host.run({ argv: ['list', String(run)] }, signal)
      },
      (bench) => {
        bench.host.answer = ({ argv }) => ({ exitCode: 0, stdout: '', stderr: `${'x'.repeat(1e6)} end of ${argv[1]}` })
      },
    )
    expect(log.length).toBeLessThan(330 * 1024)
    expect(log.startsWith('$ list 1\n[…]xxx')).toBe(true)
    expect(log).toContain('is left out')
    expect(log.endsWith('x end of 40\n')).toBe(true)
  })

  it('is followed to its end, however long it gets', async () => {
    const bench = new AgentBench()
    const act: ActStep['act'] = async ({ host }, signal) => {
      for (let run = 1; run <= 60; run++) {
        await host.run({ argv: ['list', String(run)] }, signal)
        await sleep(bench.clock, 1_000, signal)
      }
    }
    bench.drivers = [driver(act)]
    bench.host.answer = ({ argv }) => ({ exitCode: 0, stdout: '', stderr: `${'x'.repeat(1e6)} end of ${argv[1]}` })
    let told = ''
    const follower: SideTask = {
      name: 'follower',
      run: async (context, signal) => {
        await sleep(context.clock, 5_000, signal)
        const tell = (text: string) => {
          told += text
          return Promise.resolve()
        }
        await followLogs(context, {}, 1_000, tell, signal)
      },
    }
    bench.cluster.place(scriptOrder())
    bench.start({ sideTasks: [follower] })
    await bench.clock.until(() => bench.order?.finishedAt !== undefined)
    const runs = [...told.matchAll(/end of ([0-9]+)/g)].map(([, run]) => Number(run))
    expect([...new Set(runs)]).toEqual(Array.from({ length: 56 }, (_, at) => at + 5))
  })

  it('holds nothing up where it cannot be written', async () => {
    const { log, step } = await logOf(
      async ({ host }, signal) => {
        await host.run({ argv: ['fill'] }, signal)
      },
      (bench) => {
        bench.host.answer = () => {
          bench.disk.failing = 'DiskFull'
          queueMicrotask(() => queueMicrotask(() => queueMicrotask(() => (bench.disk.failing = undefined))))
          return { exitCode: 0, stdout: '', stderr: 'full\n' }
        }
      },
    )
    expect(log).toBe('$ fill\n')
    expect(step?.state).toBe('Succeeded')
  })

  it('is not there where nothing was done', async () => {
    const { log, step } = await logOf(() => Promise.resolve())
    expect(log).toBeUndefined()
    expect(step).not.toHaveProperty('logTail')
  })
})
