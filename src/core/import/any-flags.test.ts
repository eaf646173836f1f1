// Whatever a daemon was told: either what comes of it is accepted by our own schema, or a remark asks a person.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { directUpdateSpecSchema } from '../../api/direct-update.ts'
import { foreignDaemonSetSchema } from '../../api/foreign-daemon-set.ts'
import { maintenancePolicySpecSchema } from '../../api/maintenance-policy.ts'
import { upgradePlanSchema } from '../../api/upgrade-plan.ts'
import type { Imported } from './imported.ts'
import { importKured } from './kured.ts'
import { importKustodian } from './kustodian.ts'
import { importPlans } from './suc.ts'

const value = fc.oneof(
  fc.constantFrom(
    '1h',
    '0',
    '-1',
    '3',
    'true',
    'sa,su',
    '22:00',
    '04:00',
    'UTC',
    '/var/x',
    'a=b',
    'a in (b,c)',
    'http://p',
    '(',
    '"',
  ),
  fc.string({ maxLength: 12 }),
)
const flags = (names: readonly string[]) =>
  fc
    .uniqueArray(fc.tuple(fc.constantFrom(...names), value), { maxLength: 12 })
    .map((all) => all.map(([name, text]) => `--${name}=${text}`))

const kuredFlags = [
  'reboot-sentinel',
  'reboot-sentinel-command',
  'concurrency',
  'reboot-days',
  'start-time',
  'end-time',
  'time-zone',
  'drain-timeout',
  'drain-grace-period',
  'drain-pod-selector',
  'blocking-pod-selector',
  'prometheus-url',
  'alert-filter-regexp',
  'alert-firing-only',
  'force-reboot',
  'ds-name',
  'lock-annotation',
  'pre-reboot-node-labels',
  'unheard-of',
]
const kustodianFlags = [
  'maintenance-sentinel',
  'maintenance-days',
  'start-time',
  'end-time',
  'time-zone',
  'prefer-no-schedule-taint',
  'ds-namespace',
]

const daemonSet = (args: readonly string[]) =>
  foreignDaemonSetSchema.parse({
    metadata: { name: 'd', namespace: 'kube-system' },
    spec: { template: { spec: { containers: [{ name: 'c', args }] } } },
  })

function mustHold({ objects, remarks }: Imported): void {
  if (remarks.some(({ kind }) => kind === 'ToFillIn')) return
  for (const { kind, spec } of objects) {
    const schema = kind === 'DirectUpdate' ? directUpdateSpecSchema : maintenancePolicySpecSchema
    expect(schema.safeParse(spec).error?.issues).toBeUndefined()
  }
}

describe('any flags', () => {
  it.each([true, false])('kured, lock %s', (lock) => {
    fc.assert(fc.property(flags(kuredFlags), (args) => mustHold(importKured(daemonSet(args), { lock }))))
  })

  it.each([true, false])('Kustodian, lock %s', (lock) => {
    fc.assert(fc.property(flags(kustodianFlags), (args) => mustHold(importKustodian(daemonSet(args), { lock }))))
  })

  it('each flag that was given is carried over or remarked on', () => {
    const carried = [
      'reboot-sentinel',
      'concurrency',
      'drain-grace-period',
      'drain-pod-selector',
      'alert-firing-only',
      'alert-filter-regexp',
      'blocking-pod-selector',
      'reboot-days',
      'start-time',
      'end-time',
      'time-zone',
    ]
    fc.assert(
      fc.property(flags(kuredFlags), (args) => {
        const { remarks } = importKured(daemonSet(args), { lock: false })
        const last = new Map(args.map((arg) => [arg.split('=')[0] ?? '', arg]))
        const silent = [...last.keys()].filter(
          (flag) => !carried.includes(flag.slice(2)) && !remarks.some(({ what }) => what.startsWith(flag)),
        )
        // These are told only where they mean something other than by default.
        const quiet = [
          '--reboot-sentinel-command',
          '--drain-timeout',
          '--force-reboot',
          '--prometheus-url',
          '--pre-reboot-node-labels',
        ]
        expect(silent.filter((flag) => !quiet.includes(flag))).toEqual([])
      }),
    )
  })

  it('Plans', () => {
    const some = <T>(inner: fc.Arbitrary<T>) => fc.option(inner, { nil: undefined })
    const plan = fc.record({
      concurrency: some(fc.integer({ min: -1, max: 50 })),
      jobActiveDeadlineSecs: some(fc.integer({ min: 0, max: 100_000 })),
      version: some(fc.constantFrom('v1.36.3+k3s1', 'v1.36.3-k3s1', '')),
      channel: some(fc.constant('https://x.example')),
      nodeSelector: some(
        fc.record({ matchLabels: fc.dictionary(fc.string({ maxLength: 5 }), fc.string({ maxLength: 5 })) }),
      ),
      window: some(fc.record({ startTime: value, endTime: value }, { requiredKeys: [] })),
      drain: some(
        fc.record(
          {
            timeout: fc.oneof(fc.integer({ min: 0 }), value),
            gracePeriod: fc.integer({ min: -1 }),
            force: fc.boolean(),
            disableEviction: fc.boolean(),
          },
          { requiredKeys: [] },
        ),
      ),
      upgrade: fc.record({ image: fc.constantFrom('rancher/k3s-upgrade', 'r:5000/rancher/rke2-upgrade:v1', 'x') }),
    })
    fc.assert(
      fc.property(plan, (spec) => {
        const parsed = upgradePlanSchema.parse({ metadata: { name: 'p' }, spec: JSON.parse(JSON.stringify(spec)) })
        mustHold(importPlans([parsed], { namespace: 'slipway-system', sha256: () => '0'.repeat(64) }))
      }),
    )
  })
})
