// Found as `kubectl-slipway` on the PATH the program is called `kubectl slipway`; what it says then names it so.

const ownName = 'slipway'

/** Roles and what runs on hosts are never called through kubectl. */
const neverThroughKubectl = new Set(['operator', 'agent', 'host', 'sim'])

/** A text for people, with the commands it names as they are typed here. The product itself is written with a capital. */
export function spoken(text: string, program: string): string {
  if (program === ownName) return text
  return text.replace(/(?<!kubectl |[\w/.-])slipway (?=([a-z-]+))/g, (found, next: string) =>
    neverThroughKubectl.has(next) ? found : `${program} `,
  )
}
