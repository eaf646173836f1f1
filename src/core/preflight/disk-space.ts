import { nameList } from '../name-list.ts'
import { type Check, factsOf, failed, namesOf, passed, warned } from './check.ts'
import { conditionHolds } from './node-condition.ts'

/** Less than this, and what is fetched and unpacked may fill the disk of a node that is drained already. */
const leastGiB = 2

/** Each host also proves, when it stages, that what this very update needs has room. */
export const diskSpace: Check = {
  name: 'DiskSpace',
  judge: (view) => {
    const { selected } = view
    const pressed = selected.filter((node) => conditionHolds(node, 'DiskPressure'))
    if (pressed.length > 0) return failed(`${nameList(namesOf(pressed))} reports DiskPressure; free its disk`)
    const full = selected.filter((node) => (factsOf(view, node)?.freeGiB ?? leastGiB) < leastGiB)
    if (full.length > 0) {
      return failed(`${nameList(namesOf(full))} has less than ${leastGiB} GiB free under /var; free its disk`)
    }
    const silent = selected.filter((node) => factsOf(view, node) && factsOf(view, node)?.freeGiB === undefined)
    if (silent.length > 0) return warned(`${nameList(namesOf(silent))} does not say how much of its disk is free`)
    return passed(`no disk has less than ${leastGiB} GiB free`)
  },
}
