// What the doctor says: one line for each thing that was looked at.

import type { DirectUpdate } from '../../api/direct-update.ts'
import type { Node } from '../../api/kube.ts'
import type { MaintenancePolicy } from '../../api/maintenance-policy.ts'
import type { NodeState } from '../../api/node-state.ts'
import type { Seen, Sights } from '../preflight/sights.ts'

/** Problem: Slipway cannot work, or an update could not start. Unknown: it could not be looked at. */
export type Result = 'Ok' | 'Warning' | 'Problem' | 'Unknown'

export interface Finding {
  /** What was looked at. */
  readonly check: string
  readonly result: Result
  /** What is wrong, in one word; of what is fine the name of the check. */
  readonly code: string
  readonly message: string
  readonly nextStep?: string
}

export interface DefinitionSight {
  /** `directupdates.slipway.dev` */
  readonly name: string
  readonly state: 'Missing' | 'Same' | 'Differs'
}

export interface OperatorSight {
  readonly deployment?: { readonly wanted: number; readonly ready: number; readonly version?: string }
  readonly lease?: { readonly holder?: string; readonly renewedAt?: string; readonly seconds: number }
}

export interface FenceSight {
  readonly name: string
  readonly bound: boolean
}

export interface RightSight {
  /** `patch nodes` */
  readonly what: string
  /** The commands that need it. */
  readonly purpose: string
  /** Undefined where the server does not tell. */
  readonly allowed: boolean | undefined
}

export interface ForeignTool {
  readonly tool: string
  /** `DaemonSet kube-system/kured` */
  readonly where: string
  /** By spec.locks of the policy. */
  readonly namespace: string
  readonly name: string
}

export interface DoctorView {
  readonly now: Date
  /** This program's. */
  readonly version: string
  readonly namespace: string
  readonly serverVersion: string
  readonly definitions: Seen<readonly DefinitionSight[]>
  readonly operator: Seen<OperatorSight>
  /** The labels of nodes on which agents run; undefined where they are no pods, or nobody tells. */
  readonly agentSelector: Readonly<Record<string, string>> | undefined
  /** The admission policies that this program installs, by name. */
  readonly fencesWanted: readonly string[]
  readonly fences: Seen<readonly FenceSight[]>
  readonly rights: Seen<readonly RightSight[]>
  readonly foreign: Seen<readonly ForeignTool[]>
  readonly policy: Seen<MaintenancePolicy | undefined>
  readonly updates: Seen<readonly DirectUpdate[]>
  readonly nodes: Seen<readonly Node[]>
  readonly states: Seen<readonly NodeState[]>
  readonly sights: Sights
}

export const ok = (check: string, message: string): Finding => ({ check, result: 'Ok', code: check, message })

export function warning(check: string, code: string, message: string, nextStep: string): Finding {
  return { check, result: 'Warning', code, message, nextStep }
}

export function problem(check: string, code: string, message: string, nextStep: string): Finding {
  return { check, result: 'Problem', code, message, nextStep }
}

/** What could not be looked at is told, never passed over. */
export function looked<T>(check: string, sight: Seen<T>, judge: (seen: T) => readonly Finding[]): readonly Finding[] {
  if ('seen' in sight) return judge(sight.seen)
  const nextStep = 'ask for the right to read it, or let somebody who has it run slipway doctor'
  return [{ check, result: 'Unknown', code: 'NotSeen', message: sight.unseen, nextStep }]
}
