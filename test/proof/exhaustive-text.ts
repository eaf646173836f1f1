// What the exhaustive proof says while it runs and at its end.

import type { CrashPoint } from './crash-points.ts'
import type { FirstCrash, Violation } from './exhaustive-lane.ts'

const sayEveryMs = 10_000
const shownViolations = 20

/** Says now and then how far it is. */
export class Teller {
  readonly #points: number
  readonly #done: readonly FirstCrash[]
  readonly #say: (text: string) => void
  readonly #startedMs = performance.now()
  #told = 0
  #saidMs = performance.now()

  constructor(points: number, done: readonly FirstCrash[], say: (text: string) => void) {
    this.#points = points
    this.#done = done
    this.#say = say
  }

  history(): void {
    this.#told++
    const nowMs = performance.now()
    if (nowMs - this.#saidMs < sayEveryMs) return
    this.#saidMs = nowMs
    const rate = (1000 * this.#told) / (nowMs - this.#startedMs)
    const known = this.#done.reduce((sum, { pairs }) => sum + pairs + 1, 0)
    const total = this.#total()
    const broken = this.#done.reduce((sum, { violations }) => sum + violations.length, 0)
    const minutes = Math.ceil((total - known) / rate / 60)
    this.#say(
      `${this.#done.length} of ${this.#points} first crashes, ${known} of about ${total} histories, ${rate.toFixed(1)} a second, ${broken} violations, about ${minutes} min left\n`,
    )
  }

  /** How many points follow a crash is known only when it was told: the others are taken for like those that were. */
  #total(): number {
    const extra = this.#done.map(({ first, pairs }) => pairs - (this.#points - first - 1))
    const mean = extra.reduce((sum, more) => sum + more, 0) / Math.max(1, extra.length)
    return Math.round(this.#points * ((this.#points - 1) / 2 + mean + 1))
  }
}

export function countsText(points: readonly CrashPoint[], folded: number): string {
  const counts = Object.entries(byVictim(points)).map(([victim, count]) => `${victim} ${count}`)
  return `${points.length} crash points: ${counts.join(', ')}; ${folded} more moments are the same as one of them\n`
}

export function byVictim(points: readonly CrashPoint[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { victim } of points) counts[victim] = (counts[victim] ?? 0) + 1
  return counts
}

export function violationsText(violations: readonly Violation[]): string {
  const lines = violations.slice(0, shownViolations).map(({ crashes, struck, rule, message }) => {
    const where = struck.map(pointText).join(', then ')
    return `rule ${rule}: ${message}\n  crashes: ${where}\n  tell it again: node test/proof/exhaustive.ts --history ${crashes.join(',')}\n`
  })
  if (violations.length > shownViolations) lines.push(`… and ${violations.length - shownViolations} more\n`)
  return lines.join('')
}

export function pointText(point: CrashPoint | undefined): string {
  return point ? `${point.victim} ${point.what}` : 'no such point'
}
