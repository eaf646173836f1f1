// What is opened on a slot ends with `end`, with this process, or where it does not open; then nothing of it is left.

import { type BedSlot, clearSlot, takeSlot } from './bed-slot.ts'

export interface SlotLife {
  readonly slot: BedSlot
  /** Something to stop at once before the slot is cleared; nothing can be awaited then. */
  atOnce(stop: () => void): void
  /** Clears the slot. Call when all else has been stopped. */
  end(): void
}

const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export async function openOnSlot<T>(open: (life: SlotLife) => Promise<T>): Promise<T> {
  const slot = await takeSlot()
  const stops: (() => void)[] = []
  const endAtOnce = () => {
    for (const stop of stops) stop()
    clearSlot(slot)
  }
  const onSignal = (signal: NodeJS.Signals) => {
    endAtOnce()
    process.removeListener(signal, onSignal)
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal)
  }
  // Who started us is gone, and did not end us: a worker would go on for as long as its tests take.
  const onOrphaned = () => process.kill(process.pid, 'SIGTERM')
  process.once('disconnect', onOrphaned)
  process.once('exit', endAtOnce)
  for (const signal of endings) process.on(signal, onSignal)
  const forget = () => {
    process.removeListener('disconnect', onOrphaned)
    process.removeListener('exit', endAtOnce)
    for (const signal of endings) process.removeListener(signal, onSignal)
  }
  try {
    return await open({
      slot,
      atOnce: (stop) => {
        stops.push(stop)
      },
      end: () => {
        clearSlot(slot)
        forget()
      },
    })
  } catch (error) {
    endAtOnce()
    forget()
    throw error
  }
}
