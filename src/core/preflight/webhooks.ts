import { nameList } from '../name-list.ts'
import { type Check, failed, passed, seeing, warned } from './check.ts'
import type { WebhookSight } from './sights.ts'

/** Admission webhooks that refuse when nobody answers, and are asked about what happens during an update. */
export const webhooks: Check = {
  name: 'Webhooks',
  judge: seeing(
    (sights) => sights.webhooks,
    (found, { selected }) => {
      const dead = found.filter(({ ready }) => ready === 0)
      const blocking = dead.filter(({ narrowed }) => !narrowed)
      if (blocking.length > 0) {
        return failed(
          `${said(blocking, () => 'has no ready endpoint')}: what it is asked about is refused; bring it back`,
        )
      }
      if (dead.length > 0) return warned(`${said(dead, () => 'has no ready endpoint')}: some requests may be refused`)
      const chosen = new Set(selected.map(({ metadata }) => metadata.name))
      const alone = found.filter(
        ({ nodes: [node, ...others] }) => node !== undefined && !others.length && chosen.has(node),
      )
      if (alone.length > 0) {
        return warned(
          `${said(alone, ({ nodes }) => `runs on ${nodes[0]} only`)}: while that node is drained requests may be refused; run a second one elsewhere`,
        )
      }
      return passed(`${found.length} admission webhooks of this kind answer`)
    },
  ),
}

function said(sights: readonly WebhookSight[], what: (sight: WebhookSight) => string): string {
  return nameList(sights.map((sight) => `${sight.name} (asked about ${sight.what}): ${sight.service} ${what(sight)}`))
}
