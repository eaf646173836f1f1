import { describe, expect, it } from 'vitest'
import { checkView } from '../../../test/samples/check-views.ts'
import { checkNames, checkReportsSchema, maxCheckMessage } from '../../api/preflight.ts'
import { allChecks } from './all-checks.ts'
import { type Check, failed, passed, unknown, warned } from './check.ts'
import { runChecks } from './run-checks.ts'

const check = (name: Check['name'], finding: ReturnType<Check['judge']>): Check => ({ name, judge: () => finding })
const skip = (...names: Check['name'][]) => checkView({ spec: { reboot: 'Always', preflight: { skip: names } } })

describe('preflight', () => {
  it('has one check for each name of the API', () => {
    expect(allChecks.map(({ name }) => name)).toEqual(checkNames)
  })

  it('finds nothing wrong where nothing is', () => {
    const { reports, refusal } = runChecks(checkView({}))
    expect(reports.filter(({ result }) => result !== 'Passed')).toEqual([])
    expect(refusal).toBeUndefined()
    expect(checkReportsSchema.safeParse(reports).success).toBe(true)
  })

  it('names all that failed or is unknown, and goes on with warnings', () => {
    const { refusal } = runChecks(checkView({}), [
      check('Capacity', failed('no room')),
      check('ApiReady', passed('fine')),
      check('DiskSpace', warned('perhaps')),
      check('Webhooks', unknown('cannot see')),
    ])
    expect(refusal).toEqual({
      reason: { code: 'PreflightFailed', message: 'Capacity (Failed): no room; Webhooks (Unknown): cannot see' },
      lasting: false,
    })
  })

  it('does not count what is skipped, and records what it would have said', () => {
    const checks = [check('Capacity', failed('no room')), check('Webhooks', unknown('cannot see'))]
    expect(runChecks(skip('Capacity', 'Webhooks'), checks)).toEqual({
      reports: [
        { check: 'Capacity', result: 'Skipped', message: 'skipped; it would have said Failed: no room' },
        { check: 'Webhooks', result: 'Skipped', message: 'skipped; it would have said Unknown: cannot see' },
      ],
      refusal: undefined,
    })
    expect(runChecks(skip('Capacity'), checks).refusal?.reason.message).toBe('Webhooks (Unknown): cannot see')
  })

  it('tells a reason of its own before the others, the first of several', () => {
    const general = check('Capacity', failed('no room'))
    const own = check('Agents', { result: 'Failed', code: 'AgentMissing', message: 'none' })
    const lasting = check('VersionPath', { result: 'Failed', code: 'Downgrade', message: 'down', lasting: true })
    expect(runChecks(checkView({}), [general, own]).refusal?.reason.code).toBe('AgentMissing')
    expect(runChecks(checkView({}), [general, own, lasting]).refusal?.reason.code).toBe('AgentMissing')
    expect(runChecks(checkView({}), [general, lasting]).refusal).toMatchObject({ lasting: true })
  })

  it('keeps within what the status may hold', () => {
    const { reports, refusal } = runChecks(
      checkView({}),
      checkNames.map((name) => check(name, failed('x'.repeat(5000)))),
    )
    expect(checkReportsSchema.safeParse(reports).success).toBe(true)
    expect(reports[0]?.message).toHaveLength(maxCheckMessage)
    expect(refusal?.reason.message).toHaveLength(4096)
  })
})
