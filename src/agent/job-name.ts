import { sha256 } from './journal/sealed-file.ts'

/** Told apart by order, step and start; the same again in another life of the agent. */
export function jobName(orderId: string, step: string, start: number): string {
  return `slipway-${sha256(orderId).slice(0, 12)}-${step}-${start}`
}
