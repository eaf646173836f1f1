import type { Work } from '../../api/work.ts'
import { componentsOf } from '../update/drivers-for.ts'
import type { StepTime } from './step-times.ts'

export interface WorkTime {
  readonly ms: number
  /** Each of its steps was seen on earlier work; else it is assumed. */
  readonly isMeasured: boolean
}

/** How long the work on one node of that role takes, its drain aside. */
export function workTime(work: Work, role: 'ControlPlane' | 'Worker', times: ReadonlyMap<string, StepTime>): WorkTime {
  const found = stepsOf(work, role).flatMap((step) => times.get(step) ?? [])
  return {
    ms: found.reduce((sum, { medianMs }) => sum + medianMs, 0),
    isMeasured: found.length > 0 && found.every(({ measured }) => measured > 0),
  }
}

function stepsOf(work: Work, role: 'ControlPlane' | 'Worker'): readonly string[] {
  const components = work.kubernetes ? componentsOf(work.kubernetes) : []
  return [
    ...(work.profile ? ['apply-profile'] : []),
    ...(work.script ? ['script'] : []),
    ...(work.os?.packages ? ['upgrade-packages'] : []),
    ...(components.includes('kubeadm') && role === 'ControlPlane' ? ['upgrade-control-plane'] : []),
    ...(components.includes('kubelet') ? ['upgrade-kubelet', 'restart-kubelet'] : []),
    ...(components.includes('containerd') ? ['install-runtime'] : []),
    ...(components.includes('etcd') ? ['install-etcd'] : []),
    ...(work.os?.image === undefined ? [] : ['boot-image']),
    ...(work.binary ? ['swap-binary'] : []),
    ...(work.reboot === 'Always' ? ['reboot'] : []),
  ]
}
