import type { Host } from '../../../ports/host.ts'

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
  if (state.state !== 'up' || unit !== 'kubelet.service') return state
  return (await answersIll(host, signal)) ? { state: 'starting', why: 'it says that it is not healthy' } : state
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
