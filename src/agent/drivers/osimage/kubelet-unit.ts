import { crictlInfoSchema } from '../../../api/kubernetes-output.ts'
import { jsonOf } from '../../../core/json-text.ts'
import type { Host } from '../../../ports/host.ts'
import { runtimeEndpoint } from '../runtime/image-store.ts'

/** The units a kubelet runs in, alone or inside a distribution's own program. */
const kubeletUnits = [
  'kubelet.service',
  'k3s.service',
  'k3s-agent.service',
  'rke2-server.service',
  'rke2-agent.service',
  'k0scontroller.service',
  'k0sworker.service',
]

/** The one that is active; undefined where none is: then nothing can be expected of it in the new image either. */
export async function kubeletUnit(host: Host, signal: AbortSignal): Promise<string | undefined> {
  const { stdout } = await host.run({ argv: ['systemctl', 'is-active', ...kubeletUnits] }, signal)
  const states = stdout.trim().split('\n')
  return kubeletUnits.find((_, index) => states[index] === 'active')
}

export type KubeletState =
  /** `since` names this run of it: the same again means that it stayed up. */
  | { readonly state: 'up'; readonly since: string }
  | { readonly state: 'starting'; readonly why: string }
  | { readonly state: 'failed'; readonly why: string }

const properties = ['ActiveState', 'SubState', 'Result', 'NRestarts', 'ExecMainStartTimestampMonotonic'] as const

export async function kubeletState(host: Host, unit: string, signal: AbortSignal): Promise<KubeletState> {
  const argv = ['systemctl', 'show', unit, `--property=${properties.join()}`]
  const state = judgeUnit((await host.run({ argv }, signal)).stdout)
  if (state.state !== 'up') return state
  if (unit === 'kubelet.service' && (await answersIll(host, signal)))
    return { state: 'starting', why: 'it says that it is not healthy' }
  const lacking = await lackingOfRuntime(host, signal)
  return lacking === undefined ? state : { state: 'starting', why: lacking }
}

export function judgeUnit(shown: string): KubeletState {
  const values = new Map(shown.split('\n').map((line) => [line.split('=', 1)[0], line.slice(line.indexOf('=') + 1)]))
  const value = (property: (typeof properties)[number]) => values.get(property) ?? ''
  const why = `it is ${value('ActiveState')} (${value('SubState')}, ${value('Result')}), restarted ${value('NRestarts')} times`
  switch (value('ActiveState')) {
    case 'active':
      return { state: 'up', since: `${value('ExecMainStartTimestampMonotonic')}/${value('NRestarts')}` }
    case 'failed':
      return { state: 'failed', why }
    default:
      return { state: 'starting', why }
  }
}

/** Of the conditions of a runtime, those a kubelet asks for; others are warnings. */
const needed: readonly string[] = ['RuntimeReady', 'NetworkReady']

/** What keeps a node from being Ready though its kubelet runs. Only what the runtime says counts: the host may have no crictl. */
async function lackingOfRuntime(host: Host, signal: AbortSignal): Promise<string | undefined> {
  const endpoint = await runtimeEndpoint(host)
  const argv = ['crictl', ...(endpoint === undefined ? [] : [`--runtime-endpoint=${endpoint}`]), 'info']
  const { exitCode, stdout } = await host.run({ argv }, signal)
  const parsed = exitCode === 0 ? crictlInfoSchema.safeParse(jsonOf(stdout)) : undefined
  const lacking = parsed?.data?.status.conditions.find(({ type, status }) => !status && needed.includes(type))
  if (lacking === undefined) return undefined
  return `its runtime has no ${lacking.type}: ${(lacking.message || lacking.reason).slice(0, 200)}`
}

/** Only an answer that it is ill counts: it may listen elsewhere, and the host may have no curl. */
async function answersIll(host: Host, signal: AbortSignal): Promise<boolean> {
  const argv = [
    'curl',
    '--silent',
    '--fail',
    '--max-time',
    '3',
    '--output',
    '/dev/null',
    'http://127.0.0.1:10248/healthz',
  ]
  return (await host.run({ argv }, signal)).exitCode === 22
}
