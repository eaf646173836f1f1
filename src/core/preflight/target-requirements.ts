import { nameList } from '../name-list.ts'
import { minorsBetween, parseVersion, type Version } from '../version.ts'
import { type Check, type CheckView, type Finding, factsOf, failed, kubeletOf, passed, unknown } from './check.ts'
import { type Requirement, requirements, unknownToHost } from './requirements.ts'

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

function judgeOne(requirement: Requirement, view: CheckView, target: Version): Finding | undefined {
  const { what, minor, source } = requirement
  const lacking: string[] = []
  const silent: string[] = []
  let example = ''
  for (const node of view.selected) {
    const version = parseVersion(kubeletOf(view, node) ?? '')
    const crosses = version === undefined || minorsBetween(version, { ...version, minor }) > 0
    if (!crosses || minorsBetween(target, { ...target, minor }) > 0) continue
    const facts = factsOf(view, node)
    // A host without an agent is another check's business; it is asked before it is touched.
    if (!facts) continue
    const lacks = requirement.lacks({ node, facts })
    if (lacks === undefined) continue
    if (lacks === unknownToHost) silent.push(node.metadata.name)
    else lacking.push(node.metadata.name)
    if (lacks !== unknownToHost) example ||= lacks
  }
  if (lacking.length > 0) {
    return failed(`Kubernetes 1.${minor} needs ${what}: ${nameList(lacking)} has ${example} (${source})`)
  }
  if (silent.length === 0) return undefined
  return unknown(`Kubernetes 1.${minor} needs ${what}: ${nameList(silent)} does not say what it has (${source})`)
}
