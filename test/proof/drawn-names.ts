// What every drawn cluster has in common.

export const hostname = 'kubernetes.io/hostname'
export const shop = 'shop'
export const profileName = 'tuned'

/** On a real API server time is real: small clusters, short waits, and only what pretended hosts can do there. */
export type Pace = 'virtual' | 'real'
