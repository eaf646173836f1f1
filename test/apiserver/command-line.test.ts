// The command line as people have it: on the PATH, under kubectl, and completed by real shells, on a real API server.

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { events, nodes } from '../../src/api/kube.ts'
import { type ApiServer, startApiServer } from '../bed/api-server.ts'
import { serverOrReason } from '../bed/optional-server.ts'
import { findPrograms, sayToStderr, whyNoApiServer } from '../bed/programs.ts'
import { runProgram } from '../bed/run-program.ts'
import { unpackedShells } from '../bed/shells.ts'
import { node } from '../cli/cli-fixture.ts'
import { runSlipway } from '../rollout-rig/slipway-process.ts'
import { realClient } from './real-client.ts'

const missing = await whyNoApiServer()
const shells = missing ? missing : await serverOrReason('ZSH AND FISH', unpackedShells)
const { signal } = new AbortController()
const checkout = fileURLToPath(new URL('../../slipway', import.meta.url))

let server: ApiServer
let env: Readonly<Record<string, string>>
let script: (shell: string) => string

describe.skipIf(missing)('the command line and a real API server', () => {
  beforeAll(async () => {
    server = await startApiServer({ controllers: false })
    const folder = join(server.dir, 'bin')
    mkdirSync(folder)
    for (const name of ['slipway', 'kubectl-slipway', 'kubectl_complete-slipway'])
      symlinkSync(checkout, join(folder, name))
    const kubectl = (await findPrograms(sayToStderr))('kubectl')
    symlinkSync(kubectl, join(folder, 'kubectl'))
    env = {
      PATH: `${folder}:${process.env.PATH}`,
      HOME: server.dir,
      XDG_CACHE_HOME: join(server.dir, 'cache'),
      KUBECONFIG: server.kubeconfigPath,
      NO_COLOR: '1',
    }
    script = (shell) => join(server.dir, `completion.${shell}`)
    for (const shell of ['bash', 'zsh', 'fish']) {
      writeFileSync(script(shell), (await runSlipway(['completion', shell])).out)
    }
    const { api } = await realClient(server.kubeconfigPath)
    const { spec, status } = node('only-node')
    const metadata = { name: 'only-node', labels: { 'kubernetes.io/os': 'linux' } }
    await api.create(nodes, { metadata, spec, ...(status && { status }) }, signal)
    await api.close()
  })

  afterAll(async () => {
    await server?.stop()
  })

  /** Nothing is offered where the program or the cluster does not answer at once: on a busy machine that happens. */
  const patient = { timeout: 180_000, interval: 200 }
  const doctor = async () => {
    const { code, out } = await runSlipway(['doctor', '--output', 'json'], env)
    const { findings } = JSON.parse(out) as { findings: { check: string; result: string; code: string }[] }
    expect(code, out).not.toBe(4)
    return { code, of: (check: string) => findings.filter((one) => one.check === check) }
  }

  test('the doctor says what to do before Slipway is there, and finds it whole once it is', async () => {
    // What a busy server does not answer in time the doctor calls unknown.
    await vi.waitFor(async () => {
      const before = await doctor()
      expect(before.code).toBe(3)
      expect(before.of('Kinds')).toMatchObject([{ result: 'Problem', code: 'CrdsMissing' }])
      expect(before.of('Operator')).toEqual([])
      expect(before.of('Rights')).toMatchObject([{ result: 'Ok' }])
    }, patient)

    await runProgram('sh', ['-c', 'slipway install --print | kubectl apply --server-side -f -'], { env })
    await vi.waitFor(async () => {
      const after = await doctor()
      expect(after.of('Kinds')).toMatchObject([{ result: 'Ok' }])
      expect(after.of('Fences')).toMatchObject([{ result: 'Ok' }])
      expect(after.of('Operator')).toMatchObject([{ result: 'Problem', code: 'NoLeader' }])
      expect(after.of('Agents')).toMatchObject([{ result: 'Problem', code: 'AgentMissing' }])
      expect(after.code).toBe(3)
    }, patient)

    const older = [{ op: 'remove', path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/drain' }]
    const kind = ['customresourcedefinition', 'maintenancepolicies.slipway.dev']
    await runProgram('kubectl', ['patch', ...kind, '--type', 'json', '--patch', JSON.stringify(older)], { env })
    const kinds = async () => (await doctor()).of('Kinds')
    await expect.poll(kinds, patient).toMatchObject([{ result: 'Problem', code: 'CrdsOutdated' }])
  })

  test('kubectl finds it as a plug-in, which names itself so', async () => {
    expect(await runProgram('kubectl', ['slipway', 'nodes'], { env })).toContain('only-node')
    const help = await runProgram('kubectl', ['slipway', 'why', '--help'], { env })
    expect(help).toContain('Usage: kubectl slipway why [options]')
    expect(help).toContain('  kubectl slipway why w3\n')
    await expect(runProgram('kubectl', ['slipway', 'why', 'nobody'], { env })).rejects.toThrow(
      /next: look at what there is: kubectl slipway nodes, kubectl slipway status/,
    )
    const offered = await runProgram('kubectl', ['__complete', 'slipway', 'hold', 'on'], { env })
    expect(offered).toContain('only-node')
  })

  test('events are told in the order of time, and only ours', async () => {
    const { api } = await realClient(server.kubeconfigPath)
    const event = (name: string, controller: string, second: number) => ({
      metadata: { name, namespace: 'default' },
      eventTime: `2026-11-15T12:00:0${second}.000000Z`,
      ...{ reportingController: controller, reportingInstance: 'x', action: 'Work', type: 'Normal' as const },
      ...{ reason: 'NodeDone', note: `it is ${name}` },
      regarding: { apiVersion: 'v1', kind: 'Node', name: 'only-node' },
    })
    await api.create(events, event('second', 'slipway.dev/operator', 2), signal)
    await api.create(events, event('first', 'slipway.dev/operator', 1), signal)
    await api.create(events, event('foreign', 'kubelet', 3), signal)
    await api.close()
    const { out } = await runSlipway(['events', 'only-node', '-o', 'json'], env)
    expect(JSON.parse(out)).toMatchObject([{ message: 'it is first' }, { message: 'it is second' }])
  })

  const inBash = async (words: readonly string[]) => {
    const line = words.map((word) => `'${word}'`).join(' ')
    const typed = `COMP_WORDS=(slipway ${line}); COMP_CWORD=${words.length}; _slipway; printf '%s\\n' "\${COMPREPLY[@]}"`
    const out = await runProgram('bash', ['-c', `source '${script('bash')}'; ${typed}`], { env })
    return out.split('\n').filter((one) => one !== '')
  }

  test.each([
    { words: ['stat'], offered: ['status'] },
    { words: ['why', 'on'], offered: ['only-node'] },
    { words: ['status', '--outp'], offered: ['--output'] },
    { words: ['status', '--output', 'j'], offered: ['json'] },
    { words: ['status', '--output', '=', 'y'], offered: ['yaml'] },
    { words: ['--context', ''], offered: ['slipway-test'] },
    { words: ['backup', 'ver'], offered: ['verify'] },
  ])('bash completes $words', async ({ words, offered }) => {
    const context = JSON.parse(JSON.stringify(offered).replace('slipway-test', currentContext()))
    await expect.poll(() => inBash(words), patient).toEqual(context)
  })

  const currentContext = () =>
    /current-context"?:\s*"?([^"\n,]+)/.exec(readFileSync(server.kubeconfigPath, 'utf8'))?.[1] ?? ''

  test.skipIf(typeof shells === 'string')('fish completes, with what each word is', async () => {
    if (typeof shells === 'string') return
    const ask = (line: string) =>
      runProgram(shells.fish, ['--no-config', '-c', `source '${script('fish')}'; complete -C '${line}'`], {
        env: { ...env, ...shells.env },
      })
    await expect.poll(() => ask('slipway stat'), patient).toBe('status\thow updates stand, what waits and why\n')
    await expect.poll(() => ask('slipway hold '), patient).toBe('only-node\tNode\n')
    await expect.poll(() => ask('slipway completion f'), patient).toBe('fish\n')
  })

  test.skipIf(typeof shells === 'string')('zsh completes at Tab', async () => {
    if (typeof shells === 'string') return
    const seen = join(server.dir, 'zsh-line')
    const inner = [
      shells.zshSettings,
      'autoload -Uz compinit && compinit -D -u',
      `source '${script('zsh')}'`,
      `tell() { print -r -- "$BUFFER" > '${seen}'; exit }; zle -N tell; bindkey '^X' tell; bindkey '^I' complete-word`,
    ]
    const rc = join(server.dir, '.zshrc')
    writeFileSync(rc, `${inner.join('\n')}\n`)
    const typed = async (text: string) => {
      const driver = `${shells.zshSettings}; zmodload zsh/zpty; zpty z ZDOTDIR='${server.dir}' '${shells.zsh}' -d -i; sleep 2; zpty -w -n z $'${text}\\t\\x18'; zpty -r z '' >/dev/null; while zpty -t z; do zpty -r z >/dev/null || break; done`
      await runProgram(shells.zsh, ['-f', '-c', driver], { env: { ...env, ...shells.env } })
      return readFileSync(seen, 'utf8').trim()
    }
    await expect.poll(() => typed('slipway repo'), patient).toBe('slipway report')
    await expect.poll(() => typed('slipway why on'), patient).toBe('slipway why only-node')
  })
})
