/** Cancels a timer that has not fired yet; harmless afterwards. */
export type CancelTimer = () => void

/**
 * Time as a process sees it. Instants (`now`) are for people and may jump or be skewed between machines;
 * waits and deadlines are measured by `monotonicMs`, which only ever goes forward on one machine.
 */
export interface Clock {
  now(): Date
  monotonicMs(): number
  /** Runs the callback once after the delay; callbacks due at the same moment run in the order they were asked for. */
  after(delayMs: number, callback: () => void): CancelTimer
}
