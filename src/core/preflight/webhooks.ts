import { nameList } from '../name-list.ts'
import { type Check, failed, passed, seeing, warned } from './check.ts'
import type { OutsideWebhook, ServedWebhook } from './sights.ts'

/** Admission webhooks that refuse when nobody answers, and are asked about what happens during an update. */
export const webhooks: Check = {
  name: 'Webhooks',
  judge: seeing(
    (sights) => sights.webhooks,
    (found, { selected }) => {
      const served = found.filter((sight) => 'service' in sight)
      const outside = found.filter((sight) => 'url' in sight)
      const dead = served.filter(({ ready }) => ready === 0)
      const blocking = dead.filter(({ narrowed }) => !narrowed)
      if (blocking.length > 0) {
        return failed(
          `${said(blocking, () => 'has no ready endpoint')}: what it is asked about is refused; bring it back`,
        )
      }
      const chosen = new Set(selected.map(({ metadata }) => metadata.name))
      const doubts = [...ofDead(dead), ...ofAlone(served, chosen), ...ofOutside(outside)]
      if (doubts.length > 0) return warned(doubts.join('; '))
      return passed(`${found.length} admission webhooks of this kind answer`)
    },
  ),
}

function ofDead(dead: readonly ServedWebhook[]): readonly string[] {
  return dead.length > 0 ? [`${said(dead, () => 'has no ready endpoint')}: some requests may be refused`] : []
}

function ofAlone(served: readonly ServedWebhook[], chosen: ReadonlySet<string>): readonly string[] {
  const alone = served.filter(
    ({ nodes: [node, ...others] }) => node !== undefined && !others.length && chosen.has(node),
  )
  if (alone.length === 0) return []
  return [
    `${said(alone, ({ nodes }) => `runs on ${nodes[0]} only`)}: while that node is drained requests may be refused; run a second one elsewhere`,
  ]
}

/** Nobody can ask them from the API server's place, and often they are well: a person has to know of them. */
function ofOutside(outside: readonly OutsideWebhook[]): readonly string[] {
  if (outside.length === 0) return []
  const names = nameList(outside.map(({ name, what, url }) => `${name} (asked about ${what}) is behind ${url}`))
  return [
    `${names}: whether anybody answers there cannot be seen from here, and what it is asked about is refused if nobody does; make sure of it`,
  ]
}

function said(sights: readonly ServedWebhook[], what: (sight: ServedWebhook) => string): string {
  return nameList(sights.map((sight) => `${sight.name} (asked about ${sight.what}): ${sight.service} ${what(sight)}`))
}
