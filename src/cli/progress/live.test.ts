import { describe, expect, it } from 'vitest'
import { CapturedTerminal, node, nodeState, operation, update } from '../../../test/cli/cli-fixture.ts'
import { ManualClock } from '../../../test/fakes/manual-clock.ts'
import { LiveProgress } from './live.ts'

const start = '2026-11-15T12:05:00Z'
const control = `${String.fromCharCode(27)}[`

/** What a terminal would show in the end, and everything that was ever written over. */
function shown(text: string): readonly string[] {
  const lines: string[] = []
  for (const part of text.replaceAll(`${control}?25l`, '').replaceAll(`${control}?25h`, '').split(control)) {
    const move = /^(\d+)A\r$/.exec(part)
    if (move) lines.splice(lines.length - Number(move[1]))
    else lines.push(...part.replace(/^0J/, '').split('\n').slice(0, -1))
  }
  return lines
}

function snapshot(phase: 'Draining' | 'Done') {
  return {
    now: new Date(start),
    update: update({ phase: 'InProgress', operationID: operation, startedAt: start }),
    nodes: [node('w1')],
    nodeStates: [nodeState('w1', { phase, since: start })],
  }
}

describe('live progress', () => {
  it('draws in place, counts on by itself and gives the cursor back', async () => {
    const terminal = new CapturedTerminal()
    const clock = new ManualClock(start)
    const live = new LiveProgress(terminal, clock)
    live.show(snapshot('Draining'))
    await clock.advance(10)
    expect(shown(terminal.text)[0]).toContain('  0s')
    await clock.advance(3000)
    expect(shown(terminal.text)[0]).toContain('  3s')
    live.note(clock.now(), 'the operator is killed')
    live.show(snapshot('Done'))
    live.end()
    expect(shown(terminal.text)).toMatchInlineSnapshot(`
      [
        "12:05:03 the operator is killed",
        "to-1-36  InProgress  v1.36.3  0s",
        "████████████████████████████████████████  1/1 done",
        "workers  ●",
      ]
    `)
    expect(terminal.text.endsWith(`${control}?25h`)).toBe(true)
    expect(clock.pendingTimers).toBe(0)
  })

  it('draws a burst of changes as few frames', async () => {
    const terminal = new CapturedTerminal()
    const clock = new ManualClock(start)
    const live = new LiveProgress(terminal, clock)
    for (let change = 0; change < 100; change += 1) {
      live.show(snapshot('Draining'))
      await clock.advance(8)
    }
    live.end()
    expect(terminal.text.split('to-1-36').length - 1).toBeLessThanOrEqual(12)
  })

  it('leaves a terminal alone that it never drew on', () => {
    const terminal = new CapturedTerminal()
    new LiveProgress(terminal, new ManualClock(start)).end()
    expect(terminal.text).toBe('')
  })
})
