// Situations in which an update is refused, or came to a bad end.

import { scriptOf } from './story-update.ts'
import type { Situation } from './why-asking.ts'

const named = (name: string) => ({ nodeSelector: { matchLabels: { 'kubernetes.io/hostname': name } } })

export const refusingSituations: readonly Situation[] = [
  {
    name: 'a budget that preflight finds',
    arrange: async ({ cluster, person, update }) => {
      await person.deploys({ name: 'web', replicas: 2, minAvailable: 2 })
      await cluster.pass(15_000)
      await update.script('true', { preflight: { skip: [] } }).is('Pending', 'PreflightFailed')
    },
    asked: [
      { of: 'update', code: 'PreflightFailed', names: /the operator refuses it: DisruptionBudgets .*shop\/web/ },
      { of: 'w1', code: 'PreflightFailed', names: /w1 waits for its turn in update update: .*shop\/web/ },
    ],
  },
  {
    name: 'an older version',
    arrange: ({ update }) => update.kubernetes('v1.34.0').is('Failed', 'Downgrade'),
    asked: [{ of: 'update', code: 'Downgrade', names: /v1\.34\.0/ }],
  },
  {
    name: 'a version too far ahead',
    arrange: ({ update }) => update.kubernetes('v1.38.0').is('Pending', 'VersionSkipsMinor'),
    asked: [
      {
        of: 'update',
        code: 'VersionSkipsMinor',
        names: /no version of v1\.37 is on offer, which lies on the way to v1\.38\.0/,
      },
    ],
  },
  {
    name: 'no node is selected',
    arrange: ({ update }) => update.script('true', named('nobody')).is('Failed', 'NothingSelected'),
    asked: [{ of: 'update', code: 'NothingSelected', names: /no node/ }],
  },
  {
    name: 'the script is not there',
    arrange: ({ update }) => update.of({ script: scriptOf('true') }).is('Pending', 'ScriptMissing'),
    asked: [
      { of: 'update', code: 'ScriptMissing', names: new RegExp(scriptOf('true').configMap) },
      { of: 'w1', code: 'ScriptMissing', names: new RegExp(scriptOf('true').configMap) },
    ],
  },
  {
    name: 'a gate that can never be told',
    arrange: ({ update }) => {
      const gate = { name: 'ceph', type: 'Cel' as const, expression: 'object.status.' }
      return update.script('true', { gates: [gate] }).is('Failed', 'GateInvalid')
    },
    asked: [{ of: 'update', code: 'GateInvalid', names: /gate ceph: its expression "object\.status\." is broken/ }],
  },
  {
    name: 'a script that fails',
    arrange: async ({ cluster, update }) => {
      cluster.failing.add('w1')
      await update.script('false', named('w1')).fails()
    },
    asked: [
      { of: 'w1', code: 'StepFailed', names: /w1: .*script/ },
      { of: 'update', code: 'StepFailed', names: /w1/ },
    ],
  },
]
