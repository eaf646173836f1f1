import { describe, expect, test } from 'vitest'
import { FakeHost } from '../../../../test/agent/fake-host.ts'
import { PretendSystem } from '../../../../test/agent/pretend-system.ts'
import { ManualClock } from '../../../../test/fakes/manual-clock.ts'
import { MemoryDisk } from '../../../../test/fakes/memory-disk.ts'
import { isUnitFile, parseUnit, restartUnit, unitDifference, type WantedUnit } from './systemd-unit.ts'

const name = 'chrony.service'

/** As systemd 257 prints them, in its own order. */
const running = 'LoadState=loaded\nActiveState=active\nUnitFileState=enabled\n'
const missing = 'LoadState=not-found\nActiveState=inactive\nUnitFileState=\n'
const masked = 'LoadState=masked\nActiveState=inactive\nUnitFileState=masked\n'
const starting = 'UnitFileState=static\nLoadState=loaded\nActiveState=activating\n'

describe('a unit', () => {
  const cases: readonly { wanted: Omit<WantedUnit, 'name'>; text: string; says: string | undefined }[] = [
    { wanted: { enabled: true, state: 'Running' }, text: running, says: undefined },
    { wanted: { enabled: false }, text: running, says: 'chrony.service is enabled, not disabled' },
    { wanted: { state: 'Stopped' }, text: running, says: 'chrony.service is active, not stopped' },
    { wanted: { enabled: false, state: 'Stopped' }, text: missing, says: undefined },
    { wanted: { enabled: true }, text: missing, says: 'there is no unit chrony.service' },
    { wanted: { enabled: true }, text: masked, says: 'chrony.service is masked, not enabled' },
    { wanted: { enabled: true }, text: starting, says: 'chrony.service is static, not enabled' },
    { wanted: { state: 'Running' }, text: starting, says: 'chrony.service is activating, not running' },
    { wanted: { state: 'Stopped' }, text: starting, says: 'chrony.service is activating, not stopped' },
    { wanted: {}, text: masked, says: undefined },
  ]
  test.each(cases)('wanted $wanted: $says', ({ wanted, text, says }) => {
    expect(unitDifference({ name, ...wanted }, parseUnit(text))).toBe(says)
  })
})

test.each([
  ['after a start that its condition left out', 'ConditionResult=no\nConditionTimestampMonotonic=2184529\n', true],
  ['that nobody ever started', 'ConditionResult=no\nConditionTimestampMonotonic=0\n', false],
  ['that ran and was stopped', 'ConditionResult=yes\nConditionTimestampMonotonic=2184529\n', false],
])('a unit %s counts as skipped (case %#)', (_, text, isSkipped) => {
  expect(parseUnit(`LoadState=loaded\nActiveState=inactive\n${text}`)).toMatchObject({ isSkipped })
})

test.each([
  ['/etc/systemd/system/a.service', true],
  ['/etc/systemd/system/a.service.d/x.conf', true],
  ['/usr/local/lib/systemd/system/a.timer', true],
  ['/etc/systemd/journald.conf', false],
  ['/opt/etc/systemd/system/a.service', false],
])('systemd reads %s: %s', (path, reads) => {
  expect(isUnitFile(path)).toBe(reads)
})

test.each([
  ['loaded', 'restart'],
  // As systemd calls one that runs while its file is gone.
  ['not-found', 'stop'],
])('a unit that runs and is %s: %s', async (load, verb) => {
  const disk = new MemoryDisk()
  const host = new FakeHost(disk, new ManualClock())
  const system = new PretendSystem(() => disk)
  system.units.set(name, { load, active: 'active', file: '' })
  host.answer = (command) => system.answer(command)
  await restartUnit(host, name, new AbortController().signal)
  expect(system.commands.at(-1)).toBe(`systemctl ${verb} -- ${name}`)
})
