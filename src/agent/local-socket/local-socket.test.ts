import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { AgentBench, scriptOrder } from '../../../test/agent/agent-bench.ts'
import { cliFixture } from '../../../test/cli/cli-fixture.ts'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { unixClient } from '../../adapters/local-socket/unix-client.ts'
import { UnixServer } from '../../adapters/local-socket/unix-server.ts'
import { localDesk } from './local-desk.ts'

it('slipway host speaks with a running agent over a real socket', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'slipway-host-'))
  const socket = join(folder, 'agent.sock')
  const bench = new AgentBench()
  bench.host.behave = () => ({ ms: 10, exitCode: 0, output: 'hello\n' })
  bench.cluster.place(scriptOrder())
  bench.start({ sideTasks: [localDesk(new UnixServer(), socket)] })
  await bench.clock.until(bench.hasEnded('Succeeded'))
  const run = async (...argv: readonly string[]) => {
    const cli = cliFixture(new FakeKubeApi(), { local: async () => unixClient })
    return { code: await cli.run('host', ...argv, '--socket', socket), out: cli.out.text, err: cli.err.text }
  }
  await expect.poll(() => run('status')).toMatchObject({ code: 0, out: expect.stringContaining('op-1 Succeeded') })
  expect(await run('logs')).toMatchObject({ code: 0, out: 'hello\n' })
  expect(await run('request')).toMatchObject({ code: 3, err: expect.stringContaining('maintenance by file is off') })
  bench.kill()
  await expect.poll(() => run('status')).toMatchObject({ code: 4 })
  await rm(folder, { recursive: true })
})
