import { nameList } from '../name-list.ts'
import { type Check, failed, namesOf, passed } from './check.ts'
import { conditionHolds } from './node-condition.ts'

/** Every node, selected or not: the pods of drained nodes have to go somewhere. */
export const memoryPressure: Check = {
  name: 'MemoryPressure',
  judge: ({ nodes }) => {
    const pressed = nodes.filter((node) => conditionHolds(node, 'MemoryPressure'))
    if (pressed.length === 0) return passed('no node reports MemoryPressure')
    return failed(
      `${nameList(namesOf(pressed))} reports MemoryPressure; it would get the pods of drained nodes besides`,
    )
  },
}
