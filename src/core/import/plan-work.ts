// What a Plan's container does to the host, as far as it can be known: the images of k3s and RKE2 put one binary in place, a
// chroot with a line for the shell is a script, and anything else is a person's to say.

import type { DirectUpdateSpec } from '../../api/direct-update.ts'
import type { PlanSelector, UpgradePlan } from '../../api/upgrade-plan.ts'
import type { ImportedObject, Remark } from './imported.ts'

type Say = (kind: Remark['kind'], what: string, text: string) => void

export interface PlanContext {
  /** The operator's. */
  readonly namespace: string
  readonly sha256: (text: string) => string
}

export interface PlanWork {
  readonly work: Pick<DirectUpdateSpec, 'binary' | 'script'>
  readonly objects: readonly ImportedObject[]
}

/** No checksum at all, so that nothing runs before somebody has put one there. */
const noChecksum = '<SHA-256, 64 hexadecimal digits>'

interface Distribution {
  readonly name: string
  readonly path: string
  readonly url: (version: string) => string
  readonly server: string
  readonly agent: string
}

const distributions: Readonly<Record<string, Distribution>> = {
  'k3s-upgrade': {
    name: 'k3s',
    path: '/usr/local/bin/k3s',
    url: (version) => `https://github.com/k3s-io/k3s/releases/download/${encodeURIComponent(version)}/k3s`,
    server: 'k3s.service',
    agent: 'k3s-agent.service',
  },
  'rke2-upgrade': {
    name: 'rke2',
    path: '/usr/local/bin/rke2',
    url: (version) =>
      `https://github.com/rancher/rke2/releases/download/${encodeURIComponent(version)}/rke2.linux-amd64`,
    server: 'rke2-server.service',
    agent: 'rke2-agent.service',
  },
}

export function planWork(plan: UpgradePlan, context: PlanContext, say: Say): PlanWork {
  const { upgrade } = plan.spec
  const image = (upgrade.image.split('/').at(-1) ?? '').replace(/@.*$/, '')
  const [name = '', tag] = image.split(':')
  const distribution = Object.hasOwn(distributions, name) ? distributions[name] : undefined
  return distribution ? binaryWork(plan, distribution, tag, say) : scriptWork(plan, context, say)
}

function binaryWork(plan: UpgradePlan, distribution: Distribution, tag: string | undefined, say: Say): PlanWork {
  const { name, path } = distribution
  const version = versionOf(plan, tag, say)
  const url = version === undefined ? '<address of the binary>' : distribution.url(version)
  const text = `the checksum is in the release of ${name}, next to ${url}; the address is that of amd64`
  say('ToFillIn', 'spec.binary.sha256', text)
  const restart = unitOf(plan.spec.nodeSelector, distribution)
  if (restart === undefined) {
    const units = `${distribution.server} or ${distribution.agent}`
    say('ToFillIn', 'spec.binary.restart', `the nodeSelector does not tell servers from agents: name ${units}`)
  }
  return {
    work: { binary: { name, url, sha256: noChecksum, path, restart: [restart ?? '<the unit that runs it>'] } },
    objects: [],
  }
}

/** Tags cannot have a +, so it is a - there. */
function versionOf({ spec, status }: UpgradePlan, tag: string | undefined, say: Say): string | undefined {
  const given = [spec.version, status?.latestVersion, tag].find(
    (text) => text !== undefined && text !== null && text !== '',
  )
  if (spec.channel && !spec.version) {
    const text = given
      ? `no channel is followed: this is the version it stood at (${given}). Change spec.binary for the next one`
      : 'no channel is followed: write the version into spec.binary.url, and change it for the next one'
    say(given ? 'NoEquivalent' : 'ToFillIn', `channel=${spec.channel}`, text)
  } else if (given === undefined) say('ToFillIn', 'version', 'the Plan names none: write it into spec.binary.url')
  return given?.replace(/-(k3s\d+|rke2r\d+)$/, '+$1')
}

function unitOf(selector: PlanSelector | null | undefined, { server, agent }: Distribution): string | undefined {
  const isRole = (key: string) => /^node-role\.kubernetes\.io\/(control-plane|master)$/.test(key)
  const labels = Object.entries(selector?.matchLabels ?? {}).some(([key]) => isRole(key))
  const terms = (selector?.matchExpressions ?? []).filter(({ key }) => isRole(key))
  if (labels || terms.some(({ operator }) => operator === 'In' || operator === 'Exists')) return server
  return terms.length > 0 ? agent : undefined
}

function scriptWork(plan: UpgradePlan, { namespace, sha256 }: PlanContext, say: Say): PlanWork {
  const { name } = plan.metadata
  const { upgrade } = plan.spec
  const script = inlineScript([...(upgrade.command ?? []), ...(upgrade.args ?? [])])
  const configMap = `plan-${name}`.slice(0, 253)
  if (script !== undefined) {
    const data = { script }
    const object: ImportedObject = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: configMap, namespace },
      data,
    }
    say('Differs', 'upgrade', 'the script runs on the host itself, as root, without the SYSTEM_UPGRADE_… variables')
    return { work: { script: { configMap, sha256: sha256(script) } }, objects: [object] }
  }
  const line = [...(upgrade.command ?? []), ...(upgrade.args ?? [])].join(' ')
  say(
    'ToFillIn',
    'spec.script.sha256',
    `image ${upgrade.image}${line === '' ? '' : ` (${line})`} cannot be run: make a script of what it does on the host, then kubectl -n ${namespace} create configmap ${configMap} --from-file=script=FILE, and take its sha256sum`,
  )
  return { work: { script: { configMap, sha256: noChecksum } }, objects: [] }
}

/** `chroot /host sh -c "…"`: what is done there needs nothing of the image. */
function inlineScript(words: readonly string[]): string | undefined {
  const [chroot = '', root, shell = '', flag = '', script, ...more] = words
  if (!/(^|\/)chroot$/.test(chroot) || root !== '/host' || !/(^|\/)(ba|da|a)?sh$/.test(shell)) return undefined
  if (!/^-\w*c$/.test(flag) || script === undefined || more.length > 0) return undefined
  const interpreter = shell.startsWith('/') ? shell : `/usr/bin/env ${shell}`
  const isStrict = flag.includes('e')
  return `#!${interpreter}\n${isStrict ? 'set -e\n' : ''}${script.endsWith('\n') ? script : `${script}\n`}`
}
