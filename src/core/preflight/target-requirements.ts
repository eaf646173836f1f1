import { nameList } from '../name-list.ts'
import { parseVersion, type Version } from '../version.ts'
import { type Check, type CheckView, type Finding, failed, passed, unknown } from './check.ts'
import { lackOf, lackText, type Requirement, requirements, unknownToHost } from './requirements.ts'

/** A row counts for the hosts that this update takes over its minor version. */
export const targetRequirements: Check = {
  name: 'TargetRequirements',
  judge: (view) => {
    const target = view.spec.kubernetes && parseVersion(view.spec.kubernetes.version)
    if (!target) return undefined
    const findings = requirements.flatMap((requirement) => judgeOne(requirement, view, target) ?? [])
    const wrong = findings.filter(({ result }) => result === 'Failed')
    const [first] = wrong.length > 0 ? wrong : findings
    if (!first) return passed(`the hosts have what ${target.text} asks for`)
    return { ...first, message: (wrong.length > 0 ? wrong : findings).map(({ message }) => message).join('; ') }
  },
}

function judgeOne(
  requirement: Requirement,
  { selected, stateOf, policy }: CheckView,
  target: Version,
): Finding | undefined {
  const lacking: string[] = []
  const silent: string[] = []
  let example = ''
  for (const node of selected) {
    const { name } = node.metadata
    const lacks = lackOf(
      requirement,
      { node, agent: stateOf(name)?.status?.agent, datastore: policy?.datastore },
      target,
    )
    if (lacks === undefined) continue
    if (lacks === unknownToHost) silent.push(name)
    else lacking.push(name)
    if (lacks !== unknownToHost) example ||= lacks
  }
  if (lacking.length > 0) return failed(lackText(requirement, nameList(lacking), example))
  return silent.length === 0 ? undefined : unknown(lackText(requirement, nameList(silent), unknownToHost))
}
