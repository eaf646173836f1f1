// Two looks, for neither sees everything: the metric knows who asked since that one API server has started, the objects know
// who wrote them last, perhaps long ago.

import { nameList } from '../name-list.ts'
import { parseVersion } from '../version.ts'
import { type Check, failed, passed, unknown, warned } from './check.ts'
import { sourceOf } from './removed-apis.ts'

export const removedApisInUse: Check = {
  name: 'RemovedApis',
  judge: ({ spec, sights }) => {
    const target = spec.kubernetes && parseVersion(spec.kubernetes.version)
    if (!target || !sights) return undefined
    const { deprecated, stored } = sights
    if (!('seen' in deprecated)) return unknown(deprecated.unseen)
    if (!('seen' in stored)) return unknown(stored.unseen)
    const goes = deprecated.seen.filter(({ removedIn }) => removedIn <= target.minor)
    const found = [
      ...goes.map(({ api, removedIn }) => `${api} (gone in 1.${removedIn}) is asked for`),
      ...stored.seen.map(
        ({ api, removedIn, objects, first }) => `${api} (gone in 1.${removedIn}) keeps ${nameList(first, objects)}`,
      ),
    ]
    if (found.length > 0) {
      const sources = new Set([...goes, ...stored.seen].flatMap(({ api }) => sourceOf(api) ?? []))
      const more = sources.size > 0 ? `; see ${[...sources].join(', ')}` : ''
      return failed(`${found.join('; ')}: move its users to a newer version first${more}`)
    }
    if (deprecated.seen.length === 0) return passed('nobody asked for an API that goes')
    const later = deprecated.seen.map(({ api, removedIn }) => `${api} (gone in 1.${removedIn})`)
    return warned(`${target.text} still has them, later ones have not: ${nameList(later)}`)
  },
}
