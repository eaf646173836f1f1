import type { Log } from '../ports/log.ts'

const say = (): undefined => undefined

/** For runs whose story is told by the objects themselves. */
export const silentLog: Log = { debug: say, info: say, warn: say, error: say, with: () => silentLog }
