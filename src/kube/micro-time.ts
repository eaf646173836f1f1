/** An instant as Lease and Event fields want it: the API server refuses these with fewer than six decimals. */
export function microTime(instant: Date): string {
  return `${instant.toISOString().slice(0, -1)}000Z`
}
